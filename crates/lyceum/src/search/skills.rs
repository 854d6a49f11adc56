//! Skills as search pages: their text, and their scripts as code.

use std::{collections::HashMap, sync::Arc, time::Duration};

use jiff::Timestamp;
use lyceum_content::{language, skill::Skill};
use lyceum_knowledge::{SCRIPT, SKILL, is_of_skills};
use lyceum_model::RelPath;
use lyceum_search::{Error, Facts, Kind, Page, Plan, Search};
use lyceum_skills::{SkillSet, Skills};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// Delay before a retry.
const RETRY_DELAY: Duration = Duration::from_secs(2);

/// Maximum size of an indexed script.
const MAX_SCRIPT_BYTES: u64 = 256 * 1024;

/// Keeps the index up to date with the skill set, until it is stopped.
pub(crate) async fn keep_searched(skills: Arc<Skills>, search: Arc<Search>, stop: CancellationToken) {
    let mut state = skills.state();
    let work = async {
        loop {
            let skill_set = state.borrow_and_update().skill_set.clone();
            let name = skills.source_name();
            let span = tracing::error_span!("index", source.name = %name);
            let done = match skill_set {
                Some(skill_set) => {
                    search_skill_set(&search, name.as_str(), skill_set).instrument(span.clone()).await
                }
                None => Ok(true),
            };
            if let Err(error) = &done {
                tracing::warn!(parent: &span, error.cause = %error, "could not index skills; retrying");
            }
            match done {
                Ok(true) => {
                    if state.changed().await.is_err() {
                        return;
                    }
                }
                // Another process leads the index, or an error occurred.
                Ok(false) | Err(_) => tokio::time::sleep(RETRY_DELAY).await,
            }
        }
    };
    tokio::select! {
        () = work => {}
        () = stop.cancelled() => {}
    }
}

/// Indexes a skill set; returns false if another process leads the index.
pub(super) async fn search_skill_set(
    search: &Arc<Search>,
    source: &str,
    skill_set: Arc<SkillSet>,
) -> Result<bool, Error> {
    let pages = tokio::task::spawn_blocking(move || pages(&skill_set)).await;
    let pages = pages.map_err(|_| Error::Closed("could not read the skills for the index".to_owned()))?;
    let wanted: HashMap<String, String> =
        pages.iter().map(|page| (page.facts.key(), page.version.clone())).collect();
    let Plan { read, gone } = search.plan(source, wanted, is_of_skills).await?;
    if read.is_empty() && gone.is_empty() {
        return Ok(true);
    }
    let read: std::collections::HashSet<String> = read.into_iter().collect();
    let changed = pages.into_iter().filter(|page| read.contains(&page.facts.key())).collect();
    search.apply(source, changed, gone).await
}

/// All skills, and all of their scripts that are text. Blocks.
fn pages(skill_set: &SkillSet) -> Vec<Page> {
    let mut pages = Vec::new();
    for skill in skill_set.index.skills() {
        pages.push(of_skill(skill_set, skill));
        for script in &skill.scripts {
            let Some(file) = skill.path_of(&script.file) else { continue };
            let text = skill_set.text(&file, MAX_SCRIPT_BYTES).filter(|text| !text.contains('\0'));
            let Some(text) = text else { continue };
            let id = format!("{}/{}", skill.path.as_str(), script.file.as_str());
            let title = script.file.as_str();
            let text = Text { about: &script.description, body: text, first_line: 1 };
            pages.push(page(skill_set, SCRIPT, Kind::Code, &id, title, &file, text, &[]));
        }
    }
    pages
}

fn of_skill(skill_set: &SkillSet, skill: &Skill) -> Page {
    let id = skill.path.as_str();
    let title = id.rsplit('/').next().unwrap_or(id).replace('-', " ");
    let text = Text { about: &skill.description, body: skill.body.clone(), first_line: skill.first_line };
    page(skill_set, SKILL, Kind::Prose, id, &title, &skill.file, text, &skill.keywords)
}

/// Text of a page, and its first line in the file.
struct Text<'a> {
    about: &'a str,
    body: String,
    first_line: usize,
}

#[expect(clippy::too_many_arguments, reason = "each is a field of the page, and there are two callers")]
fn page(
    skill_set: &SkillSet,
    content_type: &str,
    kind: Kind,
    id: &str,
    title: &str,
    file: &RelPath,
    text: Text<'_>,
    tags: &[String],
) -> Page {
    let Text { about, body, first_line } = text;
    let path = skill_set.in_source(file).unwrap_or_else(|| file.clone());
    let mut hash = Sha256::new();
    let tags_together = tags.join("\n");
    for part in [title, about, path.as_str(), &body, &tags_together, skill_set.commit().unwrap_or_default()] {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    let version = const_hex::encode(hash.finalize());
    let language = language::of_document(&serde_json::Map::new(), "", about).filter(|_| kind == Kind::Prose);
    let facts = Facts {
        id: id.to_owned(),
        content_type: content_type.to_owned(),
        kind,
        title: title.to_owned(),
        description: about.to_owned(),
        path: path.as_str().to_owned(),
        url: None,
        commit_sha: skill_set.commit().unwrap_or_default().to_owned(),
        synced_at: Timestamp::from_millisecond(skill_set.synced_at.as_millisecond())
            .unwrap_or(skill_set.synced_at),
        group: None,
        release: None,
        status: None,
        tags: tags.to_vec(),
        date: None,
        language,
        aliases: Vec::new(),
    };
    Page { facts, version, about: about.to_owned(), body, first_line }
}
