//! Retention of the audit log.

use super::{at, engines};
use crate::{
    DbError,
    audit::{NewAuditRow, add, after, trim},
};

fn line(kind: &'static str, seconds: i64) -> NewAuditRow {
    NewAuditRow { at: at(seconds), kind, subject: None, client: None, detail: "{}".to_owned() }
}

#[tokio::test]
async fn beyond_so_many_rows_the_oldest_refusals_go_first() {
    for scene in engines().await {
        let kinds = scene.db.write("test", |tx| {
            for (kind, second) in
                ["old", "sign_in", "refused", "wrote", "refused", "refused", "wrote"].into_iter().zip(0..)
            {
                add(tx, &line(kind, second))?;
            }
            let kinds = |trimmed: usize| {
                let left = after(tx, 0, 100)?.into_iter().map(|line| line.kind).collect::<Vec<_>>().join(" ");
                Ok::<_, DbError>((trimmed, left))
            };
            Ok([kinds(trim(tx, at(1), 100)?)?, kinds(trim(tx, at(1), 4)?)?, kinds(trim(tx, at(1), 2)?)?])
        });
        let expected = |count: usize, left: &str| (count, left.to_owned());
        assert_eq!(
            kinds.await.unwrap(),
            [
                expected(1, "sign_in refused wrote refused refused wrote"),
                expected(2, "sign_in wrote refused wrote"),
                expected(2, "wrote wrote"),
            ]
        );
    }
}
