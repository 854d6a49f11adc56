//! `get_skill`: all forms of its result, and its errors.

use serde_json::{Value, json};

use super::{Folder, ask, check_refused, folder::skill, refusal, serving};

#[tokio::test]
async fn a_task_that_fits_one_skill_gets_it_whole() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let answer =
        ask(&app, "get_skill", json!({ "context": "Create a React component for the authentication" })).await;
    let expected = json!({
        "skill_path": "ui/react/auth",
        "score": 0.755,
        "matched_keywords": ["react", "auth", "component"],
        "content": "=== GLOBAL RULES (from _root.md) ===\n\nWrite tests.\n\n\
            === UI (from ui/_index.md) ===\n\nKeep it simple.\n\n\
            === UI > REACT (from ui/react/_index.md) ===\n\nUse function components.\n\n\
            === UI > REACT > AUTH (from ui/react/auth.md) ===\n\nUse the provider.",
        "assets": [
            { "file": "assets/AuthProvider.tsx.template", "description": "Provider", "type": "template" },
            { "file": "assets/auth-flow.svg", "description": "The flow", "type": "image" },
            { "file": "assets/notes.txt", "description": "", "type": "other" },
        ],
        "scripts": [{
            "file": "scripts/scaffold-auth.sh",
            "description": "Makes the files",
            "execution": "claude",
            "args": [
                { "name": "name", "description": "Of the component", "required": true },
                { "name": "dry-run", "description": "", "required": false },
            ],
        }],
        "inherited_assets": [
            {
                "file": "assets/component-base.tsx.template",
                "description": "Base of a component",
                "type": "template",
                "from": "ui/react/_index",
            },
            { "file": "global.css", "description": "Colours", "type": "stylesheet", "from": "_root" },
        ],
        "inherited_scripts": [{
            "file": "scripts/lint.sh",
            "description": "Lints",
            "execution": "server",
            "args": [{ "name": "folder", "description": "What to lint", "required": true }],
            "from": "ui/react/_index",
        }],
    });
    assert_eq!(answer, expected);
    app.stop().await;
}

#[tokio::test]
async fn a_task_that_fits_several_gets_the_candidates() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let answer = ask(&app, "get_skill", json!({ "context": "auth" })).await;
    let expected = json!({
        "ambiguous": true,
        "candidates": [
            {
                "skill_path": "ui/react/auth",
                "score": 0.255,
                "description": "React authentication components and patterns",
                "matched_keywords": ["auth"],
            },
            {
                "skill_path": "api/auth",
                "score": 0.25,
                "description": "API authentication with JWT middleware",
                "matched_keywords": ["auth"],
            },
        ],
        "message": "Multiple skills match. Specify your need or pick a skill_path.",
    });
    assert_eq!(answer, expected);
    app.stop().await;
}

#[tokio::test]
async fn a_task_that_fits_none_is_told_so() {
    let nothing = json!({ "no_match": true, "message": "No skill matches the given context." });
    for folder in [Folder::example(), Folder::empty()] {
        let app = serving(&folder, "").await;
        assert_eq!(ask(&app, "get_skill", json!({ "context": "cook pasta" })).await, nothing);
        assert_eq!(ask(&app, "get_skill", json!({ "context": "the of and" })).await, nothing);
        app.stop().await;
    }
}

/// The matched skill, its score and its keywords.
async fn check_picked(arguments: Value, path: &str, score: f64, keywords: &[&str]) {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let answer = ask(&app, "get_skill", arguments.clone()).await;
    let picked = (&answer["skill_path"], &answer["score"], &answer["matched_keywords"]);
    assert_eq!(picked, (&json!(path), &json!(score), &json!(keywords)), "{arguments}");
    assert_eq!(answer.as_object().unwrap().len(), 8, "the form is that of a match: {answer}");
    app.stop().await;
}

#[tokio::test]
async fn a_candidate_is_picked_by_its_path() {
    check_picked(json!({ "context": "auth", "skill_path": "api/auth" }), "api/auth", 0.25, &["auth"]).await;
    check_picked(json!({ "context": "cook pasta", "skill_path": "api/auth" }), "api/auth", 0.0, &[]).await;
    check_picked(json!({ "skill_path": "api/auth" }), "api/auth", 1.0, &[]).await;
    check_picked(json!({ "context": " ", "skill_path": "ui/_index" }), "ui/_index", 1.0, &[]).await;
}

#[tokio::test]
async fn what_does_not_inherit_stands_alone() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let answer = ask(&app, "get_skill", json!({ "context": "alone" })).await;
    let expected = json!({
        "skill_path": "no-inherit",
        "score": 1.0,
        "matched_keywords": ["alone"],
        "content": "Nothing else counts.",
        "assets": [],
        "scripts": [],
        "inherited_assets": [],
        "inherited_scripts": [],
    });
    assert_eq!(answer, expected);
    app.stop().await;
}

#[tokio::test]
async fn without_a_task_and_a_path_there_is_nothing_to_find() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let text = "context: is missing; describe the task, or give a skill_path";
    for arguments in [json!({}), json!({ "context": null })] {
        check_refused(&app, "get_skill", arguments, "VALIDATION_ERROR", text).await;
    }
    for context in ["", " \n\t"] {
        assert_eq!(ask(&app, "get_skill", json!({ "context": context })).await["no_match"], true);
    }
    app.stop().await;
}

#[tokio::test]
async fn an_unknown_path_is_not_found() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    for (path, suggestion) in [
        ("ui/react/nothing", ""),
        ("ui", ""),
        ("broken", ""),
        ("ui/react/auth/README", ""),
        ("UI/REACT/AUTH", " (did you mean ui/react/auth, api/auth?)"),
        ("ui/react/auth.md", " (did you mean ui/react/auth, api/auth?)"),
    ] {
        let text = format!("skill not found: {path:?}{suggestion}; list_skills lists all skills");
        check_refused(&app, "get_skill", json!({ "skill_path": path }), "NOT_FOUND", &text).await;
    }
    app.stop().await;
}

#[tokio::test]
async fn arguments_of_another_shape_are_named() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    for (arguments, field) in [
        (json!({ "context": 5 }), "arguments.context"),
        (json!({ "context": ["a"] }), "arguments.context"),
        (json!({ "contxt": "a" }), "arguments.contxt"),
        (json!({ "skill_path": {} }), "arguments.skill_path"),
    ] {
        let (code, text) = refusal(&app, "get_skill", arguments.clone()).await;
        assert_eq!(code, "VALIDATION_ERROR", "{arguments}");
        assert!(text.contains(field), "{arguments}: {text}");
    }
    app.stop().await;
}

#[tokio::test]
async fn a_long_task_is_read_up_to_16_kib() {
    let folder = Folder::of(&[("deep.md", &skill("needle", "Found."))]);
    let app = serving(&folder, "").await;
    let longest = format!("{}needle", "hay ".repeat((16 * 1024 - 6) / 4) + "  ");
    assert_eq!(longest.len(), 16 * 1024);
    assert_eq!(ask(&app, "get_skill", json!({ "context": longest })).await["skill_path"], "deep");
    let text = "context: is longer than 16 KiB; describe the task in a few sentences";
    for longer in [format!("{longest}s"), "hay ".repeat(100_000), "\u{1F9F5}".repeat(4097)] {
        check_refused(&app, "get_skill", json!({ "context": longer }), "INVALID_QUERY", text).await;
    }
    app.serves_others().await;
    app.stop().await;
}

#[tokio::test]
async fn a_task_in_any_script_is_only_words() {
    let folder = Folder::of(&[("cafe.md", &skill("café", "Un café.")), ("cha.md", &skill("お茶", "A cup."))]);
    let app = serving(&folder, "").await;
    for (context, path) in
        [("CAFÉ, s'il vous plaît", json!("cafe")), ("お茶", json!("cha")), ("\u{0}\u{202E}", Value::Null)]
    {
        assert_eq!(
            ask(&app, "get_skill", json!({ "context": context })).await["skill_path"],
            path,
            "{context:?}"
        );
    }
    app.stop().await;
}
