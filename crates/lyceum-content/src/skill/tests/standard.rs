//! Folders of the Agent Skills standard.

use super::{
    super::{Glob, Match, MatchSettings},
    findings, index,
};

const PDF: &str = "---\nname: pdf\ndescription: Extract text and tables from PDF files, fill forms and merge documents.\nlicense: MIT\nx-own: { kept: [1, yes] }\n---\n# PDF\n";

#[test]
fn a_folder_with_a_skill_file_is_a_skill_and_its_files_are_its_own() {
    let index = index(&[
        ("skills/pdf/SKILL.md", PDF),
        ("skills/pdf/scripts/fill.py", ""),
        ("skills/pdf/references/FORMS.md", "# no frontmatter here"),
        ("skills/pdf/logo.png", ""),
    ]);
    assert!(findings(&index).is_empty(), "{:?}", findings(&index));
    let skill = index.get("skills/pdf").unwrap();
    assert_eq!(index.skills().len(), 1);
    assert_eq!(index.content(skill, 1000).as_deref(), Some("# PDF"));
    let assets: Vec<_> =
        skill.assets.iter().map(|asset| (asset.file.as_str(), asset.kind.as_str())).collect();
    assert_eq!(assets, [("logo.png", "other"), ("references/FORMS.md", "reference")]);
    let scripts: Vec<_> =
        skill.scripts.iter().map(|script| (script.file.as_str(), script.execution.as_str())).collect();
    assert_eq!(scripts, [("scripts/fill.py", "claude")]);
    let standard = skill.standard.as_ref().unwrap();
    assert_eq!(standard.name.as_deref(), Some("pdf"));
    assert_eq!(standard.frontmatter["x-own"], serde_json::json!({ "kept": [1, "yes"] }));
}

#[test]
fn it_is_found_by_its_keywords_only_if_it_declares_some() {
    let declared = PDF.replace("license: MIT", "keywords: [pdf, forms]");
    let index = index(&[("pdf/SKILL.md", PDF), ("forms/SKILL.md", &declared)]);
    assert_eq!(index.get("pdf").unwrap().keywords, [""; 0]);
    let outcome = index.query("convert a PDF").outcome(&MatchSettings::default());
    assert!(
        matches!(&outcome, Match::One(hit) if index.skills()[hit.skill].path.as_str() == "forms"),
        "{outcome:?}"
    );
}

#[test]
fn schemas_and_data_among_the_scripts_are_assets() {
    let index = index(&[
        ("pdf/SKILL.md", PDF),
        ("pdf/scripts/fill.py", ""),
        ("pdf/scripts/run", ""),
        ("pdf/scripts/schemas/form.xsd", ""),
        ("pdf/scripts/fields.JSON", ""),
    ]);
    let skill = index.get("pdf").unwrap();
    let scripts: Vec<_> = skill.scripts.iter().map(|script| script.file.as_str()).collect();
    assert_eq!(scripts, ["scripts/fill.py", "scripts/run"]);
    let assets: Vec<_> = skill.assets.iter().map(|asset| asset.file.as_str()).collect();
    assert_eq!(assets, ["scripts/fields.JSON", "scripts/schemas/form.xsd"]);
}

#[test]
fn the_operator_allows_scripts_of_agent_skills_only() {
    let document = "---\nkeywords: [a]\ndescription: d\nscripts: [scripts/a.sh]\n---\n";
    let mut index = index(&[
        ("pdf/SKILL.md", PDF),
        ("pdf/scripts/fill.py", ""),
        ("pdf/scripts/wipe.sh", ""),
        ("a.md", document),
        ("a/scripts/a.sh", ""),
    ]);
    index.allow_scripts(&[Glob::new("*/scripts/*.py"), Glob::new("a/**")]);
    let execution = |skill: &str, at: usize| index.get(skill).unwrap().scripts[at].execution.as_str();
    assert_eq!((execution("pdf", 0), execution("pdf", 1), execution("a", 0)), ("server", "claude", "claude"));
}

#[track_caller]
fn check(folder: &str, frontmatter: &str, fault: &str) {
    let index = index(&[(&format!("{folder}/SKILL.md"), &format!("---\n{frontmatter}\n---\nbody"))]);
    let messages = findings(&index);
    assert!(messages.iter().any(|finding| finding.contains(fault)), "{frontmatter:?}: {messages:?}");
    if let Some(skill) = index.get(folder) {
        let standard = skill.standard.as_ref().unwrap();
        assert!(!standard.faults.is_empty() || !standard.remarks.is_empty(), "{frontmatter:?}");
    }
}

#[test]
fn what_breaks_the_standard_is_messages_with_the_reason() {
    check("pdf", "description: d", "name: is missing");
    check("pdf", "name: PDF\ndescription: d", "name: \"PDF\" is not 1 to 64");
    check("pdf", "name: a--b\ndescription: d", "name: \"a--b\"");
    check("pdf", "name: -a\ndescription: d", "name: \"-a\"");
    check("pdf", "name: 5\ndescription: d", "name: is not text");
    check("pdf", "name: other\ndescription: d", "but the folder is \"pdf\"");
    check(
        "pdf",
        &format!("name: pdf\ndescription: {}", "d".repeat(1025)),
        "description: is longer than 1024",
    );
    check("pdf", "name: pdf", "description: is missing");
    check("pdf", "name: pdf\ndescription: [d]", "description: is not text");
    check(
        "pdf",
        &format!("name: pdf\ndescription: d\ncompatibility: {}", "c".repeat(501)),
        "compatibility: is longer",
    );
    check(
        "pdf",
        "name: pdf\ndescription: d\nmetadata: { version: 1.0 }",
        "metadata: is not a mapping of strings",
    );
    check("pdf", "name: pdf\ndescription: d\nallowed-tools: [Bash]", "allowed-tools: is not text");
}

#[test]
fn a_skill_without_a_description_is_skipped_and_one_with_a_wrong_name_is_served_by_the_tools() {
    let index = index(&[
        ("none/SKILL.md", "---\nname: none\n---\n"),
        ("Wrong/SKILL.md", "---\nname: Wrong\ndescription: still useful\n---\nText"),
    ]);
    assert!(index.get("none").is_none());
    assert!(index.get("Wrong").is_some_and(|skill| !skill.standard.as_ref().unwrap().faults.is_empty()));
}

#[test]
fn skills_may_be_nested_and_the_whole_source_may_be_one() {
    let inner = "---\nname: inner\ndescription: inner\n---\n";
    let nested = index(&[
        ("outer/SKILL.md", "---\nname: outer\ndescription: outer\n---\n"),
        ("outer/inner/SKILL.md", inner),
    ]);
    let paths: Vec<_> = nested.skills().iter().map(|skill| skill.path.as_str()).collect();
    assert_eq!(paths, ["outer", "outer/inner"]);
    assert_eq!(nested.get("outer").unwrap().assets[0].file.as_str(), "inner/SKILL.md");

    let whole = index(&[("SKILL.md", PDF), ("scripts/a.sh", ""), ("README.md", "# text")]);
    let skill = whole.get("pdf").unwrap();
    assert_eq!((whole.skills().len(), skill.scripts.len(), skill.assets.len()), (1, 1, 1));
    assert!(findings(&whole).is_empty(), "{:?}", findings(&whole));
}
