//! What the service offers, and the addresses of it.

use std::sync::Arc;

use lyceum_model::Domain;
use lyceum_tools::{RegistryBuilder, RegistryError};

use crate::Knowledge;

/// Adds everything that the service offers.
pub fn register(
    builder: RegistryBuilder,
    _domain: &Domain,
    _knowledge: &Arc<Knowledge>,
) -> Result<RegistryBuilder, RegistryError> {
    Ok(builder)
}

/// The address of a document, by its `type/id`.
pub fn document_uri(knowledge: &Knowledge, key: &str) -> String {
    format!("mcp://{}/content/{key}", host(knowledge))
}

/// The addresses of what lists documents.
pub fn list_uris(knowledge: &Knowledge) -> impl Iterator<Item = String> {
    let host = host(knowledge);
    ["groups", "releases"].into_iter().map(move |list| format!("mcp://{host}/data/{list}"))
}

/// Whose addresses they are: the title as it can stand in an address.
fn host(knowledge: &Knowledge) -> String {
    let lower = knowledge.title().to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}
