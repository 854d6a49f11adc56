//! Redirect URIs.

use crate::oauth::Redirect;

#[track_caller]
fn registers(text: &str, taken: bool) {
    assert_eq!(Redirect::parse(text).is_ok(), taken, "{text:?}");
}

#[track_caller]
fn allows(registered: &str, requested: &str, allowed: bool) {
    assert_eq!(
        Redirect::parse(registered).unwrap().allows(requested),
        allowed,
        "{registered:?} for {requested:?}"
    );
}

#[test]
fn an_address_that_leads_to_a_program_or_a_site_can_be_registered() {
    registers("https://app.example.org/callback", true);
    registers("https://app.example.org/callback?a=b", true);
    registers("http://127.0.0.1/callback", true);
    registers("http://127.0.0.1:4000/callback", true);
    registers("http://[::1]:4000/", true);
    registers("http://localhost:4000/callback", true);
    registers("cursor://anysphere.cursor-mcp/oauth/callback", true);
    registers("com.example.app:/callback", true);
}

#[test]
fn an_address_that_a_browser_acts_on_or_that_hides_where_it_leads_can_not() {
    let bad = [
        "",
        "/callback",
        "javascript:alert(1)",
        "javascript://example.org/%0aalert(1)",
        " JavaScript:alert(1)",
        "JAVASCRIPT:/x",
        "java\tscript:/x",
        "data:text/html,x",
        "data:/x",
        "file:///etc/passwd",
        "vbscript:/x",
        "ms-msdt:/id",
        "search-ms:/x",
        "httpx://claude.ai/cb",
        "http://app.example.org/callback",
        "http://127.0.0.1.evil.com/callback",
        "http://localhost./callback",
        "http://localhost.evil.com/callback",
        "http://2130706433/callback",
        "https://app.example.org/callback#x",
        "https://user@app.example.org/callback",
        "https://app.example.org:443@evil.com/callback",
        "http://127.0.0.1:80@evil.com/callback",
        "https://app.example.org\\@evil.com/",
        "https://app%2eexample.org/callback",
        "https://",
        "https:///callback",
        "https://app.example.org/call back",
        "https://app.example.org/ünïcode",
        "https://app.example.org:99999/",
        "https://app.example.org:0/",
        "https://app.example.org:+80/",
        "https://app.example.org;script-src/",
        "https://app.example.org,evil.com/",
        "https://app.example.org'/",
        "https://*/",
    ];
    for text in bad {
        registers(text, false);
    }
    registers(&format!("https://app.example.org/{}", "a".repeat(2000)), false);
}

#[test]
fn an_address_is_the_same_only_byte_for_byte() {
    let registered = "https://app.example.org/callback";
    allows(registered, registered, true);
    for requested in [
        "https://app.example.org/callback/",
        "https://app.example.org/Callback",
        "https://APP.example.org/callback",
        "https://app.example.org/callback?x=1",
        "https://app.example.org/callback#x",
        "https://app.example.org:443/callback",
        "https://app.example.org/%63allback",
        "https://app.example.org/./callback",
        "https://user@app.example.org/callback",
        "https://app.example.org.evil.com/callback",
        "http://app.example.org/callback",
        "",
    ] {
        allows(registered, requested, false);
    }
}

#[test]
fn a_program_on_the_same_machine_may_take_any_port() {
    for host in ["127.0.0.1", "[::1]", "localhost"] {
        for registered in [format!("http://{host}/callback"), format!("http://{host}:4000/callback")] {
            allows(&registered, &format!("http://{host}:51234/callback"), true);
            allows(&registered, &format!("http://{host}/callback"), true);
            allows(&registered, &format!("http://{host}:51234/other"), false);
            allows(&registered, &format!("https://{host}:51234/callback"), false);
            allows(&registered, &format!("http://{host}:51234/callback?x"), false);
            allows(&registered, &format!("http://{host}.evil.com:51234/callback"), false);
            allows(&registered, &format!("http://{host}:80@evil.com/callback"), false);
            allows(&registered, &format!("http://{host}:/callback"), false);
        }
    }
    allows("http://127.0.0.1/callback", "http://localhost:4000/callback", false);
    allows("cursor://host/callback", "cursor://host:80/callback", false);
}
