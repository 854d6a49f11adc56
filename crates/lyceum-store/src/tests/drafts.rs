//! Drafts, on each engine.

use jiff::Timestamp;

use super::engines;
use crate::drafts::{self, Draft, Progress, State};

fn draft(id: &str, second: i64) -> Draft {
    let now = Timestamp::from_second(second).unwrap();
    let own = str::to_owned;
    Draft {
        source: own("kb"),
        id: own(id),
        tool: own("create_draft"),
        subject: Some(own("alice")),
        content_type: own("article"),
        title: own("Über – 'x'"),
        path: format!("artifacts/articles/{id}.md"),
        body: own("---\n---\n\n# A\n"),
        branch: format!("lyceum/{id}"),
        created: now,
        progress: Progress::queued(now),
    }
}

#[tokio::test]
async fn a_draft_is_added_once_and_only_its_progress_changes() {
    for engine in engines().await {
        let db = &engine.db;
        let add = |draft: Draft| db.write("source:kb", move |tx| drafts::add(tx, &draft));
        assert!(add(draft("a", 1)).await.unwrap());
        assert!(!add(Draft { title: "other".to_owned(), ..draft("a", 2) }).await.unwrap());
        assert!(add(draft("b", 2)).await.unwrap());
        let found = db.read(|tx| drafts::find(tx, "kb", "a")).await.unwrap();
        assert_eq!(found, Some(draft("a", 1)));
        assert_eq!(db.read(|tx| drafts::find(tx, "other", "a")).await.unwrap(), None);

        let progress = Progress {
            state: State::Merged,
            changed: Timestamp::from_second(9).unwrap(),
            base: Some("b".repeat(40)),
            commit: Some("c".repeat(40)),
            number: Some(7),
            url: Some("https://example.org/7".to_owned()),
            ended_by: Some("carol".to_owned()),
            error: None,
        };
        let set = progress.clone();
        db.write("source:kb", move |tx| drafts::set_progress(tx, "kb", "a", &set)).await.unwrap();
        let found = db.read(|tx| drafts::find(tx, "kb", "a")).await.unwrap();
        assert_eq!(found, Some(Draft { progress, ..draft("a", 1) }));

        let listed = async |state, max| {
            let rows = db.read(move |tx| drafts::newest(tx, "kb", state, max)).await.unwrap();
            rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
        };
        assert_eq!(listed(None, 10).await, ["b", "a"]);
        assert_eq!(listed(None, 1).await, ["b"]);
        assert_eq!(listed(Some(State::Merged), 10).await, ["a"]);

        let taken = async |path: &'static str, id: &'static str| {
            db.read(move |tx| drafts::is_path_taken(tx, "kb", path, id)).await.unwrap()
        };
        assert!(taken("artifacts/articles/b.md", "c").await);
        assert!(!taken("artifacts/articles/b.md", "b").await, "by itself");
        assert!(!taken("artifacts/articles/a.md", "c").await, "it is merged");
    }
}
