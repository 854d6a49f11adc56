//! Which URL a client is connected to.

use super::{configured_endpoint, endpoint, is_clear_text};
use crate::config::Config;

#[track_caller]
fn check(typed: &str, expected: Result<&str, &str>) {
    let url = endpoint(typed).map(String::from).map_err(|error| error.to_string());
    match expected {
        Ok(expected) => assert_eq!(url.as_deref(), Ok(expected), "{typed}"),
        Err(part) => assert!(url.as_ref().is_err_and(|error| error.contains(part)), "{typed}: {url:?}"),
    }
}

#[test]
fn a_server_without_a_path_has_its_mcp_endpoint() {
    check("http://127.0.0.1:8787", Ok("http://127.0.0.1:8787/mcp"));
    check("https://mcp.example.org/", Ok("https://mcp.example.org/mcp"));
    check("https://example.org/skills/mcp", Ok("https://example.org/skills/mcp"));
    check("127.0.0.1:8787", Err("write for example https://"));
    check("ftp://example.org/mcp", Err("not a URL of http or https"));
    check("", Err("is not a URL"));
    check("https://me:secret@example.org/mcp", Err("--key-env"));
}

#[test]
fn the_configuration_names_the_url() {
    let url = |text: &str| {
        configured_endpoint(&Config::from_text("lyceum.toml".as_ref(), text).unwrap()).map(String::from)
    };
    assert_eq!(url("").unwrap(), "http://127.0.0.1:8787/mcp");
    assert_eq!(url("[server]\nlisten = \"0.0.0.0:99\"\n").unwrap(), "http://127.0.0.1:99/mcp");
    assert_eq!(url("[server]\nlisten = \"[::]:99\"\n").unwrap(), "http://[::1]:99/mcp");
    assert_eq!(
        url("[server]\npublic_url = \"https://mcp.example.org\"\n").unwrap(),
        "https://mcp.example.org/mcp"
    );
    assert!(url("[server]\nlisten = \"127.0.0.1:0\"\n").unwrap_err().to_string().contains("--url"));
}

#[test]
fn a_key_over_plain_http_is_in_clear_text_except_to_this_machine() {
    let clear = |url: &str| is_clear_text(&endpoint(url).unwrap());
    assert!(clear("http://example.org"));
    assert!(!clear("https://example.org"));
    assert!(!clear("http://127.0.0.1:8787"));
}
