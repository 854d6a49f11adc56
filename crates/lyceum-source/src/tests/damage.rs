//! Corrupt clones.

use std::{fs, process::Command};

use lyceum_harness::random::Random;
use lyceum_model::RelPath;
use lyceum_testkit::{GitServer, ServerBehavior, TestRepository};

use super::{MAX_BYTES, Machine, read, server};
use crate::{Error, Fault, Repository};

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
        |machine| fs::write(machine.clone_dir().join("config"), "[core").unwrap(),
        |machine| fs::remove_dir_all(machine.clone_dir().join("objects/pack")).unwrap(),
        |machine| fs::write(machine.clone_dir().join("packed-refs"), "nonsense").unwrap(),
        |machine| {
            let missing = "0123456789abcdef0123456789abcdef01234567\n";
            fs::create_dir_all(machine.clone_dir().join("refs/heads")).unwrap();
            fs::write(machine.clone_dir().join("refs/heads/main"), missing).unwrap();
        },
    ];
    for (number, damage) in damages.iter().enumerate() {
        let machine = Machine::new();
        let (server, _kb, _) = cloned(&machine).await;
        damage(&machine);
        // As after a restart, without the cached snapshot.
        let repository = machine.repository(&server.url("kb.git"));
        let local = repository.local();
        assert!(matches!(local, Err(Error::Damaged(_)) | Ok(None)), "damage {number}: {local:?}");
        let snapshot = repository.refresh().await.unwrap();
        assert_eq!(read(&snapshot, "a.md"), "one", "damage {number}");
        assert_eq!(machine.siblings(), ["kb.git", "kb.git.lock"]);
    }
}

#[tokio::test]
async fn a_folder_of_somebody_else_is_left_alone() {
    let machine = Machine::new();
    fs::create_dir_all(machine.clone_dir()).unwrap();
    fs::write(machine.clone_dir().join("thesis.txt"), "ten years of work").unwrap();
    let repository = machine.repository("https://example.org/kb.git");
    assert!(matches!(repository.local(), Err(Error::Occupied)));
    assert!(matches!(repository.refresh().await, Err(Error::Occupied)));
    assert_eq!(fs::read_to_string(machine.clone_dir().join("thesis.txt")).unwrap(), "ten years of work");
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
    let packed = Command::new("git")
        .arg("--git-dir")
        .arg(machine.clone_dir())
        .args(["gc", "--quiet"])
        .status()
        .unwrap();
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
                        snapshot.read(file, MAX_BYTES).unwrap();
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

/// The only pack of a clone.
fn pack(machine: &Machine) -> std::path::PathBuf {
    let mut packs = fs::read_dir(machine.clone_dir().join("objects/pack")).unwrap().flatten();
    packs.find(|file| file.path().extension().is_some_and(|end| end == "pack")).unwrap().path()
}

/// Changes a file that git made read-only.
fn change(file: &std::path::Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(file).unwrap();
    change(&mut bytes);
    fs::remove_file(file).unwrap();
    fs::write(file, bytes).unwrap();
}

/// All files of a clone with their content; `None` if it can't be read.
fn served(machine: &Machine, url: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let snapshot = machine.repository(url).local().ok()??;
    let read = |path: &RelPath| Some((path.to_string(), snapshot.read(path, MAX_BYTES).ok()?));
    snapshot.files().keys().map(read).collect()
}

#[tokio::test]
async fn a_bit_that_flips_in_a_pack_never_changes_what_is_served() {
    let machine = Machine::new();
    let (server, kb, repository) = cloned(&machine).await;
    let line = "A line that is in every file, so that they are stored as deltas. ";
    for at in 0..8 {
        kb.write(format!("notes/{at}.md"), format!("{}{at}", line.repeat(20))).unwrap();
    }
    kb.commit().unwrap();
    fs::remove_dir_all(machine.clone_dir()).unwrap();
    repository.refresh().await.unwrap();
    let url = server.url("kb.git");
    let whole = served(&machine, &url).unwrap();
    let file = pack(&machine);
    let length = fs::read(&file).unwrap().len();
    let mut noticed = 0;
    for at in (12..length).step_by(3) {
        change(&file, |bytes| bytes[at] ^= 1 << (at % 8));
        match served(&machine, &url) {
            Some(other) => assert_eq!(other, whole, "bit {} of byte {at}", at % 8),
            None => noticed += 1,
        }
        change(&file, |bytes| bytes[at] ^= 1 << (at % 8));
    }
    assert!(noticed > length / 6, "{noticed} of {}", length / 3);
}

/// Incompressible lines: of two versions only the delta is sent.
fn incompressible(lines: usize) -> String {
    let mut random = Random::of(1);
    (0..lines).map(|_| format!("{:x}\n", random.number())).collect()
}

/// Files that are not read into memory are checked too.
#[tokio::test]
async fn s17_a_damaged_pack_of_a_large_file_is_fetched_again() {
    let machine = Machine::new();
    let (server, kb, repository) = cloned(&machine).await;
    let text = incompressible(1_100_000);
    assert!(text.len() > 16 * 1024 * 1024);
    kb.write("large.bin", &text).unwrap();
    kb.commit().unwrap();
    fs::remove_dir_all(machine.clone_dir()).unwrap();
    repository.refresh().await.unwrap();
    change(&pack(&machine), |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x55;
    });
    kb.write("large.bin", format!("{text}and one more")).unwrap();
    kb.commit().unwrap();
    let snapshot = machine.repository(&server.url("kb.git")).refresh().await.unwrap();
    let bytes = snapshot.read(&super::path("large.bin"), 1 << 30).unwrap();
    assert!(bytes.ends_with(b"and one more"));
}

/// A field of `/proc/self/status`, in bytes.
fn memory(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// "reads every blob with u64::MAX into memory after a fetch that failed". Each test is its own process, so the peak
/// memory is that of this fetch.
#[tokio::test]
async fn s17_a_large_file_is_not_read_into_memory_when_a_fetch_fails() {
    let machine = Machine::new();
    let (server, kb, repository) = cloned(&machine).await;
    kb.write("large.bin", "0".repeat(128 * 1024 * 1024)).unwrap();
    kb.commit().unwrap();
    repository.refresh().await.unwrap();
    server.behave(ServerBehavior::With(418));
    // Resets `VmHWM`.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory("VmRSS:");
    let failed = repository.refresh().await;
    assert!(matches!(failed, Err(Error::Git { fault: Fault::Other, .. })), "{failed:?}");
    let more = memory("VmHWM:").saturating_sub(before);
    assert!(more < 64 * 1024 * 1024, "{more} bytes more than before");
}

#[tokio::test]
async fn a_pack_that_news_can_t_be_built_on_is_fetched_again() {
    let machine = Machine::new();
    let (server, kb, repository) = cloned(&machine).await;
    let text = incompressible(2000);
    kb.write("a.md", &text).unwrap();
    kb.commit().unwrap();
    repository.refresh().await.unwrap();
    for file in fs::read_dir(machine.clone_dir().join("objects/pack")).unwrap().flatten() {
        if file.path().extension().is_some_and(|end| end == "pack") {
            change(&file.path(), |bytes| {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 0x55;
            });
        }
    }
    kb.write("a.md", format!("{text}and one more")).unwrap();
    kb.commit().unwrap();
    let repository = machine.repository(&server.url("kb.git"));
    assert!(read(&repository.refresh().await.unwrap(), "a.md").ends_with("and one more"));
    assert_eq!(machine.siblings(), ["kb.git", "kb.git.lock"]);
}

#[tokio::test]
async fn a_clone_is_made_anew_when_that_is_asked_for() {
    let machine = Machine::new();
    let (_server, _kb, repository) = cloned(&machine).await;
    let before = pack(&machine);
    change(&before, |bytes| bytes.truncate(40));
    assert_eq!(read(&repository.renew().await.unwrap(), "a.md"), "one");
    assert_eq!(machine.siblings(), ["kb.git", "kb.git.lock"]);
}
