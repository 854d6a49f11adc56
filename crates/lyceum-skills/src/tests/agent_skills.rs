//! Agent Skills as clients of the standard see them.

use lyceum_model::RelPath;
use sha2::{Digest, Sha256};

use super::{document, findings, skill_set, standard};
use crate::standard::directory;

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

#[test]
fn every_file_of_a_skill_is_there_with_its_digest() {
    let text = standard("pdf");
    let skill_set = skill_set(&[
        ("acme/pdf/SKILL.md", &text),
        ("acme/pdf/scripts/a.py", "print(1)\n"),
        ("other.md", &document("x")),
    ]);
    let entry = &skill_set.agent_skills.skills[&path("acme/pdf")];
    let files: Vec<_> = entry.files.iter().map(RelPath::as_str).collect();
    assert_eq!(files, ["acme/pdf/SKILL.md", "acme/pdf/scripts/a.py"]);
    let file = &skill_set.agent_skills.files[&path("acme/pdf/SKILL.md")];
    let expected = const_hex::encode(Sha256::digest(&text));
    assert_eq!((&*file.digest, file.size), (format!("sha256:{expected}").as_str(), text.len() as u64));
    assert_eq!(skill_set.agent_skills.skills.len(), 1);
}

#[test]
fn what_breaks_the_standard_or_is_too_large_is_not_on_the_shelf_and_told() {
    let many: Vec<String> = (0..512).map(|at| format!("many/references/{at}.md")).collect();
    let (good, wrong, crowd) = (standard("good"), standard("wrong"), standard("many"));
    let mut files = vec![
        ("good/SKILL.md", good.as_str()),
        ("Wrong/SKILL.md", wrong.as_str()),
        ("many/SKILL.md", crowd.as_str()),
    ];
    files.extend(many.iter().map(|name| (name.as_str(), "x")));
    let skill_set = skill_set(&files);
    let names: Vec<_> = skill_set.agent_skills.skills.keys().map(RelPath::as_str).collect();
    assert_eq!(names, ["good"]);
    assert_eq!(skill_set.index.skills().len(), 3);
    let messages = findings(&skill_set);
    assert!(
        messages.iter().any(|finding| finding.starts_with("Wrong/SKILL.md: name: is \"wrong\"")),
        "{messages:?}"
    );
    assert!(
        messages.iter().any(|finding| finding.starts_with("many/SKILL.md: it has more than 512 files")),
        "{messages:?}"
    );
}

#[test]
fn a_nested_skill_is_one_of_its_own_and_part_of_the_one_around_it() {
    let skill_set =
        skill_set(&[("outer/SKILL.md", &standard("outer")), ("outer/inner/SKILL.md", &standard("inner"))]);
    let files = |name: &str| {
        skill_set.agent_skills.skills[&path(name)].files.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(files("outer"), ["outer/SKILL.md", "outer/inner/SKILL.md"]);
    assert_eq!(files("outer/inner"), ["outer/inner/SKILL.md"]);
}

#[test]
fn a_source_that_is_one_skill_has_its_name_as_address() {
    let skill_set = skill_set(&[("SKILL.md", &standard("whole")), ("scripts/a.sh", "true\n")]);
    let files: Vec<_> = skill_set.agent_skills.files.keys().map(RelPath::as_str).collect();
    assert_eq!(files, ["whole/SKILL.md", "whole/scripts/a.sh"]);
    assert_eq!(skill_set.agent_skills.files[&path("whole/scripts/a.sh")].place, path("scripts/a.sh"));
}

#[track_caller]
fn check_children(folder: &str, expected: Option<&[(&str, &str)]>) {
    let skill_set = skill_set(&[
        ("acme/pdf/SKILL.md", &standard("pdf")),
        ("acme/pdf/scripts/deep/a.py", "print(1)\n"),
        ("acme/pdf/scripts/b.py", "print(2)\n"),
    ]);
    let children = directory::children(&skill_set.agent_skills, &path(folder));
    let children = children.map(|children| {
        children
            .into_values()
            .map(|child| (child.uri.clone(), child.mime_type.clone().unwrap_or_default()))
            .collect::<Vec<_>>()
    });
    let expected = expected.map(|expected| {
        expected.iter().map(|(uri, kind)| ((*uri).to_owned(), (*kind).to_owned())).collect::<Vec<_>>()
    });
    assert_eq!(children, expected, "{folder}");
}

#[test]
fn folders_list_what_is_directly_in_them() {
    check_children("acme", Some(&[("skill://acme/pdf", "inode/directory")]));
    check_children(
        "acme/pdf",
        Some(&[
            ("skill://acme/pdf/SKILL.md", "text/markdown"),
            ("skill://acme/pdf/scripts", "inode/directory"),
        ]),
    );
    let scripts = [
        ("skill://acme/pdf/scripts/b.py", "text/x-python"),
        ("skill://acme/pdf/scripts/deep", "inode/directory"),
    ];
    check_children("acme/pdf/scripts", Some(&scripts));
    check_children("acme/pdf/SKILL.md", None);
    check_children("nowhere", None);
}
