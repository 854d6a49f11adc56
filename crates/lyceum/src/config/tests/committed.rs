//! The committed JSON schema for editors, and the example configurations.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    config::{Config, Overrides, document::Document, json_schema},
    services::KINDS,
};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All example configurations, with their text.
fn examples() -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(repository().join("examples")).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|extension| extension == "toml"));
    let examples: Vec<_> = files.map(|file| (file.clone(), fs::read_to_string(&file).unwrap())).collect();
    assert!(!examples.is_empty());
    examples
}

#[test]
fn the_committed_schema_is_the_one_that_is_checked_against() {
    let committed = fs::read_to_string(repository().join("docs/lyceum.schema.json")).unwrap_or_default();
    assert!(
        committed == format!("{:#}\n", json_schema(&KINDS)),
        "the schema changed; update it with: cargo run -p lyceum -- schema > docs/lyceum.schema.json"
    );
}

#[test]
fn every_example_is_good() {
    // The variables that the examples name.
    const SET: [(&str, &str); 14] = [
        ("MAINNET_RPC_URL", "https://chain.example.org/a-secret"),
        ("GITHUB_WEBHOOK_SECRET", "a-secret"),
        ("COOKIE_ENCRYPTION_KEY", "0000000000000000000000000000000000000000000000000000000000000000"),
        ("OPTIMISM_RPC_URL", "https://chain.example.org/a-secret"),
        ("GITHUB_CLIENT_ID", "an-id"),
        ("GITHUB_CLIENT_SECRET", "a-secret"),
        ("GITHUB_TOKEN", "a-secret"),
        ("DASHBOARD_SECRET", "a-secret"),
        ("DOCS_TOKEN", "a-secret"),
        ("DOMAIN_SHARED_SECRET", "a-secret"),
        ("DATABASE_URL", "postgres://lyceum:a-secret@db.example.org/lyceum"),
        ("S3_ACCESS_KEY_ID", "an-id"),
        ("S3_SECRET_ACCESS_KEY", "a-secret"),
        ("LYCEUM_KEY_CI", "lyc_key_000000000000000000000000000000000000000000000000000000000000000072215969"),
    ];
    let set = |name: &str| SET.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
    let variable = |name: &str| set(name);
    for (file, text) in examples() {
        let document = Document::parse(&file, &text).unwrap();
        let config = Config::of(document, variable, &Overrides::default());
        let warnings = config.unwrap_or_else(|faults| panic!("{faults}")).warnings();
        assert!(!warnings.iter().any(|warning| warning.contains("no service uses")), "{warnings:?}");
    }
}

#[test]
fn the_examples_for_a_start_need_no_variables() {
    for name in ["minimal.toml", "team.toml"] {
        let file = repository().join("examples").join(name);
        let config = Config::from_text(&file, &fs::read_to_string(&file).unwrap());
        let warnings = config.unwrap_or_else(|faults| panic!("{name}: {faults}")).warnings();
        // The folder of the notes is on the server of the team.
        assert!(warnings.iter().all(|warning| warning.contains("/srv/notes")), "{name}: {warnings:?}");
    }
}

#[test]
fn every_key_is_shown_in_an_example() {
    let schema = json_schema(&KINDS);
    let tables =
        schema["$defs"].as_object().unwrap().values().filter_map(|table| table["properties"].as_object());
    let keys: Vec<&String> = tables.flat_map(|properties| properties.keys()).collect();
    assert!(keys.len() > 10, "{keys:?}");
    let shown: String = examples().into_iter().map(|(_, text)| text).collect();
    for key in keys {
        let is_shown = |line: &str| {
            let line = line.trim_start_matches("# ");
            line.starts_with(&format!("{key} = ")) || line.trim_end_matches(']').ends_with(&format!(".{key}"))
        };
        assert!(shown.lines().any(is_shown), "no example shows {key}");
    }
}
