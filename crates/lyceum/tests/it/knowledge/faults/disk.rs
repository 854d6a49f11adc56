//! A full or read-only disk.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

use lyceum_testkit::Outcome;
use serde_json::Value;
use tokio::process::Command;

use crate::{
    app::{get, post},
    knowledge::stage::{Program, SECRET, Shelf, Stage, eventually, objects, prepare, published},
};

/// The size of the small disk.
const SIZE: &str = "64m";

/// How to get a private mount: as root, or as root of a user namespace.
const WAYS: [&[&str]; 2] = [&["--mount"], &["--user", "--map-root-user", "--mount"]];

/// Runs a command with a small private disk at that folder, which disappears with the command.
fn on_a_small_disk(way: &[&str], folder: &Path) -> Command {
    let mut command = Command::new("unshare");
    let script = r#"mount -t tmpfs -o size="$1" tmpfs "$2" && shift 2 && exec "$@""#;
    command.args(way).args(["sh", "-c", script, "sh", SIZE]).arg(folder);
    command
}

/// A way that works on this machine. The script sandbox needs one of them too.
async fn way() -> &'static [&'static str] {
    let folder = tempfile::tempdir().unwrap();
    for way in WAYS {
        let tried = on_a_small_disk(way, folder.path()).arg("true").output().await;
        if tried.is_ok_and(|tried| tried.status.success()) {
            return way;
        }
    }
    panic!("a small disk can't be mounted here: run the tests as root, or allow namespaces of users");
}

/// The program with a small disk at one of its folders, and the path of that disk for the test.
async fn started_on_a_small_disk(stage: &Stage, way: &[&str], folder: &Path) -> (Program, PathBuf) {
    fs::create_dir_all(folder).unwrap();
    let mut command = on_a_small_disk(way, folder);
    command.arg(env!("CARGO_BIN_EXE_lyceum")).arg("--data-dir").arg(stage.data());
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    prepare(&mut command, stage.folder.path(), &[]);
    let program = Program::of(command, stage.folder.path()).await.unwrap();
    stage.git.set_webhook(&format!("http://{}/webhooks/github", program.addr), SECRET);
    let seen = Path::new("/proc").join(program.id().to_string()).join("root");
    (program, seen.join(stage.data().strip_prefix("/").unwrap()))
}

/// Fills a disk except for that many bytes.
fn fill(disk: &Path, but: u64) {
    let file = disk.join("filler");
    let mut filler = File::create(&file).unwrap();
    let mut length = 0;
    while filler.write_all(&[b'x'; 4096]).is_ok() {
        length += 4096;
    }
    filler.set_len(length - but).unwrap();
}

fn write_documents(stage: &Stage, round: u64, lines: usize) {
    // A pack of them is small; the files are not.
    for number in 0..100 {
        let text = format!("round {round}, number {number}. ").repeat(lines);
        stage.kb.write(format!("notes/{number}.md"), published("Many", &text)).unwrap();
    }
}

#[tokio::test]
async fn a_full_disk_is_told_and_waited_out() {
    let way = way().await;
    let stage = Stage::new().await;
    write_documents(&stage, 0, 50);
    stage.kb.publish().await.unwrap();
    let (program, data) = started_on_a_small_disk(&stage, way, &stage.data()).await;
    let mut served = program.shows_something().await;
    Shelf::settled(&data, &served).await;
    // Without any space Git fails, with some the database does.
    for (round, room, lines) in [(1, 0, 50), (2, 400 * 1024, 1500)] {
        let before = program.document("file/7").await.unwrap();
        fill(&data, room);
        write_documents(&stage, round, lines);
        let commit = stage.kb.publish().await.unwrap();
        let told = stage.last_delivery().await;
        // If it could not be stored, it is not acknowledged.
        assert!(matches!(told.outcome, Outcome::Response(200 | 503, _)), "{told:?}");
        if !told.outcome.is_acknowledged() {
            let synced = program.send(post("/api/v1/sources/kb/sync", "")).await.unwrap();
            assert!(matches!(synced.status, 502 | 503), "{synced:?}");
        }
        program.complains("the disk is full; make room", &served).await;
        assert_eq!(program.document("file/7").await.unwrap(), before);
        assert_eq!(program.entries().await.len(), 101);

        fs::remove_file(data.join("filler")).unwrap();
        program.shows(&commit).await;
        served = commit;
        stage.check_equal_to_scratch_in(&program, &data).await;
    }
}

#[tokio::test]
async fn objects_that_find_no_room_are_served_and_told_of_until_there_is_some() {
    let way = way().await;
    let stage = Stage::empty().await;
    // The first program only creates the folders.
    let program = stage.start().await;
    program.fails_with("has no branch").await;
    program.kill().await;
    let folder = objects(&stage.data()).unwrap();
    let (program, data) = started_on_a_small_disk(&stage, way, &folder).await;
    let disk = objects(&data).unwrap();
    fill(&disk, 64 * 1024);
    write_documents(&stage, 1, 1000);
    let commit = stage.kb.publish().await.unwrap();
    program.shows(&commit).await;
    eventually("the health says what is not in its place", || async {
        let health: Value = program.send(get("/health")).await.unwrap().json();
        let failed = health["knowledge"]["failed"].as_array().unwrap().len();
        if failed > 0 && health["status"] == "degraded" { Ok(()) } else { Err(health.to_string()) }
    })
    .await;
    for number in [7, 42, 99] {
        let text = program.document(&format!("file/{number}")).await.unwrap()["content"].to_string();
        assert!(text.contains(&format!("round 1, number {number}.")), "{text}");
    }
    fs::remove_file(disk.join("filler")).unwrap();
    stage.check_equal_to_scratch_in(&program, &data).await;
    eventually("all is well", || async {
        let health: Value = program.send(get("/health")).await.unwrap().json();
        let is_well = health["status"] == "ok" && health["knowledge"]["pending_objects"] == 0;
        if is_well { Ok(()) } else { Err(health.to_string()) }
    })
    .await;
}

#[tokio::test]
async fn objects_that_can_not_be_put_in_their_place_are_served_and_told_of() {
    let stage = Stage::new().await;
    let program = stage.started().await;
    Shelf::settled(&stage.data(), &program.shows_something().await).await;
    // A file where a folder should be works for root and other users alike.
    let place = objects(&stage.data()).unwrap().join("content/tag");
    fs::write(&place, "in the way").unwrap();
    stage.kb.write("tags/word.md", published("Word", "means something")).unwrap();
    stage.brings_in(&program).await;
    assert_eq!(program.document("tag/word").await.unwrap()["content"], "means something\n");
    eventually("the health says what is not in its place", || async {
        let health: Value = program.send(get("/health")).await.unwrap().json();
        let failed = health["knowledge"]["failed"][0]["key"] == "content/tag/word.json";
        if failed && health["status"] == "degraded" { Ok(()) } else { Err(health.to_string()) }
    })
    .await;
    program.kill().await;
    let program = stage.started().await;
    assert_eq!(program.document("tag/word").await.unwrap()["content"], "means something\n");
    program.kill().await;

    fs::remove_file(&place).unwrap();
    let program = stage.started().await;
    stage.check_equal_to_scratch(&program).await;
}
