//! Frontmatter of skills: validation, defaults and findings.

use serde_json::json;

use super::{
    super::{Execution, Overlay, ResourceKind, Settings, is_binary, mime_type},
    document, findings, index, path,
};

#[track_caller]
fn check_skipped(text: &str, reason: &str) {
    let index = index(&[("a.md", text), ("b.md", &document("other"))]);
    assert!(index.get("a").is_none() && index.get("b").is_some(), "{text:?}");
    assert!(findings(&index).iter().any(|finding| finding.contains(reason)), "{:?}", findings(&index));
}

#[test]
fn a_file_that_breaks_the_rules_is_skipped_and_the_others_are_not() {
    check_skipped("# Only text\n", "no frontmatter");
    check_skipped("---\ndescription: d\n---\n", "keywords: is not a list");
    check_skipped("---\nkeywords: []\ndescription: d\n---\n", "keywords: is not a list");
    check_skipped("---\nkeywords: react\ndescription: d\n---\n", "keywords: is not a list");
    check_skipped("---\nkeywords: [a]\n---\n", "description: is missing");
    check_skipped("---\nkeywords: [a]\ndescription: \"\"\n---\n", "description: is missing");
    check_skipped("---\nkeywords: [a]\ndescription: 5\n---\n", "description: is missing");
    check_skipped("---js\nkeywords: [a]\n---\n", "not YAML");
    check_skipped("---\nkeywords: [a\n---\n", "can't be parsed as YAML");
    check_skipped("---\nkeywords: [a]\nkeywords: [b]\ndescription: d\n---\n", "duplicate");
}

#[test]
fn a_file_that_is_not_text_is_skipped() {
    let candidate = super::Candidate { file: path("a.md"), shape: super::super::Shape::Document };
    let (draft, findings) = super::read(&candidate, b"---\nkeywords: [\xff]\n---\n");
    assert!(draft.is_none());
    assert_eq!(findings[0].message, "it is not UTF-8 text; save it as UTF-8");
}

#[test]
fn what_is_not_written_has_its_default() {
    let text = "---\nkeywords: [a, 5, true]\ndescription: d\nassets:\n  - file: x.txt\nscripts:\n  - file: y.sh\n    args:\n      - name: target\n---\n";
    let index = index(&[("a.md", text), ("a/x.txt", ""), ("a/y.sh", "")]);
    let skill = index.get("a").unwrap();
    assert_eq!(skill.keywords, ["a", "5", "true"]);
    assert_eq!((skill.inherit, skill.priority), (true, 0.0));
    assert_eq!(
        serde_json::to_value(&skill.assets).unwrap(),
        json!([{ "file": "x.txt", "description": "", "type": "other" }])
    );
    assert_eq!(
        serde_json::to_value(&skill.scripts).unwrap(),
        json!([{ "file": "y.sh", "description": "", "execution": "claude", "args": [{ "name": "target", "description": "", "required": true }] }])
    );
    let bare = super::index(&[("a.md", "---\nkeywords: [a]\ndescription: d\n---\n")]);
    assert!(bare.get("a").unwrap().assets.is_empty() && bare.get("a").unwrap().scripts.is_empty());
}

#[test]
fn what_is_written_counts() {
    let text = "---\nkeywords: [a]\ndescription: d\ninherit: false\npriority: 7\nscripts:\n  - file: ./y.py\n    description: does y\n    execution: server\n    network: true\n    args:\n      - name: dry-run\n        required: false\n---\n";
    let index = index(&[("a.md", text), ("a/y.py", "")]);
    let skill = index.get("a").unwrap();
    assert_eq!((skill.inherit, skill.priority), (false, 7.0));
    let script = &skill.scripts[0];
    assert_eq!(
        (script.file.as_str(), script.execution, script.network, script.args[0].required),
        ("y.py", Execution::Server, true, false)
    );
}

#[test]
fn a_declared_path_that_leaves_the_folder_is_left_out_and_told() {
    let text = "---\nkeywords: [a]\ndescription: d\nassets:\n  - file: ../secrets\n  - file: /etc/passwd\n  - file: fine.txt\nscripts:\n  - file: a/../../b.sh\n---\n";
    let index = index(&[("a.md", text), ("a/fine.txt", "")]);
    let skill = index.get("a").unwrap();
    assert_eq!((skill.assets.len(), skill.scripts.len()), (1, 0));
    assert_eq!(findings(&index).len(), 3, "{:?}", findings(&index));
    assert!(
        findings(&index)[0].contains("assets[0].file: \"../secrets\" is not a path that stays in its folder")
    );
}

#[test]
fn markdown_in_a_resource_folder_is_a_file_and_not_a_skill() {
    let index = index(&[
        ("auth.md", &document("auth")),
        ("auth/README.md", "# no frontmatter"),
        ("ui.md", &document("uix")),
        ("ui/_index.md", &document("category")),
        ("ui/forms.md", &document("forms")),
    ]);
    let paths: Vec<_> = index.skills().iter().map(|skill| skill.path.as_str()).collect();
    assert_eq!(paths, ["auth", "ui", "ui/_index", "ui/forms"]);
    assert!(findings(&index).is_empty(), "{:?}", findings(&index));
}

#[test]
fn two_skills_of_one_path_are_told() {
    let index = index(&[
        ("pdf.md", &document("pdf")),
        ("pdf/SKILL.md", "---\nname: pdf\ndescription: about pdf\n---\n"),
    ]);
    assert_eq!(index.skills().len(), 1);
    assert!(findings(&index)[0].contains("has the same path"), "{:?}", findings(&index));
}

#[track_caller]
fn check_binary(file: &str, mime: Option<&str>) {
    let file = path(file);
    assert_eq!(is_binary(&file).then(|| mime_type(&file)), mime, "{file}");
}

#[test]
fn binary_files_are_known_by_their_extension() {
    check_binary("a.png", Some("image/png"));
    check_binary("a.jpg", Some("image/jpeg"));
    check_binary("a.JPEG", Some("image/jpeg"));
    check_binary("a.gif", Some("image/gif"));
    check_binary("a.svg", Some("image/svg+xml"));
    check_binary("a.pdf", Some("application/pdf"));
    check_binary("a.zip", Some("application/zip"));
    check_binary("a.woff", Some("font/woff"));
    check_binary("a.woff2", Some("font/woff2"));
    check_binary("a.ico", Some("application/octet-stream"));
    check_binary("a.webp", Some("application/octet-stream"));
    for text in [
        "a.ts",
        "a.tsx",
        "a.js",
        "a.sh",
        "a.yaml",
        "a.json",
        "a.template",
        "a.example",
        "a.md",
        "Makefile",
        "png",
    ] {
        check_binary(text, None);
    }
}

#[test]
fn a_script_found_as_a_file_is_of_type_script() {
    let text = "---\nkeywords: [a]\ndescription: d\nscripts: [run.sh]\n---\n";
    let index = index(&[("a.md", text), ("a/run.sh", "")]);
    let found = index.find_file(index.get("a").unwrap(), &path("run.sh")).unwrap();
    assert!(matches!(found.kind, ResourceKind::Script(_)));
    assert_eq!(found.kind.type_name(), "script");
}

#[test]
fn the_settings_of_the_document_are_the_defaults_and_can_be_written_over() {
    let yaml = "matching:\n  min_score: 0.2\n  max_results: 3\n  ambiguity_threshold: 0.1\nrefresh:\n  enabled: true\n  interval_minutes: 15\n\
        scripts:\n  enabled: true\n  timeout_seconds: 60\n  max_output_bytes: 1048576\n  allowed_extensions:\n    - .sh\n    - .ts\n    - .js\n    - .py\n\
        \x20 runners:\n    \".sh\": \"bash\"\n    \".ts\": \"npx tsx\"\n    \".js\": \"node\"\n    \".py\": \"python3\"\n\
        assets:\n  max_size_bytes: 1048576\n  inline_text_max_bytes: 10240\nanalytics:\n  enabled: false\n  endpoint: \"\"\n";
    let (overlay, warnings) = Overlay::from_yaml(yaml);
    assert_eq!((Settings::default().overlaid(&overlay), warnings), (Settings::default(), vec![]));
    let (overlay, warnings) =
        Overlay::from_yaml("matching: { max_results: 5 }\nscripts: { runners: { .rb: ruby } }\n");
    let settings = Settings::default().overlaid(&overlay);
    assert_eq!((settings.matching.max_results, settings.matching.min_score), (5, 0.2));
    assert_eq!(
        (settings.scripts.runners[".rb"].as_str(), settings.scripts.runners[".sh"].as_str()),
        ("ruby", "bash")
    );
    assert!(warnings.is_empty());
}

#[test]
fn what_is_wrong_in_the_settings_is_told_and_the_rest_counts() {
    let (overlay, warnings) = Overlay::from_yaml(
        "matching: { min_score: 7, max_results: 2 }\nscripts: { sandbox: none }\nfoo: 1\n",
    );
    let settings = Settings::default().overlaid(&overlay);
    assert_eq!((settings.matching.min_score, settings.matching.max_results), (0.2, 2));
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    assert_eq!(Overlay::from_yaml("[").1.len(), 1);
    assert_eq!(Overlay::from_yaml("- a\n").1.len(), 1);
    assert_eq!(Overlay::from_yaml(""), (Overlay::default(), vec![]));
}

/// "Loaded from the skills content root (merged over defaults)".
#[test]
fn skills_5_a_key_of_the_settings_that_can_not_be_used_costs_only_itself() {
    let (overlay, warnings) = Overlay::from_yaml(
        "matching: { min_score: high, max_result: 1, max_results: 5 }\nassets: { max_size_bytes: 9, colour: red }\n\
         refresh: { interval_minutes: soon, enabled: false }\n",
    );
    let settings = Settings::default().overlaid(&overlay);
    assert_eq!((settings.matching.min_score, settings.matching.max_results), (0.2, 5));
    assert_eq!((settings.assets.max_size_bytes, settings.refresh.enabled), (9, false));
    assert!(settings.scripts.enabled);
    for key in
        ["matching.min_score: ", "matching.max_result: ", "assets.colour: ", "refresh.interval_minutes: "]
    {
        assert!(warnings.iter().any(|warning| warning.starts_with(key)), "{key} is not in {warnings:?}");
    }
    assert_eq!(warnings.len(), 4, "{warnings:?}");
    let (overlay, warnings) =
        Overlay::from_yaml("matching: 5\nscripts: { timeout_seconds: 5, colour: red }\n");
    assert_eq!((overlay.matching.min_score, overlay.scripts.enabled), (None, Some(false)));
    assert_eq!(warnings.len(), 2, "{warnings:?}");
}

#[test]
fn skills_7_a_standard_skill_without_a_description_is_skipped_and_nothing_says_that_it_is_served() {
    let index = index(&[("pdf/SKILL.md", "---\nname: pdf\n---\n# PDF\n")]);
    assert!(index.skills().is_empty());
    assert_eq!(findings(&index), ["pdf/SKILL.md: description: is missing or empty"]);
}

#[test]
fn a_file_that_is_no_skill_has_no_resource_folder() {
    let index = index(&[("docs.md", "# Only text"), ("docs/inner.md", &document("inner"))]);
    assert!(index.get("docs/inner").is_some());
    assert_eq!(findings(&index).len(), 1, "{:?}", findings(&index));
}
