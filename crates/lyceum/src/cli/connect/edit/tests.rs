//! Edits keep every other byte of a file.

use serde_json::{Value, json};

use super::{Edit, Entry, Format, Slot, is_same};

fn slot() -> Slot {
    Slot::Member { path: &["mcpServers"], name: "lyceum".to_owned() }
}

fn entry() -> Entry {
    vec![("type", json!("http")), ("url", json!("http://127.0.0.1:8787/mcp"))]
}

fn edit() -> Vec<Edit> {
    vec![Edit { slot: slot(), entry: entry() }]
}

#[track_caller]
fn applied(format: Format, text: &str) -> String {
    let edited = format.apply(text, &edit()).unwrap();
    let value = format.get(&edited, &slot()).unwrap().unwrap();
    assert!(is_same(&value, &entry()), "{edited}");
    assert_eq!(format.transplant(text, &edited, &[slot()]).unwrap(), edited, "written as it is there");
    edited
}

/// A file that has our container: adding and removing an entry leaves its bytes.
#[track_caller]
fn round_trip(text: &str) {
    let edited = applied(Format::Jsonc, text);
    assert_eq!(Format::Jsonc.remove(&edited, &[slot()]).unwrap(), text, "{edited}");
}

#[test]
fn a_new_file_has_the_entry_only() {
    insta::assert_snapshot!(applied(Format::Jsonc, ""), @r#"
    {
      "mcpServers": {
        "lyceum": {
          "type": "http",
          "url": "http://127.0.0.1:8787/mcp"
        }
      }
    }
    "#);
    let toml = Slot::Member { path: &["mcp_servers"], name: "lyceum".to_owned() };
    let text = Format::Toml.apply("", &[Edit { slot: toml, entry: entry() }]).unwrap();
    insta::assert_snapshot!(text, @r#"
    [mcp_servers.lyceum]
    type = "http"
    url = "http://127.0.0.1:8787/mcp"
    "#);
}

#[test]
fn comments_order_and_indentation_of_json_stay() {
    let text = r#"// My settings
{
    "theme": "dark", // at night
    "mcpServers": {
        /* the first */
        "other": { "command": "other" }, // note
    },
    "zoom": 1.50,
}
"#;
    insta::assert_snapshot!(applied(Format::Jsonc, text), @r#"
    // My settings
    {
        "theme": "dark", // at night
        "mcpServers": {
            /* the first */
            "other": { "command": "other" }, // note
            "lyceum": {
                "type": "http",
                "url": "http://127.0.0.1:8787/mcp"
            },
        },
        "zoom": 1.50,
    }
    "#);
    round_trip(text);
}

#[test]
fn what_is_added_can_be_removed() {
    round_trip("{\"mcpServers\": {}}");
    round_trip("{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}\n");
    round_trip("{\n  \"mcpServers\": {\n    \"a\": {},\n    \"b\": {} // last\n  },\n  \"x\": 1\n}");
    round_trip("{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {}\r\n\t}\r\n}\r\n");
    round_trip("\u{feff}{\n  \"mcpServers\": {\n    \"a\": [1, {\"b\": \"}\"}],\n  },\n}\n");
}

#[test]
fn an_entry_in_the_middle_is_removed_with_its_comma() {
    let slot = slot();
    let removed = |text: &str| Format::Jsonc.remove(text, std::slice::from_ref(&slot)).unwrap();
    let text = "{\n  \"mcpServers\": {\n    \"a\": {},\n    \"lyceum\": {}, // ours\n    \"b\": {}\n  }\n}\n";
    assert_eq!(removed(text), "{\n  \"mcpServers\": {\n    \"a\": {},\n    \"b\": {}\n  }\n}\n");
    assert_eq!(
        removed(r#"{"mcpServers": {"a": {}, "lyceum": {}, "b": {}}}"#),
        r#"{"mcpServers": {"a": {}, "b": {}}}"#
    );
    assert_eq!(removed(r#"{"mcpServers": {"a": {}, "lyceum": {}}}"#), r#"{"mcpServers": {"a": {}}}"#);
    assert_eq!(removed(r#"{"mcpServers": {"lyceum": {}, "b": {}}}"#), r#"{"mcpServers": {"b": {}}}"#);
    assert_eq!(removed(r#"{"mcpServers": {"lyceum": {}}}"#), r#"{"mcpServers": {}}"#);
    assert_eq!(removed("{\"a\": 1}"), "{\"a\": 1}");
}

#[test]
fn any_layout_is_edited_into_what_the_client_reads() {
    for text in [
        "{}",
        "{\n}\n",
        "{ // nothing yet\n}\n",
        "{\"a\":1}",
        "{\"a\":1,}",
        "{\"a\": {\"mcpServers\": {}}, \"mcpServers\": {\"x\": {}}}",
        "{\n  // \"mcpServers\": {}\n  \"a\": \"// no comment\"\n}",
        "{\"mcpServers\": {\n}}",
        "{\"mcpServers\": {\"lyceum\": {\"url\": \"http://old\", \"x\": [1]}, \"y\": 2}}",
    ] {
        let edited = applied(Format::Jsonc, text);
        let removed = Format::Jsonc.remove(&edited, &[slot()]).unwrap();
        let other = Slot::Member { path: &[], name: "a".to_owned() };
        let kept = |text: &str| Format::Jsonc.get(text, &other).unwrap();
        assert_eq!((kept(text), kept(text)), (kept(&edited), kept(&removed)), "{edited}");
        assert_eq!(Format::Jsonc.get(&removed, &slot()), Ok(None), "{removed}");
    }
}

#[test]
fn an_element_of_an_array_is_found_by_its_id() {
    let slot = Slot::Element { array: "inputs", id: "lyceum-key".to_owned() };
    let edit = [Edit { slot: slot.clone(), entry: vec![("id", json!("lyceum-key"))] }];
    for text in ["{}", "{\"inputs\": []}", "{\n  \"inputs\": [\n    { \"id\": \"a\" }\n  ]\n}\n"] {
        let edited = Format::Jsonc.apply(text, &edit).unwrap();
        assert_eq!(Format::Jsonc.get(&edited, &slot), Ok(Some(json!({ "id": "lyceum-key" }))), "{edited}");
        let removed = Format::Jsonc.remove(&edited, std::slice::from_ref(&slot)).unwrap();
        assert_eq!(Format::Jsonc.get(&removed, &slot), Ok(None), "{removed}");
    }
}

#[track_caller]
fn refused(format: Format, text: &str, expected: &str) {
    let error = format.apply(text, &edit()).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_malformed_file_is_named_by_its_line() {
    refused(Format::Jsonc, "{\n  \"a\": 1\n  \"b\": 2\n}", "line 3: expected a comma or }");
    refused(Format::Jsonc, "{\n  \"a\": \n}", "line 3: expected a value, not \"}\"");
    refused(Format::Jsonc, "{\n  \"a\": \"open\n}", "line 2: this string is not closed");
    refused(Format::Jsonc, "{\n  /* open\n}", "line 2: this comment is not closed");
    refused(Format::Jsonc, "{\n  a: 1\n}", "line 2: expected a key in double quotes");
    refused(Format::Jsonc, "{\"a\": 1,\n\"a\": 2}", "line 2: the key \"a\" is there twice");
    refused(Format::Jsonc, "{", "line 1: ");
    refused(Format::Jsonc, "{}\n{}", "line 2: the file goes on");
    refused(Format::Jsonc, "[]", "the file must hold an object");
    refused(Format::Jsonc, "{\n\"mcpServers\": []}", "line 2: \"mcpServers\" must be an object");
    refused(Format::Jsonc, &"[".repeat(100_000), "nested too deeply");
    refused(Format::Toml, "a = 1\nb = \n", "line 2: ");
    refused(Format::Toml, "a = 1\nmcpServers = 3\n", "line 2: mcpServers must be a table");
}

#[test]
fn toml_keeps_comments_and_order() {
    let text =
        "# mine\nmodel = \"x\" # fast\n\n[mcpServers.other]\ncommand = \"other\"\n\n[tui]\ntheme = 'dark'\n";
    let edited = applied(Format::Toml, text);
    for line in text.lines() {
        assert!(edited.contains(line), "{line:?} is not in {edited}");
    }
    assert_eq!(Format::Toml.remove(&edited, &[slot()]).unwrap(), text, "{edited}");
    for text in [
        "mcpServers = { other = { command = \"x\" } }\n",
        "[mcpServers]\nother = { command = \"x\" }\n",
        "mcpServers.other.command = \"x\"\n",
        "a = 1\r\n[mcpServers.other]\r\ncommand = \"x\" # note\r\n",
    ] {
        let edited = applied(Format::Toml, text);
        let other = Slot::Member { path: &["mcpServers"], name: "other".to_owned() };
        let command = Format::Toml.get(&edited, &other).unwrap().unwrap();
        assert_eq!(command["command"], Value::from("x"), "{edited}");
        assert_eq!(Format::Toml.remove(&edited, &[slot()]).unwrap(), text, "{edited}");
    }
}
