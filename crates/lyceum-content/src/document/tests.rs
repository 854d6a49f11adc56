//! Parsing and validation of documents.

use lyceum_model::RelPath;

use super::{Publishing, Visibility, read};
use crate::ontology::Ontology;

#[track_caller]
fn check(path: &str, frontmatter: &str, content_type: &str, visibility: Visibility, faults: &[&str]) {
    let ontology = Ontology::standard().unwrap();
    let text = format!("---\n{frontmatter}\n---\nBody.\n");
    let document = read(&ontology, Publishing::Frontmatter, &RelPath::parse(path).unwrap(), &text).unwrap();
    let messages: Vec<String> =
        document.faults.iter().map(|fault| format!("{}: {}", fault.field, fault.message)).collect();
    assert_eq!(
        (document.content_type.as_str(), document.visibility),
        (content_type, visibility),
        "{frontmatter}"
    );
    assert_eq!(messages, faults, "{frontmatter}");
    assert_eq!(document.body, "Body.\n");
}

const GOOD: &str = "title: T\ndate: 2024-01-15";

#[test]
fn the_folder_decides_unless_the_frontmatter_says_otherwise() {
    use Visibility::Unpublished;
    check("artifacts/patterns/a.md", GOOD, "pattern", Unpublished, &[]);
    check("data/people/deep/er/a.md", GOOD, "person", Unpublished, &[]);
    check("tags/a.md", GOOD, "tag", Unpublished, &[]);
    check("README.md", GOOD, "file", Unpublished, &[]);
    check("tagsandmore/a.md", GOOD, "file", Unpublished, &[]);
    check("artifacts/patterns/a.md", &format!("{GOOD}\ntype: practice"), "practice", Unpublished, &[]);
    check(
        "artifacts/patterns/a.md",
        &format!("{GOOD}\ntype: data"),
        "data",
        Unpublished,
        &["type: \"data\" is a parent-only type; write one of gathering, group, person, place, project"],
    );
    let messages = "type: \"resource\" is a parent-only type; write one of pattern, playbook, practice, primitive, protocol, question";
    check("artifacts/patterns/a.md", &format!("{GOOD}\ntype: resource"), "pattern", Unpublished, &[messages]);
    check("notes/a.md", &format!("{GOOD}\ntype: resource"), "resource", Unpublished, &[messages]);
}

#[test]
fn what_is_published_is_what_says_so_and_is_no_draft() {
    check("notes/a.md", &format!("{GOOD}\npublish: true"), "file", Visibility::Published, &[]);
    check("notes/a.md", &format!("{GOOD}\npublish: true\ndraft: true"), "file", Visibility::Draft, &[]);
    check("notes/a.md", &format!("{GOOD}\npublish: false"), "file", Visibility::Unpublished, &[]);
}

#[test]
fn where_it_is_not_clear_what_was_meant_nothing_is_shown() {
    for field in ["yes", "on", "1", "\"true\"", "[]"] {
        let fault = "draft: is neither true nor false; write draft: true";
        check(
            "notes/a.md",
            &format!("{GOOD}\npublish: true\ndraft: {field}"),
            "file",
            Visibility::Draft,
            &[fault],
        );
        let fault = "publish: is neither true nor false; write publish: true";
        check("notes/a.md", &format!("{GOOD}\npublish: {field}"), "file", Visibility::Unpublished, &[fault]);
    }
    check("notes/a.md", &format!("{GOOD}\npublish: true\ndraft:"), "file", Visibility::Published, &[]);
}

#[test]
fn what_breaks_the_schema_is_messages_with_what_to_write() {
    let check = |path: &str, frontmatter: &str, content_type: &str, faults: &[&str]| {
        check(path, frontmatter, content_type, Visibility::Unpublished, faults);
    };
    check("notes/a.md", "date: 2024-01-15", "file", &["title: is missing; write title: \"…\""]);
    check("notes/a.md", "title: \"\"\ndate: 2024-01-15", "file", &["title: is empty; write title: \"…\""]);
    check("notes/a.md", "title: T", "file", &["date: is missing; write date: 2026-01-31"]);
    check("notes/a.md", "title: T\ndate: soon", "file", &["date: is not a date; write date: 2026-01-31"]);
    check("notes/a.md", "title: T\ndate: 2024-01-15 10:30", "file", &[]);
    check(
        "notes/a.md",
        "title: T\ndate: February 1, 2024",
        "file",
        &["date: is not in the standard form; write 2024-02-01"],
    );
    check("notes/a.md", "title: 5\ndate: 2024-01-15", "file", &["title: is not text; put it in quotes"]);
    check(
        "notes/a.md",
        &format!("{GOOD}\nauthor: ana"),
        "file",
        &["author: is a single string; write it as a list"],
    );
    check("links/a.md", GOOD, "link", &["url: is missing; write url: https://example.org"]);
    check(
        "links/a.md",
        &format!("{GOOD}\nurl: not an address"),
        "link",
        &["url: is not a URL; write url: https://example.org"],
    );
    check(
        "data/people/a.md",
        &format!("{GOOD}\nemail: ana"),
        "person",
        &["email: is not an e-mail address; write email: name@example.org"],
    );
    check(
        "artifacts/questions/a.md",
        &format!("{GOOD}\nstatus: done"),
        "question",
        &["status: is none of open, exploring, resolved; write status: open"],
    );
    check(
        "data/places/a.md",
        &format!("{GOOD}\ncoordinates: {{ lat: 1 }}"),
        "place",
        &["coordinates: is not a place with lat and lng; write coordinates: { lat: 52.5, lng: 13.4 }"],
    );
}

#[track_caller]
fn check_publishing(text: &str, all: Option<Visibility>, by_frontmatter: Option<Visibility>) {
    let ontology = Ontology::standard().unwrap();
    let path = RelPath::parse("notes/a.md").unwrap();
    let visibility =
        |publishing| read(&ontology, publishing, &path, text).ok().map(|document| document.visibility);
    assert_eq!(visibility(Publishing::All), all, "all: {text:?}");
    assert_eq!(visibility(Publishing::Frontmatter), by_frontmatter, "frontmatter: {text:?}");
    let says_so = |publishing| {
        read(&ontology, publishing, &path, text).is_ok_and(|document| document.is_published_by_frontmatter)
    };
    let expected = by_frontmatter == Some(Visibility::Published);
    assert_eq!(
        (says_so(Publishing::All), says_so(Publishing::Frontmatter)),
        (expected, expected),
        "{text:?}"
    );
}

#[test]
fn all_publishes_what_does_not_say_otherwise_and_frontmatter_what_says_so() {
    use Visibility::{Draft, Published, Unpublished};
    check_publishing("# No frontmatter\n", Some(Published), None);
    check_publishing("---\ntitle: T\n---\n", Some(Published), Some(Unpublished));
    check_publishing("---\npublish: true\n---\n", Some(Published), Some(Published));
    check_publishing("---\npublish: false\n---\n", Some(Unpublished), Some(Unpublished));
    check_publishing("---\npublish: yes please\n---\n", Some(Unpublished), Some(Unpublished));
    check_publishing("---\ndraft: true\n---\n", Some(Draft), Some(Draft));
    check_publishing("---\npublish: true\ndraft: true\n---\n", Some(Draft), Some(Draft));
}
