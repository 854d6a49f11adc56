//! `github_app` of a source.

use std::path::Path;

use lyceum_testkit::app_key;

use super::super::{Config, Location, Overrides, document::Document};

const SOURCE: &str = "[[source]]\nname = \"kb\"\nurl = \"https://github.com/acme/kb.git\"\n";

#[track_caller]
fn check(lines: &str, expected: &str) {
    let variable = |name: &str| match name {
        "APP_KEY" => Some(app_key().into()),
        "NOT_A_KEY" => Some("hunter2".into()),
        "TOKEN" => Some("t0ken".into()),
        _ => None,
    };
    let text = format!("{SOURCE}{lines}\n[knowledge]\nsource = \"kb\"\n");
    let document = Document::parse(Path::new("lyceum.toml"), &text).unwrap();
    match (Config::of(document, variable, &Overrides::default()), expected) {
        (Ok(config), "") => {
            let Location::Repository(repository) = &config.sources[0].location else { panic!() };
            let app = repository.app.as_ref().unwrap();
            assert_eq!((app.app_id, app.installation_id), (7, 42));
            assert!(!format!("{config:?}").contains("MII"));
        }
        (Err(faults), expected) if !expected.is_empty() => {
            assert!(faults.to_string().contains(expected), "{faults}");
            assert!(!faults.to_string().contains("hunter2"), "{faults}");
        }
        (Ok(_), expected) => panic!("accepted, but: {expected}"),
        (Err(faults), _) => panic!("{faults}"),
    }
}

#[test]
fn an_app_has_ids_and_one_key() {
    let app = |more: &str| format!("github_app = {{ app_id = 7, installation_id = 42{more} }}");
    check(&app(", key_env = \"APP_KEY\""), "");
    check(&app(", key_env = \"APP_KEY\", api = \"https://github.example.org/api/v3\""), "");
    check(&app(""), "github_app: write either key_env or key_file");
    check(&app(", key_env = \"NOT_A_KEY\""), "key_env: is not an RSA private key in PEM form");
    check(&app(", key_env = \"UNSET\""), "the variable UNSET is not set");
    check(&app(", key_file = \"no/such.pem\""), "key_file: cannot read");
    check(
        &app(", key_env = \"APP_KEY\", api = \"http://example.org\""),
        "github_app.api: is not an https URL",
    );
    check(
        &format!("{}\ntoken_env = \"TOKEN\"", app(", key_env = \"APP_KEY\"")),
        "write either token_env or github_app",
    );
    check("github_app = { app_id = 7, key_env = \"APP_KEY\" }", "installation_id");
}
