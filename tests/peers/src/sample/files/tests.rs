//! Tests of the sample: it has what the peers expect.

use super::{ODD_ADDRESS, ODD_FILE, addresses, all};

#[test]
fn the_first_skill_has_a_folder() {
    assert_eq!(addresses().first().map(String::as_str), Some("skill://accounting/SKILL.md"));
    assert!(all().iter().any(|(path, _)| path.starts_with("skills/accounting/templates/")));
}

#[test]
fn the_list_has_two_pages() {
    let count = addresses().len();
    assert!((101..=200).contains(&count), "{count}");
}

#[test]
fn no_two_files_are_at_the_same_place() {
    let mut paths: Vec<_> = all().into_iter().map(|(path, _)| path).collect();
    let count = paths.len();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), count);
}

#[test]
fn the_odd_address_is_that_of_the_odd_file() {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'.' | b'/' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    let encoded: String = ODD_FILE.bytes().map(encode).collect();
    assert_eq!(format!("skill://{encoded}"), ODD_ADDRESS);
}
