//! `mcp://{host}/content/{contentType}/{id}`: resource template of documents.

use std::{collections::BTreeSet, sync::Arc};

use lyceum_content::knowledge::completions;
use lyceum_model::Domain;
use lyceum_tools::{
    Address, Error, Outcome, RegistryError, TemplateEntry,
    mcp::{ReadResourceResult, ResourceTemplate, printable},
};

use super::{MARKDOWN, as_markdown};
use crate::{Knowledge, public::member_note, register::host};

pub(super) fn template(domain: &Domain, knowledge: &Arc<Knowledge>) -> Result<TemplateEntry, RegistryError> {
    let uri = format!("mcp://{}/content/{{contentType}}/{{id}}", host(knowledge));
    let access = knowledge.options.public.documents(domain);
    let wire = ResourceTemplate::new(uri, "content")
        .with_title("Document")
        .with_description(format!(
            "A document of the {} knowledge base by its content type and id, with where it comes from.{}",
            knowledge.title(),
            member_note(&access)
        ))
        .with_mime_type(MARKDOWN);
    let (reading, completing, checking) = (knowledge.clone(), knowledge.clone(), knowledge.clone());
    let entry = TemplateEntry::new(access, wire, move |_, address| read(reading.clone(), address))?;
    // The id of a plain document has slashes, which clients write as they are or percent-encoded.
    let entry = entry.matched_by(&format!("mcp://{}/content/{{contentType}}/{{+id}}", host(knowledge)))?;
    let entry = entry.existing_by(move |address| {
        let (content_type, id) = content_type_and_id(address);
        checking.snapshot().catalog.get(content_type, &id).is_some()
    });
    Ok(entry.completed_by(move |variable, typed| complete(&completing, variable, typed)))
}

fn content_type_and_id(address: &Address) -> (&str, String) {
    let variable = |name: &str| address.variables.get(name).map_or("", String::as_str);
    (variable("contentType"), variable("id").replace("%2F", "/").replace("%2f", "/"))
}

async fn read(knowledge: Arc<Knowledge>, address: Address) -> Result<Outcome<ReadResourceResult>, Error> {
    let snapshot = knowledge.ready().await?;
    let (content_type, id) = content_type_and_id(&address);
    let entry = snapshot.catalog.get(content_type, &id);
    let entry = entry.ok_or_else(|| Error::ResourceNotFound { uri: printable(&address.uri) })?;
    let document = knowledge.document(entry).await?;
    as_markdown(&document, address.uri).map(Outcome::Done)
}

/// Completes a variable. The chosen type is unknown here, so ids of all types are offered.
fn complete(knowledge: &Knowledge, variable: &str, typed: &str) -> Vec<String> {
    let snapshot = knowledge.snapshot();
    let entries = snapshot.catalog.entries().iter();
    match variable {
        "contentType" => {
            let types: BTreeSet<&str> = entries.map(|entry| entry.summary.content_type.as_str()).collect();
            completions(types, typed)
        }
        _ => completions(entries.map(|entry| entry.summary.id.as_str()), typed),
    }
}
