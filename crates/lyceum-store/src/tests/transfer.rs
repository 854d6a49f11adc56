//! Sign-in moves between databases, in both directions.

use super::{at, engines, scene};
use crate::{
    Db, audit,
    grants::{self, Grant, NewToken, TokenKind},
    transfer::{TransferError, copy_sign_in},
};

async fn fill(db: &Db, count: u8) {
    let written = db.write("test", move |tx| {
        for number in 0..count {
            let grant = Grant {
                id: format!("grant-{number}"),
                subject: "key:\0odd".to_owned(),
                client: "client".to_owned(),
                client_name: (number % 2 == 0).then(|| "Client".to_owned()),
                resource: "resource".to_owned(),
                scopes: "mcp:read".to_owned(),
                facts: "{}".to_owned(),
                created: at(0),
                expires: at(1000),
            };
            grants::insert(tx, &grant)?;
            let hash = &[number; 32];
            let token = NewToken { hash, kind: TokenKind::Access, scopes: "", facts: "", expires: at(100) };
            grants::add_token(tx, &grant.id, token)?;
            audit::add(tx, &row(i64::from(number)))?;
        }
        Ok(())
    });
    written.await.unwrap();
}

fn row(seconds: i64) -> audit::NewAuditRow {
    let (subject, client, detail) = (None, None, "{}".to_owned());
    audit::NewAuditRow { at: at(seconds), kind: "signed-in", subject, client, detail }
}

async fn copy(from: &Db, to: &Db) -> Result<Vec<(&'static str, usize)>, TransferError> {
    let (from, to) = (from.clone(), to.clone());
    tokio::task::spawn_blocking(move || copy_sign_in(&from, &to)).await.unwrap()
}

#[tokio::test]
async fn everything_arrives_also_when_it_is_copied_again_and_back() {
    for target in engines().await {
        let origin = scene();
        fill(&origin.db, 200).await;
        let expected = vec![("grants", 200), ("tokens", 200), ("audit", 200), ("nonces", 0)];
        assert_eq!(copy(&origin.db, &target.db).await.unwrap(), expected);
        // Interrupted and begun again.
        assert_eq!(copy(&origin.db, &target.db).await.unwrap(), expected);
        let found = target.db.read(|tx| grants::find_token(tx, &[7; 32])).await.unwrap().unwrap();
        assert_eq!((found.grant.id.as_str(), found.grant.client_name), ("grant-7", None));
        // The next number of the audit log is a new one.
        target.db.write("test", |tx| audit::add(tx, &row(500))).await.unwrap();
        let back = scene();
        assert_eq!(copy(&target.db, &back.db).await.unwrap()[2], ("audit", 201));
    }
}

#[tokio::test]
async fn a_target_that_is_in_use_is_refused() {
    let (origin, target) = (scene(), scene());
    fill(&origin.db, 2).await;
    fill(&target.db, 3).await;
    let refused = copy(&origin.db, &target.db).await;
    assert!(
        matches!(refused, Err(TransferError::Differs { table: "grants", expected: 2, found: 3 })),
        "{refused:?}"
    );
}
