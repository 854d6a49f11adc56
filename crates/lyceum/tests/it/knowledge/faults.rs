//! What goes wrong around the program: it says what, serves what it has, and goes on by itself.

mod clone;
mod database;
mod disk;
mod server;
mod together;
