//! Runs the object store against a real S3-compatible server: `s3_peer ENDPOINT BUCKET KEY_FILE`, from
//! `cargo xtask peers s3`.
//!
//! The bucket exists and is empty; the file contains the access key as JSON. Prints a summary to standard output.

#[path = "../src/objects/tests/odd.rs"]
mod odd;

use std::{
    net::TcpListener,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use lyceum_net::Secret;
use lyceum_store::{Key, ObjectError, Objects, S3Settings};
use serde::Deserialize;

/// More objects than fit in one page of a listing.
const MANY: usize = 1050;

/// Maximum time until requests to an unreachable server fail.
const GIVE_UP_TIME: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
struct AccessKey {
    access_key_id: String,
    secret: String,
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "prints its report")]
async fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().context("usage: s3_peer ENDPOINT BUCKET KEY_FILE");
    let (endpoint, bucket, file) = (word()?, word()?, word()?);
    let key: AccessKey = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let settings = S3Settings {
        endpoint,
        bucket,
        region: "us-east-1".to_owned(),
        access_key_id: key.access_key_id,
        secret: Secret::new(&key.secret)?,
        prefix: String::new(),
    };
    one_object(&Objects::s3(&settings)?).await.context("one object")?;
    odd_names(&Objects::s3(&settings)?).await.context("odd names")?;
    let rate = many(&Objects::s3(&settings)?).await.context("many objects")?;
    prefixes(&settings).await.context("prefixes")?;
    wrong_credentials(&settings).await.context("wrong credentials")?;
    unreachable(&settings).await.context("an unreachable server")?;
    println!("{} odd names, {MANY} objects, {rate:.0} a second", odd::ODD.len());
    Ok(())
}

async fn one_object(objects: &Objects) -> Result<()> {
    let key = Key::parse("raw/a.md")?;
    ensure!(objects.get(&key).await?.is_none(), "the object exists before it was put");
    for text in ["one", "another, longer", ""] {
        objects.put(&key, text.into()).await?;
        ensure!(objects.get(&key).await?.as_deref() == Some(text.as_bytes()), "{text:?} did not come back");
    }
    objects.delete(&key).await?;
    ensure!(objects.get(&key).await?.is_none(), "the object exists after it was deleted");
    objects.delete(&key).await.context("deleting an object that doesn't exist")
}

async fn odd_names(objects: &Objects) -> Result<()> {
    let mut keys = odd::ODD.iter().map(|name| Key::parse(name)).collect::<Result<Vec<_>, _>>()?;
    keys.sort();
    for key in &keys {
        objects.put(key, Bytes::from(key.to_string())).await.with_context(|| key.to_string())?;
    }
    for key in &keys {
        let found = objects.get(key).await.with_context(|| key.to_string())?;
        ensure!(found.as_deref() == Some(key.as_str().as_bytes()), "{key} came back as {found:?}");
    }
    let listed = objects.list("", 100).await?;
    ensure!(listed == keys, "listed {listed:?}");
    for key in &keys {
        objects.delete(key).await.with_context(|| key.to_string())?;
    }
    ensure!(objects.list("", 100).await?.is_empty(), "some objects were not deleted");
    Ok(())
}

/// Returns the number of objects written per second.
async fn many(objects: &Objects) -> Result<f64> {
    let items = (0..MANY)
        .map(|n| Ok((Key::content("guide", &format!("{}/{n}", n % 7))?, Bytes::from(vec![b'x'; 4096]))));
    let items = items.collect::<Result<Vec<_>>>()?;
    let mut keys: Vec<Key> = items.iter().map(|(key, _)| key.clone()).collect();
    keys.sort();
    let started = Instant::now();
    for (key, result) in objects.put_all(items).await {
        result.with_context(|| key.to_string())?;
    }
    let rate = MANY as f64 / started.elapsed().as_secs_f64();
    ensure!(objects.list("content", MANY).await? == keys, "the listing differs from what was put");
    ensure!(objects.list("content/guide/3/", MANY).await?.len() == MANY / 7, "the listing of a folder");
    let refused = objects.list("", MANY - 1).await;
    ensure!(matches!(refused, Err(ObjectError::TooMany { .. })), "a listing above the limit: {refused:?}");
    Ok(rate)
}

async fn prefixes(settings: &S3Settings) -> Result<()> {
    let below = |prefix: &str| Objects::s3(&S3Settings { prefix: prefix.to_owned(), ..settings.clone() });
    let (one, other) = (below("ü 1/one")?, below("ü 1/other/")?);
    let key = Key::parse("raw/é.md")?;
    one.put(&key, "one".into()).await?;
    ensure!(
        other.get(&key).await?.is_none() && other.list("", 10).await?.is_empty(),
        "visible under another prefix"
    );
    ensure!(one.list("raw", 10).await? == [key.clone()], "it is not listed");
    let whole = Objects::s3(settings)?.list("ü 1", 10).await?;
    ensure!(whole == [Key::parse("ü 1/one/raw/é.md")?], "it is at {whole:?}");
    let long = Key::parse(&"x".repeat(1024))?;
    let refused = one.put(&long, "x".into()).await;
    ensure!(
        matches!(refused, Err(ObjectError::NameTooLong(_))),
        "a key above the maximum length: {refused:?}"
    );
    Ok(())
}

/// Wrong credentials and a wrong bucket are rejected.
async fn wrong_credentials(settings: &S3Settings) -> Result<()> {
    let wrong_secret = S3Settings { secret: Secret::new("wrong")?, ..settings.clone() };
    let wrong_key = S3Settings { access_key_id: "nobody".to_owned(), ..settings.clone() };
    for wrong in [wrong_secret, wrong_key] {
        for error in every_operation(&Objects::s3(&wrong)?).await? {
            ensure!(
                matches!(error, ObjectError::Denied(_)) && !error.is_transient(),
                "not denied: {error:?}"
            );
        }
    }
    let wrong_bucket = S3Settings { bucket: "not-there".to_owned(), ..settings.clone() };
    for error in every_operation(&Objects::s3(&wrong_bucket)?).await? {
        ensure!(
            matches!(error, ObjectError::NoBucket(_)) && !error.is_transient(),
            "missing bucket: {error:?}"
        );
    }
    Ok(())
}

async fn unreachable(settings: &S3Settings) -> Result<()> {
    // The port is closed once the listener is dropped.
    let endpoint = format!("http://{}", TcpListener::bind("127.0.0.1:0")?.local_addr()?);
    let objects = Objects::s3(&S3Settings { endpoint, ..settings.clone() })?;
    let started = Instant::now();
    for error in every_operation(&objects).await? {
        ensure!(
            matches!(error, ObjectError::Unreachable(_)) && error.is_transient(),
            "unreachable: {error:?}"
        );
    }
    ensure!(started.elapsed() < GIVE_UP_TIME, "it took {:?} to give up", started.elapsed());
    Ok(())
}

/// Runs each operation once; all must fail.
async fn every_operation(objects: &Objects) -> Result<[ObjectError; 4]> {
    let key = Key::manifest();
    let failed = "the operation succeeded, but must fail";
    Ok([
        objects.put(&key, "x".into()).await.err().context(failed)?,
        objects.get(&key).await.err().context(failed)?,
        objects.delete(&key).await.err().context(failed)?,
        objects.list("", 10).await.err().context(failed)?,
    ])
}
