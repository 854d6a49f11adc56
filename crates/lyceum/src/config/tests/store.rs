//! The tables `[store]` and `[objects]`.

use std::path::Path;

use crate::config::{Config, Overrides, document::Document};

const OBJECTS: &str = "[objects]\nname = \"b\"\nendpoint = \"https://s3.example.org\"\naccess_key_env = \"ID\"\nsecret_key_env = \"KEY\"\n";
const STORE: &str = "[store]\nurl_env = \"DATABASE_URL\"\n";
const URL: (&str, &str) = ("DATABASE_URL", "postgres://lyceum:canary@one,two/lyceum");

fn with(text: &str, variables: &[(&str, &str)]) -> Result<Config, String> {
    let document = Document::parse(Path::new("lyceum.toml"), text).unwrap();
    let variable = |name: &str| variables.iter().find(|(one, _)| *one == name).map(|(_, value)| value.into());
    Config::of(document, variable, &Overrides::default()).map_err(|faults| faults.to_string())
}

#[track_caller]
fn check_fault(text: &str, variables: &[(&str, &str)], expected: &str) {
    let error = with(text, variables).unwrap_err();
    assert!(error.contains(expected) && !error.contains("canary"), "{error}");
}

#[test]
fn a_database_and_a_bucket_are_for_all_services() {
    let variables = [URL, ("ID", "an-id"), ("KEY", "canary")];
    let config = with(&format!("{STORE}{OBJECTS}"), &variables).unwrap();
    assert!(!format!("{config:?}").contains("canary"));
    assert_eq!(config.store.unwrap().variable, "DATABASE_URL");
    assert_eq!(config.objects.unwrap().region, "auto");
    // A bucket alone is fine: one node may keep its objects there.
    assert!(with(OBJECTS, &variables).unwrap().store.is_none());
}

#[test]
fn a_shared_database_needs_shared_objects_and_an_address() {
    check_fault(STORE, &[URL], "add [objects]");
    check_fault(
        &format!("{STORE}{OBJECTS}"),
        &[("ID", "i"), ("KEY", "k")],
        "the variable DATABASE_URL is not set",
    );
    let address = ("DATABASE_URL", "mysql://lyceum:canary@host/lyceum");
    check_fault(
        &format!("{STORE}{OBJECTS}"),
        &[address, ("ID", "i"), ("KEY", "k")],
        "postgres://user:password@host/database",
    );
    check_fault("[store]\n", &[], "url_env");
}
