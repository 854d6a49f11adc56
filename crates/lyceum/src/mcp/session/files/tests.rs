//! Sessions after a restart.

use std::path::Path;

use rmcp::model::InitializeRequestParams;

use super::*;
use crate::config::Config;

const ID: &str = "01234567-89ab-cdef-0123-456789abcdef";

/// The sessions of a folder, as a newly started process knows them.
fn started(folder: &Path) -> SavedSessions {
    let limits = Config::from_text(Path::new("lyceum.toml"), "").unwrap().limits;
    SavedSessions::new(Records::Folder(folder.join("sessions")), &limits, Arc::default())
}

/// S15: a session that was opened before sign-in belongs to the first subject that uses it, also after a restart.
#[tokio::test]
async fn s15_a_session_stays_its_first_subjects_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let before = started(folder.path());
    before.store(ID, &SessionState::new(InitializeRequestParams::default())).await.unwrap();
    assert!(before.visit(ID, None).await.is_ok(), "anonymous until somebody signs in");
    assert!(before.visit(ID, Some("key:a")).await.is_ok());
    for other in [None, Some("key:b")] {
        assert!(started(folder.path()).visit(ID, other).await.is_err(), "{other:?}");
    }
    assert!(started(folder.path()).visit(ID, Some("key:a")).await.is_ok());
}
