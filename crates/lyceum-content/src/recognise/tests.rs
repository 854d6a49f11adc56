//! Repositories in the shapes that people have.

use std::collections::BTreeMap;

use super::{DocumentsKind, Recognition, SkillsForm, recognise};
use crate::ontology::Ontology;
use lyceum_model::RelPath;

fn look_at(files: &[(&str, &str)]) -> Recognition {
    let files: BTreeMap<RelPath, &str> =
        files.iter().map(|(path, text)| (RelPath::parse(path).unwrap(), *text)).collect();
    recognise(files.keys(), &Ontology::standard().unwrap(), |path| {
        files.get(path).map(|text| (*text).to_owned())
    })
}

#[track_caller]
fn check(
    files: &[(&str, &str)],
    skills: Option<(usize, SkillsForm)>,
    documents: Option<(usize, DocumentsKind, &[&str])>,
) {
    let found = look_at(files);
    assert_eq!(found.skills.map(|skills| (skills.count, skills.form)), skills);
    let expected = documents.map(|(count, kind, exclude)| {
        (count, kind, exclude.iter().map(|path| RelPath::parse(path).unwrap()).collect::<Vec<_>>())
    });
    assert_eq!(found.documents.map(|found| (found.count, found.kind, found.exclude)), expected);
}

const SKILL: &str = "---\nname: pdf\ndescription: Works with PDF files.\n---\nDo it.\n";
const ROUTED: &str = "---\nname: auth\ndescription: Sign-in.\nkeywords: [login, oauth]\n---\nDo it.\n";

#[test]
fn a_repository_of_skill_folders_is_skills_only() {
    let files = [
        ("README.md", "# Skills"),
        ("skills/pdf/SKILL.md", SKILL),
        ("skills/pdf/references/forms.md", "# Forms"),
        ("skills/xlsx/SKILL.md", SKILL),
        ("skills/xlsx/scripts/run.py", "print()"),
    ];
    check(&files, Some((2, SkillsForm::Folders)), None);
}

#[test]
fn a_plugin_marketplace_is_skills() {
    let files = [
        (".claude-plugin/marketplace.json", "{}"),
        ("plugins/one/skills/pdf/SKILL.md", SKILL),
        ("plugins/one/README.md", "# One"),
        ("plugins/two/skills/xlsx/SKILL.md", SKILL),
    ];
    check(&files, Some((2, SkillsForm::Marketplace)), None);
}

#[test]
fn markdown_with_keywords_is_skills() {
    let files = [("skills/auth.md", ROUTED), ("skills/ui/react.md", ROUTED), ("skills/ui/_index.md", ROUTED)];
    check(&files, Some((3, SkillsForm::Keywords)), None);
}

#[test]
fn plain_markdown_is_docs() {
    let files = [("index.md", "# Home"), ("guide/start.mdx", "# Start"), ("README.md", "# Read me")];
    check(&files, None, Some((3, DocumentsKind::Docs, &[])));
}

#[test]
fn notes_with_wikilinks_are_a_vault() {
    let files =
        [("Home.md", "See [[Settings]]."), ("en/Settings.md", "Back to [[Home|home]]."), ("a.md", "A.")];
    check(&files, None, Some((3, DocumentsKind::Vault, &[])));
}

#[test]
fn documents_with_types_are_a_typed_knowledge_base() {
    let typed = "---\ntype: pattern\ntitle: T\n---\nSee [[x]].\n";
    let files = [("artifacts/patterns/a.md", typed), ("b.md", "B."), ("c.md", "C.")];
    check(&files, None, Some((3, DocumentsKind::Typed, &[])));
}

#[test]
fn agent_profiles_are_recognised() {
    let files = [
        ("agents/reviewer.md", "---\nname: r\n---\n"),
        ("planner.agent.md", "Plan."),
        (".github/agents/hidden.agent.md", "No."),
    ];
    check(&files, None, Some((2, DocumentsKind::Agents, &[])));
}

#[test]
fn a_mixed_repository_is_several_and_its_documents_leave_out_the_skills() {
    let files = [
        ("docs/start.md", "# Start"),
        ("docs/more/deep.md", "# Deep"),
        ("skills/pdf/SKILL.md", SKILL),
        ("skills/xlsx/SKILL.md", SKILL),
        ("docs/skills/inner/SKILL.md", SKILL),
        ("docs/skills/inner/extra.md", "# Extra"),
    ];
    let exclude: &[&str] = &["docs/skills", "skills"];
    check(&files, Some((3, SkillsForm::Folders)), Some((2, DocumentsKind::Docs, exclude)));
}

#[test]
fn a_repository_without_markdown_is_nothing() {
    check(&[("src/main.rs", "fn main() {}")], None, None);
    check(&[("README.md", "# Only this")], None, Some((1, DocumentsKind::Docs, &[])));
}

#[test]
fn the_root_is_the_deepest_folder_that_holds_all_skills() {
    let root = |files: &[(&str, &str)]| look_at(files).skills.unwrap().root.map(|root| root.to_string());
    assert_eq!(root(&[("skills/pdf/SKILL.md", SKILL), ("README.md", "# R")]).as_deref(), Some("skills"));
    assert_eq!(root(&[("skills/pdf/SKILL.md", SKILL), ("more/xlsx/SKILL.md", SKILL)]), None);
    assert_eq!(root(&[("a/b/pdf/SKILL.md", SKILL), ("a/bc/xlsx/SKILL.md", SKILL)]).as_deref(), Some("a"));
    assert_eq!(root(&[("tools/pdf/SKILL.md", SKILL), ("docs/a.md", "# A")]).as_deref(), Some("tools"));
    assert_eq!(root(&[("SKILL.md", SKILL)]), None);
    assert_eq!(
        root(&[("skills/auth.md", ROUTED), ("skills/ui/react.md", ROUTED)]).as_deref(),
        Some("skills")
    );
}
