//! Faults of Postgres and of the way to it: nothing acknowledged is lost, and nothing is done twice.

mod proxy;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use lyceum_net::Secret;

use super::{Server, client};
use crate::{Db, DbError, PostgresSettings, Tx, counters, inspection::inspect};
use proxy::Proxy;

const COUNT: &str = "INSERT INTO counters (name, value) VALUES ('count', 1) \
     ON CONFLICT (name) DO UPDATE SET value = counters.value + 1";

fn count_up(tx: &Tx<'_>) -> Result<(), DbError> {
    tx.execute(COUNT, []).map(drop)
}

async fn counted(db: &Db) -> i64 {
    db.read(|tx| counters::last(tx, "count")).await.unwrap().0
}

#[tokio::test]
async fn work_that_reads_before_it_writes_is_one_after_the_other() {
    let Some(server) = Server::start().await else { return };
    let (one, two) = (server.connect(server.settings()).await, server.connect(server.settings()).await);
    let read_then_write = |tx: &Tx<'_>| {
        let (last, _) = counters::last(tx, "count")?;
        counters::raise(tx, "count", last + 1)
    };
    let writes = (0..400).map(|number| {
        let db = if number % 2 == 0 { &one } else { &two };
        db.write("count", read_then_write)
    });
    futures::future::try_join_all(writes).await.unwrap();
    assert_eq!(counted(&one).await, 400);
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_done_once() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::start(server.postgres.port());
    let url = server.url().replace(&format!(":{}", server.postgres.port()), &format!(":{}", proxy.port()));
    let db = server.connect(PostgresSettings::new(Secret::new(&url).unwrap())).await;
    proxy.drop_answers_to_every_second_commit();
    for number in 0..20 {
        db.write(format!("{number}"), count_up).await.unwrap();
    }
    assert_eq!((counted(&db).await, proxy.dropped()), (20, 10));

    // The control: whoever simply runs it again does it twice.
    let mut acknowledged = 0;
    while acknowledged < 20 {
        let client = client(&url).await;
        client.batch_execute(&format!("BEGIN; {}", COUNT.replace("'count'", "'control'"))).await.unwrap();
        acknowledged += usize::from(client.batch_execute("COMMIT").await.is_ok());
    }
    let control = db.read(|tx| counters::last(tx, "control")).await.unwrap().0;
    assert!(control > 20, "the fault did not bite: {control}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_is_counted_when_connections_are_ended_under_load() {
    let Some(server) = Server::start().await else { return };
    let db = server.connect(server.settings()).await;
    let (stop, acknowledged, unknown) =
        (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let (db, stop, acknowledged, unknown) =
                (db.clone(), stop.clone(), acknowledged.clone(), unknown.clone());
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    match db.write(format!("writer {writer}"), count_up).await {
                        Ok(()) => acknowledged.fetch_add(1, Ordering::Relaxed),
                        Err(DbError::Unknown) => unknown.fetch_add(1, Ordering::Relaxed),
                        Err(error) => panic!("{error:?}"),
                    };
                }
            })
        })
        .collect();
    let killer = server.client().await;
    let end_all = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = $1";
    let mut ended = 0;
    for _ in 0..30 {
        // Between two rounds, some work is done.
        let before = acknowledged.load(Ordering::Relaxed);
        while acknowledged.load(Ordering::Relaxed) < before + 20 {
            tokio::task::yield_now().await;
        }
        ended += killer.query_one(end_all, &[&server.schema]).await.unwrap().get::<_, i64>(0);
    }
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    let (acknowledged, unknown) = (acknowledged.load(Ordering::Relaxed), unknown.load(Ordering::Relaxed));
    assert!(ended >= 30 && acknowledged >= 600, "{ended} connections were ended in {acknowledged} writes");
    let counted = usize::try_from(counted(&db).await).unwrap();
    assert!(
        (acknowledged..=acknowledged + unknown).contains(&counted),
        "{acknowledged} + {unknown}: {counted}"
    );
    assert_eq!(unknown, 0, "the server was there all the time");
}

#[tokio::test]
async fn work_that_goes_on_after_an_error_is_not_committed() {
    let Some(server) = Server::start().await else { return };
    let db = server.connect(server.settings()).await;
    let work = |tx: &Tx<'_>| {
        count_up(tx)?;
        let _swallowed = tx.execute("INSERT INTO nowhere (name) VALUES ($1)", ["a".into()]);
        Ok(())
    };
    assert!(matches!(db.write("count", work).await, Err(DbError::Sql(_))));
    db.write("count", count_up).await.unwrap();
    assert_eq!(counted(&db).await, 1);
}

#[tokio::test]
async fn a_server_that_is_away_is_an_error_within_the_limit() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::start(server.postgres.port());
    let url = server.url().replace(&format!(":{}", server.postgres.port()), &format!(":{}", proxy.port()));
    let db = server.connect(PostgresSettings::new(Secret::new(&url).unwrap())).await;
    db.write("count", count_up).await.unwrap();
    proxy.cut();
    let began = std::time::Instant::now();
    let (written, read) =
        futures::join!(db.write("count", count_up), db.read(|tx| counters::last(tx, "count")));
    assert!(matches!(written, Err(DbError::Unavailable(_))), "{written:?}");
    assert!(matches!(read, Err(DbError::Unavailable(_))), "{read:?}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    // Known to be away, it is not waited for again.
    let began = std::time::Instant::now();
    assert!(matches!(db.write("count", count_up).await, Err(DbError::Unavailable(_))));
    assert!(matches!(db.ping().await, Err(DbError::Unavailable(_))));
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    proxy.mend();
    while db.ping().await.is_err() {
        assert!(began.elapsed() < Duration::from_secs(20), "it does not recover");
    }
    db.write("count", count_up).await.unwrap();
    assert_eq!(counted(&db).await, 2);
}

#[tokio::test]
async fn the_server_s_certificate_is_verified() {
    let Some(server) = Server::start().await else { return };
    let own = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    server.postgres.write_private("server.key", &own.signing_key.serialize_pem()).unwrap();
    server.postgres.write_private("server.crt", &own.cert.pem()).unwrap();
    server.run("ALTER SYSTEM SET ssl = on").await;
    server.run("SELECT pg_reload_conf()").await;
    let folder = tempfile::TempDir::new().unwrap();
    let url = server.url().replace("sslmode=disable", "sslmode=require");
    let connect = async |name: &str, pem: String| {
        let file = folder.path().join(name);
        std::fs::write(&file, pem).unwrap();
        let settings =
            PostgresSettings { ca_file: Some(file), ..PostgresSettings::new(Secret::new(&url).unwrap()) };
        tokio::task::spawn_blocking(move || Db::connect(&settings)).await.unwrap()
    };
    let db = connect("own.pem", own.cert.pem()).await.unwrap();
    let is_encrypted = db.read(|tx| {
        let sql = "SELECT 1 FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl";
        Ok(tx.row(sql, [], |row| row.integer(0))?.is_some())
    });
    assert!(is_encrypted.await.unwrap());
    let refused = connect("other.pem", other.cert.pem()).await;
    assert!(matches!(refused, Err(DbError::Address(_))), "{refused:?}");
}

#[tokio::test]
async fn of_several_hosts_one_that_answers_is_used() {
    let Some(server) = Server::start().await else { return };
    let port = server.postgres.port();
    let address = |hosts: &str| server.url().replace(&format!("127.0.0.1:{port}"), hosts);
    // Nothing listens on port 1.
    let url = address(&format!("127.0.0.1:1,127.0.0.1:{port}"));
    let db = server.connect(PostgresSettings::new(Secret::new(&url).unwrap())).await;
    db.write("count", count_up).await.unwrap();
    assert_eq!(counted(&db).await, 1);
}

#[tokio::test]
async fn a_server_says_what_an_operator_should_know() {
    let Some(server) = Server::start().await else { return };
    let db = server.connect(server.settings()).await;
    let (first, second) = (db.read(inspect).await.unwrap(), db.read(inspect).await.unwrap());
    assert_eq!((first.encoding.as_str(), first.standbys, first.max_connections), ("UTF8", 0, 300));
    assert_eq!(first.process, second.process, "one connection, and no pooler");
    assert!(!first.version.is_empty() && first.now <= second.now);
}
