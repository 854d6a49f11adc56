//! Documents are added, changed, moved and removed.

use std::{collections::BTreeMap, fs};

use super::{check, paths};
use crate::knowledge::stage::{CANARY, Stage, published, unpublished};

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

    // Two that swap places.
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

    // The one with the lower path gets the name; nothing is lost.
    kb.write("notes/plan.md", published("Plan", "of all")).unwrap();
    let shelf = check(&stage, &program).await;
    let ids = shelf.ids();
    assert_eq!(ids["notes/plan.md"], "file/plan");
    assert!(ids["notes/team/plan.md"].starts_with("file/plan-"), "{ids:?}");
    assert_eq!(shelf.text("notes/team/plan.md"), "of the team\n");

    // An unpublished one keeps its name too, so that publishing it renames nothing.
    kb.write("notes/plan.md", unpublished("Plan")).unwrap();
    let shelf = check(&stage, &program).await;
    assert!(shelf.ids()["notes/team/plan.md"].starts_with("file/plan-"));

    kb.remove("notes/plan.md").unwrap();
    assert_eq!(check(&stage, &program).await.ids()["notes/team/plan.md"], "file/plan");

    // Names are unique per type.
    let pattern = published("Plan", "as a pattern").replace("publish", "type: pattern\npublish");
    kb.write("notes/plan.md", pattern).unwrap();
    let shelf = check(&stage, &program).await;
    assert_eq!(
        (&*shelf.ids()["notes/plan.md"], &*shelf.ids()["notes/team/plan.md"]),
        ("pattern/plan", "file/plan")
    );
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
