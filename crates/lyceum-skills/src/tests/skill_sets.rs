//! Building skill sets, incrementally and from bad input.

use jiff::Timestamp;
use lyceum_content::skill::{Match, Overlay, ScriptOverlay};
use lyceum_model::RelPath;

use super::{document, findings, folder, rules, skill_set, snapshot, standard, write};
use crate::{
    Audience, Rules,
    skill_set::{ConfigYaml, SkillSetBuilder},
};

#[test]
fn an_edit_is_in_the_next_library_and_the_one_before_stays_whole() {
    let folder = folder(&[("a.md", &document("first")), ("b.md", &document("bread"))]);
    let mut builder = SkillSetBuilder::default();
    let rules = rules(Audience::OnePerson);
    let mut build = || builder.build(snapshot(folder.path()), None, &rules, Timestamp::UNIX_EPOCH);
    let before = build();
    write(folder.path(), "a.md", &document("second"));
    write(folder.path(), "c.md", &document("third"));
    std::fs::remove_file(folder.path().join("b.md")).unwrap();
    let after = build();
    let finds = |skill_set: &crate::SkillSet, word: &str| {
        skill_set.index.query(word).outcome(&skill_set.settings.matching) != Match::Nothing
    };
    assert!(finds(&before, "first") && finds(&before, "bread") && !finds(&before, "second"));
    assert!(
        finds(&after, "second")
            && finds(&after, "third")
            && !finds(&after, "first")
            && !finds(&after, "bread")
    );
}

#[test]
fn what_can_not_be_read_is_told_and_the_rest_is_served() {
    let huge = format!("{}{}", document("huge"), "x".repeat(1024 * 1024));
    let bad = folder(&[("good.md", &document("good")), ("huge.md", &huge)]);
    std::os::unix::fs::symlink("/etc/hostname", bad.path().join("link.md")).unwrap();
    std::fs::write(bad.path().join("bytes.md"), b"---\nkeywords: [\xff]\n---\n").unwrap();
    let skill_set = SkillSetBuilder::default().build(
        snapshot(bad.path()),
        None,
        &rules(Audience::OnePerson),
        Timestamp::UNIX_EPOCH,
    );
    assert_eq!(skill_set.index.skills().len(), 1);
    let messages = findings(&skill_set);
    assert!(
        messages.iter().any(|finding| finding.starts_with("huge.md: it is larger than 1 MiB")),
        "{messages:?}"
    );
    assert!(messages.iter().any(|finding| finding.starts_with("bytes.md: it is not UTF-8")), "{messages:?}");
    assert!(
        messages.iter().any(|finding| finding.starts_with("link.md: the symbolic link leaves the folder")),
        "{messages:?}"
    );
}

#[test]
fn settings_come_from_the_folder_then_from_beside_it() {
    let inside = folder(&[("config.yaml", "matching: { max_results: 7 }\n")]);
    let build = |beside| {
        SkillSetBuilder::default().build(
            snapshot(inside.path()),
            beside,
            &rules(Audience::OnePerson),
            Timestamp::UNIX_EPOCH,
        )
    };
    assert_eq!(
        build(Some(ConfigYaml::Text("matching: { max_results: 9 }".to_owned())))
            .settings
            .matching
            .max_results,
        7
    );
    std::fs::remove_file(inside.path().join("config.yaml")).unwrap();
    assert_eq!(
        build(Some(ConfigYaml::Text("matching: { max_results: 9 }".to_owned())))
            .settings
            .matching
            .max_results,
        9
    );
    assert_eq!(build(None).settings.matching.max_results, 3);
}

#[test]
fn a_repository_can_not_turn_scripts_on_for_everyone() {
    let yaml =
        "scripts: { enabled: true }\nanalytics: { enabled: true, endpoint: \"https://example.org\" }\n";
    let folder = folder(&[("config.yaml", yaml)]);
    let build = |rules: &Rules| {
        SkillSetBuilder::default().build(snapshot(folder.path()), None, rules, Timestamp::UNIX_EPOCH)
    };
    let alone = build(&rules(Audience::OnePerson));
    assert!(alone.settings.scripts.enabled && alone.settings.analytics.enabled);
    let many = build(&rules(Audience::Everyone));
    assert!(!many.settings.scripts.enabled && !many.settings.analytics.enabled);
    assert_eq!(findings(&many).len(), 2, "{:?}", findings(&many));
    let scripts = ScriptOverlay { enabled: Some(true), ..ScriptOverlay::default() };
    let allowed = Rules { overlay: Overlay { scripts, ..Overlay::default() }, ..rules(Audience::Everyone) };
    assert!(build(&allowed).settings.scripts.enabled);
}

#[test]
fn the_folder_of_the_skills_can_be_written_down() {
    let folder = folder(&[
        ("docs/x.md", &document("outside")),
        ("my/skills/a.md", &document("inside")),
        ("my/skills/a/f.txt", "text"),
    ]);
    let rules = Rules { path: RelPath::parse("my/skills").ok(), ..rules(Audience::OnePerson) };
    let skill_set =
        SkillSetBuilder::default().build(snapshot(folder.path()), None, &rules, Timestamp::UNIX_EPOCH);
    let paths: Vec<_> = skill_set.index.skills().iter().map(|skill| skill.path.as_str()).collect();
    assert_eq!(paths, ["a"]);
    assert_eq!(skill_set.read(&RelPath::parse("a/f.txt").unwrap(), 100).unwrap(), b"text");
    let below = skill_set.files_below(RelPath::parse("a").ok().as_ref());
    assert_eq!(below, [(RelPath::parse("f.txt").unwrap(), 4)]);
}

#[test]
fn a_marketplace_of_plugins_is_read_as_it_lies() {
    let skill_set = skill_set(&[
        (".claude-plugin/marketplace.json", "{}"),
        ("plugins/office/skills/pdf/SKILL.md", &standard("pdf")),
        ("skills/docx/SKILL.md", &standard("docx")),
        ("README.md", "# Readme"),
    ]);
    let paths: Vec<_> = skill_set.index.skills().iter().map(|skill| skill.path.as_str()).collect();
    assert_eq!(paths, ["plugins/office/skills/pdf", "skills/docx"]);
}

#[track_caller]
fn check_kill_switch(yaml: &str, runs: bool) {
    let folder = folder(&[("config.yaml", yaml)]);
    let skill_set = SkillSetBuilder::default().build(
        snapshot(folder.path()),
        None,
        &rules(Audience::OnePerson),
        Timestamp::UNIX_EPOCH,
    );
    assert_eq!(skill_set.settings.scripts.enabled, runs, "{yaml:.60}");
    assert_eq!(findings(&skill_set).is_empty(), runs || yaml == "scripts: { enabled: false }", "{yaml:.60}");
}

#[test]
fn scripts_stay_off_where_their_settings_can_not_be_read() {
    check_kill_switch("", true);
    check_kill_switch("scripts: { enabled: true }", true);
    check_kill_switch("scripts: { enabled: false }", false);
    check_kill_switch("scripts: { enabled: false, timeout_secs: 5 }", false);
    check_kill_switch("scripts: { enabled: no }", false);
    check_kill_switch("scripts: [", false);
    check_kill_switch(&format!("scripts: {{ enabled: false }}\n#{}", "x".repeat(70_000)), false);
}
