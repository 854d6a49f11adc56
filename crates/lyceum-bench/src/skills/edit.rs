//! Latency from an edit of one skill until it is served.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::answers::{self, Outcome};
use super::corpus::{Corpus, with_keyword};
use super::{ACCEPT, milliseconds};
use crate::connection::Connection;
use crate::modern;

/// Timeout for an edit to be served.
const EDIT_TIMEOUT: Duration = Duration::from_secs(30);

/// Time for all effects of an edit to finish, including the watcher's second scan.
const SETTLE_TIME: Duration = Duration::from_millis(700);

/// A server and its corpus.
pub(super) struct Editing<'a> {
    connection: Connection,
    corpus: &'a Corpus,
    edits: u32,
}

impl<'a> Editing<'a> {
    pub(super) fn new(connection: Connection, corpus: &'a Corpus) -> Self {
        Self { connection, corpus, edits: 0 }
    }

    /// Milliseconds from an edit until `get_skill` finds it, by file watch alone.
    pub(super) fn watched(&mut self) -> Result<f64> {
        let keyword = self.edit()?;
        let edited = Instant::now();
        while !self.finds(&keyword)? {
            if edited.elapsed() > EDIT_TIMEOUT {
                bail!("the edit is not served after {EDIT_TIMEOUT:?}");
            }
            // Busy polling would take a core from the server.
            std::thread::sleep(Duration::from_millis(1));
        }
        let took = milliseconds(edited);
        std::thread::sleep(SETTLE_TIME);
        Ok(took)
    }

    /// Milliseconds of `refresh_skills` after an edit.
    pub(super) fn refreshed(&mut self) -> Result<f64> {
        let keyword = self.edit()?;
        let started = Instant::now();
        let response = self.call("refresh_skills", &json!({}))?;
        let took = milliseconds(started);
        ensure!(answers::structured(&response)?.get("success") == Some(&Value::Bool(true)), "{response}");
        ensure!(self.finds(&keyword)?, "the edit is not served after a refresh");
        std::thread::sleep(SETTLE_TIME);
        Ok(took)
    }

    /// Sets a new, unique keyword of the document.
    fn edit(&mut self) -> Result<String> {
        self.edits += 1;
        let keyword = format!("edited{:04}", self.edits);
        let file = &self.corpus.document;
        let text =
            with_keyword(&keyword, &fs::read_to_string(file)?).context("the document has no keywords")?;
        fs::write(file, text)?;
        Ok(keyword)
    }

    fn finds(&mut self, keyword: &str) -> Result<bool> {
        let response = self.call("get_skill", &json!({ "context": keyword }))?;
        Ok(matches!(answers::parse_get_skill(&response)?, Outcome::Match(_)))
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<String> {
        let request = modern::post(ACCEPT, &modern::call(1, tool, arguments));
        self.connection.exchange(&request).map(str::to_owned)
    }
}
