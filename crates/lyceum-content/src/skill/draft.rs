//! One file → a skill in the making, or the reason why it is none.
//!
//! A draft depends on its own file alone, so that a rebuild reads again only what changed.

use std::sync::Arc;

use lyceum_model::RelPath;
use serde::Serialize;

use super::{
    Asset, Candidate, Script, Shape, Standard,
    declared::{self, Declared},
    lineage, standard,
};
use crate::frontmatter;

/// What one file says. A rebuild shares it with the index before.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The file, such as `ui/react/auth.md`.
    pub file: RelPath,
    /// The path of the skill, such as `ui/react/auth`.
    pub path: RelPath,
    /// What it is for.
    pub description: String,
    /// The words it is found by, as they are written.
    pub keywords: Vec<String>,
    /// Whether it comes with what its parents say.
    pub inherit: bool,
    /// Lifts it a little over equals.
    pub priority: f64,
    /// What it says.
    pub body: String,
    /// The line of the file that the body begins on, from 1 on.
    pub first_line: usize,
    /// What the Agent Skills standard says of it, where it is of that form.
    pub standard: Option<Arc<Standard>>,
    /// The assets that it declares.
    pub(super) declared_assets: Vec<Asset>,
    /// The scripts that it declares.
    pub(super) declared_scripts: Vec<Script>,
}

/// Something that an author would want to know about a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Finding {
    /// The file, from the folder of the skills on.
    pub file: String,
    /// How bad it is.
    pub severity: Severity,
    /// What it is, and what to write.
    pub message: String,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It is no part of the source: hidden, ignored, an editor's back-up.
    Ignored,
    /// It is served, but not as the author may have meant.
    Warning,
    /// It is not served.
    Skipped,
}

/// Reads one file. Findings may come with a draft, and always come without one.
pub fn read(candidate: &Candidate, bytes: &[u8]) -> (Option<Draft>, Vec<Finding>) {
    let mut findings = Vec::new();
    let finding = |severity, message| Finding { file: candidate.file.to_string(), severity, message };
    let draft =
        std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text; save it as such".to_owned()).and_then(
            |text| draft(candidate, text, &mut |message| findings.push(finding(Severity::Warning, message))),
        );
    match draft {
        Ok(draft) => (Some(draft), findings),
        // What else is said of it is said of a skill that is served.
        Err(reason) => (None, vec![finding(Severity::Skipped, reason)]),
    }
}

fn draft(candidate: &Candidate, text: &str, warn: &mut impl FnMut(String)) -> Result<Draft, String> {
    let parts = frontmatter::parse(text).map_err(|fault| fault.to_string())?;
    let fields = &parts.fields;
    let description = declared::description(fields);
    let keywords = declared::keywords(fields);
    let file = candidate.file.clone();
    let (path, keywords, standard, inherits) = match candidate.shape {
        Shape::Document => {
            let keywords = keywords.ok_or("keywords: is not a list of at least one word")?;
            let path = lineage::skill_path(&file).ok_or("its name is only an extension")?;
            (path, keywords, None, true)
        }
        Shape::Folder => {
            let folder = file.parent();
            let mut standard = standard::standard(fields, folder.as_ref().map(RelPath::name));
            if text.starts_with('\u{FEFF}') {
                standard.faults.push("it begins with a byte order mark; save it without".to_owned());
            } else if text.lines().next().is_none_or(|line| line.trim_end() != "---") {
                standard.faults.push("its first line is more than ---; write nothing else there".to_owned());
            }
            for fault in &standard.faults {
                warn(format!(
                    "{fault}; until then only the tools serve it, not clients that go by the standard"
                ));
            }
            standard.remarks.iter().cloned().for_each(&mut *warn);
            let named = || standard.name.as_deref().and_then(|name| RelPath::parse(name).ok());
            let path = folder.or_else(named).ok_or("name: is missing or not one that the standard allows")?;
            let name = standard.name.as_deref().unwrap_or_else(|| path.name());
            let keywords = keywords
                .unwrap_or_else(|| standard::keywords(name, description.as_deref().unwrap_or_default()));
            (path, keywords, Some(standard), false)
        }
    };
    let description = description.ok_or_else(|| {
        let is_no_text = |fault: &&String| fault.starts_with("description: is not text");
        let fault = standard.as_ref().and_then(|standard| standard.faults.iter().find(is_no_text).cloned());
        fault.unwrap_or_else(|| "description: is missing or empty".to_owned())
    })?;
    let Declared { inherit, priority, assets, scripts } = declared::declared(fields, warn);
    let inherit = inherit.unwrap_or(inherits);
    let body = without_empty_edges(parts.body);
    let first_line = 1 + line_breaks(text) - line_breaks(parts.body) + leading_breaks(parts.body);
    Ok(Draft {
        file,
        path,
        description,
        keywords,
        inherit,
        priority,
        body: body.to_owned(),
        first_line,
        standard: standard.map(Arc::new),
        declared_assets: assets,
        declared_scripts: scripts,
    })
}

/// The text without empty lines before and after it; the indentation of its first line stays.
fn line_breaks(text: &str) -> usize {
    text.matches('\n').count()
}

/// How many lines without anything stand before the first that says something.
fn leading_breaks(text: &str) -> usize {
    text.find(|c: char| !c.is_whitespace()).and_then(|at| text.get(..at)).map_or(0, line_breaks)
}

fn without_empty_edges(text: &str) -> &str {
    let first = text.find(|c: char| !c.is_whitespace()).unwrap_or(text.len());
    let start = text.get(..first).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    text.get(start..).unwrap_or_default().trim_end()
}
