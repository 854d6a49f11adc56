//! What is offered of a knowledge base that lies in a folder.

mod base;
mod lists;
mod prompts;
mod resources;
mod terms;
mod tiers;
