//! Editing one skill of thousands: how long until the edit is served.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::answers::{self, Outcome};
use super::corpus::{Corpus, found_by};
use super::{ACCEPT, milliseconds};
use crate::connection::Connection;
use crate::modern;

/// The longest wait for an edit to be served.
const EDIT_TIMEOUT: Duration = Duration::from_secs(30);

/// Time for everything that an edit sets off to end, the watcher's second look included.
const SETTLE_TIME: Duration = Duration::from_millis(700);

/// A server and a document of its skills.
pub(super) struct Editing<'a> {
    connection: Connection,
    corpus: &'a Corpus,
    edits: u32,
}

impl<'a> Editing<'a> {
    pub(super) fn new(connection: Connection, corpus: &'a Corpus) -> Self {
        Self { connection, corpus, edits: 0 }
    }

    /// Milliseconds from an edit until a task finds it, with nobody telling the server.
    pub(super) fn watched(&mut self) -> Result<f64> {
        let keyword = self.edit()?;
        let edited = Instant::now();
        while !self.finds(&keyword)? {
            if edited.elapsed() > EDIT_TIMEOUT {
                bail!("an edit is not served after {EDIT_TIMEOUT:?}");
            }
            // To ask without pause would keep a core from the server.
            std::thread::sleep(Duration::from_millis(1));
        }
        let took = milliseconds(edited);
        std::thread::sleep(SETTLE_TIME);
        Ok(took)
    }

    /// Milliseconds that `refresh_skills` takes after an edit.
    pub(super) fn refreshed(&mut self) -> Result<f64> {
        let keyword = self.edit()?;
        let started = Instant::now();
        let answer = self.call("refresh_skills", &json!({}))?;
        let took = milliseconds(started);
        ensure!(answers::structured(&answer)?.get("success") == Some(&Value::Bool(true)), "{answer}");
        ensure!(self.finds(&keyword)?, "an edit is not served after a refresh");
        std::thread::sleep(SETTLE_TIME);
        Ok(took)
    }

    /// Gives the document a keyword that no skill had before.
    fn edit(&mut self) -> Result<String> {
        self.edits += 1;
        let keyword = format!("edited{:04}", self.edits);
        let file = &self.corpus.document;
        let text = found_by(&keyword, &fs::read_to_string(file)?).context("the document has no keywords")?;
        fs::write(file, text)?;
        Ok(keyword)
    }

    fn finds(&mut self, keyword: &str) -> Result<bool> {
        let answer = self.call("get_skill", &json!({ "context": keyword }))?;
        Ok(matches!(answers::of_get_skill(&answer)?, Outcome::Found(_)))
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<String> {
        let request = modern::post(ACCEPT, &modern::call(1, tool, arguments));
        self.connection.exchange(&request).map(str::to_owned)
    }
}
