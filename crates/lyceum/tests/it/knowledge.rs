//! The knowledge base as its callers meet it.

mod base;
mod completion;
mod prompts;
mod resources;
mod tools;
