//! Unusual names and texts.

use std::fs;

use super::{check, listed, paths};
use crate::knowledge::stage::{CANARY, Stage, published};

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
    // The path of its folder exceeds the maximum length of a path.
    let deepest = format!("{}/x", ["f".repeat(200).as_str(); 6].join("/"));
    for name in [&long, &other, &longest, &deep, &deeper, &deepest] {
        kb.write(format!("notes/{name}.md"), published("Long", "text")).unwrap();
    }
    let shelf = check(&stage, &program).await;
    let ids = shelf.ids();
    assert_eq!(ids.len(), 4, "{ids:?}");
    assert!(ids.values().all(|id| id.len() <= "file/".len() + 64), "{ids:?}");
    let listed = listed(&stage);
    assert!(listed[&format!("notes/{deep}.md")].contains("it is longer than 1024 bytes"), "{listed:?}");
    assert!(listed[&format!("notes/{deeper}.md")].contains("it is too long"), "{listed:?}");
    assert!(listed[&format!("notes/{deepest}.md")].contains("it is too long"), "{listed:?}");
    assert_eq!(listed.len(), 3, "every file is accounted for: {listed:?}");
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
    assert_eq!(reason("pointer"), "it is a Git LFS pointer; LFS content is not fetched");
    assert_eq!(reason("latin"), "it is not UTF-8 text; save it as UTF-8");
    assert_eq!(reason("out"), "the symbolic link leaves the folder, is broken or is circular");
    assert_eq!(reason("round"), reason("out"));
    let submodule = "it is a Git submodule; add that repository as a source of its own";
    assert_eq!(listed["notes/module.md/"], submodule, "it is a folder");
    assert!(!reason("broken").is_empty() && !reason("bare").is_empty());
    assert_eq!(shelf.count("skipped"), i64::try_from(listed.len()).unwrap());
    assert_eq!((listed.len(), shelf.count("failed")), (8, 0));

    // All of it fixed at once.
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
