//! Agent profiles and pages as resources: `library://NAME/agents/{+name}` and `library://NAME/docs/{+path}`, read like by
//! the tools.

use std::sync::Arc;

use lyceum_content::knowledge::completions;
use lyceum_model::{Access, Domain};
use lyceum_tools::{
    Address, Outcome, RegistryBuilder, RegistryError, TemplateEntry,
    mcp::{CacheScope, MetaObject, ReadResourceResult, ResourceContents, ResourceTemplate},
};
use percent_encoding::percent_decode_str;
use serde_json::json;

use crate::{Library, PartKind, read::Found, tools};

const MARKDOWN: &str = "text/markdown";

/// Registers the templates of the parts that are configured.
pub(crate) fn register(
    mut builder: RegistryBuilder,
    domain: &Domain,
    library: &Arc<Library>,
) -> Result<RegistryBuilder, RegistryError> {
    let access = || Access::public(domain.clone());
    if library.has(PartKind::Agents) {
        let wire = ResourceTemplate::new(format!("library://{domain}/agents/{{+name}}"), "agent")
            .with_title("Agent profile")
            .with_description("An agent profile of the team's library, by its name")
            .with_mime_type(MARKDOWN);
        let (reading, completing) = (library.clone(), library.clone());
        let entry = TemplateEntry::new(access(), wire, move |call, address| {
            let library = reading.clone();
            async move {
                Ok(result(&address, &tools::read_agent(&library, &call, &variable(&address, "name")).await?))
            }
        })?;
        builder = builder.template(entry.completed_by(move |_, typed| {
            let agents = completing.state().borrow().indexes.agents.clone();
            let names =
                agents.iter().flat_map(|agents| &agents.index.entries).map(|entry| entry.name.as_str());
            completions(names, typed)
        }))?;
    }
    if library.has(PartKind::Docs) {
        let wire = ResourceTemplate::new(format!("library://{domain}/docs/{{+path}}"), "doc")
            .with_title("Page of the docs")
            .with_description("A page of the team's docs, by its path, such as guides/setup")
            .with_mime_type(MARKDOWN);
        let (reading, completing) = (library.clone(), library.clone());
        let entry = TemplateEntry::new(access(), wire, move |call, address| {
            let library = reading.clone();
            async move {
                let path: Vec<String> = variable(&address, "path").split('/').map(str::to_owned).collect();
                Ok(result(&address, &tools::read_page(&library, &call, &path).await?))
            }
        })?;
        builder = builder.template(entry.completed_by(move |_, typed| {
            let docs = completing.state().borrow().indexes.docs.clone();
            completions(docs.iter().flat_map(|docs| docs.index.pages.keys()).map(String::as_str), typed)
        }))?;
    }
    Ok(builder)
}

/// A variable of the URI, percent-decoded.
fn variable(address: &Address, name: &str) -> String {
    let written = address.variables.get(name).map_or("", String::as_str);
    percent_decode_str(written).decode_utf8_lossy().into_owned()
}

/// The file as a resource. Only its reader may cache it: others may not be allowed to read it.
fn result(address: &Address, found: &Found) -> Outcome<ReadResourceResult> {
    let text = String::from_utf8_lossy(&found.file.bytes).into_owned();
    let mut meta = MetaObject::new();
    let provenance =
        json!({ "path": found.path, "sha": found.file.sha, "commit": found.commit, "url": found.url });
    meta.insert("lyceum/provenance".to_owned(), provenance);
    let contents = ResourceContents::text(text, address.uri.clone()).with_mime_type(MARKDOWN).with_meta(meta);
    let mut result = ReadResourceResult::new(vec![contents]);
    result.cache_scope = Some(CacheScope::Private);
    Outcome::Done(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_decoded_once() {
        let variables = [("name".to_owned(), "a%20b%2Fc%252e".to_owned())].into();
        let address = Address { uri: String::new(), variables };
        assert_eq!(variable(&address, "name"), "a b/c%2e");
    }
}
