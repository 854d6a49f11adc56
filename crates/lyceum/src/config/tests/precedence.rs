//! The file, the environment over it, and flags over both.

use std::{fs, path::PathBuf};

use crate::config::{Config, Overrides, Place, check, document::Document};

/// A file that says where to listen and where to keep data.
fn document() -> Document {
    let text = "[server]\nlisten = \"127.0.0.1:1\"\ndata_dir = \"data\"\n";
    Document::parse("/etc/lyceum/lyceum.toml".as_ref(), text).unwrap()
}

#[test]
fn what_is_set_last_counts() {
    let mut document = document();
    document.set("server", "listen", "127.0.0.1:2".to_owned(), Place::Variable("LYCEUM_LISTEN"));
    assert_eq!(check::check(&document).unwrap().listen.port(), 2);
    document.set("server", "listen", "127.0.0.1:3".to_owned(), Place::Flag("--listen"));
    assert_eq!(check::check(&document).unwrap().listen.port(), 3);
}

#[test]
fn a_fault_names_the_variable_or_the_flag_that_it_came_from() {
    let mut document = document();
    document.set("server", "listen", "here".to_owned(), Place::Variable("LYCEUM_LISTEN"));
    document.set("server", "public_url", "there".to_owned(), Place::Flag("--public-url"));
    insta::assert_snapshot!(check::check(&document).unwrap_err(), @r#"
    the configuration has 2 faults
      the environment variable LYCEUM_LISTEN: server.listen: "here" is not an address and a port; write for example listen = "127.0.0.1:8787"
      the flag --public-url: server.public_url: "there" is not the root of a site; write for example public_url = "https://mcp.example.org"
    "#);
}

#[test]
fn a_variable_needs_no_file() {
    let mut document = Document::empty();
    document.set("server", "data_dir", "/srv".to_owned(), Place::Variable("LYCEUM_DATA_DIR"));
    assert_eq!(check::check(&document).unwrap().data_dir, PathBuf::from("/srv"));
}

/// A folder with the file `lyceum.toml` that says this.
fn folder_with(text: &str) -> (tempfile::TempDir, Overrides) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lyceum.toml");
    fs::write(&file, text).unwrap();
    (folder, Overrides { config: Some(file), ..Overrides::default() })
}

#[test]
fn a_flag_counts_over_the_file_and_its_path_starts_where_it_was_typed() {
    let text = "[server]\nlisten = \"127.0.0.1:1\"\ndata_dir = \"data\"\n";
    let (_folder, overrides) = folder_with(text);
    let listen = Some("127.0.0.1:3".to_owned());
    let config = Config::load(&Overrides { listen, data_dir: Some("here".into()), ..overrides }).unwrap();
    assert_eq!(config.listen.port(), 3);
    assert_eq!(config.data_dir, std::env::current_dir().unwrap().join("here"));
}

#[test]
fn a_file_that_is_named_must_be_there() {
    let (folder, _) = folder_with("");
    let absent = folder.path().join("absent.toml");
    let overrides = Overrides { config: Some(absent.clone()), ..Overrides::default() };
    let told = Config::load(&overrides).unwrap_err().to_string();
    let told = told.replace(&absent.display().to_string(), "absent.toml");
    insta::assert_snapshot!(told, @r"
    the configuration has 1 fault
      absent.toml: can't be read: No such file or directory (os error 2); name another file with --config, or leave it out
    ");
}
