//! Status page of a knowledge base.

use std::{collections::BTreeMap, fmt::Write};

use lyceum_knowledge::PublicContent;

use super::KnowledgeBase;
use crate::finding::counted;

/// Contents, freshness and REST URLs.
pub(super) fn text(base: &KnowledgeBase, server: &str) -> String {
    let (snapshot, title) = (base.knowledge().snapshot(), base.knowledge().title());
    let url = format!("{server}{}", base.root());
    let (Some(commit), Some(synced_at)) = (&snapshot.version, snapshot.synced_at) else {
        return format!(
            "\nThe knowledge base {title} is being fetched; {server}/readyz says when it is here.\n"
        );
    };
    let mut by_type: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in snapshot.catalog.entries() {
        *by_type.entry(&entry.summary.content_type).or_default() += 1;
    }
    let entries = snapshot.catalog.entries();
    let mut text = format!(
        "\nThe knowledge base {title}: {count}, commit {commit}, synced at {synced_at}\n",
        count = counted(entries.len(), "document", "documents")
    );
    for (content_type, count) in by_type {
        // Writing to a string can't fail.
        let _written = writeln!(text, "  {count:>6}  {content_type}");
    }
    if let Some(warning) = snapshot.nothing_published() {
        let _written = writeln!(text, "  warning: {warning}");
    }
    let _written = write!(
        text,
        "\nAs a list      {url}/api/v1/entries?limit=100\n\
         For a model    {url}/llms.txt\n\
         As OpenAPI     {url}/api/v1/openapi.json\n"
    );
    if let Some(first) = entries.first().filter(|_| base.public() == PublicContent::All) {
        let (content_type, id) = (&first.summary.content_type, &first.summary.id);
        let _written = writeln!(
            text,
            "One document   curl -H 'Accept: text/markdown' {url}/api/v1/entries/{content_type}/{id}"
        );
    }
    text
}
