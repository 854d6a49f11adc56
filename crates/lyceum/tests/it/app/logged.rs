//! Captures the log of servers under test at debug level, and checks that it contains no secret.

use std::{
    io::{self, Write},
    sync::{Mutex, Once, PoisonError},
};

/// Prefixes of secrets in the tests: our tokens, codes, keys and client secrets, GitHub tokens as they are and in base64,
/// and the key in the URL of a chain.
const SECRETS: [&str; 12] = [
    "lyc_at_",
    "lyc_rt_",
    "lyc_ac_",
    "lyc_key_",
    "lyc_cs_",
    "ghp_",
    "gho_",
    "github_pat_",
    "Z2hwX",
    "Z2hvX",
    "Z2l0aHViX3BhdF",
    "secret-key-of-the-provider",
];

static BEGUN: Once = Once::new();
static LINES: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Lines;

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Captures the log of this process from now on.
pub(super) fn begin() {
    BEGUN.call_once(|| {
        let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::DEBUG);
        // A test may have its own subscriber; then it checks its lines itself.
        let _is_first = subscriber.with_writer(|| Lines).try_init();
    });
}

/// Checks that no secret was logged.
pub(super) fn check_holds_no_secret() {
    let lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    let text = String::from_utf8_lossy(&lines);
    let told = text.lines().find(|line| SECRETS.iter().any(|secret| line.contains(secret)));
    assert_eq!(told, None, "a secret was logged");
}

#[tokio::test]
async fn what_is_logged_is_seen_here() {
    begin();
    tracing::debug!("a line of lyc_at_ its own");
    assert!(std::panic::catch_unwind(check_holds_no_secret).is_err());
    LINES.lock().unwrap_or_else(PoisonError::into_inner).clear();
    check_holds_no_secret();
}
