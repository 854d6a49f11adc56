//! Failures of the environment: the program reports them, keeps serving, and recovers by itself.

mod clone;
mod database;
mod disk;
mod server;
mod together;
