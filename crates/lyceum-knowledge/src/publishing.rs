//! Which documents are published: as configured, or recognised from the source.
//!
//! A source whose frontmatter publishes something is published by frontmatter; any other is published whole. The rule in force is
//! stored with the published commit, so that every process shows the same. Recognition only ever restricts: once a source is published
//! by frontmatter it stays so, because removing its last published document must not publish all others.

use jiff::Timestamp;
use lyceum_content::{document::Publishing, ontology::Ontology};
use lyceum_source::Snapshot;
use lyceum_store::{DbError, Tx, kv::Namespace};

use crate::{
    plan,
    read::{ReadFile, Reader},
};

/// The rule in force, by source.
const IN_FORCE: Namespace = Namespace { name: "publishing", ttl_seconds: None };

/// The rule that the published commit was published by.
pub(crate) fn load(tx: &Tx<'_>, source: &str) -> Result<Option<Publishing>, DbError> {
    let name = IN_FORCE.get(tx, source, Timestamp::UNIX_EPOCH)?;
    Ok(name.and_then(|name| Publishing::parse(std::str::from_utf8(&name).ok()?)))
}

/// Stores the rule in the transaction that publishes a commit.
pub(crate) fn store(
    tx: &Tx<'_>,
    source: &str,
    publishing: Publishing,
    now: Timestamp,
) -> Result<(), DbError> {
    IN_FORCE.put(tx, source, publishing.as_str().as_bytes(), now)
}

/// Recognises the rule of a snapshot, as a first sync would.
pub fn recognise_publishing(ontology: &Ontology, snapshot: &Snapshot) -> Publishing {
    let reader =
        Reader { snapshot, ontology, publishing: Publishing::All, exclude: &[], now: Timestamp::UNIX_EPOCH };
    let mut documents = plan::documents(snapshot).map(|(path, _)| reader.read(path, None));
    let is_used = documents.any(|file| file.is_published_by_frontmatter);
    if is_used { Publishing::Frontmatter } else { Publishing::All }
}

/// Recognises the rule of a source from the files that were just read. Files of earlier syncs were no reason to change it.
pub(crate) fn recognise(current: Publishing, read: &[ReadFile]) -> Publishing {
    let is_used = read.iter().any(|file| file.is_published_by_frontmatter);
    if is_used { Publishing::Frontmatter } else { current }
}
