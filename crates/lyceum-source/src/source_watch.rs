//! The file watch of a source: of a folder, and of nothing for the others.

use lyceum_model::SourceName;

use crate::{Change, Source, Watch, watch};

/// File watch of a folder source.
#[derive(Default)]
pub struct SourceWatch(Option<Watch>);

impl SourceWatch {
    /// Starts to watch a folder, if it isn't watched yet.
    pub async fn start(&mut self, source: &Source, name: &SourceName) {
        let Source::Folder(folder) = source else { return };
        if self.0.is_some() {
            return;
        }
        let root = folder.root.clone();
        match tokio::task::spawn_blocking(move || watch(&root)).await {
            Ok(Ok(watch)) => self.0 = Some(watch),
            Ok(Err(error)) => {
                tracing::warn!(error.cause = %error, source.name = %name, "could not watch the folder; polling instead");
            }
            Err(error) => tracing::error!(error.cause = %error, "watching the folder failed"),
        }
    }

    /// Waits for a change; forever if nothing is watched.
    pub async fn changed(&mut self) {
        match &mut self.0 {
            Some(watch) => {
                if watch.changed().await == Change::Gone {
                    self.0 = None;
                }
            }
            None => std::future::pending().await,
        }
    }
}
