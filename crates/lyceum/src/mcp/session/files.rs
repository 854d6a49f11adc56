//! What a session needs to come back, on disk.

use std::{
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use rmcp::transport::streamable_http_server::session::{SessionState, SessionStore, SessionStoreError};

use crate::config::Limits;

/// How long a session that nobody uses is kept on disk.
const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

/// How many sessions are kept on disk for each one in memory.
const KEPT_PER_PLACE: usize = 10;

/// The largest session that is kept: clients say a few hundred bytes of themselves.
const LARGEST: usize = 16 * 1024;

/// What clients said in `initialize`, a file each.
#[derive(Debug)]
pub(in crate::mcp) struct SessionFiles {
    folder: PathBuf,
    most: usize,
}

impl SessionFiles {
    pub(in crate::mcp) fn new(data_dir: &Path, limits: &Limits) -> Self {
        Self { folder: data_dir.join("sessions"), most: limits.sessions.saturating_mul(KEPT_PER_PLACE) }
    }

    /// Only ids of our own making name a file: 36 of hex digits and dashes.
    fn file(&self, id: &str) -> Option<PathBuf> {
        let ours = id.len() == 36 && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        ours.then(|| self.folder.join(format!("{id}.json")))
    }

    /// Removes sessions that nobody used for long, and the oldest where there are too many; none that is in memory.
    pub(in crate::mcp) async fn sweep(&self, now: SystemTime, held: impl Fn(&str) -> bool) -> io::Result<()> {
        let mut kept = Vec::new();
        let mut entries = match tokio::fs::read_dir(&self.folder).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        while let Some(entry) = entries.next_entry().await? {
            let path = entry.path();
            let id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            // A file that is gone by now was removed by its client.
            if let Ok(used) = entry.metadata().await.and_then(|file| file.modified())
                && !held(id)
            {
                kept.push((used, path));
            }
        }
        kept.sort();
        let too_many = kept.len().saturating_sub(self.most);
        for (index, (used, path)) in kept.iter().enumerate() {
            if index < too_many || now.duration_since(*used).is_ok_and(|age| age > KEPT_FOR) {
                match tokio::fs::remove_file(path).await {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

#[async_trait]
impl SessionStore for SessionFiles {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        let Some(file) = self.file(id) else { return Ok(None) };
        let text = match tokio::fs::read(&file).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        // The time of the file says when the session was last used.
        let opened = std::fs::File::options().append(true).open(&file);
        let _age_is_a_hint = opened.and_then(|file| file.set_modified(SystemTime::now()));
        // A file that can't be read is as good as none: the client is told to begin again.
        Ok(serde_json::from_slice(&text).ok())
    }

    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        let Some(file) = self.file(id) else { return Ok(()) };
        let text = serde_json::to_vec(state)?;
        if text.len() > LARGEST {
            return Err(format!("what the client said of itself is larger than {LARGEST} bytes").into());
        }
        tokio::fs::create_dir_all(&self.folder).await?;
        let unfinished = file.with_extension("new");
        tokio::fs::write(&unfinished, text).await?;
        tokio::fs::rename(&unfinished, &file).await?;
        Ok(())
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        match self.file(id).map(std::fs::remove_file) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}
