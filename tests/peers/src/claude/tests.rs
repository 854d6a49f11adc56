//! Tests of parsing `claude mcp list`.

use super::connected;

#[track_caller]
fn check(line: &str, expected: bool) {
    let list = format!("Checking MCP server health…\n\n{line}\n");
    assert_eq!(connected(&list).is_ok(), expected, "{line}");
}

#[test]
fn only_our_own_connected_line_counts() {
    check("lyceum: http://127.0.0.1:1/mcp (HTTP) - ✔ Connected", true);
    check("lyceum: http://127.0.0.1:1/mcp (HTTP) - ✘ Failed to connect", false);
    check("lyceum: http://127.0.0.1:1/mcp (HTTP) - ! Needs authentication", false);
    check("other: http://127.0.0.1:1/mcp (HTTP) - ✔ Connected", false);
    check("", false);
}
