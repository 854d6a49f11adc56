//! `get_asset`: text, binary and inherited files, and what is not served.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::{Folder, ask, check_refused, serving};

async fn check(folder: &Folder, arguments: Value, expected: Value) {
    let app = serving(folder, "").await;
    assert_eq!(ask(&app, "get_asset", arguments).await, expected);
    app.stop().await;
}

#[tokio::test]
async fn a_text_comes_as_it_is() {
    let arguments = json!({ "skill_path": "ui/react/auth", "file": "assets/AuthProvider.tsx.template" });
    let expected = json!({
        "skill_path": "ui/react/auth",
        "file": "assets/AuthProvider.tsx.template",
        "content": "import React from \"react\";\n",
        "size_bytes": 27,
        "type": "template",
    });
    check(&Folder::example(), arguments, expected).await;
}

#[tokio::test]
async fn a_binary_file_comes_in_base64_with_its_media_type() {
    let arguments = json!({ "skill_path": "ui/react/auth", "file": "assets/auth-flow.svg" });
    let expected = json!({
        "skill_path": "ui/react/auth",
        "file": "assets/auth-flow.svg",
        "content_base64": BASE64_STANDARD.encode("<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n"),
        "size_bytes": 42,
        "type": "image",
        "mime_type": "image/svg+xml",
    });
    check(&Folder::example(), arguments, expected).await;
}

#[tokio::test]
async fn an_inherited_file_says_where_it_is_from() {
    let arguments = json!({ "skill_path": "ui/react/auth", "file": "assets/component-base.tsx.template" });
    let expected = json!({
        "skill_path": "ui/react/auth",
        "file": "assets/component-base.tsx.template",
        "content": "export const Base = () => null;\n",
        "size_bytes": 32,
        "type": "template",
        "resolved_from": "ui/react/_index",
    });
    check(&Folder::example(), arguments, expected).await;
    let arguments = json!({ "skill_path": "api/auth", "file": "global.css" });
    let expected = json!({
        "skill_path": "api/auth",
        "file": "global.css",
        "content": "body { margin: 0 }\n",
        "size_bytes": 19,
        "type": "stylesheet",
        "resolved_from": "_root",
    });
    check(&Folder::example(), arguments, expected).await;
}

#[tokio::test]
async fn a_script_can_be_read_too() {
    let arguments = json!({ "skill_path": "ui/react/auth", "file": "scripts/scaffold-auth.sh" });
    let expected = json!({
        "skill_path": "ui/react/auth",
        "file": "scripts/scaffold-auth.sh",
        "content": "echo \"$SKILL_ARG_NAME\"\n",
        "size_bytes": 23,
        "type": "script",
    });
    check(&Folder::example(), arguments, expected).await;
}

#[tokio::test]
async fn what_is_no_text_is_never_bent_into_one() {
    let folder = Folder::example();
    folder.write("ui/react/auth/assets/notes.txt", b"caf\xe9\n");
    let arguments = json!({ "skill_path": "ui/react/auth", "file": "assets/notes.txt" });
    let expected = json!({
        "skill_path": "ui/react/auth",
        "file": "assets/notes.txt",
        "content_base64": BASE64_STANDARD.encode(b"caf\xe9\n"),
        "size_bytes": 5,
        "type": "other",
        "mime_type": "application/octet-stream",
    });
    check(&folder, arguments, expected).await;
}

#[tokio::test]
async fn what_is_declared_may_still_be_missing() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let arguments = json!({ "skill_path": "ui/react/auth", "file": "assets/notes.txt" });
    let text = "\"assets/notes.txt\" is declared but missing in the skill's folder";
    check_refused(&app, "get_asset", arguments, "NOT_FOUND", text).await;
    let arguments = json!({ "skill_path": "ui/react/auth", "file": "assets/auth-flow.svg" });
    folder.remove("ui/react/auth/assets/auth-flow.svg");
    let text = "\"assets/auth-flow.svg\" is declared but missing in the skill's folder";
    check_refused(&app, "get_asset", arguments, "NOT_FOUND", text).await;
    assert_eq!(
        ask(&app, "get_skill", json!({ "context": "react login" })).await["skill_path"],
        "ui/react/auth"
    );
    app.stop().await;
}

#[tokio::test]
async fn what_is_not_declared_is_not_served() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    for (skill, file) in [
        ("ui/react/auth", "assets/not-declared.txt"),
        ("ui/react/auth", "README.md"),
        ("ui/react/auth", "assets"),
        ("ui/react/_index", "assets/AuthProvider.tsx.template"),
        ("no-inherit", "global.css"),
    ] {
        let text =
            format!("asset not found: {file:?} is not among the files of {skill:?}; get_skill names them");
        let arguments = json!({ "skill_path": skill, "file": file });
        check_refused(&app, "get_asset", arguments, "NOT_FOUND", &text).await;
    }
    let text = "skill not found: \"ui/nothing\"; list_skills lists all skills";
    let arguments = json!({ "skill_path": "ui/nothing", "file": "../secret" });
    check_refused(&app, "get_asset", arguments, "NOT_FOUND", text).await;
    app.stop().await;
}

#[tokio::test]
async fn what_is_too_large_is_told_with_its_size() {
    let folder = Folder::example();
    let file = "ui/react/auth/assets/notes.txt";
    folder.write(file, "x".repeat(1025));
    let app = serving(&folder, "[skills.assets]\nmax_size_bytes = 1024\n").await;
    let arguments = json!({ "skill_path": "ui/react/auth", "file": "assets/notes.txt" });
    let text = "\"assets/notes.txt\" has 1025 bytes; at most 1024 are served (assets.max_size_bytes)";
    check_refused(&app, "get_asset", arguments.clone(), "PAYLOAD_TOO_LARGE", text).await;
    folder.write(file, "x".repeat(1024));
    assert_eq!(ask(&app, "get_asset", arguments.clone()).await["size_bytes"], 1024);
    // It is not read, so its size does not matter.
    std::fs::File::create(folder.file(file)).unwrap().set_len(1 << 36).unwrap();
    let text = "\"assets/notes.txt\" has 68719476736 bytes; at most 1024 are served (assets.max_size_bytes)";
    check_refused(&app, "get_asset", arguments, "PAYLOAD_TOO_LARGE", text).await;
    app.stop().await;
}

#[tokio::test]
async fn one_megabyte_is_the_limit_unless_it_is_written() {
    let folder = Folder::example();
    let file = "ui/react/auth/assets/notes.txt";
    folder.write(file, "x".repeat(1_048_576));
    let app = serving(&folder, "").await;
    let arguments = json!({ "skill_path": "ui/react/auth", "file": "assets/notes.txt" });
    assert_eq!(ask(&app, "get_asset", arguments.clone()).await["size_bytes"], 1_048_576);
    folder.write(file, "x".repeat(1_048_577));
    let text = "\"assets/notes.txt\" has 1048577 bytes; at most 1048576 are served (assets.max_size_bytes)";
    check_refused(&app, "get_asset", arguments, "PAYLOAD_TOO_LARGE", text).await;
    app.stop().await;
}

/// "Relative file path within the resource directory": as declared, with or without `./`.
#[tokio::test]
async fn skills_6_a_file_can_be_had_by_the_name_that_it_is_declared_with() {
    let text = "---\nkeywords: [a]\ndescription: d\nassets:\n  - file: ./dot.txt\n---\n";
    let folder = Folder::of(&[("a.md", text), ("a/dot.txt", "x")]);
    let app = serving(&folder, "").await;
    for file in ["./dot.txt", "dot.txt"] {
        let answer = ask(&app, "get_asset", json!({ "skill_path": "a", "file": file })).await;
        assert_eq!((&answer["content"], &answer["file"]), (&json!("x"), &json!("dot.txt")));
    }
    app.stop().await;
}

#[tokio::test]
async fn a_declared_file_that_is_left_out_says_why() {
    let text = "---\nkeywords: [a]\ndescription: d\nassets: [.env]\n---\n";
    let folder = Folder::of(&[("a.md", text), ("a/.env", "x"), ("a/other.txt", "x")]);
    let app = serving(&folder, "").await;
    check_refused(
        &app,
        "get_asset",
        json!({ "skill_path": "a", "file": ".env" }),
        "NOT_FOUND",
        "\".env\" is declared but left out of the skills' folder: it is hidden: its name begins with a dot",
    )
    .await;
    app.stop().await;
}
