//! Parsing of keys, and their paths on disk.

use lyceum_model::RelPath;

use super::super::{Key, disk_name};

#[track_caller]
fn check(text: &str, accepted: bool) {
    assert_eq!(Key::parse(text).is_ok(), accepted, "{text:?}");
}

#[test]
fn a_key_is_one_that_every_store_takes() {
    check("a", true);
    check(&format!("{}a", "a/".repeat(511)), true);
    check(&"é".repeat(512), true);
    check(&"é".repeat(513), false);
    for text in
        ["", "/", "/a", "a/", "a//b", ".", "a/..", "../a", "./a", "a\nb", "a\u{85}b", "a\0b", "a\u{FFFF}"]
    {
        check(text, false);
    }
}

#[test]
fn keys_are_made_of_what_they_stand_for() {
    assert_eq!(Key::content("guide", "a/b").unwrap().as_str(), "content/guide/a/b.json");
    assert_eq!(Key::raw(&RelPath::parse("ü/a b.md").unwrap()).unwrap().as_str(), "raw/ü/a b.md");
    assert_eq!(Key::parse(Key::manifest().as_str()), Ok(Key::manifest()));
    for (content_type, id) in [("", "a"), ("..", "a"), ("a/b", "c"), ("guide", "../x"), ("guide", "a//b")] {
        assert!(Key::content(content_type, id).is_err(), "{content_type:?} {id:?}");
    }
    let long = RelPath::parse(&"abc/".repeat(256)[..1022]).unwrap();
    assert_eq!(
        Key::raw(&long).unwrap_err().to_string().split_once(": ").unwrap().1,
        "it is longer than 1024 bytes"
    );
}

#[test]
fn a_key_and_its_place_on_the_disk_are_made_of_each_other() {
    for (key, place) in [
        ("raw/guides/ü b.md", "raw/guides/ü b.md"),
        ("raw/x.md/y.md", "raw/x%2Emd/y.md"),
        ("raw/50%#1.md", "raw/50%25%231.md"),
        ("raw/%2E.md", "raw/%252E.md"),
        ("raw/a", "raw/a.%"),
        ("a", "a.%"),
        ("a.%", "a.%25"),
    ] {
        assert_eq!(disk_name::encode(key), place);
        assert_eq!(disk_name::decode(place).as_deref(), Some(key));
    }
    for foreign in ["raw/a", "raw/x.md/y.md", "raw/%41.md", "raw/a%2e/b.md", "raw/a#1.md", "raw/a.b.%"] {
        assert_eq!(disk_name::decode(foreign), None, "{foreign}");
    }
}
