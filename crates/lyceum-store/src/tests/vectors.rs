//! The queue of chunks to embed, and the vectors of several indexes in one database.

use super::{at, engines};
use crate::{
    DbError, Tx,
    pages::{self, ChunkRow, PageRow},
    vectors,
};

fn page(key: &str, texts: &[&str]) -> PageRow {
    let chunk = |text: &&str| ChunkRow {
        hash: text.as_bytes().to_vec(),
        heading: String::new(),
        first_line: 1,
        last_line: 1,
        text: (*text).to_owned(),
    };
    PageRow {
        key: key.to_owned(),
        version: "1".to_owned(),
        facts: "{}".to_owned(),
        chunks: texts.iter().map(chunk).collect(),
    }
}

/// The texts to embed, each with the number of its chunks.
fn pending(tx: &Tx<'_>, model: i64) -> Result<String, DbError> {
    let name = |one: &vectors::Pending| format!("{}{}", String::from_utf8_lossy(&one.hash), one.count);
    Ok(vectors::pending(tx, model, 100)?.iter().map(name).collect::<Vec<_>>().join(" "))
}

fn embed(tx: &Tx<'_>, index: i64, model: i64, texts: &[&str]) -> Result<(), DbError> {
    let done: Vec<_> = texts.iter().map(|text| (text.as_bytes().to_vec(), vec![1])).collect();
    vectors::put(tx, index, model, &done, at(0))
}

#[tokio::test]
async fn what_has_no_vector_is_pending_beginnings_of_pages_first() {
    for scene in engines().await {
        let seen = scene.db.write("index", |tx| {
            let index = pages::create_index(tx, "search")?;
            let store = |rows: &[PageRow], gone: &[String]| pages::apply(tx, index, "kb", rows, gone, at(0));
            store(&[page("a", &["a", "b", "same"]), page("b", &["c", "same"])], &[])?;
            let model = vectors::model(tx, index, "one", "")?.id;
            let mut seen = vec![pending(tx, model)?, vectors::count_pending(tx, model)?.to_string()];
            embed(tx, index, model, &["a", "same"])?;
            seen.extend([pending(tx, model)?, vectors::count_pending(tx, model)?.to_string()]);
            // A changed page: what is known needs no new vector; what is gone is known to be gone.
            store(&[page("a", &["a", "d", "same"])], &[])?;
            seen.push(pending(tx, model)?);
            vectors::forget_pending(tx, model, &[b"b".to_vec(), b"c".to_vec()])?;
            seen.push(pending(tx, model)?);
            // Rejected text is not pending until it is retried.
            vectors::put(tx, index, model, &[(b"c".to_vec(), Vec::new())], at(0))?;
            seen.push(pending(tx, model)?);
            vectors::retry_rejected(tx, model)?;
            seen.push(pending(tx, model)?);
            Ok(seen)
        });
        assert_eq!(
            seen.await.unwrap(),
            ["a1 c1 b1 same2", "5", "c1 b1", "2", "c1 b0 d1", "c1 d1", "d1", "c1 d1"]
        );
    }
}

#[tokio::test]
async fn indexes_in_one_database_leave_each_other_alone() {
    for scene in engines().await {
        let seen = scene.db.write("indexes", |tx| {
            let (one, two) = (pages::create_index(tx, "one")?, pages::create_index(tx, "two")?);
            assert_eq!(pages::create_index(tx, "one")?, one);
            for index in [one, two] {
                pages::apply(tx, index, "kb", &[page("a", &["a"])], &[], at(0))?;
            }
            let of_one = vectors::model(tx, one, "same", "")?.id;
            let of_two = vectors::model(tx, two, "same", "")?.id;
            assert_ne!(of_one, of_two);
            embed(tx, one, of_one, &["a"])?;
            vectors::activate(tx, one, of_one)?;
            vectors::sweep(tx, one)?;
            pages::apply(tx, one, "kb", &[], &["a".to_owned()], at(0))?;
            let counts = (pages::count(tx, one)?, pages::count(tx, two)?);
            let models = (vectors::active(tx, one)?.is_some(), vectors::active(tx, two)?.is_some());
            Ok((counts, models, pending(tx, of_two)?, vectors::models(tx, two)?.len()))
        });
        assert_eq!(seen.await.unwrap(), (((0, 0), (1, 1)), (true, false), "a1".to_owned(), 1));
    }
}
