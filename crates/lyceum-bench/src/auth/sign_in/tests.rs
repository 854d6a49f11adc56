//! Parsing responses.

use super::between;

#[test]
fn a_value_is_found_between_two_texts() {
    let page = r#"<input type="hidden" name="stateId" value="a.b-c"><button>"#;
    assert_eq!(between(page, "name=\"stateId\" value=\"", "\""), Some("a.b-c"));
    assert_eq!(between("http://x/?code=1&iss=2", "code=", "&"), Some("1"));
    assert_eq!(between("http://x/?iss=2&code=1", "code=", "&"), Some("1"));
    assert_eq!(between("http://x/?error=no", "code=", "&"), None);
}
