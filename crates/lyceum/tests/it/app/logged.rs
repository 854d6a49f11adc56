//! What servers under test log, down to debug, and that no secret is in it.

use std::{
    io::{self, Write},
    sync::{Mutex, Once, PoisonError},
};

/// How secrets begin in the tests: tokens, codes, keys and client secrets of ours, tokens of GitHub, the key in the address
/// of a chain.
const SECRETS: [&str; 9] = [
    "lyc_at_",
    "lyc_rt_",
    "lyc_ac_",
    "lyc_key_",
    "lyc_cs_",
    "ghp_",
    "gho_",
    "github_pat_",
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

/// Keeps what is logged in this process from now on.
pub(super) fn begin() {
    BEGUN.call_once(|| {
        let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::DEBUG);
        // A test may have one of its own; then it looks at its lines itself.
        let _is_first = subscriber.with_writer(|| Lines).try_init();
    });
}

/// Checks that nobody who reads the log can be anybody else.
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
