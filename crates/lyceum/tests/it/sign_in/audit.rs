//! The audit log: its contents, its durability, and limits for anonymous callers.

use std::path::Path;

use futures::future::join_all;
use lyceum_auth::{ApiKey, Kind, Token};
use lyceum_model::Tier;
use lyceum_store::{Db, audit::AuditRow};
use serde_json::{Value, json};

use super::{Stage, address, key, with_token};
use crate::app::{TestApp, call, post};

/// The key of a caller who may write.
struct Operator {
    key: Token,
}

impl Operator {
    fn new() -> Self {
        Self { key: Token::random(Kind::Key).unwrap() }
    }

    fn declared(&self) -> ApiKey {
        ApiKey { name: "ops".to_owned(), hash: self.key.hash().0, tier: Tier::Vibecoder }
    }

    async fn stage(&self) -> Stage {
        Stage::with(|oauth| oauth.keys.push(self.declared())).await
    }

    /// Refreshes the sources, which is a write.
    async fn write(&self, app: &TestApp) {
        let done = app.send(with_token(call("refresh_sources", &json!({})), self.key.reveal())).await;
        assert_eq!(done.status, 200, "{done:?}");
    }
}

fn rows(folder: &Path) -> Vec<AuditRow> {
    let db = Db::open(&folder.join("auth.db")).unwrap();
    db.read_blocking(|tx| lyceum_store::audit::after(tx, 0, 100_000)).unwrap()
}

fn count(rows: &[AuditRow], kind: &str) -> usize {
    rows.iter().filter(|row| row.kind == kind).count()
}

#[tokio::test]
async fn refusals_and_calls_that_write_are_in_the_record() {
    let operator = Operator::new();
    let mut stage = operator.stage().await;
    // Anonymous calls are not recorded.
    assert_eq!(stage.app.send(call("refresh_sources", &json!({}))).await.status, 401);
    let somebody = stage.sign_in(&key(1)).await;
    let refused = stage.app.send(with_token(call("refresh_sources", &json!({})), &somebody.access)).await;
    assert_eq!(refused.status, 403);
    operator.write(&stage.app).await;
    let folder = stage.app.folder();
    stage.app.stop().await;
    let rows = rows(folder.path());
    let kinds: Vec<_> = rows.iter().map(|row| row.kind.as_str()).collect();
    assert_eq!(kinds, ["sign_in", "grant", "refused", "wrote"], "{rows:?}");
    let by = rows.iter().rev().take(2).map(|row| row.subject.clone().unwrap());
    let by: Vec<String> = by.collect();
    assert!(by[0].starts_with("key:ops#") && by[1] == address(&key(1)), "{by:?}");
}

#[tokio::test]
async fn an_answer_to_a_call_that_writes_comes_after_its_row_is_on_disk() {
    let operator = Operator::new();
    let mut stage = operator.stage().await;
    let folder = stage.app.folder();
    for written in 1..=20 {
        operator.write(&stage.app).await;
        assert_eq!(
            count(&rows(folder.path()), "wrote"),
            written,
            "the server still runs, and could be killed"
        );
    }
}

#[tokio::test]
async fn s2_strangers_add_no_rows_by_calling_tools_that_write() {
    let skills = tempfile::tempdir().unwrap();
    std::fs::write(skills.path().join("a.md"), "---\nkeywords: [alpha]\ndescription: A\n---\nA.").unwrap();
    let source = format!("[[source]]\nname = \"s\"\npath = {:?}\n[skills]\nsource = \"s\"", skills.path());
    let operator = Operator::new();
    let stage = Stage::of(&source, |oauth| oauth.keys.push(operator.declared())).await;
    let mut app = stage.app;
    let feedback = json!({ "arguments": { "skill_path": "a", "useful": true } }).to_string();
    for body in ["{}", feedback.as_str()] {
        let calls = (0..100).map(|_| app.send(post("/tools/report_usage/call", body.to_owned())));
        let statuses: Vec<u16> = join_all(calls).await.iter().map(|answer| answer.status).collect();
        assert!(statuses.iter().all(|status| *status < 500), "{statuses:?}");
    }
    let known = app.send(with_token(post("/tools/report_usage/call", feedback), operator.key.reveal())).await;
    assert_eq!(known.status, 200, "{known:?}");
    let folder = app.folder();
    app.stop().await;
    let rows = rows(folder.path());
    let kinds: Vec<_> = rows.iter().map(|row| row.kind.as_str()).collect();
    assert_eq!(kinds, ["wrote"], "{rows:?}");
}

#[tokio::test]
async fn s2_who_floods_the_audit_log_hides_nothing_and_fills_no_disk() {
    let operator = Operator::new();
    let mut stage = operator.stage().await;
    let somebody = stage.sign_in(&key(1)).await;
    let refused = || stage.app.send(with_token(call("refresh_sources", &json!({})), &somebody.access));
    let flood = async {
        for _ in 0..10 {
            let answers = join_all((0..40).map(|_| refused())).await;
            assert!(answers.iter().all(|answer| answer.status == 403));
        }
    };
    let work = async {
        for _ in 0..20 {
            operator.write(&stage.app).await;
        }
    };
    futures::join!(flood, work);
    let folder = stage.app.folder();
    stage.app.stop().await;
    let rows = rows(folder.path());
    assert_eq!(count(&rows, "wrote"), 20, "nobody else's row is missing");
    // A burst of sixty, and one more every ten seconds, however long this takes.
    let recorded = count(&rows, "refused");
    assert!((60..200).contains(&recorded), "{recorded} rows of 400 refusals");
    let left_out = |row: &AuditRow| serde_json::from_str::<Value>(&row.detail).unwrap()["leftOut"].as_u64();
    let left_out: u64 = rows.iter().filter_map(left_out).sum();
    assert!(left_out <= 400 - recorded as u64, "{left_out} are said to be left out");
}
