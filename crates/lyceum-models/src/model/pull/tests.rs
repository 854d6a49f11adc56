//! Pulls from a fake hub that misbehaves.

mod hub;

use std::{fs, path::Path, time::Duration};

use hub::{Behaviour, Hub};
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

const TIMEOUTS: Timeouts = Timeouts {
    connect: Duration::from_secs(5),
    stall: Duration::from_millis(300),
    pause: Duration::from_millis(10),
};

/// File content without repetition.
fn content() -> Vec<u8> {
    (0..300_000_u32).flat_map(u32::to_le_bytes).collect()
}

/// Downloads one file from a hub with this behaviour.
async fn get(
    behaviour: Behaviour,
    into: &Path,
    sha256: &str,
    limit: u64,
) -> (Result<(), PullError>, Vec<Progress>) {
    let hub = Hub::start(behaviour, content()).await;
    let url = hub.url("file");
    let client = client(&url, TIMEOUTS).unwrap();
    let mut seen = Vec::new();
    let request = DownloadRequest { url, file: "file", sha256: Some(sha256), limit };
    let done = download(&client, &request, into, TIMEOUTS, &mut |progress| seen.push(progress)).await;
    (done, seen)
}

fn sha256() -> String {
    digest::hex(Sha256::new_with_prefix(content()))
}

/// Checks that a download succeeds after this many retries.
async fn check(behaviour: Behaviour, retries: usize) {
    let into = TempDir::new().unwrap();
    let (done, seen) = get(behaviour, into.path(), &sha256(), 2_000_000).await;
    done.unwrap_or_else(|error| panic!("{behaviour:?}: {error}"));
    assert_eq!(fs::read(into.path().join("file")).unwrap(), content(), "{behaviour:?}");
    let failed = seen.iter().filter(|progress| matches!(progress, Progress::Retrying { .. })).count();
    assert_eq!(failed, retries, "{behaviour:?}: {seen:?}");
    assert!(!into.path().join("file.part").exists());
}

#[tokio::test]
async fn a_file_comes_whole_on_a_bad_day() {
    check(Behaviour::Good, 0).await;
    check(Behaviour::CutsOnce, 1).await;
    check(Behaviour::CutsOnceAndIgnoresRange, 1).await;
    check(Behaviour::FailsTwice, 2).await;
    check(Behaviour::StallsOnce, 1).await;
    check(Behaviour::Redirects, 0).await;
}

#[tokio::test]
async fn what_was_got_before_is_not_got_again() {
    let into = TempDir::new().unwrap();
    fs::write(into.path().join("file.part"), &content()[..700_000]).unwrap();
    let (done, seen) = get(Behaviour::Good, into.path(), &sha256(), 2_000_000).await;
    done.unwrap();
    assert_eq!(fs::read(into.path().join("file")).unwrap(), content());
    let first = seen.iter().find_map(|progress| match progress {
        Progress::Downloading { done, total, .. } => Some((*done, *total)),
        _ => None,
    });
    let (done, total) = first.unwrap();
    assert!(done > 700_000 && total == Some(1_200_000), "{done} of {total:?}");
}

/// Whether the download was resumed, and the final content.
async fn resumed(
    behaviour: Behaviour,
    sha256: Option<&str>,
    version: Option<&str>,
    part: &[u8],
) -> (bool, Vec<u8>) {
    let into = TempDir::new().unwrap();
    fs::write(into.path().join("file.part"), part).unwrap();
    if let Some(version) = version {
        fs::write(into.path().join("file.part.tag"), version).unwrap();
    }
    let hub = Hub::start(behaviour, content()).await;
    let request = DownloadRequest { url: hub.url("file"), file: "file", sha256, limit: 2_000_000 };
    let client = client(&request.url, TIMEOUTS).unwrap();
    let mut first = None;
    let mut record = |progress| {
        if let Progress::Downloading { done, .. } = progress {
            first.get_or_insert(done);
        }
    };
    download(&client, &request, into.path(), TIMEOUTS, &mut record).await.unwrap();
    assert_eq!(fs::read_dir(into.path()).unwrap().count(), 1);
    (first.is_none_or(|first| first > 700_000), fs::read(into.path().join("file")).unwrap())
}

#[tokio::test]
async fn only_what_is_of_the_same_file_is_continued() {
    let (half, other) = (&content()[..700_000], vec![7; 700_000]);
    let sha256 = sha256();
    // Server errors don't discard the partial download.
    assert_eq!(resumed(Behaviour::FailsTwice, Some(&sha256), None, half).await, (true, content()));
    // Without a hash, the ETag must match.
    assert_eq!(resumed(Behaviour::Good, None, Some(hub::ETAG), half).await, (true, content()));
    assert_eq!(resumed(Behaviour::Good, None, Some("\"v0\""), &other).await, (false, content()));
    assert_eq!(resumed(Behaviour::Good, None, None, &other).await, (false, content()));
    assert_eq!(resumed(Behaviour::CutsOnce, None, None, &other).await, (false, content()));
    // A complete partial file, and one that is too long.
    assert_eq!(resumed(Behaviour::Good, Some(&sha256), None, &content()).await, (true, content()));
    let more = [content(), other].concat();
    assert_eq!(resumed(Behaviour::Good, None, Some(hub::ETAG), &more).await, (false, content()));
}

#[tokio::test]
async fn a_model_of_the_same_name_and_of_another_owner_or_version_is_another() {
    let models = TempDir::new().unwrap();
    let (one, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    write_model(one.path(), Kind::XlmR, Variant::Fp32, Task::TokenVectors);
    write_model(other.path(), Kind::XlmR, Variant::Int8, Task::TokenVectors);
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
    let other_revision = PullOptions { revision: "v2".to_owned(), ..options(&second, "other-org/e5-tiny") };
    assert!(matches!(pull(&other_revision, |_| {}).await, Err(PullError::Refused { status: 404, .. })));
    // The installed model stays until another is complete.
    assert_eq!(pull(&options(&second, "other-org/e5-tiny"), |_| {}).await.unwrap(), ours);
}

#[tokio::test]
async fn another_tokenizer_than_the_prepared_one_is_damage() {
    let models = TempDir::new().unwrap();
    let source = TempDir::new().unwrap();
    write_model(source.path(), Kind::Bert, Variant::Fp32, Task::TokenVectors);
    let small = PullOptions {
        repo: "some-org/tiny".to_owned(),
        from: Some(source.path().to_owned()),
        ..PullOptions::new(models.path())
    };
    let folder = pull(&small, |_| {}).await.unwrap();
    let tokenizer = folder.path().join("tokenizer.json");
    let text = fs::read_to_string(&tokenizer).unwrap();
    fs::write(&tokenizer, format!("{text} ")).unwrap();
    let error = crate::model::Folder::open(folder.path()).unwrap_err().to_string();
    assert!(error.starts_with("tokenizer.json or model.onnx_data is corrupt"), "{error}");
    assert_eq!(pull(&small, |_| {}).await.unwrap(), folder);
}

/// Checks that a download fails and leaves no file.
async fn check_refused(behaviour: Behaviour, sha256: &str, limit: u64, expected: &str) {
    let into = TempDir::new().unwrap();
    let (done, _) = get(behaviour, into.path(), sha256, limit).await;
    let error = done.unwrap_err().to_string();
    assert!(error.contains(expected), "{behaviour:?}: {error:?} does not contain {expected:?}");
    assert!(!into.path().join("file").exists());
}

#[tokio::test]
async fn a_file_that_is_not_the_one_is_refused() {
    check_refused(Behaviour::Good, "0000", 2_000_000, "has an unexpected hash").await;
    check_refused(Behaviour::Good, &sha256(), 1_000_000, "larger than 1000000 bytes").await;
    check_refused(Behaviour::Endless, &sha256(), 2_000_000, "larger than 2000000 bytes").await;
    check_refused(Behaviour::Missing, &sha256(), 2_000_000, "has no file of this model (status 404)").await;
    check_refused(Behaviour::Stalls, &sha256(), 2_000_000, "did not answer in time").await;
    check_refused(Behaviour::Stalls, &sha256(), 2_000_000, "--from FOLDER").await;
}

#[tokio::test]
async fn a_hub_with_other_weights_leaves_nothing_behind() {
    let (hub, models) = (Hub::start(Behaviour::Good, content()).await, TempDir::new().unwrap());
    let options =
        PullOptions { hub: hub.address(), fallback: Fallback::None, ..PullOptions::new(models.path()) };
    let error = pull(&options, |_| {}).await.unwrap_err();
    assert!(matches!(error, PullError::TooLarge { .. } | PullError::WrongHash { .. }), "{error}");
    assert!(!options.folder().exists());
}

#[tokio::test]
async fn any_model_of_a_hub_can_be_got() {
    let (source, models) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    write_model(source.path(), Kind::XlmR, Variant::Fp32, Task::TokenVectors);
    let hub = Hub::serving(source.path()).await;
    let options = PullOptions {
        hub: hub.address(),
        repo: "some-org/e5-tiny".to_owned(),
        ..PullOptions::new(models.path())
    };
    let mut seen = Vec::new();
    let folder = pull(&options, |progress| seen.push(progress)).await.unwrap();
    let expected = digest::of_file(&source.path().join("model.onnx")).unwrap();
    assert!(seen.contains(&Progress::Unpinned { sha256: expected.clone() }), "{seen:?}");
    assert_eq!(folder.sha256(), expected);
    let embedder = LocalEmbedder::open(folder.path(), 1).unwrap();
    assert_eq!((embedder.identity().dimensions, embedder.identity().query_prefix.as_str()), (32, "query: "));

    // The model is installed, so the hub is not needed.
    drop(hub);
    assert_eq!(pull(&options, |_| {}).await.unwrap(), folder);
    assert_eq!(fs::read_dir(models.path()).unwrap().count(), 2, "the model and its lock");
}

#[tokio::test]
async fn a_prepared_folder_is_taken_as_it_is() {
    let models = TempDir::new().unwrap();
    let real = model_folder();
    let options = PullOptions { from: Some(real.clone()), ..PullOptions::new(models.path()) };
    // Concurrent pulls.
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
    let error = pull(&from(empty.path()), |_| {}).await.unwrap_err().to_string();
    assert!(error.starts_with("there is no model.onnx there"), "{error}");
    let error = pull(&from(Path::new("/nowhere")), |_| {}).await.unwrap_err().to_string();
    assert!(error.starts_with("there is no such folder"), "{error}");
}

#[tokio::test]
async fn a_name_is_nothing_but_a_name() {
    let models = TempDir::new().unwrap();
    for repo in ["", "minilm", "a/../b", "../b", "a/b/c", "a/b?c", "/b", "a/", "a/.b"] {
        let options = PullOptions { repo: repo.to_owned(), ..PullOptions::new(models.path()) };
        let error = pull(&options, |_| {}).await.unwrap_err();
        assert!(matches!(error, PullError::Name(_)), "{repo}: {error}");
    }
}
