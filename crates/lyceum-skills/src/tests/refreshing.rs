//! Refreshing from a Git server: new commits, failures, and concurrency.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use lyceum_model::SourceName;
use lyceum_sandbox::{Helper, LevelChoice};
use lyceum_source::{Bundled, Folder, Repository, Settings, Source};
use lyceum_testkit::{GitServer, ServerBehavior, TestRepository};
use tokio_util::sync::CancellationToken;

use super::{document, findings, rules, standard};
use crate::{Audience, Options, Scripts, Setup, Skills, analytics::Tracker, refresh::RefreshOutcome};

fn service(url: &str, folder: &Path) -> Skills {
    let settings = Settings::new(url, folder.join("clone"), "unused");
    service_of(Source::Repository(Repository::new(settings).unwrap()), folder)
}

fn service_of(source: Source, folder: &Path) -> Skills {
    service_with(source, folder, None)
}

/// The skills of a folder, with a file that caches their vectors.
pub(super) fn skills_of(root: &Path, vectors: Option<PathBuf>) -> Skills {
    service_with(Source::Folder(Folder::new(root)), root, vectors)
}

fn service_with(source: Source, folder: &Path, vectors: Option<PathBuf>) -> Skills {
    let helper = Helper { program: "unused".into(), args: Vec::new() };
    let temporary = folder.to_owned();
    Skills::new(Options {
        vectors,
        name: SourceName::from_static("skills"),
        source,
        rules: rules(Audience::OnePerson),
        tracker: Tracker::off(),
        scripts: Scripts::new(Setup {
            wanted: LevelChoice::Auto,
            helper,
            search_path: Vec::new(),
            temporary,
        }),
        shared: None,
    })
    .unwrap()
}

fn paths(skills: &Skills) -> Vec<String> {
    let skill_set = skills.state().borrow().skill_set.clone();
    skill_set
        .map(|skill_set| skill_set.index.skills().iter().map(|skill| skill.path.to_string()).collect())
        .unwrap_or_default()
}

async fn published(files: &[(&str, &str)]) -> (GitServer, TestRepository) {
    let server = GitServer::start().await.unwrap();
    let repository = server.repository("skills.git").unwrap();
    files.iter().for_each(|(name, text)| repository.write(name, text).unwrap());
    repository.commit().unwrap();
    (server, repository)
}

#[tokio::test]
async fn a_push_is_served_and_without_the_server_the_copy_here_is() {
    let (server, repository) =
        published(&[("skills/a.md", &document("first")), ("README.md", "# Text")]).await;
    let folder = tempfile::tempdir().unwrap();
    let skills = service(&server.url("skills.git"), folder.path());
    skills.load_local();
    assert!(skills.state().borrow().skill_set.is_none());
    assert!(matches!(skills.refresh().await, RefreshOutcome::Done { .. }));
    assert_eq!(paths(&skills), ["a"]);

    repository.write("skills/b.md", document("second")).unwrap();
    let commit = repository.commit().unwrap();
    match skills.refresh().await {
        RefreshOutcome::Done { skill_set, files_changed } => {
            assert_eq!((skill_set.commit(), files_changed), (Some(commit.as_str()), 1));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(paths(&skills), ["a", "b"]);

    server.stop();
    assert!(matches!(skills.refresh().await, RefreshOutcome::Failed(_)));
    assert!(skills.state().borrow().error.is_some());
    assert_eq!(paths(&skills), ["a", "b"]);
    let restarted = service(&server.url("skills.git"), folder.path());
    restarted.load_local();
    assert_eq!(paths(&restarted), ["a", "b"]);
}

#[tokio::test]
async fn a_second_refresh_does_not_wait_for_the_first() {
    let (server, _repository) = published(&[("a.md", &document("first"))]).await;
    let folder = tempfile::tempdir().unwrap();
    let skills = service(&server.url("skills.git"), folder.path());
    server.behave(ServerBehavior::Never);
    let first = skills.refresh();
    let second = async {
        while server.requests() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        skills.refresh().await
    };
    tokio::select! {
        first = first => panic!("unexpected outcome, the server does not respond: {first:?}"),
        second = second => assert!(matches!(second, RefreshOutcome::Busy)),
    }
}

#[tokio::test]
async fn the_folder_of_a_repository_is_found_by_itself() {
    let marketplace = [
        (".claude-plugin/marketplace.json", "{}"),
        ("skills/docx/SKILL.md", &standard("docx")),
        ("plugins/p/skills/pdf/SKILL.md", &standard("pdf")),
    ];
    let plain = [("docx/SKILL.md", standard("docx"))];
    for (files, expected) in [
        (marketplace.map(|(name, text)| (name, text.to_owned())).to_vec(), vec!["docx"]),
        (plain.to_vec(), vec!["docx"]),
    ] {
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let (server, _repository) = published(&files).await;
        let folder = tempfile::tempdir().unwrap();
        let skills = service(&server.url("skills.git"), folder.path());
        skills.refresh_in_turn().await;
        assert_eq!(paths(&skills), expected);
    }
}

/// A marketplace file is about plugins; the skills are in `skills/`.
#[tokio::test]
async fn skills_3_a_marketplace_file_does_not_move_the_root_of_a_repository() {
    let (auth, root, pdf) = (document("auth"), document("global"), standard("pdf"));
    let (server, _repository) = published(&[
        (".claude-plugin/marketplace.json", "{}"),
        ("skills/ui/auth.md", &auth),
        ("skills/_root.md", &root),
        ("skills/pdf/SKILL.md", &pdf),
    ])
    .await;
    let folder = tempfile::tempdir().unwrap();
    let skills = service(&server.url("skills.git"), folder.path());
    skills.refresh_in_turn().await;
    assert_eq!(paths(&skills), ["_root", "pdf", "ui/auth"]);
}

/// Fetched repositories are untrusted.
#[tokio::test]
async fn s16_a_fetched_repository_does_not_say_where_events_are_sent() {
    let yaml = "analytics: { enabled: true, endpoint: \"http://10.0.0.1/\" }\nmatching: { max_results: 7 }\n";
    let (server, _repository) =
        published(&[("skills/config.yaml", yaml), ("skills/a.md", &document("a"))]).await;
    let folder = tempfile::tempdir().unwrap();
    let skills = service(&server.url("skills.git"), folder.path());
    skills.refresh_in_turn().await;
    let skill_set = skills.state().borrow().skill_set.clone().unwrap();
    assert!(!skill_set.settings.analytics.enabled && skill_set.settings.analytics.endpoint.is_empty());
    assert_eq!((skill_set.settings.matching.max_results, skill_set.settings.scripts.enabled), (7, true));
    let messages = findings(&skill_set);
    assert!(messages[0].starts_with("config.yaml: analytics: a repository can't turn it on"), "{messages:?}");
}

#[tokio::test]
async fn skills_of_the_program_are_served_at_once_and_nothing_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let bundled = Bundled::new([("a.md", document("first").into_bytes())]);
    let skills = Arc::new(service_of(Source::Bundled(bundled), folder.path()));
    let stop = CancellationToken::new();
    tokio::time::timeout(Duration::from_secs(60), skills.clone().keep_fresh(stop)).await.unwrap();
    assert_eq!(paths(&skills), ["a"]);
    match skills.refresh().await {
        RefreshOutcome::Done { skill_set, files_changed } => {
            assert_eq!((skill_set.commit(), files_changed), (None, 0));
        }
        other => panic!("{other:?}"),
    }
}
