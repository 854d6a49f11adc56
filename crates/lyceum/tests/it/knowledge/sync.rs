//! Whatever happens in a repository, what is kept afterwards is what a program without a past would make of it.

use std::{
    collections::BTreeMap,
    fs,
    time::{Duration, Instant},
};

use lyceum_store::{
    Db,
    documents::{self, FileState},
};

use super::stage::{
    CANARY, Program, Shelf, Stage, eventually_within, knowledge, published, unpublished, write_config,
};

/// Brings in what is in the work tree, and checks it against a program without a past.
async fn check(stage: &Stage, program: &Program) -> Shelf {
    stage.brings_in(program).await;
    stage.check_equal_to_scratch(program).await
}

/// The files that are served.
fn paths(shelf: &Shelf) -> Vec<&str> {
    shelf.ids().into_keys().collect()
}

/// The files that are listed with a reason, and the reason.
fn listed(stage: &Stage) -> BTreeMap<String, String> {
    let db = Db::open(&knowledge(&stage.data()).unwrap().join("lyceum.db")).unwrap();
    let files = db.read_here(|tx| documents::files(tx, "kb")).unwrap();
    let listed =
        files.into_iter().filter(|file| matches!(file.state, FileState::Skipped | FileState::Failed));
    listed.map(|file| (file.path, file.reason.unwrap())).collect()
}

#[tokio::test]
async fn documents_come_change_and_go() {
    let stage = Stage::new().await;
    let (kb, program) = (&stage.kb, stage.started().await);
    kb.write("artifacts/patterns/loop.md", published("Loop", "one")).unwrap();
    kb.write("notes/plain.txt", CANARY).unwrap();
    kb.write(".obsidian/hidden.md", published("Hidden", CANARY)).unwrap();
    let shelf = check(&stage, &program).await;
    assert_eq!(paths(&shelf), ["artifacts/patterns/loop.md", "notes/first.md"]);
    assert_eq!(shelf.ids()["artifacts/patterns/loop.md"], "pattern/loop");
    assert_eq!([shelf.count("published"), shelf.count("unpublished"), shelf.count("skipped")], [2, 1, 1]);

    kb.write("artifacts/patterns/loop.md", published("Loop", "changed")).unwrap();
    assert_eq!(check(&stage, &program).await.text("artifacts/patterns/loop.md"), "changed\n");

    kb.write("artifacts/patterns/loop.md", unpublished("Loop")).unwrap();
    assert_eq!(paths(&check(&stage, &program).await), ["notes/first.md"]);

    kb.write("artifacts/patterns/loop.md", published("Loop", "back")).unwrap();
    assert_eq!(check(&stage, &program).await.text("artifacts/patterns/loop.md"), "back\n");

    let draft = published("Loop", CANARY).replace("publish: true", "publish: true\ndraft: true");
    kb.write("artifacts/patterns/loop.md", draft).unwrap();
    let shelf = check(&stage, &program).await;
    assert_eq!((paths(&shelf), shelf.count("drafts")), (vec!["notes/first.md"], 1));

    kb.remove("artifacts/patterns/loop.md").unwrap();
    kb.remove("notes/first.md").unwrap();
    let shelf = check(&stage, &program).await;
    assert!(paths(&shelf).is_empty() && shelf.count("published") == 0);
}

#[tokio::test]
async fn documents_move_and_change_their_type() {
    let stage = Stage::new().await;
    let (kb, program) = (&stage.kb, stage.started().await);
    kb.git(["mv", "notes/first.md", "notes/renamed.md"]).unwrap();
    assert_eq!(
        check(&stage, &program).await.ids(),
        BTreeMap::from([("notes/renamed.md", "file/renamed".into())])
    );

    fs::create_dir_all(kb.work().join("artifacts/practices")).unwrap();
    kb.git(["mv", "notes/renamed.md", "artifacts/practices/renamed.md"]).unwrap();
    let shelf = check(&stage, &program).await;
    assert_eq!(shelf.ids(), BTreeMap::from([("artifacts/practices/renamed.md", "practice/renamed".into())]));

    let story = published("Renamed", "one").replace("publish", "type: pattern\npublish");
    kb.write("artifacts/practices/renamed.md", story).unwrap();
    let shelf = check(&stage, &program).await;
    assert_eq!(shelf.ids()["artifacts/practices/renamed.md"], "pattern/renamed");

    // Two that change places.
    kb.write("notes/one.md", published("One", "one")).unwrap();
    kb.write("notes/two.md", published("Two", "two")).unwrap();
    check(&stage, &program).await;
    kb.write("notes/one.md", published("Two", "two")).unwrap();
    kb.write("notes/two.md", published("One", "one")).unwrap();
    let shelf = check(&stage, &program).await;
    assert_eq!((shelf.text("notes/one.md"), shelf.text("notes/two.md")), ("two\n", "one\n"));
}

#[tokio::test]
async fn two_files_that_come_to_have_one_id_part_again() {
    let stage = Stage::new().await;
    let (kb, program) = (&stage.kb, stage.started().await);
    kb.write("notes/team/plan.md", published("Plan", "of the team")).unwrap();
    assert_eq!(check(&stage, &program).await.ids()["notes/team/plan.md"], "file/plan");

    // One with an earlier path takes the name; nothing is lost.
    kb.write("notes/plan.md", published("Plan", "of all")).unwrap();
    let shelf = check(&stage, &program).await;
    let ids = shelf.ids();
    assert_eq!(ids["notes/plan.md"], "file/plan");
    assert!(ids["notes/team/plan.md"].starts_with("file/plan-"), "{ids:?}");
    assert_eq!(shelf.text("notes/team/plan.md"), "of the team\n");

    // An unpublished one holds its name too, so that publishing it renames nobody.
    kb.write("notes/plan.md", unpublished("Plan")).unwrap();
    let shelf = check(&stage, &program).await;
    assert!(shelf.ids()["notes/team/plan.md"].starts_with("file/plan-"));

    kb.remove("notes/plan.md").unwrap();
    assert_eq!(check(&stage, &program).await.ids()["notes/team/plan.md"], "file/plan");

    // A type of its own is a name of its own.
    let pattern = published("Plan", "as a pattern").replace("publish", "type: pattern\npublish");
    kb.write("notes/plan.md", pattern).unwrap();
    let shelf = check(&stage, &program).await;
    assert_eq!(
        (&*shelf.ids()["notes/plan.md"], &*shelf.ids()["notes/team/plan.md"]),
        ("pattern/plan", "file/plan")
    );
}

#[tokio::test]
async fn names_are_kept_as_they_are() {
    let stage = Stage::new().await;
    let (kb, program) = (&stage.kb, stage.started().await);
    let names = [
        "notes/with spaces and \"quotes\" and 'more'.md",
        "notes/50% of a#b?.md",
        "notes/%41.md",
        "notes/A.md",
        "notes/größe und ñ.md",
        "notes/日本語/文書.md",
        "notes/🏛️.md",
        "notes/e\u{301}.md",
        "notes/\u{e9}.md",
        "notes/v1.2/x.md",
        "notes/UPPER.MD",
        "notes/-dash.md",
        "notes/back\\slash.md",
        "notes/tab\there.md",
    ];
    for (number, name) in names.iter().enumerate() {
        kb.write(name, published("Named", &format!("number {number}"))).unwrap();
    }
    let shelf = check(&stage, &program).await;
    let listed = listed(&stage);
    for (number, name) in names.iter().enumerate() {
        match listed.get(&name.replace('\t', "\\t")) {
            Some(reason) => assert!(!reason.is_empty(), "{name}"),
            None => assert_eq!(shelf.text(name), format!("number {number}\n"), "{name}"),
        }
    }
    assert_eq!(listed.len(), 2, "{listed:?}");
    for name in names {
        kb.remove(name).unwrap();
    }
    assert_eq!(paths(&check(&stage, &program).await), ["notes/first.md"]);
}

#[tokio::test]
async fn names_that_are_too_long_lose_nothing() {
    let stage = Stage::new().await;
    let (kb, program) = (&stage.kb, stage.started().await);
    let (long, other) = ("a".repeat(100), format!("{}b", "a".repeat(99)));
    let longest = "é".repeat(126);
    let deep = format!("{}{}", ["d".repeat(200).as_str(); 5].join("/"), "d".repeat(9));
    let deeper = ["e".repeat(200).as_str(); 6].join("/");
    for name in [&long, &other, &longest, &deep, &deeper] {
        kb.write(format!("notes/{name}.md"), published("Long", "text")).unwrap();
    }
    let shelf = check(&stage, &program).await;
    let ids = shelf.ids();
    assert_eq!(ids.len(), 4, "{ids:?}");
    assert!(ids.values().all(|id| id.len() <= "file/".len() + 64), "{ids:?}");
    let listed = listed(&stage);
    assert!(listed[&format!("notes/{deep}.md")].contains("it is longer than 1024 bytes"), "{listed:?}");
    assert!(listed[&format!("notes/{deeper}.md")].contains("it is too long"), "{listed:?}");
}

#[tokio::test]
async fn texts_are_kept_as_they_are() {
    let stage = Stage::new().await;
    let (kb, program) = (&stage.kb, stage.started().await);
    let windows = published("Windows", "one\ntwo").replace('\n', "\r\n");
    let marked = format!("\u{feff}{}", published("Marked", "one"));
    let large = published("Large", &"a line of text\n".repeat(140_000));
    kb.write("notes/windows.md", &windows).unwrap();
    kb.write("notes/marked.md", &marked).unwrap();
    kb.write("notes/large.md", &large).unwrap();
    kb.write("notes/nul.md", published("Nul", "a\0b")).unwrap();
    let shelf = check(&stage, &program).await;
    assert_eq!(paths(&shelf).len(), 5);
    assert_eq!(shelf.document("notes/windows.md")["metadata"]["title"], "Windows");
    assert_eq!(shelf.document("notes/marked.md")["metadata"]["title"], "Marked");
    assert_eq!(shelf.raw("notes/windows.md"), windows.as_bytes());
    assert_eq!(shelf.raw("notes/marked.md"), marked.as_bytes());
    assert_eq!(shelf.raw("notes/large.md").len(), large.len());
}

#[tokio::test]
async fn what_can_not_be_served_is_listed_with_the_reason() {
    let stage = Stage::new().await;
    let (kb, program) = (&stage.kb, stage.started().await);
    kb.write("notes/huge.md", published("Huge", &CANARY.repeat(700_000))).unwrap();
    let pointer = format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12345\n",
        "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
    );
    kb.write("notes/pointer.md", pointer).unwrap();
    kb.write("notes/latin.md", b"---\ntitle: Gr\xf6\xdfe\ndate: 2026-01-01\npublish: true\n---\n").unwrap();
    kb.write("notes/broken.md", format!("---\ntitle: [\n---\n{CANARY}")).unwrap();
    kb.write("notes/bare.md", CANARY).unwrap();
    kb.write("elsewhere.txt", CANARY).unwrap();
    kb.link("notes/out.md", "../../../../../../etc/passwd").unwrap();
    kb.link("notes/round.md", "round.md").unwrap();
    kb.link("notes/link.md", "first.md").unwrap();
    kb.submodule("notes/module.md").unwrap();
    let shelf = check(&stage, &program).await;
    assert_eq!(paths(&shelf), ["notes/first.md", "notes/link.md"]);
    assert_eq!(shelf.text("notes/link.md"), "one\n");
    let listed = listed(&stage);
    let reason =
        |name: &str| listed.get(&format!("notes/{name}.md")).unwrap_or_else(|| panic!("{name}: {listed:?}"));
    assert_eq!(reason("huge"), "it is larger than 8 MiB; split it");
    assert_eq!(reason("pointer"), "its content is kept with Git LFS, which is not fetched");
    assert_eq!(reason("latin"), "it is not UTF-8 text; save it as UTF-8");
    assert_eq!(reason("out"), "the link leaves the folder, leads nowhere or round in a circle");
    assert_eq!(reason("round"), reason("out"));
    assert_eq!(reason("module"), "it is a Git submodule; add that repository as a source of its own");
    assert!(!reason("broken").is_empty() && !reason("bare").is_empty());
    assert_eq!(shelf.count("skipped"), i64::try_from(listed.len()).unwrap());
    assert_eq!((listed.len(), shelf.count("failed")), (8, 0));

    // All of it mended at once.
    for name in ["huge", "pointer", "latin", "broken", "bare"] {
        kb.write(format!("notes/{name}.md"), published(name, "mended")).unwrap();
    }
    for name in ["out", "round"] {
        kb.remove(format!("notes/{name}.md")).unwrap();
        kb.link(format!("notes/{name}.md"), "bare.md").unwrap();
    }
    kb.git(["rm", "--quiet", "--cached", "notes/module.md"]).unwrap();
    fs::remove_dir(kb.work().join("notes/module.md")).unwrap();
    let shelf = check(&stage, &program).await;
    assert_eq!((shelf.count("published"), shelf.count("skipped")), (9, 0));
    assert_eq!(shelf.text("notes/out.md"), "mended\n");
}

#[tokio::test]
async fn a_file_becomes_a_folder_and_back() {
    let stage = Stage::new().await;
    let (kb, program) = (&stage.kb, stage.started().await);
    kb.write("notes/x.md", published("X", "a file")).unwrap();
    check(&stage, &program).await;
    for _ in 0..2 {
        kb.remove("notes/x.md").unwrap();
        kb.write("notes/x.md/y.md", published("Y", "below")).unwrap();
        let shelf = check(&stage, &program).await;
        assert_eq!(paths(&shelf), ["notes/first.md", "notes/x.md/y.md"]);
        kb.remove("notes/x.md/y.md").unwrap();
        fs::remove_dir(kb.work().join("notes/x.md")).unwrap();
        kb.write("notes/x.md", published("X", "a file again")).unwrap();
        let shelf = check(&stage, &program).await;
        assert_eq!(shelf.text("notes/x.md"), "a file again\n");
    }
}

#[tokio::test]
async fn another_history_takes_the_place_of_the_first() {
    let stage = Stage::new().await;
    let (kb, program) = (&stage.kb, stage.started().await);
    for round in 0..3 {
        kb.write("notes/first.md", published("First", &format!("rewritten {round}"))).unwrap();
        kb.write(format!("notes/{round}.md"), published("Round", "x")).unwrap();
        if round > 0 {
            kb.remove(format!("notes/{}.md", round - 1)).unwrap();
        }
        let commit = kb.rewrite().unwrap();
        kb.force_push().await.unwrap();
        program.shows(&commit).await;
        let shelf = stage.check_equal_to_scratch(&program).await;
        assert_eq!(paths(&shelf), [&format!("notes/{round}.md"), "notes/first.md"]);
    }
}

#[tokio::test]
async fn two_hundred_commits_come_in_one_push() {
    let stage = Stage::new().await;
    let (kb, program) = (&stage.kb, stage.started().await);
    // Git makes them far faster from one stream than one by one.
    let mut stream = String::new();
    for number in 0..200 {
        let (message, text) = (format!("number {number}"), published("Counted", &format!("number {number}")));
        stream += "commit refs/heads/main\ncommitter Test <test@example.org> 1767225600 +0000\n";
        stream += &format!("data {}\n{message}\n", message.len());
        stream += if number == 0 { "from refs/heads/main^0\n" } else { "" };
        stream += &format!("M 100644 inline notes/counted.md\ndata {}\n{text}\n", text.len());
        stream += &format!("M 100644 inline notes/{number}.md\ndata {}\n{text}\n", text.len());
        if number % 2 == 1 {
            stream += &format!("D notes/{}.md\n", number - 1);
        }
    }
    kb.fast_import(&stream).unwrap();
    kb.push().await.unwrap();
    program.shows(&kb.git(["rev-parse", "HEAD"]).unwrap()).await;
    let shelf = stage.check_equal_to_scratch(&program).await;
    assert_eq!(shelf.text("notes/counted.md"), "number 199\n");
    assert_eq!(shelf.count("published"), 102);
    let told: serde_json::Value = serde_json::from_slice(&stage.last_delivery().await.body).unwrap();
    assert_eq!(told["commits"].as_array().unwrap().len(), 200);
}

#[tokio::test]
async fn what_was_there_is_served_while_its_branch_is_gone() {
    let stage = Stage::new().await;
    let program = stage.started().await;
    let before = stage.brings_in(&program).await;
    let kept = stage.check_equal_to_scratch(&program).await;
    stage.kb.push_as(":refs/heads/main").await.unwrap();
    let source = program.complains("has no branch \"main\"", &before).await;
    assert_eq!(
        source["error"],
        "the repository has no branch \"main\"; push it, or configure another branch"
    );
    Shelf::settled(&stage.data(), &before).await.check_equal_to(&kept);

    stage.kb.write("notes/second.md", published("Second", "two")).unwrap();
    let shelf = check(&stage, &program).await;
    assert_eq!(paths(&shelf), ["notes/first.md", "notes/second.md"]);
}

#[tokio::test]
async fn a_repository_that_moved_is_followed() {
    let stage = Stage::new().await;
    let program = stage.started().await;
    let moved = stage.git.checkout("team/moved.git").unwrap();
    moved.write("notes/first.md", published("First", "at the new place")).unwrap();
    stage.git.move_repository("team/kb.git", &stage.git.url("team/moved.git"));
    stage.git.tell_of_pushes(&format!("http://{}/nowhere", program.addr), "");
    let commit = moved.publish().await.unwrap();
    // GitHub tells of a renamed repository by its new name, which nobody here knows; polling finds it.
    program.kill().await;
    let program = stage.start().await;
    program.shows(&commit).await;
    let shelf = stage.check_equal_to_scratch(&program).await;
    assert_eq!(shelf.text("notes/first.md"), "at the new place\n");
    assert!(program.log().contains("the repository moved; configure its new address"), "{}", program.log());
}

#[tokio::test]
async fn an_empty_repository_waits_for_its_first_push() {
    let stage = Stage::empty().await;
    let program = stage.start().await;
    let source = program.fails_with("").await;
    assert_eq!(
        source["error"],
        "the repository has no branch \"main\"; push it, or configure another branch"
    );
    assert_eq!((&source["state"], &source["commit"]), (&"failed".into(), &serde_json::Value::Null));
    stage.kb.write("notes/first.md", published("First", "one")).unwrap();
    assert_eq!(paths(&check(&stage, &program).await), ["notes/first.md"]);
    // All of it gone again, but for the branch.
    stage.kb.remove("notes/first.md").unwrap();
    assert!(paths(&check(&stage, &program).await).is_empty());
}

#[tokio::test]
async fn a_folder_is_served_as_it_is_edited() {
    let folder = tempfile::tempdir().unwrap();
    let kb = folder.path().join("kb");
    fs::create_dir_all(kb.join("notes")).unwrap();
    fs::write(kb.join("notes/first.md"), published("First", "one")).unwrap();
    write_config(folder.path(), &format!("path = {kb:?}"));
    let data = folder.path().join("data");
    let program = Program::start(folder.path(), &data, &[]).await;
    program.shows_something().await;
    let edits: [(&str, &dyn Fn()); 5] = [
        ("edited", &|| fs::write(kb.join("notes/first.md"), published("First", "edited")).unwrap()),
        ("renamed", &|| fs::rename(kb.join("notes/first.md"), kb.join("notes/renamed.md")).unwrap()),
        ("another", &|| {
            fs::create_dir_all(kb.join("tags/deep/er")).unwrap();
            fs::write(kb.join("tags/deep/er/another.md"), published("Another", "new folder")).unwrap();
        }),
        ("unpublished", &|| fs::write(kb.join("notes/renamed.md"), unpublished("Renamed")).unwrap()),
        ("removed", &|| fs::remove_dir_all(kb.join("tags")).unwrap()),
    ];
    let expected = [
        vec![("notes/first.md", "edited\n")],
        vec![("notes/renamed.md", "edited\n")],
        vec![("notes/renamed.md", "edited\n"), ("tags/deep/er/another.md", "new folder\n")],
        vec![("tags/deep/er/another.md", "new folder\n")],
        vec![],
    ];
    for ((edit, make), expected) in edits.iter().zip(expected) {
        let began = Instant::now();
        make();
        eventually_within(Duration::from_secs(2), edit, || async {
            let source = program.source().await?;
            let shelf = Shelf::read(&data, source["commit"].as_str().unwrap())?;
            let texts: Vec<_> = paths(&shelf).into_iter().map(|path| (path, shelf.text(path))).collect();
            if texts == expected { Ok(()) } else { Err(format!("{texts:?}")) }
        })
        .await;
        println!("{edit} after {:?}", began.elapsed());
    }
}
