//! What is kept and offered of a knowledge base that lies in a folder.

mod base;
mod healing;
mod lists;
mod prompts;
mod resources;
mod rules;
mod terms;
mod tiers;
mod uploading;
