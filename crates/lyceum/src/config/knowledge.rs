//! The table `[knowledge]`.

use lyceum_content::ontology::Ontology;
use lyceum_model::RelPath;
use serde_json::Value;

use super::{
    Bucket, KnowledgeService, Source,
    check::{Checker, is_plain},
};

/// The largest file of an ontology.
const LARGEST_ONTOLOGY: u64 = 1024 * 1024;

/// What the table declares, with every fault that the schema can't see.
pub(super) fn service(checker: &mut Checker<'_>, sources: &[Source]) -> Option<KnowledgeService> {
    let name = checker.text("/knowledge/source")?;
    let source = sources.iter().find(|source| source.name.as_str() == name).cloned();
    if source.is_none() {
        let message = format!("no [[source]] is named {name:?}; add one, or name one that is there");
        checker.fault("/knowledge/source", message);
    }
    let title = checker.text("/knowledge/title").unwrap_or(name).trim().to_owned();
    if !title.chars().any(|c| c.is_ascii_alphanumeric()) {
        checker.fault(
            "/knowledge/title",
            format!("{title:?} has no letter of a-z or digit; addresses need one"),
        );
    }
    let mut exclude = Vec::new();
    for at in checker.items("/knowledge/exclude") {
        match checker.text(&at).map(|text| RelPath::parse(text.trim_end_matches('/'))) {
            Some(Ok(path)) => exclude.push(path),
            Some(Err(error)) => checker.fault(&at, error.to_string()),
            None => {}
        }
    }
    let (ontology, text) = ontology(checker)?;
    let by_default =
        checker.document.values.pointer("/knowledge/publish_by_default") == Some(&Value::Bool(true));
    let ontology = if by_default { ontology.publishing_by_default() } else { ontology };
    let bucket = bucket(checker);
    let rules = format!("{text}\n{by_default}\n{exclude:?}");
    Some(KnowledgeService { source: source?, title, ontology, rules, exclude, bucket })
}

/// The ontology and its text.
fn ontology(checker: &mut Checker<'_>) -> Option<(Ontology, String)> {
    let at = "/knowledge/ontology";
    let Some(written) = checker.text(at) else {
        let ontology = Ontology::standard().map_err(|error| checker.fault(at, error.to_string()));
        return Some((ontology.ok()?, Ontology::STANDARD.to_owned()));
    };
    let file = checker.path(written);
    let is_small = file.metadata().is_ok_and(|meta| meta.len() <= LARGEST_ONTOLOGY);
    let text = std::fs::read_to_string(&file).ok().filter(|_| is_small);
    let Some(text) = text else {
        checker.fault(
            at,
            format!("{written:?} is no file of text that can be read; name another, or leave it out"),
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

fn bucket(checker: &mut Checker<'_>) -> Option<Bucket> {
    let at = "/knowledge/bucket";
    checker.document.values.pointer(at)?;
    let text = |checker: &Checker<'_>, key: &str| checker.text(&format!("{at}/{key}")).map(str::to_owned);
    let endpoint = text(checker, "endpoint")?;
    if is_plain(&endpoint) {
        checker.fault(
            &format!("{at}/endpoint"),
            "keys are not sent over plain http; write it with https".to_owned(),
        );
    }
    let mut key = |name: &str| {
        let at = format!("{at}/{name}");
        let variable = checker.text(&at)?;
        let value = checker.variable(&at, variable)?;
        checker.token_in(&at, variable, &value)
    };
    let (access_key, secret_key) = (key("access_key_env"), key("secret_key_env"));
    Some(Bucket {
        name: text(checker, "name")?,
        endpoint,
        region: text(checker, "region").unwrap_or_else(|| "auto".to_owned()),
        prefix: text(checker, "prefix"),
        access_key: access_key?,
        secret_key: secret_key?,
    })
}
