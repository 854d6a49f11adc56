//! Repositories as found in the wild, served by `lyceum serve PATH` from a local clone: an Obsidian vault in three
//! languages, and an MDX site.

use std::fs;

use lyceum_testkit::TestRepository;
use serde_json::Value;
use tempfile::TempDir;

use super::{ask, eventually_answers, paths};
use crate::{
    app::get,
    knowledge::{command::started, stage::Program},
};

/// A clone with these files, committed, and the program that serves it.
async fn served(files: &[(&str, &str)]) -> (TempDir, TestRepository, String, Program) {
    let folder = tempfile::tempdir().unwrap();
    let clone = TestRepository::with_format(folder.path(), "kb", "sha1").unwrap();
    fs::write(clone.work().join(".git"), format!("gitdir: {}\n", clone.path().display())).unwrap();
    for (file, text) in files {
        clone.write(file, text).unwrap();
    }
    clone.git(["remote", "add", "origin", "https://github.com/acme/kb.git"]).unwrap();
    let commit = clone.commit().unwrap();
    let program = started(folder.path(), &["serve", clone.work().to_str().unwrap()]).await;
    program.shows_something().await;
    (folder, clone, commit, program)
}

async fn entry(program: &Program, id: &str) -> Value {
    let answer = program.send(get(&format!("/api/v1/entries/file/{id}"))).await.unwrap();
    assert_eq!(answer.status, 200, "{id}: {}", answer.text());
    answer.json()
}

const VAULT: &[(&str, &str)] = &[
    (
        "en/Open a vault.md",
        "---\naliases: [Strongroom]\n---\n\n%%todo%%You can open a vault from the [[Menu|main menu]] of the app. #how-to\n",
    ),
    (
        "de/Open a vault.md",
        "Du kannst einen vault über das [[Menu|Menü]] der App öffnen, wenn er auf dem Gerät ist.\n",
    ),
    ("ja/Open a vault.md", "アプリの[[Menu|メニュー]]から vault を開くことができます。\n"),
    (".obsidian/app.json", "{}"),
];

#[tokio::test]
async fn a_vault_in_three_languages_is_found_in_that_of_the_question() {
    let (_folder, _clone, commit, program) = served(VAULT).await;
    eventually_answers(&program, "vault", "", |found| found.len() == 3).await;
    let best = |question: &'static str| {
        let program = &program;
        async move { paths(program, question, "").await.into_iter().next().unwrap() }
    };
    assert_eq!(best("how do I open a vault").await, "en/Open a vault.md");
    assert_eq!(best("wie kann ich einen vault öffnen").await, "de/Open a vault.md");
    assert_eq!(paths(&program, "vault", "&language=ja").await, ["ja/Open a vault.md"]);
    assert_eq!(paths(&program, "strongroom", "").await, ["en/Open a vault.md"]);
    let found = ask(&program, "main menu", "&language=en&tag=how-to").await;
    let hit = &found["results"][0];
    assert_eq!(hit["id"], "en/open-a-vault");
    assert_eq!(hit["title"], "Open a vault");
    assert_eq!(hit["language"], "en");
    assert_eq!(hit["commitSha"], commit);
    let url = format!("https://github.com/acme/kb/blob/{commit}/en/Open%20a%20vault.md");
    assert!(hit["url"].as_str().unwrap().starts_with(&url), "{hit}");
    let snippet = hit["snippet"].as_str().unwrap();
    assert!(!snippet.contains("[[") && !snippet.contains("todo"), "{snippet}");
    let refused = program.send(get("/api/v1/search?q=vault&language=klingon")).await.unwrap();
    assert_eq!((refused.status, &refused.json()["error"]["details"]["field"]), (400, &"language".into()));
}

const SITE: &[(&str, &str)] = &[
    (
        "docs/index.mdx",
        "import Hero from '@site/Hero'\n\nexport const quokka = 1\n\n<Hero kind=\"wombat\">\n\n# Welcome to C#\n\n\
         </Hero>\n\nStart {/* numbat */} here.\n",
    ),
    ("docs/getting-started.markdown", "Install it {% include numbat.html %} first.\n"),
    ("docs/api.md.erb", "# <%= title %>\n"),
];

#[tokio::test]
async fn an_mdx_site_is_searched_by_its_text_and_served_as_written() {
    let (_folder, clone, commit, program) = served(SITE).await;
    eventually_answers(&program, "install", "", |found| found == ["docs/getting-started.markdown"]).await;
    for noise in ["quokka", "wombat", "numbat"] {
        assert!(paths(&program, noise, "&mode=lexical").await.is_empty(), "{noise}");
    }
    let found = ask(&program, "welcome", "").await;
    assert_eq!(found["results"][0]["title"], "Welcome to C#");
    assert_eq!(found["results"][0]["lines"][0], 7, "{found}");
    let page = entry(&program, "docs").await;
    assert!(page["content"].as_str().unwrap().contains("export const quokka"), "{page}");
    assert_eq!(page["commitSha"], commit);
    assert_eq!(
        entry(&program, "docs%2Fgetting-started").await,
        entry(&program, "docs/getting-started").await
    );
    let list = program.send(get("/api/v1/entries")).await.unwrap().json();
    assert_eq!(list["total"], 2);
    // An edit that is not committed is of no commit.
    clone.write("docs/getting-started.markdown", "Install it last.\n").unwrap();
    eventually_answers(&program, "last", "", |found| found.len() == 1).await;
    let edited = entry(&program, "docs/getting-started").await;
    assert!(
        edited["commitSha"].as_str().unwrap().starts_with("tree-") && edited["url"].is_null(),
        "{edited}"
    );
}
