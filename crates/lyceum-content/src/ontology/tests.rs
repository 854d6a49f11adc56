//! The default type tree, and invalid ontologies.

use super::Ontology;

#[test]
fn the_standard_ontology_is_the_tree_of_its_document() {
    let ontology = Ontology::standard().unwrap();
    let names: Vec<&str> = ontology.types().map(|one| one.name.as_str()).collect();
    let expected = [
        "article",
        "data",
        "file",
        "gathering",
        "group",
        "index",
        "link",
        "pattern",
        "person",
        "place",
        "playbook",
        "practice",
        "primitive",
        "project",
        "protocol",
        "question",
        "reference",
        "resource",
        "story",
        "study",
        "tag",
    ];
    assert_eq!(names, expected);
    let children = |name| -> Vec<&str> {
        let below = ontology.with_children(name).filter(|one| one.name != name);
        below.map(|one| one.name.as_str()).collect()
    };
    assert_eq!(
        children("resource"),
        ["pattern", "playbook", "practice", "primitive", "protocol", "question"]
    );
    assert_eq!(children("story"), ["article", "study"]);
    assert_eq!(children("reference"), ["index", "link", "tag"]);
    assert_eq!(children("data"), ["gathering", "group", "person", "place", "project"]);
    assert!(ontology.is_a("pattern", "file") && !ontology.is_a("pattern", "story"));
}

#[track_caller]
fn check_refused(text: &str, reason: &str) {
    let error = Ontology::parse(text).unwrap_err().to_string();
    assert!(error.contains(reason), "{error}");
}

#[test]
fn a_tree_that_can_not_be_is_refused_with_the_reason() {
    let file = "[[type]]\nname = \"file\"\n";
    check_refused("[[type]]\nname = \"note\"\n", "no type named \"file\"");
    check_refused(&format!("{file}{file}"), "two types named \"file\"");
    check_refused(&format!("{file}[[type]]\nname = \"My Type\"\n"), "is not a valid type name");
    check_refused(&format!("{file}[[type]]\nname = \"a\"\nextends = \"b\"\n"), "which does not exist");
    let circle = "[[type]]\nname = \"a\"\nextends = \"b\"\n[[type]]\nname = \"b\"\nextends = \"a\"\n";
    check_refused(&format!("{file}{circle}"), "forms a cycle");
    check_refused(&format!("{file}folders = [\"../x\"]\n"), "is not a valid path");
    check_refused(
        &format!("{file}folders = [\"x\"]\n[[type]]\nname = \"a\"\nfolders = [\"x\"]\n"),
        "another type claims it",
    );
    check_refused(&format!("{file}fields.s = {{ kind = \"choice\" }}\n"), "is a choice without values");
    check_refused("type = 5", "can't parse the ontology");
}

#[test]
fn an_ontology_is_told_with_fields_folders_and_children() {
    let text = "[[type]]\nname = \"file\"\nfields.title = { kind = \"text\", required = true }\n\
        fields.publish = { kind = \"bool\", default = false }\n\
        [[type]]\nname = \"note\"\nfolders = [\"notes\", \"diary/old\"]\n\
        fields.mood = { kind = \"choice\", of = [\"good\", \"bad\"] }\n\
        [[type]]\nname = \"gathered\"\nparent_only = true\n";
    let described = serde_json::to_value(Ontology::parse(text).unwrap().describe()).unwrap();
    let title = serde_json::json!({ "kind": "text", "required": true });
    let publish = serde_json::json!({ "kind": "bool", "required": false, "default": false });
    let mood = serde_json::json!({ "kind": "choice", "required": false, "of": ["good", "bad"] });
    let expected = serde_json::json!({
        "root": "file",
        "types": [
            {
                "name": "file", "parent": null, "parentOnly": false, "children": ["gathered", "note"],
                "folders": [], "fields": { "title": title, "publish": publish },
            },
            {
                "name": "gathered", "parent": "file", "parentOnly": true, "children": [],
                "folders": [], "fields": { "title": title, "publish": publish },
            },
            {
                "name": "note", "parent": "file", "parentOnly": false, "children": [],
                "folders": ["diary/old", "notes"],
                "fields": { "title": title, "publish": publish, "mood": mood },
            },
        ],
    });
    assert_eq!(described, expected);
}
