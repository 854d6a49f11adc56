//! Which Agent Skills are served: which are skipped and why, and repository layouts.

use serde_json::json;

use super::{Folder, ask, command::lyceum, folder::standard, repository::Repository, serving, tables};
use crate::app::{TestApp, modern};

/// The URIs of the skills that the extension lists.
async fn shelf(app: &TestApp) -> Vec<String> {
    let listed = app.send(modern("skills/list", &json!({}))).await.result();
    listed["skills"].as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_skill_that_breaks_the_standard_is_kept_from_the_shelf_and_served_by_the_tools() {
    let folder = Folder::of(&[
        ("good/SKILL.md", &standard("good", "Good.")),
        ("wrong/SKILL.md", &standard("Wrong Name", "Wrong.")),
        ("silent/SKILL.md", "---\nname: silent\n---\n\nNo description.\n"),
    ]);
    let app = serving(&folder, "").await;
    assert_eq!(shelf(&app).await, ["skill://good/SKILL.md"]);
    assert_eq!(ask(&app, "get_skill", json!({ "skill_path": "wrong" })).await["content"], "Wrong.");
    let findings = ask(&app, "refresh_skills", json!({})).await["findings"].clone();
    let told: Vec<_> = findings
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["file"].as_str().unwrap(), one["severity"].as_str().unwrap()))
        .collect();
    let expected = [("silent/SKILL.md", "skipped"), ("wrong/SKILL.md", "warning")];
    assert_eq!(told, expected, "{findings}");
    app.stop().await;
}

#[tokio::test]
async fn a_skill_of_too_many_files_or_bytes_is_kept_from_the_shelf() {
    let folder = Folder::of(&[
        ("good/SKILL.md", &standard("good", "Good.")),
        ("many/SKILL.md", &standard("many", "Many.")),
        ("large/SKILL.md", &standard("large", "Large.")),
    ]);
    // The 512th is at the limit, the next one exceeds it.
    for number in 0..511 {
        folder.write(&format!("many/{number}.txt"), "x");
    }
    let large = |bytes| std::fs::File::create(folder.file("large/data.bin")).unwrap().set_len(bytes).unwrap();
    large(16 * 1024 * 1024 - standard("large", "Large.").len() as u64);
    let app = serving(&folder, "").await;
    assert_eq!(shelf(&app).await.len(), 3);
    folder.write("many/last.txt", "x");
    large(16 * 1024 * 1024);
    let findings = ask(&app, "refresh_skills", json!({})).await["findings"].clone();
    let text =
        "it has more than 512 files or 16 MiB, too large for the skills extension; only the tools serve it";
    let told = |file: &str| json!({ "file": file, "severity": "warning", "message": text });
    assert_eq!(findings, json!([told("large/SKILL.md"), told("many/SKILL.md")]));
    assert_eq!(shelf(&app).await, ["skill://good/SKILL.md"]);
    assert_eq!(ask(&app, "get_skill", json!({ "skill_path": "many" })).await["content"], "Many.");
    app.stop().await;
}

async fn check_layout(files: &[(&str, &str)], shelf_of: &[&str]) {
    let repository = Repository::of(files);
    let tables =
        format!("[[source]]\nname = \"s\"\nurl = {:?}\n[skills]\nsource = \"s\"\n", repository.url());
    let app = TestApp::still_product_of(&tables).await;
    assert_eq!(ask(&app, "refresh_skills", json!({})).await["success"], true);
    assert_eq!(shelf(&app).await, shelf_of);
    app.stop().await;
}

#[tokio::test]
async fn repositories_are_served_as_people_lay_them_out() {
    let (pdf, docx) = (standard("pdf", "P"), standard("docx", "D"));
    let skills =
        [("README.md", "# Skills"), ("skills/pdf/SKILL.md", &*pdf), ("skills/docx/SKILL.md", &*docx)];
    check_layout(&skills, &["skill://docx/SKILL.md", "skill://pdf/SKILL.md"]).await;
    let top = [("README.md", "# Skills"), ("pdf/SKILL.md", &*pdf), ("docs/docx/SKILL.md", &*docx)];
    check_layout(&top, &["skill://docs/docx/SKILL.md", "skill://pdf/SKILL.md"]).await;
    let marketplace = [
        (".claude-plugin/marketplace.json", "{}"),
        ("plugins/office/skills/docx/SKILL.md", &*docx),
        ("skills/pdf/SKILL.md", &*pdf),
    ];
    check_layout(&marketplace, &["skill://pdf/SKILL.md"]).await;
    let plugins =
        [(".claude-plugin/marketplace.json", "{}"), ("plugins/office/skills/docx/SKILL.md", &*docx)];
    check_layout(&plugins, &["skill://plugins/office/skills/docx/SKILL.md"]).await;
    let alone = [("SKILL.md", &*pdf), ("forms.md", "# Forms")];
    check_layout(&alone, &["skill://pdf/SKILL.md"]).await;
}

/// Anonymous callers can read what the author of a folder would commit.
#[tokio::test]
async fn s14_secrets_beside_a_skill_are_not_resources() {
    let folder = Folder::of(&[
        ("s/SKILL.md", &standard("s", "Good.")),
        ("s/.env", "TOKEN=s3cret\n"),
        ("s/.aws/credentials", "s3cret\n"),
        ("s/server.pem", "s3cret\n"),
        (".gitignore", "*.pem\n"),
        (".claude/skills/pdf/SKILL.md", &standard("pdf", "PDF.")),
        (".claude/settings.local.json", "{}"),
    ]);
    let app = serving(&folder, "").await;
    assert_eq!(shelf(&app).await, ["skill://.claude/skills/pdf/SKILL.md", "skill://s/SKILL.md"]);
    for file in ["s/.env", "s/.aws/credentials", "s/server.pem"] {
        let read = modern("resources/read", &json!({ "uri": format!("skill://{file}") }));
        let answer = app.send(read).await.message();
        assert!(answer.get("error").is_some() && !answer.to_string().contains("s3cret"), "{file}: {answer}");
    }
    // Names of hidden files are only for the operator.
    assert_eq!(ask(&app, "refresh_skills", json!({})).await.get("findings"), None);
    app.stop().await;
    let doctor = lyceum("doctor", &tables(&folder), &[]).await;
    for line in [
        "  ignored  s/.env: it is hidden: its name begins with a dot\n",
        "  ignored  s/.aws: it is hidden: its name begins with a dot\n",
        "  ignored  s/server.pem: it is ignored: *.pem in .gitignore\n",
        "  ignored  .claude/settings.local.json: it is directly in a hidden folder",
    ] {
        assert!(doctor.out.contains(line), "{line} is not in {}", doctor.out);
    }
}
