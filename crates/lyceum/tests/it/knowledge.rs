//! The knowledge base end to end: transports, the real program, a real Git server, and the data on disk.

mod announcing;
mod api;
mod base;
mod command;
mod completion;
mod drafts;
mod faults;
mod first_contact;
mod kills;
mod prompts;
mod reload;
mod resources;
mod search;
mod stage;
mod sync;
mod terminal;
mod tools;
mod webhook;
