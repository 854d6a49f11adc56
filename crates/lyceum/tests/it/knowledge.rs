//! The knowledge base as the world meets it: the real program, a real Git server, and what is left on the disk.

mod faults;
mod kills;
mod stage;
mod sync;
mod webhook;
