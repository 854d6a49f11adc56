//! S3-compatible stores: R2, MinIO and others.

mod connection;
mod response;

use std::{sync::Arc, time::Duration};

use lyceum_net::{Secret, is_loopback_url};
use object_store::{BackoffConfig, ObjectStore, RetryConfig, aws::AmazonS3Builder};
use reqwest::Url;

use connection::Connection;
pub(super) use response::{ErrorClass, ErrorResponse};

use super::ObjectError;

/// Number of retries of a request. Retries over hours are up to jobs.
const MAX_RETRIES: usize = 3;

/// Location and credentials of an S3-compatible store.
#[derive(Debug, Clone)]
pub struct S3Settings {
    /// URL of the store without the bucket, such as `https://ACCOUNT.r2.cloudflarestorage.com`. Plain `http` is
    /// allowed for loopback hosts only.
    pub endpoint: String,
    /// The bucket, which must exist.
    pub bucket: String,
    /// The region; `auto` for R2.
    pub region: String,
    /// Access key ID.
    pub access_key_id: String,
    /// Secret access key.
    pub secret: Secret,
    /// Prefix of all keys, such as `lyceum/production`; may be empty.
    pub prefix: String,
}

/// Creates the client of a store. Sends nothing before the first operation.
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
        // Not every store supports bulk deletes.
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
                "the endpoint of the object store must start with https://; http:// is allowed for loopback addresses only",
            )),
            _ => Err(fault("the endpoint of the object store must start with https://")),
        }
    }

    /// Validates values used verbatim in URLs and headers.
    fn check(&self) -> Result<(), ObjectError> {
        let in_bucket = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if !(3..=63).contains(&self.bucket.len()) || !self.bucket.chars().all(in_bucket) {
            return Err(fault(
                "the name of a bucket must be 3 to 63 letters, digits, dots and hyphens; check it",
            ));
        }
        let is_word = |text: &str| {
            !text.is_empty()
                && text.len() <= 256
                && text.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '/' | ','))
        };
        if !is_word(&self.region) {
            return Err(fault(
                "the region of the object store must be one word, such as auto or us-east-1; check it",
            ));
        }
        if !is_word(&self.access_key_id) {
            return Err(fault(
                "the access key of the object store must be one word of letters and digits; check that you copied all of it",
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
