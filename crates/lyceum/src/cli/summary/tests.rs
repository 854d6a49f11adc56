//! How sections and commands are printed.

use lyceum_model::SourceName;

use super::{Section, next_commands, quoted};
use crate::{
    config::{Config, Overrides},
    service::Inventory,
};

fn section() -> Section {
    let inventory = |served: &str, left_out: &[&str]| Inventory {
        source: SourceName::from_static("docs"),
        served: served.to_owned(),
        left_out: left_out.iter().map(|line| (*line).to_owned()).collect(),
    };
    Section {
        heading: "./docs: docs, 242 markdown files".to_owned(),
        services: vec![
            ("knowledge".to_owned(), inventory("241 documents", &["1 file: hidden", "5 files are not read"])),
            ("search".to_owned(), inventory("lexical (BM25)", &[])),
        ],
    }
}

#[test]
fn a_section_is_a_table() {
    insta::assert_snapshot!(section().lines(), @r"
    ./docs: docs, 242 markdown files
      knowledge  241 documents
      left out   1 file: hidden
                 5 files are not read
      search     lexical (BM25)
    ");
}

#[test]
fn a_section_is_a_line_where_nobody_looks() {
    insta::assert_snapshot!(section().line(), @"./docs: docs, 242 markdown files; knowledge: 241 documents (2 reasons to leave files out); search: lexical (BM25)");
}

#[test]
fn the_next_commands_repeat_the_flags() {
    let config = "[[source]]\nname = \"kb\"\npath = \".\"\n[knowledge]\nsource = \"kb\"\n";
    let config = Config::from_text("lyceum.toml".as_ref(), config).unwrap();
    let overrides = Overrides { config: Some("my team.toml".into()), ..Overrides::default() };
    insta::assert_snapshot!(next_commands("http://127.0.0.1:1", &config, &overrides, &[]), @r"
    Next:
      lyceum connect claude --url http://127.0.0.1:1        # connect a client, here Claude Code
      lyceum search --config 'my team.toml' your question   # search without a client
      lyceum doctor --config 'my team.toml'                 # check sources, skipped files and sign-in
    ");
}

#[test]
fn words_are_quoted_for_a_shell() {
    for (word, expected) in [
        ("./docs", "./docs"),
        ("https://example.org/kb.git", "https://example.org/kb.git"),
        ("my docs", "'my docs'"),
        ("it's", r"'it'\''s'"),
        ("~/docs", "'~/docs'"),
    ] {
        assert_eq!(quoted(word), expected);
    }
}
