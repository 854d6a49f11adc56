//! A STAND-IN until search is wired up: what `lyceum eval` and `lyceum embed` need of it, by words only.

use std::{path::PathBuf, sync::Arc};

use futures::FutureExt;
use lyceum_search::{Options, embedder::EmbedError};

use crate::config::Config;

/// What a search in that folder is made of, by the configuration.
pub(crate) fn options(_: &Config, folder: PathBuf) -> Options {
    let absent = || EmbedError::Model("search is not wired up yet".to_owned());
    let connect = Arc::new(move |_| async move { Err(absent()) }.boxed());
    Options { folder, embedder: Some("local".to_owned()), connect, reranker: None }
}
