//! Tests of the rule about restricted names.

use super::faults;
use crate::tidy::file;

#[track_caller]
fn check(path: &str, line: &str, allowed: bool) {
    let found = faults(&[file(path, &format!("//! A file.\n{line}\n"))]);
    assert_eq!(found.is_empty(), allowed, "{path}: {line}: {found:?}");
    assert!(allowed || found[0].starts_with(&format!("{path}:2: ")), "{found:?}");
}

#[test]
fn rmcp_is_named_in_its_two_modules_only() {
    check("crates/lyceum-tools/src/mcp.rs", "use rmcp::model;", true);
    check("crates/lyceum-tools/src/mcp/reply.rs", "use rmcp::model;", true);
    check("crates/lyceum-gateway/src/mcp_http.rs", "use rmcp::model;", false);
    check("crates/lyceum/src/mcp/legacy.rs", "use rmcp::service;", true);
    check("crates/lyceum/src/http.rs", "use rmcp::model;", false);
    check("crates/lyceum/src/mcp_router.rs", "use rmcp::model;", false);
    check("crates/lyceum/tests/it/modern.rs", "use rmcp::model;", false);
    check("crates/lyceum/src/http.rs", "let armcpx = crmcp + rmcp_version;", true);
}
