//! An S3-compatible store: R2, MinIO and the like.

mod connection;
mod response;

use std::{sync::Arc, time::Duration};

use lyceum_net::{Secret, is_loopback_url};
use object_store::{BackoffConfig, ObjectStore, RetryConfig, aws::AmazonS3Builder};
use reqwest::Url;

use connection::Connection;
pub(super) use response::{ErrorClass, ErrorResponse};

use super::ObjectError;

/// How often a request is sent again before the caller hears of it. Retries of hours are the work of jobs.
const MAX_RETRIES: usize = 3;

/// Where an S3-compatible store is, and how it is opened.
#[derive(Debug, Clone)]
pub struct S3Settings {
    /// The address of the store without the bucket, such as `https://ACCOUNT.r2.cloudflarestorage.com`. Plain
    /// `http` is for this very machine only.
    pub endpoint: String,
    /// The bucket, which must be there.
    pub bucket: String,
    /// The region; `auto` for R2.
    pub region: String,
    /// The public half of the key.
    pub access_key_id: String,
    /// The secret half of the key.
    pub secret: Secret,
    /// What stands before every key, such as `lyceum/production`; empty for nothing.
    pub prefix: String,
}

/// Connects to a store. Nothing is sent before the first operation.
pub(super) fn connect(settings: &S3Settings) -> Result<Arc<dyn ObjectStore>, ObjectError> {
    let endpoint = settings.endpoint()?;
    settings.check()?;
    let connection = Connection::new(&endpoint)?;
    let store = AmazonS3Builder::new()
        .with_endpoint(endpoint.as_str().trim_end_matches('/'))
        .with_allow_http(true)
        .with_bucket_name(&settings.bucket)
        .with_region(&settings.region)
        .with_access_key_id(&settings.access_key_id)
        .with_secret_access_key(settings.secret.reveal())
        // Not every store knows the request that deletes many.
        .with_disable_bulk_delete(true)
        .with_retry(retries())
        .with_http_connector(connection)
        .build()?;
    Ok(Arc::new(store))
}

impl S3Settings {
    fn endpoint(&self) -> Result<Url, ObjectError> {
        let url = Url::parse(self.endpoint.trim()).ok().filter(|url| url.host_str().is_some());
        let url = url.ok_or_else(|| fault("the endpoint of the object store is not an absolute URL; write it like https://s3.example.com"))?;
        let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
        if !plain || url.fragment().is_some() {
            return Err(fault(
                "the endpoint of the object store has more than a host and a path; write it like https://s3.example.com",
            ));
        }
        match url.scheme() {
            "https" => Ok(url),
            "http" if is_loopback_url(&url) => Ok(url),
            "http" => Err(fault(
                "the endpoint of the object store must start with https://; http:// is for this very machine only",
            )),
            _ => Err(fault("the endpoint of the object store must start with https://")),
        }
    }

    /// Checks what goes into addresses and headers as it is.
    fn check(&self) -> Result<(), ObjectError> {
        let in_bucket = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if !(3..=63).contains(&self.bucket.len()) || !self.bucket.chars().all(in_bucket) {
            return Err(fault(
                "the name of a bucket has 3 to 63 letters, digits, dots and hyphens; check it",
            ));
        }
        let is_word = |text: &str| {
            !text.is_empty()
                && text.len() <= 256
                && text.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '/' | ','))
        };
        if !is_word(&self.region) {
            return Err(fault(
                "the region of the object store is one word, such as auto or us-east-1; check it",
            ));
        }
        if !is_word(&self.access_key_id) {
            return Err(fault(
                "the access key of the object store is one word of letters and digits; check that it was copied whole",
            ));
        }
        Ok(())
    }
}

fn retries() -> RetryConfig {
    let backoff = BackoffConfig { max_backoff: Duration::from_secs(2), ..BackoffConfig::default() };
    RetryConfig { backoff, max_retries: MAX_RETRIES, ..RetryConfig::default() }
}

fn fault(text: &str) -> ObjectError {
    ObjectError::Settings(text.to_owned())
}
