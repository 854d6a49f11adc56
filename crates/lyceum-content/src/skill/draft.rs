//! Parses one file into a draft of a skill, or a reason to skip it.
//!
//! A draft depends on its own file only, so a rebuild parses only changed files.

use std::sync::Arc;

use lyceum_model::RelPath;
use serde::Serialize;

use super::{
    Asset, Candidate, Script, Shape, Standard,
    declared::{self, Declared},
    lineage, standard,
};
use crate::frontmatter;

/// One parsed file. Rebuilds share unchanged drafts with the previous index.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The file, such as `ui/react/auth.md`.
    pub file: RelPath,
    /// The path of the skill, such as `ui/react/auth`.
    pub path: RelPath,
    /// What it is for.
    pub description: String,
    /// Keywords for skill routing, as written; empty if an Agent Skill declares none.
    pub keywords: Vec<String>,
    /// Whether it inherits content and files from its parents.
    pub inherit: bool,
    /// Tie-breaker in skill routing: adds 0.001 per unit to the score.
    pub priority: f64,
    /// The text after the frontmatter, without leading and trailing blank lines.
    pub body: String,
    /// The line of the file on which the body starts, from 1.
    pub first_line: usize,
    /// Agent Skills metadata, if it has that form.
    pub standard: Option<Arc<Standard>>,
    /// The assets that it declares.
    pub(super) declared_assets: Vec<Asset>,
    /// The scripts that it declares.
    pub(super) declared_scripts: Vec<Script>,
}

/// A diagnostic about a file, for its author.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Finding {
    /// The file, relative to the skills folder.
    pub file: String,
    /// The severity.
    pub severity: Severity,
    /// What is wrong, and how to fix it.
    pub message: String,
}

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The file is not part of the source: hidden, ignored, or an editor's back-up.
    Ignored,
    /// The skill is served, but perhaps not as intended.
    Warning,
    /// The skill is not served.
    Skipped,
}

/// Parses one file. Without a draft there is always a finding.
pub fn read(candidate: &Candidate, bytes: &[u8]) -> (Option<Draft>, Vec<Finding>) {
    let mut findings = Vec::new();
    let finding = |severity, message| Finding { file: candidate.file.to_string(), severity, message };
    let draft =
        std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text; save it as UTF-8".to_owned()).and_then(
            |text| draft(candidate, text, &mut |message| findings.push(finding(Severity::Warning, message))),
        );
    match draft {
        Ok(draft) => (Some(draft), findings),
        // Warnings apply to served skills only.
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
            let path = lineage::skill_path(&file).ok_or("its file name is only an extension")?;
            (path, keywords, None, true)
        }
        Shape::Folder => {
            let folder = file.parent();
            let mut standard = standard::standard(fields, folder.as_ref().map(RelPath::name));
            if text.starts_with('\u{FEFF}') {
                standard.faults.push("it starts with a byte order mark; save it without one".to_owned());
            } else if text.lines().next().is_none_or(|line| line.trim_end() != "---") {
                standard.faults.push("its first line is not just ---; remove the rest".to_owned());
            }
            for fault in &standard.faults {
                warn(format!(
                    "{fault}; until then it is served by the tools only, not as a standard Agent Skill"
                ));
            }
            standard.remarks.iter().cloned().for_each(&mut *warn);
            let named = || standard.name.as_deref().and_then(|name| RelPath::parse(name).ok());
            let path = folder.or_else(named).ok_or("name: is missing or not allowed by the standard")?;
            (path, keywords.unwrap_or_default(), Some(standard), false)
        }
    };
    let description = description.ok_or_else(|| {
        let is_no_text = |fault: &&String| fault.starts_with("description: is not text");
        let fault = standard.as_ref().and_then(|standard| standard.faults.iter().find(is_no_text).cloned());
        fault.unwrap_or_else(|| "description: is missing or empty".to_owned())
    })?;
    let Declared { inherit, priority, assets, scripts } = declared::declared(fields, warn);
    let inherit = inherit.unwrap_or(inherits);
    let body = trim_blank_lines(parts.body);
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

fn line_breaks(text: &str) -> usize {
    text.matches('\n').count()
}

/// Number of blank lines at the start.
fn leading_breaks(text: &str) -> usize {
    text.find(|c: char| !c.is_whitespace()).and_then(|at| text.get(..at)).map_or(0, line_breaks)
}

/// Trims leading and trailing blank lines; keeps the indentation of the first line.
fn trim_blank_lines(text: &str) -> &str {
    let first = text.find(|c: char| !c.is_whitespace()).unwrap_or(text.len());
    let start = text.get(..first).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    text.get(start..).unwrap_or_default().trim_end()
}
