//! The bundled example shows how documents are written, so each of them must be valid.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use lyceum_content::{
    document::{self, Document, Visibility},
    ontology::Ontology,
};
use lyceum_model::RelPath;
use lyceum_source::{Folder, Snapshot};
use serde_json::Value;

use super::{files, source};

/// A word in every unpublished document, and in no other.
const UNPUBLISHED_WORD: &str = "kestrel-unpublished";
const UNPUBLISHED: [&str; 3] =
    ["drafts/letter-to-the-harbour-office.md", "drafts/solar-roof-offer.md", "notes/keys-and-alarm.md"];

/// Fields that contain ids of documents.
const REFERENCES: [&str; 18] = [
    "attendees",
    "author",
    "curator",
    "group",
    "groups",
    "harvester",
    "hasPart",
    "isPartOf",
    "lead",
    "location",
    "members",
    "patterns",
    "practitioners",
    "proposedBy",
    "related",
    "relatedPatterns",
    "relatedTerms",
    "tags",
];

/// The files of the example, by path.
fn texts() -> BTreeMap<RelPath, String> {
    let mut texts = BTreeMap::new();
    for (path, bytes) in files() {
        texts.insert(RelPath::parse(&path).unwrap(), String::from_utf8(bytes.into_owned()).unwrap());
    }
    texts
}

/// Calls a function with each document.
fn each(mut look: impl FnMut(&RelPath, &Document<'_>)) {
    let ontology = Ontology::standard().unwrap();
    for (path, text) in texts() {
        look(&path, &document::read(&ontology, document::Publishing::Frontmatter, &path, &text).unwrap());
    }
}

/// The id by which a document is linked.
fn id(path: &RelPath) -> &str {
    path.name().strip_suffix(".md").unwrap()
}

/// The path of each published document, by id.
fn published() -> BTreeMap<String, String> {
    let mut published = BTreeMap::new();
    each(|path, document| {
        if document.visibility == Visibility::Published {
            published.insert(id(path).to_owned(), path.to_string());
        }
    });
    published
}

/// The values of a field, as a list.
fn words<'a>(document: &'a Document<'_>, field: &str) -> Vec<&'a str> {
    match document.fields.get(field) {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(text)) => vec![text],
        _ => Vec::new(),
    }
}

/// The text without code.
fn prose(body: &str) -> String {
    let outside = |text: &str, fence: &str| text.split(fence).step_by(2).collect::<Vec<_>>().join(" ");
    outside(&outside(body, "```"), "`")
}

/// The texts between two delimiters.
fn between<'a>(text: &'a str, open: &str, close: &'a str) -> Vec<&'a str> {
    text.split(open).skip(1).map(|rest| rest.split(close).next().unwrap()).collect()
}

/// Resolves a relative link of a document against the root.
fn target(from: &RelPath, link: &str) -> String {
    let folder = from.parent().map(|folder| folder.to_string()).unwrap_or_default();
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in link.split('/') {
        match part {
            ".." => assert!(parts.pop().is_some(), "{from}: {link}"),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn every_document_is_as_its_type_has_it() {
    each(|path, document| assert_eq!(document.faults, [], "{path}"));
}

#[test]
fn every_id_is_its_own_and_good_in_an_address() {
    let mut ids = BTreeSet::new();
    let mut beyond_ascii = Vec::new();
    for path in texts().keys() {
        let id = id(path);
        assert!(ids.insert(id.to_owned()), "duplicate id {id}; links would be ambiguous");
        assert!(id.len() <= 64 && id.chars().all(|c| c.is_lowercase() || c.is_ascii_digit() || c == '-'));
        beyond_ascii.extend((!id.is_ascii()).then(|| id.to_owned()));
    }
    assert_eq!(beyond_ascii, ["gewächshaus"]);
    assert!(["welcome", "start-a-knowledge-base-in-an-afternoon"].iter().all(|id| ids.contains(*id)));
}

#[test]
fn every_type_occurs_with_its_fields() {
    let mut seen: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    each(|_, document| {
        let fields = document.fields.keys().cloned();
        seen.entry(document.content_type.clone()).or_default().extend(fields);
    });
    let ontology = Ontology::standard().unwrap();
    let types: Vec<&str> =
        ontology.types().filter(|one| !one.parent_only).map(|one| one.name.as_str()).collect();
    assert_eq!(seen.keys().map(String::as_str).collect::<Vec<_>>(), types);

    let check = |name: &str, fields: &str| {
        let common = "type title description date publish draft permalink author group tags";
        let missing: Vec<&str> = (common.split(' ').chain(fields.split_whitespace()))
            .filter(|field| !seen[name].contains(*field))
            .collect();
        assert!(missing.is_empty(), "no {name} shows {missing:?}");
    };
    check("file", "");
    check("index", "");
    check("link", "url");
    check("tag", "aliases relatedTerms category");
    check("pattern", "release hasPart isPartOf context problem solution relatedPatterns");
    check("practice", "release hasPart isPartOf patterns practitioners");
    check("primitive", "release hasPart isPartOf category");
    check("protocol", "release hasPart isPartOf steps");
    check("playbook", "release hasPart isPartOf");
    check("question", "release hasPart isPartOf status related proposedBy");
    check("study", "release");
    check("article", "release url curator harvester");
    check("person", "aliases roles groups homepage email image");
    check("group", "aliases members homepage logo");
    check("project", "status lead homepage");
    check("place", "coordinates region");
    check("gathering", "eventDate location attendees homepage");
}

#[test]
fn there_is_enough_of_everything_to_try_every_list() {
    let (mut types, mut releases, mut statuses) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
    each(|_, document| {
        *types.entry(document.content_type.clone()).or_insert(0) += 1;
        releases.extend(words(document, "release").into_iter().map(str::to_owned));
        statuses.extend(words(document, "status").into_iter().map(str::to_owned));
    });
    assert_eq!((types["group"], types["person"]), (4, 6));
    assert!(types["tag"] >= 14);
    assert_eq!(releases.into_iter().collect::<Vec<_>>(), ["autumn-2025", "spring-2026", "winter-2026"]);
    assert_eq!(statuses.len(), 7);
}

#[test]
fn every_link_leads_to_a_published_document() {
    let published = published();
    each(|path, document| {
        let text = prose(document.body);
        let wikilinks = between(&text, "[[", "]]");
        let links: Vec<&str> =
            between(&text, "](", ")").into_iter().filter(|link| !link.contains("://")).collect();
        assert!(!wikilinks.is_empty() || !links.is_empty(), "{path} leads nowhere");
        for link in wikilinks {
            let id = link.split('|').next().unwrap();
            assert!(published.contains_key(id), "{path}: [[{id}]]");
        }
        for link in links {
            let target = target(path, link);
            assert!(published.values().any(|known| *known == target), "{path}: {link}");
        }
    });
}

#[test]
fn every_id_in_a_field_is_that_of_a_published_document() {
    let published = published();
    each(|path, document| {
        for field in REFERENCES {
            for id in words(document, field) {
                let found = published.get(id).unwrap_or_else(|| panic!("{path}: {field}: {id}"));
                let is_term = ["tags", "relatedTerms"].contains(&field);
                assert!(!is_term || found.starts_with("tags/"), "{path}: {id} is not a term of the lexicon");
            }
        }
    });
}

#[test]
fn three_documents_are_not_to_be_seen_and_a_word_tells_when_they_are() {
    let mut hidden = Vec::new();
    each(|path, document| {
        let is_hidden = document.visibility != Visibility::Published;
        assert_eq!(document.body.contains(UNPUBLISHED_WORD), is_hidden, "{path}");
        hidden.extend(is_hidden.then(|| path.to_string()));
    });
    assert_eq!(hidden, UNPUBLISHED);
}

#[test]
fn what_is_in_the_program_is_what_is_in_the_folder() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("example");
    let (here, inside) = (Folder::new(folder).snapshot().unwrap(), source().snapshot());
    let all = |snapshot: &Snapshot| -> BTreeMap<RelPath, Vec<u8>> {
        let read = |path: &RelPath| (path.clone(), snapshot.read(path, 1 << 20).unwrap());
        snapshot.files().keys().map(read).collect()
    };
    assert_eq!(inside.problems(), []);
    assert!(all(&here) == all(&inside), "a file was added or removed; touch src/example.rs to rebuild");
}
