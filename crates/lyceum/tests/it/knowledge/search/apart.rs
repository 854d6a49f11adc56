//! Separation of indexes: documents and skills of one source, and servers that share a data folder.

use std::{fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use super::{ask, eventually_answers, paths};
use crate::{
    app::get,
    knowledge::stage::{Program, published, write_config},
};

const SKILL: &str = "---\ndescription: How bread is baked in an oven\nkeywords: [baking]\n---\n\n\
    # Baking\n\nKnead the dough for a quarter of an hour.\n";

/// A folder with a configuration for documents in `kb`, and optionally skills in `kb/skills`.
fn folder(documents: &[(&str, &str)], skills: bool) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let kb = folder.path().join("kb");
    fs::create_dir_all(kb.join("skills")).unwrap();
    for (file, body) in documents {
        fs::write(kb.join(file), published(file, body)).unwrap();
    }
    fs::write(kb.join("skills/bread.md"), SKILL).unwrap();
    write_config(folder.path(), &format!("path = {kb:?}"));
    if skills {
        let config = folder.path().join("lyceum.toml");
        let text = fs::read_to_string(&config).unwrap() + "\n[skills]\nsource = \"kb\"\npath = \"skills\"\n";
        fs::write(config, text).unwrap();
    }
    folder
}

async fn start(folder: &TempDir, data: &Path) -> Program {
    let program = Program::start(folder.path(), data, &[]).await;
    program.shows_something().await;
    program
}

#[tokio::test]
async fn one_source_is_searched_for_documents_and_for_skills() {
    let folder = folder(&[("a.md", "alpha"), ("b.md", "beta")], true);
    let data = folder.path().join("data");
    let program = start(&folder, &data).await;
    for round in ["alpha", "gamma"] {
        eventually_answers(&program, "knead", "", |found| found == ["skills/bread.md"]).await;
        eventually_answers(&program, round, "", |found| found == ["a.md"]).await;
        fs::write(folder.path().join("kb/a.md"), published("a.md", "gamma")).unwrap();
    }
    let skill = ask(&program, "knead", "&contentType=skill").await["results"][0].clone();
    let lines: Vec<usize> = serde_json::from_value(skill["lines"].clone()).unwrap();
    let knead = 1 + SKILL.lines().position(|line| line.starts_with("Knead")).unwrap();
    assert!((lines[0]..=lines[1]).contains(&knead) && lines[0] > 1, "{lines:?} of {knead}");
    assert_eq!(paths(&program, "baked in an oven", "&contentType=skill").await, ["skills/bread.md"]);
}

#[tokio::test]
async fn two_servers_with_one_data_folder_do_not_find_what_is_the_others() {
    let [one, two] = [("mine.md", "shared word"), ("yours.md", "shared word")]
        .map(|document| folder(&[document], document.0 == "mine.md"));
    let data = one.path().join("data");
    let first = start(&one, &data).await;
    let second = start(&two, &data).await;
    eventually_answers(&first, "shared", "", |found| found == ["mine.md"]).await;
    eventually_answers(&second, "shared", "", |found| found == ["yours.md"]).await;
    assert_eq!(paths(&second, "knead", "").await, [""; 0]);
    assert_eq!(paths(&first, "shared", "").await, ["mine.md"]);
}

#[tokio::test]
async fn a_document_is_found_by_what_its_frontmatter_says_it_is_about() {
    let folder = folder(&[("a.md", "alpha")], false);
    let text = "---\ntitle: Plain\ndate: 2026-01-01\npublish: true\ndescription: On the upkeep of bicycles\n---\nbeta\n";
    fs::write(folder.path().join("kb/b.md"), text).unwrap();
    let program = start(&folder, &folder.path().join("data")).await;
    eventually_answers(&program, "bicycle upkeep", "", |found| found == ["b.md"]).await;
    eventually_answers(&program, "beta", "", |found| found == ["b.md"]).await;
    let lines = ask(&program, "beta", "").await["results"][0]["lines"].clone();
    assert_eq!(lines, serde_json::json!([7, 7]));
}

#[tokio::test]
async fn an_answer_that_a_client_has_is_not_sent_again() {
    let folder = folder(&[("a.md", "alpha")], false);
    let program = start(&folder, &folder.path().join("data")).await;
    eventually_answers(&program, "alpha", "", |found| found == ["a.md"]).await;
    let first = program.send(get("/api/v1/search?q=alpha")).await.unwrap();
    let tag = first.headers["etag"].to_str().unwrap().to_owned();
    let again = http::Request::get("/api/v1/search?q=alpha").header("if-none-match", tag);
    let again = program.send(again.body(Default::default()).unwrap()).await.unwrap();
    assert_eq!(again.status, 304);
    let refused = program.send(get("/api/v1/search?q=a&since=never")).await.unwrap().json();
    let field = |answer: &Value| answer["error"]["details"]["field"].clone();
    assert_eq!(field(&refused), "since", "{refused}");
}
