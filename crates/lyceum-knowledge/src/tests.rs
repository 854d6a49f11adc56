//! Sync, tools, resources and prompts of a knowledge base in a folder.

mod base;
mod healing;
mod leading;
mod lists;
mod plain_documents;
mod prompts;
mod resources;
mod rules;
mod terms;
mod tiers;
mod uploading;
