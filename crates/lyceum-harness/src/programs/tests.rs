//! Tests of reading cargo's messages.

use super::executables;

#[test]
fn only_programs_are_found_in_the_messages() {
    let messages = r#"
        {"reason":"compiler-artifact","target":{"name":"serde"},"executable":null}
        {"reason":"compiler-artifact","target":{"name":"lyceum"},"executable":"/t/debug/lyceum"}
        {"reason":"build-finished","success":true}"#;
    let found = executables(messages);
    assert_eq!(found.len(), 1);
    assert_eq!(found["lyceum"].to_str(), Some("/t/debug/lyceum"));
}
