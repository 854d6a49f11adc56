//! A clone that something happened to.

use std::{fs, process::Command};

use lyceum_testkit::{GitServer, TestRepository};

use super::{MOST, Machine, read, server};
use crate::{Error, Repository};

async fn cloned(machine: &Machine) -> (GitServer, TestRepository, Repository) {
    let server = server().await;
    let kb = server.repository("kb.git").unwrap();
    kb.write("a.md", "one").unwrap();
    kb.commit().unwrap();
    let repository = machine.repository(&server.url("kb.git"));
    repository.refresh().await.unwrap();
    (server, kb, repository)
}

#[tokio::test]
async fn a_damaged_clone_is_made_anew() {
    let damages: [fn(&Machine); 4] = [
        |machine| fs::write(machine.place().join("config"), "[core").unwrap(),
        |machine| fs::remove_dir_all(machine.place().join("objects/pack")).unwrap(),
        |machine| fs::write(machine.place().join("packed-refs"), "nonsense").unwrap(),
        |machine| {
            let missing = "0123456789abcdef0123456789abcdef01234567\n";
            fs::create_dir_all(machine.place().join("refs/heads")).unwrap();
            fs::write(machine.place().join("refs/heads/main"), missing).unwrap();
        },
    ];
    for (number, damage) in damages.iter().enumerate() {
        let machine = Machine::new();
        let (server, _kb, _) = cloned(&machine).await;
        damage(&machine);
        // As after a restart: nothing is remembered.
        let repository = machine.repository(&server.url("kb.git"));
        let local = repository.local();
        assert!(matches!(local, Err(Error::Damaged(_)) | Ok(None)), "damage {number}: {local:?}");
        let snapshot = repository.refresh().await.unwrap();
        assert_eq!(read(&snapshot, "a.md"), "one", "damage {number}");
        assert_eq!(machine.beside(), ["kb.git", "kb.git.lock"]);
    }
}

#[tokio::test]
async fn a_folder_of_somebody_else_is_left_alone() {
    let machine = Machine::new();
    fs::create_dir_all(machine.place()).unwrap();
    fs::write(machine.place().join("thesis.txt"), "ten years of work").unwrap();
    let repository = machine.repository("https://example.org/kb.git");
    assert!(matches!(repository.local(), Err(Error::Occupied)));
    assert!(matches!(repository.refresh().await, Err(Error::Occupied)));
    assert_eq!(fs::read_to_string(machine.place().join("thesis.txt")).unwrap(), "ten years of work");
}

#[tokio::test]
async fn a_reader_of_an_old_commit_is_not_disturbed_by_packing() {
    let machine = Machine::new();
    let (_server, kb, repository) = cloned(&machine).await;
    let mut snapshots = Vec::new();
    for round in 0..5 {
        kb.write("a.md", format!("round {round}")).unwrap();
        kb.rewrite().unwrap();
        snapshots.push(repository.refresh().await.unwrap());
    }
    let packed =
        Command::new("git").arg("--git-dir").arg(machine.place()).args(["gc", "--quiet"]).status().unwrap();
    assert!(packed.success());
    for (round, snapshot) in snapshots.iter().enumerate() {
        assert_eq!(read(snapshot, "a.md"), format!("round {round}"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_readers_read_one_snapshot_while_it_is_replaced() {
    let machine = Machine::new();
    let (_server, kb, repository) = cloned(&machine).await;
    (0..50).for_each(|at| kb.write(format!("{at}.md"), format!("file {at}").repeat(100)).unwrap());
    kb.commit().unwrap();
    let snapshot = repository.refresh().await.unwrap();
    let readers: Vec<_> = (0..16)
        .map(|_| {
            let snapshot = snapshot.clone();
            tokio::task::spawn_blocking(move || {
                for _ in 0..20 {
                    for file in snapshot.files().keys() {
                        snapshot.read(file, MOST).unwrap();
                    }
                }
            })
        })
        .collect();
    for round in 0..3 {
        kb.write("a.md", format!("round {round}")).unwrap();
        kb.commit().unwrap();
        repository.refresh().await.unwrap();
    }
    for reader in readers {
        reader.await.unwrap();
    }
}
