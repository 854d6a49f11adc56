//! `mcp://{host}/lexicon/{term}`: resource template of the lexicon's terms.

use std::{borrow::Cow, sync::Arc};

use lyceum_content::knowledge::{completions, define};
use lyceum_model::Domain;
use lyceum_tools::{
    Address, Error, Outcome, RegistryError, TemplateEntry,
    mcp::{ReadResourceResult, ResourceTemplate, printable},
};
use percent_encoding::percent_decode_str;

use super::{MARKDOWN, as_markdown};
use crate::{Knowledge, public::member_note, register::host, term};

pub(super) fn template(domain: &Domain, knowledge: &Arc<Knowledge>) -> Result<TemplateEntry, RegistryError> {
    let uri = format!("mcp://{}/lexicon/{{term}}", host(knowledge));
    // It returns the whole document of the term; `define_term` returns its definition.
    let access = knowledge.options.public.documents(domain);
    let wire = ResourceTemplate::new(uri, "lexicon")
        .with_title("Term of the lexicon")
        .with_description(format!(
            "The definition of a term from the {} lexicon.{}",
            knowledge.title(),
            member_note(&access)
        ))
        .with_mime_type(MARKDOWN);
    let (reading, completing, checking) = (knowledge.clone(), knowledge.clone(), knowledge.clone());
    let entry = TemplateEntry::new(access, wire, move |_, address| read(reading.clone(), address))?;
    let entry = entry.existing_by(move |address| {
        name_of(address).is_some_and(|name| define(&checking.snapshot().catalog, &name).is_some())
    });
    Ok(entry.completed_by(move |_, typed| {
        let snapshot = completing.snapshot();
        completions(term::titles(&snapshot.catalog), typed)
    }))
}

/// The name of the term; `None` if it is not UTF-8.
fn name_of(address: &Address) -> Option<Cow<'_, str>> {
    let name = address.variables.get("term").map_or("", String::as_str);
    percent_decode_str(name).decode_utf8().ok()
}

async fn read(knowledge: Arc<Knowledge>, address: Address) -> Result<Outcome<ReadResourceResult>, Error> {
    let snapshot = knowledge.ready().await?;
    let unknown = || Error::ResourceNotFound { uri: printable(&address.uri) };
    let name = name_of(&address).ok_or_else(unknown)?;
    let entry = define(&snapshot.catalog, &name).ok_or_else(unknown)?;
    let document = knowledge.document(entry).await?;
    as_markdown(&document, address.uri).map(Outcome::Done)
}
