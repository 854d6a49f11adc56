//! A hub on this machine that does what hubs do on a bad day.

mod hub;

use std::{fs, path::Path, time::Duration};

use hub::{Day, Hub};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::{
    Fallback, Progress, PullError, PullOptions,
    client::{Timeouts, client},
    download::{DownloadRequest, download},
    pull,
};
use crate::{
    embedder::{Embedder, local::LocalEmbedder},
    model::{
        Variant,
        convert::{
            Task,
            tests::{Kind, write_model},
        },
        digest,
        real::model_folder,
    },
};

const PATIENCE: Timeouts = Timeouts {
    connect: Duration::from_secs(5),
    stall: Duration::from_millis(300),
    pause: Duration::from_millis(10),
};

/// Bytes that differ from place to place.
fn content() -> Vec<u8> {
    (0..300_000_u32).flat_map(u32::to_le_bytes).collect()
}

/// Gets one file of a hub on such a day into a folder.
async fn get(day: Day, into: &Path, sha256: &str, limit: u64) -> (Result<(), PullError>, Vec<Progress>) {
    let hub = Hub::start(day, content()).await;
    let url = hub.url("file");
    let client = client(&url, PATIENCE).unwrap();
    let mut seen = Vec::new();
    let wanted = DownloadRequest { url, file: "file", sha256: Some(sha256), limit };
    let done = download(&client, &wanted, into, PATIENCE, &mut |progress| seen.push(progress)).await;
    (done, seen)
}

fn sha256() -> String {
    digest::hex(Sha256::new_with_prefix(content()))
}

/// A file comes whole, after so many attempts that failed.
async fn check(day: Day, retries: usize) {
    let into = TempDir::new().unwrap();
    let (done, seen) = get(day, into.path(), &sha256(), 2_000_000).await;
    done.unwrap_or_else(|fault| panic!("{day:?}: {fault}"));
    assert_eq!(fs::read(into.path().join("file")).unwrap(), content(), "{day:?}");
    let failed = seen.iter().filter(|progress| matches!(progress, Progress::Retrying { .. })).count();
    assert_eq!(failed, retries, "{day:?}: {seen:?}");
    assert!(!into.path().join("file.part").exists());
}

#[tokio::test]
async fn a_file_comes_whole_on_a_bad_day() {
    check(Day::Good, 0).await;
    check(Day::CutsOnce, 1).await;
    check(Day::CutsOnceAndForgets, 1).await;
    check(Day::FailsTwice, 2).await;
    check(Day::StallsOnce, 1).await;
    check(Day::SendsOn, 0).await;
}

#[tokio::test]
async fn what_was_got_before_is_not_got_again() {
    let into = TempDir::new().unwrap();
    fs::write(into.path().join("file.part"), &content()[..700_000]).unwrap();
    let (done, seen) = get(Day::Good, into.path(), &sha256(), 2_000_000).await;
    done.unwrap();
    assert_eq!(fs::read(into.path().join("file")).unwrap(), content());
    let first = seen.iter().find_map(|progress| match progress {
        Progress::Downloading { done, total, .. } => Some((*done, *total)),
        _ => None,
    });
    let (done, total) = first.unwrap();
    assert!(done > 700_000 && total == Some(1_200_000), "{done} of {total:?}");
}

/// How much of a file was there when the first bytes came, and what it is in the end.
async fn continued(day: Day, sha256: Option<&str>, version: Option<&str>, part: &[u8]) -> (bool, Vec<u8>) {
    let into = TempDir::new().unwrap();
    fs::write(into.path().join("file.part"), part).unwrap();
    if let Some(version) = version {
        fs::write(into.path().join("file.part.tag"), version).unwrap();
    }
    let hub = Hub::start(day, content()).await;
    let wanted = DownloadRequest { url: hub.url("file"), file: "file", sha256, limit: 2_000_000 };
    let client = client(&wanted.url, PATIENCE).unwrap();
    let mut first = None;
    let mut note = |progress| {
        if let Progress::Downloading { done, .. } = progress {
            first.get_or_insert(done);
        }
    };
    download(&client, &wanted, into.path(), PATIENCE, &mut note).await.unwrap();
    assert_eq!(fs::read_dir(into.path()).unwrap().count(), 1);
    (first.is_none_or(|first| first > 700_000), fs::read(into.path().join("file")).unwrap())
}

#[tokio::test]
async fn only_what_is_of_the_same_file_is_continued() {
    let (half, other) = (&content()[..700_000], vec![7; 700_000]);
    let sha256 = sha256();
    // A server that has too much to do costs nothing of what is there.
    assert_eq!(continued(Day::FailsTwice, Some(&sha256), None, half).await, (true, content()));
    // Without a hash it has to be the version that the server has.
    assert_eq!(continued(Day::Good, None, Some(hub::VERSION), half).await, (true, content()));
    assert_eq!(continued(Day::Good, None, Some("\"v0\""), &other).await, (false, content()));
    assert_eq!(continued(Day::Good, None, None, &other).await, (false, content()));
    assert_eq!(continued(Day::CutsOnce, None, None, &other).await, (false, content()));
    // All of it is there, and more than all.
    assert_eq!(continued(Day::Good, Some(&sha256), None, &content()).await, (true, content()));
    let more = [content(), other].concat();
    assert_eq!(continued(Day::Good, None, Some(hub::VERSION), &more).await, (false, content()));
}

#[tokio::test]
async fn a_model_of_the_same_name_and_of_another_owner_or_version_is_another() {
    let models = TempDir::new().unwrap();
    let (one, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    write_model(one.path(), Kind::XlmR, Variant::Fp32, Task::Tokens);
    write_model(other.path(), Kind::XlmR, Variant::Int8, Task::Tokens);
    let (first, second) = (Hub::serving(one.path()).await, Hub::serving(other.path()).await);
    let options = |hub: &Hub, repo: &str| PullOptions {
        hub: hub.address(),
        repo: repo.to_owned(),
        ..PullOptions::new(models.path())
    };
    let theirs = pull(&options(&first, "one-org/e5-tiny"), |_| {}).await.unwrap();
    let ours = pull(&options(&second, "other-org/e5-tiny"), |_| {}).await.unwrap();
    assert_eq!(theirs.path(), ours.path());
    assert_ne!(theirs.sha256(), ours.sha256());
    let asked = PullOptions { revision: "v2".to_owned(), ..options(&second, "other-org/e5-tiny") };
    assert!(matches!(pull(&asked, |_| {}).await, Err(PullError::Refused { status: 404, .. })));
    // What is there stays until another is whole.
    assert_eq!(pull(&options(&second, "other-org/e5-tiny"), |_| {}).await.unwrap(), ours);
}

#[tokio::test]
async fn another_tokenizer_than_the_prepared_one_is_damage() {
    let models = TempDir::new().unwrap();
    let source = TempDir::new().unwrap();
    write_model(source.path(), Kind::Bert, Variant::Fp32, Task::Tokens);
    let small = PullOptions {
        repo: "some-org/tiny".to_owned(),
        from: Some(source.path().to_owned()),
        ..PullOptions::new(models.path())
    };
    let folder = pull(&small, |_| {}).await.unwrap();
    let tokenizer = folder.path().join("tokenizer.json");
    let text = fs::read_to_string(&tokenizer).unwrap();
    fs::write(&tokenizer, format!("{text} ")).unwrap();
    let fault = crate::model::Folder::open(folder.path()).unwrap_err().to_string();
    assert!(fault.starts_with("tokenizer.json or model.onnx_data is damaged"), "{fault}");
    assert_eq!(pull(&small, |_| {}).await.unwrap(), folder);
}

/// A file does not come, and nothing is left of it.
async fn check_refused(day: Day, sha256: &str, limit: u64, expected: &str) {
    let into = TempDir::new().unwrap();
    let (done, _) = get(day, into.path(), sha256, limit).await;
    let fault = done.unwrap_err().to_string();
    assert!(fault.contains(expected), "{day:?}: {fault:?} does not say {expected:?}");
    assert!(!into.path().join("file").exists());
}

#[tokio::test]
async fn a_file_that_is_not_the_one_is_refused() {
    check_refused(Day::Good, "0000", 2_000_000, "is not the file we know").await;
    check_refused(Day::Good, &sha256(), 1_000_000, "larger than 1000000 bytes").await;
    check_refused(Day::Endless, &sha256(), 2_000_000, "larger than 2000000 bytes").await;
    check_refused(Day::Missing, &sha256(), 2_000_000, "has no file of this model (status 404)").await;
    check_refused(Day::Stalls, &sha256(), 2_000_000, "did not answer in time").await;
    check_refused(Day::Stalls, &sha256(), 2_000_000, "--from FOLDER").await;
}

#[tokio::test]
async fn a_hub_with_other_weights_leaves_nothing_behind() {
    let (hub, models) = (Hub::start(Day::Good, content()).await, TempDir::new().unwrap());
    let options =
        PullOptions { hub: hub.address(), fallback: Fallback::None, ..PullOptions::new(models.path()) };
    let fault = pull(&options, |_| {}).await.unwrap_err();
    assert!(matches!(fault, PullError::TooLarge { .. } | PullError::WrongHash { .. }), "{fault}");
    assert!(!options.folder().exists());
}

#[tokio::test]
async fn any_model_of_a_hub_can_be_got() {
    let (source, models) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    write_model(source.path(), Kind::XlmR, Variant::Fp32, Task::Tokens);
    let hub = Hub::serving(source.path()).await;
    let options = PullOptions {
        hub: hub.address(),
        repo: "some-org/e5-tiny".to_owned(),
        ..PullOptions::new(models.path())
    };
    let mut said = Vec::new();
    let folder = pull(&options, |progress| said.push(progress)).await.unwrap();
    let expected = digest::of_file(&source.path().join("model.onnx")).unwrap();
    assert!(said.contains(&Progress::Unpinned { sha256: expected.clone() }), "{said:?}");
    assert_eq!(folder.sha256(), expected);
    let embedder = LocalEmbedder::open(folder.path(), 1).unwrap();
    assert_eq!((embedder.identity().dimensions, embedder.identity().query_prefix.as_str()), (32, "query: "));

    // It is there, so the hub is not asked again.
    drop(hub);
    assert_eq!(pull(&options, |_| {}).await.unwrap(), folder);
    assert_eq!(fs::read_dir(models.path()).unwrap().count(), 2, "the model and its lock");
}

#[tokio::test]
async fn a_prepared_folder_is_taken_as_it_is() {
    let models = TempDir::new().unwrap();
    let real = model_folder();
    let options = PullOptions { from: Some(real.clone()), ..PullOptions::new(models.path()) };
    // Two at once do not disturb each other.
    let (one, other) = tokio::join!(pull(&options, |_| {}), pull(&options, |_| {}));
    assert_eq!(one.unwrap().sha256(), other.unwrap().sha256());
    let same = digest::of_file(&real.join("model.onnx")).unwrap();
    assert_eq!(pull(&options, |_| {}).await.unwrap().sha256(), same);
}

#[tokio::test]
async fn a_damaged_model_is_got_anew() {
    let models = TempDir::new().unwrap();
    let options = PullOptions { from: Some(model_folder()), ..PullOptions::new(models.path()) };
    let folder = pull(&options, |_| {}).await.unwrap();
    fs::write(folder.path().join("model.onnx"), "damaged").unwrap();
    assert_eq!(pull(&options, |_| {}).await.unwrap(), folder);
}

#[tokio::test]
async fn a_folder_that_is_no_model_says_so() {
    let (empty, models) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let from = |path: &Path| PullOptions { from: Some(path.to_owned()), ..PullOptions::new(models.path()) };
    let fault = pull(&from(empty.path()), |_| {}).await.unwrap_err().to_string();
    assert!(fault.starts_with("there is no model.onnx there"), "{fault}");
    let fault = pull(&from(Path::new("/nowhere")), |_| {}).await.unwrap_err().to_string();
    assert!(fault.starts_with("there is no such folder"), "{fault}");
}

#[tokio::test]
async fn a_name_is_nothing_but_a_name() {
    let models = TempDir::new().unwrap();
    for repo in ["", "minilm", "a/../b", "../b", "a/b/c", "a/b?c", "/b", "a/", "a/.b"] {
        let options = PullOptions { repo: repo.to_owned(), ..PullOptions::new(models.path()) };
        let fault = pull(&options, |_| {}).await.unwrap_err();
        assert!(matches!(fault, PullError::Name(_)), "{repo}: {fault}");
    }
}
