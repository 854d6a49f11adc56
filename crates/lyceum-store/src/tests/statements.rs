//! Every SQL text is accepted by every engine.

use std::path::Path;

use rusqlite::Connection;
use tokio_postgres::types::Type;

use super::Server;
use crate::sql::dialect::Dialect;

/// The files with SQL, except migrations, which every test runs.
const FILES: [&str; 12] = [
    "audit.rs",
    "counters.rs",
    "documents.rs",
    "events.rs",
    "grants.rs",
    "jobs.rs",
    "kv.rs",
    "leases.rs",
    "pages.rs",
    "rate_limits.rs",
    "transfer.rs",
    "vectors.rs",
];

/// The least number of texts: fewer would mean that this test doesn't find them.
const MIN_TEXTS: usize = 75;

/// The string literals of a file that are SQL.
fn texts(file: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
    let source = std::fs::read_to_string(path).unwrap();
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = code.collect::<Vec<_>>().join("\n").replace("\\\"", "");
    let literals = code.split('"').skip(1).step_by(2).map(|text| text.replace("\\\n", ""));
    let is_sql = |text: &String| {
        ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH "].iter().any(|verb| text.starts_with(verb))
    };
    literals.filter(is_sql).collect()
}

/// All SQL texts, in the dialect of an engine.
fn all(dialect: Dialect) -> Vec<String> {
    let found: Vec<String> = FILES.into_iter().flat_map(texts).collect();
    let document = found.iter().find(|text| text.ends_with("FROM documents")).unwrap().clone();
    let whole = |text: String| text.replace("{skip_locked}", dialect.skip_locked());
    let of_documents = texts_with_documents().into_iter().map(|text| text.replace("{DOCUMENT}", &document));
    found.iter().cloned().map(whole).chain(of_documents).chain(dialect.clock().map(str::to_owned)).collect()
}

/// The texts that begin with the columns of a document.
fn texts_with_documents() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/documents.rs");
    let source = std::fs::read_to_string(path).unwrap();
    source.split('"').filter(|text| text.starts_with("{DOCUMENT}")).map(str::to_owned).collect()
}

#[test]
fn sqlite_accepts_every_text() {
    let super::Scene { db, folder } = super::scene();
    let connection = Connection::open(folder.path().join("lyceum.db")).unwrap();
    let texts = all(Dialect::Sqlite);
    assert!(texts.len() >= MIN_TEXTS, "{}", texts.len());
    for text in texts {
        connection.prepare(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    }
    drop(db);
}

#[tokio::test]
async fn postgres_accepts_every_text_with_typed_parameters() {
    let Some(server) = Server::start().await else { return };
    let db = server.connect(server.settings()).await;
    let client = server.client().await;
    let texts = all(Dialect::Postgres);
    assert!(texts.len() >= MIN_TEXTS, "{}", texts.len());
    for text in texts {
        let count = (1..).take_while(|number| text.contains(&format!("${number}"))).count();
        // Parameters whose type can't be inferred are tried with each of ours.
        let mut typings = vec![Vec::new()];
        if client.prepare(&text).await.is_err() {
            for _ in 0..count {
                let longer = |typing: Vec<Type>| {
                    [Type::INT8, Type::TEXT, Type::BYTEA].map(|next| [typing.clone(), vec![next]].concat())
                };
                typings = typings.into_iter().flat_map(longer).collect();
            }
        }
        let mut errors = Vec::new();
        for typing in &typings {
            match client.prepare_typed(&text, typing).await {
                Ok(_) => errors.clear(),
                Err(error) => errors.push(error.to_string()),
            }
            if errors.is_empty() {
                break;
            }
        }
        assert!(errors.is_empty(), "{:?}: {text}", errors.first());
    }
    drop(db);
}
