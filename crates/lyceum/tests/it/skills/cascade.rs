//! `run_script` up to execution: nine checks in order, each with its own error.

use serde_json::{Value, json};

use super::{Folder, check_refused, refusal, serving};
use crate::app::TestApp;

/// Each script fails at one check, and at every later one as far as possible.
fn folder() -> Folder {
    let text = "---\nkeywords: [tools]\ndescription: Tools\nassets: [data.sh]\nscripts:\n  \
        - { file: by-hand.rb, args: [{ name: target }] }\n  \
        - { file: needy.rb, execution: server, args: [{ name: target }, { name: mode, required: false }, level] }\n  \
        - { file: odd.rb, execution: server }\n  \
        - { file: no-extension, execution: server }\n  \
        - { file: gone.pl, execution: server }\n  \
        - { file: bare.pl, execution: server }\n  \
        - { file: typo.sh, execution: Server }\n---\nTools\n";
    Folder::of(&[
        ("tools/_index.md", text),
        ("tools/_index/bare.pl", "print 1;"),
        ("tools/_index/data.sh", "echo data"),
        ("tools/_index/typo.sh", "echo typo"),
        ("tools/child.md", "---\nkeywords: [child]\ndescription: Inherits\n---\nChild\n"),
        ("tools/alone.md", "---\nkeywords: [alone]\ndescription: Does not\ninherit: false\n---\nAlone\n"),
    ])
}

const ON: &str = "[skills.scripts]\nenabled = true\nallowed_extensions = [\".sh\", \".pl\"]\n";

async fn check(app: &TestApp, skill: &str, file: &str, args: Value, code: &str, text: &str) {
    let arguments = json!({ "skill_path": skill, "file": file, "args": args });
    check_refused(app, "run_script", arguments, code, text).await;
}

#[tokio::test]
async fn first_scripts_must_be_enabled() {
    let folder = folder();
    let text = "scripts are disabled (scripts.enabled = false); the one who runs this server can enable them";
    for tables in ["", "[skills.scripts]\nenabled = false\n"] {
        let app = serving(&folder, tables).await;
        for (skill, file) in [("tools/_index", "bare.pl"), ("nothing", "../../x"), ("../..", "/etc/passwd")] {
            check(&app, skill, file, json!({}), "FORBIDDEN", text).await;
        }
        app.stop().await;
    }
}

#[tokio::test]
async fn second_the_skill_must_exist() {
    let folder = folder();
    let app = serving(&folder, ON).await;
    let text = "skill not found: \"nothing\"; list_skills lists all skills";
    check(&app, "nothing", "../../x", json!({}), "NOT_FOUND", text).await;
    check(&app, "nothing", "bare.pl", json!({}), "NOT_FOUND", text).await;
    app.stop().await;
}

#[tokio::test]
async fn third_the_path_must_stay_in_the_folder() {
    let folder = folder();
    let app = serving(&folder, ON).await;
    let text = "file: path traversal is not allowed: \"../bare.pl\" is not a path that stays in its folder: it has an \
        empty part, . or ..";
    check(&app, "tools/_index", "../bare.pl", json!({}), "INVALID_PATH", text).await;
    app.stop().await;
}

#[tokio::test]
async fn fourth_the_script_must_be_declared() {
    let folder = folder();
    let app = serving(&folder, ON).await;
    // An asset is not a script, and a skill without inheritance has no scripts of its parents.
    for (skill, file) in
        [("tools/_index", "nothing.rb"), ("tools/_index", "data.sh"), ("tools/alone", "bare.pl")]
    {
        let text = format!(
            "script not declared: {file:?} is not among the scripts of the skill; get_skill names them"
        );
        check(&app, skill, file, json!({}), "NOT_FOUND", &text).await;
    }
    app.stop().await;
}

#[tokio::test]
async fn fifth_the_server_must_be_meant_to_run_it() {
    let folder = folder();
    let app = serving(&folder, ON).await;
    for file in ["by-hand.rb", "typo.sh"] {
        let text = format!(
            "{file:?} is not run by the server (execution: \"claude\"): get it with get_asset and run it with your own shell"
        );
        check(&app, "tools/_index", file, json!({}), "VALIDATION_ERROR", &text).await;
    }
    app.stop().await;
}

#[tokio::test]
async fn sixth_every_required_argument_must_be_there() {
    let folder = folder();
    let app = serving(&folder, ON).await;
    for (args, missing) in [
        (json!({}), "target, level"),
        (json!({ "mode": "fast" }), "target, level"),
        (json!({ "target": "" }), "level"),
        (json!({ "TARGET": "x", "level": "1" }), "target"),
    ] {
        let text = format!("args: missing required arguments: {missing}");
        check(&app, "tools/_index", "needy.rb", args, "VALIDATION_ERROR", &text).await;
    }
    let text = "args: missing required arguments: target, level";
    check(&app, "tools/child", "needy.rb", json!({}), "VALIDATION_ERROR", text).await;
    app.stop().await;
}

#[tokio::test]
async fn seventh_the_extension_must_be_allowed() {
    let folder = folder();
    let app = serving(&folder, ON).await;
    let odd = |extension: &str| {
        format!(
            "the extension {extension:?} is not allowed; allowed are .sh, .pl (scripts.allowed_extensions)"
        )
    };
    let args = json!({ "target": "x", "level": "1" });
    check(&app, "tools/_index", "needy.rb", args, "VALIDATION_ERROR", &odd(".rb")).await;
    check(&app, "tools/_index", "odd.rb", json!({}), "VALIDATION_ERROR", &odd(".rb")).await;
    check(&app, "tools/_index", "no-extension", json!({}), "VALIDATION_ERROR", &odd("")).await;
    app.stop().await;
    let app = serving(&folder, "[skills.scripts]\nenabled = true\n").await;
    let text =
        "the extension \".pl\" is not allowed; allowed are .sh, .ts, .js, .py (scripts.allowed_extensions)";
    check(&app, "tools/_index", "bare.pl", json!({}), "VALIDATION_ERROR", text).await;
    app.stop().await;
}

#[tokio::test]
async fn eighth_the_file_must_be_there() {
    let folder = folder();
    let app = serving(&folder, ON).await;
    let text = "\"gone.pl\" is declared but missing in the skill's folder";
    check(&app, "tools/_index", "gone.pl", json!({}), "NOT_FOUND", text).await;
    app.stop().await;
}

#[tokio::test]
async fn ninth_a_runner_must_be_configured() {
    let folder = folder();
    let app = serving(&folder, ON).await;
    let text = "no runner is configured for \".pl\"; add one to scripts.runners";
    check(&app, "tools/_index", "bare.pl", json!({}), "VALIDATION_ERROR", text).await;
    check(&app, "tools/child", "bare.pl", json!({}), "VALIDATION_ERROR", text).await;
    app.stop().await;
}

#[tokio::test]
async fn arguments_are_texts_by_their_names() {
    let folder = folder();
    let app = serving(&folder, ON).await;
    let script = json!({ "skill_path": "tools/_index", "file": "needy.rb" });
    for (args, field) in [
        (Value::Null, "arguments.args"),
        (json!(["x"]), "arguments.args"),
        (json!("target=x"), "arguments.args"),
        (json!({ "target": 5 }), "arguments.args"),
        (json!({ "target": { "a": "b" } }), "arguments.args"),
    ] {
        let mut arguments = script.clone();
        arguments["args"] = args;
        let (code, text) = refusal(&app, "run_script", arguments.clone()).await;
        assert_eq!(code, "VALIDATION_ERROR", "{arguments}: {text}");
        assert!(text.starts_with(field), "{arguments}: {text}");
    }
    let (code, text) = refusal(&app, "run_script", script).await;
    assert_eq!(code, "VALIDATION_ERROR");
    assert!(text.contains("args"), "{text}");
    app.stop().await;
}
