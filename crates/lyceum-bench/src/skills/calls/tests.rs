//! Parsing the log.

use super::duration;

#[test]
fn a_request_s_duration_is_found_by_its_id() {
    let line = r#"{"level":"INFO","message":"request","request_id":"get-7","status":200,"duration_ms":0.25}"#;
    assert_eq!(duration(line), Some(("get-7".to_owned(), 0.25)));
    assert_eq!(duration(r#"{"level":"INFO","message":"listening"}"#), None);
    assert_eq!(duration("torn"), None);
}
