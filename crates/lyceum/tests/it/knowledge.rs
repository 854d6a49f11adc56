//! The knowledge base as the world meets it: its doors, the real program, a real Git server, and what is left on the disk.

mod announcing;
mod api;
mod base;
mod command;
mod completion;
mod faults;
mod kills;
mod prompts;
mod resources;
mod search;
mod stage;
mod sync;
mod tools;
mod webhook;
