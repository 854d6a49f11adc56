//! The table `[knowledge]`.

mod drafts;

use std::sync::Arc;

use lyceum_content::{document::Publishing, ontology::Ontology};
use lyceum_knowledge::{PublicContent, SCRIPT, SKILL};
use lyceum_model::RelPath;

use super::{
    KnowledgeService, Location, Source, Table,
    check::Checker,
    fault::{Fault, Faults, ValueOrigin},
    raw::Publish,
    store,
};
use crate::service::Settings;

/// Maximum size of an ontology file.
const MAX_ONTOLOGY_BYTES: u64 = 1024 * 1024;

/// Settings of the bundled example, with the built-in ontology.
pub(super) fn of_example(source: Source) -> Result<KnowledgeService, Faults> {
    let ontology = Ontology::standard().map_err(|error| {
        let origin = ValueOrigin::Flag("the bundled example");
        Faults(vec![Fault { origin, key: String::new(), message: error.to_string() }])
    })?;
    let title = "Ferry Street".to_owned();
    let rules = Ontology::STANDARD.to_owned();
    Ok(KnowledgeService {
        source,
        title,
        ontology,
        rules,
        publish: Some(Publishing::Frontmatter),
        exclude: Vec::new(),
        public: PublicContent::All,
        bucket: None,
        drafts: None,
    })
}

/// Validates the table beyond its schema.
pub(crate) fn check(
    checker: &mut Checker<'_>,
    table: &Table,
    sources: &[Source],
) -> Option<Arc<dyn Settings>> {
    let at = table.at.as_str();
    let source = checker.source_named(at, sources);
    let name = checker.text(&format!("{at}/source"))?;
    let title_at = format!("{at}/title");
    let title = checker.text(&title_at).unwrap_or(name).trim().to_owned();
    if !title.chars().any(|c| c.is_ascii_alphanumeric()) {
        checker.fault(
            &title_at,
            format!(
                "{title:?} must contain a letter a-z or a digit, because it becomes part of resource URIs"
            ),
        );
    }
    let mut exclude = Vec::new();
    for at in checker.items(&format!("{at}/exclude")) {
        match checker.text(&at).map(|text| RelPath::parse(text.trim_end_matches('/'))) {
            Some(Ok(path)) => exclude.push(path),
            Some(Err(error)) => checker.fault(&at, error.to_string()),
            None => {}
        }
    }
    let (ontology, text) = ontology(checker, at)?;
    for reserved in [SKILL, SCRIPT] {
        if ontology.get(reserved).is_some() {
            let message = format!("the type {reserved:?} is reserved for skills; rename it");
            checker.fault(&format!("{at}/ontology"), message);
        }
    }
    let publish = publish(checker, &format!("{at}/publish"));
    let bucket = store::bucket(checker, &format!("{at}/bucket"));
    let drafts = source.as_ref().and_then(|source| drafts::check(checker, at, source));
    // Documents depend on all of these; if one changes, every document is parsed again.
    let web_url = source.as_ref().and_then(|source| match &source.location {
        Location::Repository(repository) => repository.web_url.as_deref(),
        Location::Folder(_) | Location::Example => None,
    });
    let rules = format!("{text}\n{publish:?}\n{exclude:?}\n{web_url:?}");
    let public = public(checker, &format!("{at}/public"));
    Some(Arc::new(KnowledgeService {
        source: source?,
        title,
        ontology,
        rules,
        publish,
        exclude,
        public,
        bucket,
        drafts,
    }))
}

/// Which documents are published; `None` to recognise it. Schema errors are reported already.
fn publish(checker: &Checker<'_>, at: &str) -> Option<Publishing> {
    let written = checker.document.values.pointer(at).cloned();
    match written.and_then(|written| serde_json::from_value(written).ok()).unwrap_or_default() {
        Publish::Auto => None,
        Publish::All => Some(Publishing::All),
        Publish::Frontmatter => Some(Publishing::Frontmatter),
    }
}

/// What is public. Everything if nobody signs in, since every caller may then call everything.
fn public(checker: &mut Checker<'_>, at: &str) -> PublicContent {
    let written = checker.document.values.pointer(at).cloned();
    let written = written.and_then(|written| serde_json::from_value(written).ok());
    let is_open = matches!(checker.text("/auth/mode"), None | Some("open"));
    match written {
        Some(PublicContent::Summaries | PublicContent::Nothing) if is_open => {
            let message = "has no effect, because auth.mode is \"open\"; set mode in [auth], or remove it";
            checker.fault(at, message.to_owned());
            PublicContent::All
        }
        None if is_open => PublicContent::All,
        None => PublicContent::Summaries,
        Some(written) => written,
    }
}

/// The ontology and its source text.
fn ontology(checker: &mut Checker<'_>, at: &str) -> Option<(Ontology, String)> {
    let at = &format!("{at}/ontology");
    let Some(written) = checker.text(at) else {
        let ontology = Ontology::standard().map_err(|error| checker.fault(at, error.to_string()));
        return Some((ontology.ok()?, Ontology::STANDARD.to_owned()));
    };
    let file = checker.path(written);
    let is_small = file.metadata().is_ok_and(|meta| meta.len() <= MAX_ONTOLOGY_BYTES);
    let text = std::fs::read_to_string(&file).ok().filter(|_| is_small);
    let Some(text) = text else {
        checker.fault(
            at,
            format!("cannot read {written:?}: it must be a UTF-8 text file of at most 1 MiB; name another file, or remove the key"),
        );
        return None;
    };
    match Ontology::parse(&text) {
        Ok(ontology) => Some((ontology, text)),
        Err(error) => {
            checker.fault(at, error.to_string());
            None
        }
    }
}
