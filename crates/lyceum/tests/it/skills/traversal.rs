//! Path traversal in every spelling, and through symbolic links.

use serde_json::{Value, json};

use super::{Folder, ask, folder::skill, refusal, serving};
use crate::app::TestApp;

/// Paths that leave the folder, seem to, or are ambiguous.
fn leaving() -> Vec<String> {
    let mut paths: Vec<String> = [
        "..",
        "../secret",
        "../../secret",
        "assets/../../secret",
        "assets/..",
        "assets/../assets/AuthProvider.tsx.template",
        "./../secret",
        "././assets/AuthProvider.tsx.template",
        "/etc/passwd",
        "//etc/passwd",
        "assets//AuthProvider.tsx.template",
        "assets/",
        "C:\\Windows\\win.ini",
        "C:/Windows/win.ini",
        "..\\secret",
        "assets\\..\\..\\secret",
        "\\\\server\\share",
        "%2e%2e/secret",
        "%2e%2e%2fsecret",
        "..%2fsecret",
        "..%5csecret",
        "%2fetc%2fpasswd",
        "assets%2fAuthProvider.tsx.template",
        "%252e%252e%252fsecret",
        "assets/AuthProvider.tsx.template\0",
        "assets/AuthProvider.tsx.template\0.png",
        "assets/%00",
        "assets/a\nb",
        "assets/\u{1b}[31m",
        "．．/secret",
        "．．／secret",
        "..\u{2215}secret",
        "..\u{2044}secret",
        "..\u{29F8}secret",
        "..\u{FF3C}secret",
        "..\u{2216}secret",
        "\u{2025}/secret",
        "\u{2024}\u{2024}/secret",
        "\u{FE52}\u{FE52}/secret",
        "",
    ]
    .map(str::to_owned)
    .into();
    paths.push("a/".repeat(600) + "b");
    paths.push("x".repeat(300));
    paths.push("../".repeat(400) + "etc/passwd");
    paths.push("x".repeat(1_000_000));
    paths
}

/// Paths that are only odd: they stay in the folder, and don't exist.
const ODD: [&str; 7] =
    ["%25252e%25252e/secret", "assets/...", "~/secret", "$HOME/secret", "`id`", "assets/%zz", "-rf"];

async fn check(app: &TestApp, tool: &str, arguments: impl Fn(&str) -> Value, field: &str) {
    for path in leaving() {
        let (code, text) = refusal(app, tool, arguments(&path)).await;
        assert_eq!(code, "INVALID_PATH", "{tool} {field} {path:.80?}: {text}");
        assert!(text.starts_with(&format!("{field}: path traversal is not allowed")), "{path:.80?}: {text}");
        assert!(text.len() < 1000 && !text.contains("root:"), "{path:.80?}: {text:.2000}");
    }
    for path in ODD {
        let (code, text) = refusal(app, tool, arguments(path)).await;
        assert_eq!(code, "NOT_FOUND", "{tool} {field} {path:?}: {text}");
    }
    app.serves_others().await;
}

#[tokio::test]
async fn no_file_is_served_from_outside_the_folder() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    check(&app, "get_asset", |path| json!({ "skill_path": "ui/react/auth", "file": path }), "file").await;
    app.stop().await;
}

#[tokio::test]
async fn no_skill_is_named_by_a_path_that_leaves() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    check(&app, "get_skill", |path| json!({ "skill_path": path }), "skill_path").await;
    check(&app, "get_asset", |path| json!({ "skill_path": path, "file": "global.css" }), "skill_path").await;
    check(&app, "report_usage", |path| json!({ "skill_path": path, "useful": true }), "skill_path").await;
    app.stop().await;
}

#[tokio::test]
async fn no_script_is_run_from_outside_the_folder() {
    let folder = Folder::example();
    let app = serving(&folder, "[skills.scripts]\nenabled = true\n").await;
    let run = |skill: &str, file: &str| json!({ "skill_path": skill, "file": file, "args": {} });
    check(&app, "run_script", |path| run("ui/react/auth", path), "file").await;
    check(&app, "run_script", |path| run(path, "scripts/lint.sh"), "skill_path").await;
    app.stop().await;
}

#[tokio::test]
async fn a_path_that_leaves_can_not_be_declared() {
    let text = "---\nkeywords: [a]\ndescription: A\nassets:\n  - ../secret.txt\n  - file: /etc/passwd\n  - in.txt\n---\nA\n";
    let folder = Folder::of(&[("a.md", text), ("a/in.txt", "inside"), ("secret.txt", "secret")]);
    let app = serving(&folder, "").await;
    let answer = ask(&app, "get_skill", json!({ "skill_path": "a" })).await;
    assert_eq!(answer["assets"], json!([{ "file": "in.txt", "description": "", "type": "other" }]));
    let findings = ask(&app, "refresh_skills", json!({})).await["findings"].clone();
    let told: Vec<&str> =
        findings.as_array().unwrap().iter().map(|one| one["message"].as_str().unwrap()).collect();
    assert_eq!(told.len(), 2, "{findings}");
    assert!(told[0].starts_with("assets[0].file: \"../secret.txt\""), "{findings}");
    assert!(told[1].starts_with("assets[1].file: \"/etc/passwd\""), "{findings}");
    app.stop().await;
}

#[cfg(unix)]
mod links {
    use super::*;

    /// A skill that declares two files, and a secret beside the folder of the skills.
    fn linked() -> Folder {
        let text = "---\nkeywords: [a]\ndescription: A\nassets: [one.txt, deep/two.txt]\n---\nA\n";
        let folder = Folder::of(&[("a.md", text), ("a/real.txt", "inside"), ("b/real.txt", "also inside")]);
        std::fs::create_dir(folder.beside("outside")).unwrap();
        std::fs::write(folder.beside("outside/two.txt"), "secret").unwrap();
        folder
    }

    fn asked(file: &str) -> Value {
        json!({ "skill_path": "a", "file": file })
    }

    #[tokio::test]
    async fn a_link_that_stays_in_the_folder_is_followed() {
        let folder = linked();
        folder.link("a/one.txt", "real.txt");
        folder.link("a/deep", "../b");
        folder.link("b/two.txt", "real.txt");
        let app = serving(&folder, "").await;
        assert_eq!(ask(&app, "get_asset", asked("one.txt")).await["content"], "inside");
        assert_eq!(ask(&app, "get_asset", asked("deep/two.txt")).await["content"], "also inside");
        app.stop().await;
    }

    async fn check_leaves(folder: &Folder, file: &str) {
        let app = serving(folder, "").await;
        let (code, text) = refusal(&app, "get_asset", asked(file)).await;
        assert!(!text.contains("secret"), "{text}");
        let findings = ask(&app, "refresh_skills", json!({})).await["findings"].to_string();
        assert!(findings.contains("the symbolic link leaves the folder"), "{findings}");
        assert_eq!(code, "INVALID_PATH", "a link that leaves is a traversal: {text}");
        assert!(text.contains("path traversal is not allowed"), "{text}");
        app.stop().await;
    }

    #[tokio::test]
    async fn a_link_that_leaves_the_folder_is_a_traversal() {
        let folder = linked();
        folder.link("a/one.txt", folder.beside("outside/two.txt"));
        check_leaves(&folder, "one.txt").await;
        folder.link("a/one.txt", "../../outside/two.txt");
        check_leaves(&folder, "one.txt").await;
        folder.link("a/one.txt", "/etc/passwd");
        check_leaves(&folder, "one.txt").await;
    }

    #[tokio::test]
    async fn a_linked_folder_that_leaves_is_a_traversal() {
        let folder = linked();
        folder.link("a/deep", folder.beside("outside"));
        check_leaves(&folder, "deep/two.txt").await;
    }

    #[tokio::test]
    async fn a_link_that_took_the_place_of_a_file_is_a_traversal() {
        let folder = linked();
        folder.write("a/one.txt", "inside");
        folder.write("a/deep/two.txt", "inside");
        let app = serving(&folder, "").await;
        assert_eq!(ask(&app, "get_asset", asked("one.txt")).await["content"], "inside");
        assert_eq!(ask(&app, "get_asset", asked("deep/two.txt")).await["content"], "inside");
        folder.link("a/one.txt", folder.beside("outside/two.txt"));
        folder.rename("a/deep", "a/shallow");
        folder.link("a/deep", folder.beside("outside"));
        for file in ["one.txt", "deep/two.txt"] {
            let text =
                format!("path traversal is not allowed: {file:?} is a link that leaves the skills' folder");
            assert_eq!(refusal(&app, "get_asset", asked(file)).await, ("INVALID_PATH".to_owned(), text));
        }
        app.stop().await;
    }

    #[tokio::test]
    async fn a_skill_that_is_a_link_out_of_the_folder_is_not_served() {
        let folder = Folder::of(&[("a.md", &skill("a", "A"))]);
        std::fs::write(folder.beside("secret.md"), skill("secret", "The secret.")).unwrap();
        folder.link("b.md", folder.beside("secret.md"));
        let app = serving(&folder, "").await;
        assert_eq!(ask(&app, "get_skill", json!({ "context": "secret" })).await["no_match"], true);
        assert_eq!(refusal(&app, "get_skill", json!({ "skill_path": "b" })).await.0, "NOT_FOUND");
        app.stop().await;
    }

    #[tokio::test]
    async fn a_pipe_in_the_place_of_a_file_holds_nobody_up() {
        let folder = linked();
        folder.write("a/one.txt", "inside");
        let app = serving(&folder, "").await;
        folder.remove("a/one.txt");
        let pipe = folder.file("a/one.txt");
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
        let (code, text) = refusal(&app, "get_asset", asked("one.txt")).await;
        assert_eq!(
            (code.as_str(), text.as_str()),
            ("NOT_FOUND", "\"one.txt\" is declared but missing in the skill's folder")
        );
        app.stop().await;
    }
}
