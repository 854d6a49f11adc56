//! Skills as search takes them: what each says, and its scripts as code.

use std::{collections::HashMap, sync::Arc, time::Duration};

use jiff::Timestamp;
use lyceum_content::skill::Skill;
use lyceum_knowledge::{SCRIPT, SKILL};
use lyceum_model::RelPath;
use lyceum_search::{Error, Facts, Kind, Page, Plan, Search};
use lyceum_skills::{Library, Skills};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

/// How long after a failure it is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(2);

/// The largest script that is searched.
const LARGEST: u64 = 256 * 1024;

/// Keeps search up with the library, until it is told to stop.
pub(super) async fn keep_searched(skills: Arc<Skills>, search: Arc<Search>, stop: CancellationToken) {
    let mut state = skills.state();
    let work = async {
        loop {
            let library = state.borrow_and_update().library.clone();
            let done = match library {
                Some(library) => search_library(&search, skills.source_name().as_str(), library).await,
                None => Ok(true),
            };
            if let Err(error) = &done {
                tracing::warn!(error.cause = %error, "skills could not be indexed; they are tried again");
            }
            match done {
                Ok(true) => {
                    if state.changed().await.is_err() {
                        return;
                    }
                }
                // Another process leads the index, or something failed for now.
                Ok(false) | Err(_) => tokio::time::sleep(TRY_AGAIN).await,
            }
        }
    };
    tokio::select! {
        () = work => {}
        () = stop.cancelled() => {}
    }
}

async fn search_library(search: &Arc<Search>, source: &str, library: Arc<Library>) -> Result<bool, Error> {
    let pages = tokio::task::spawn_blocking(move || pages(&library)).await.unwrap_or_default();
    let wanted: HashMap<String, String> =
        pages.iter().map(|page| (page.facts.key(), page.version.clone())).collect();
    let Plan { read, gone } = search.plan(source, wanted).await?;
    if read.is_empty() && gone.is_empty() {
        return Ok(true);
    }
    let read: std::collections::HashSet<String> = read.into_iter().collect();
    let changed = pages.into_iter().filter(|page| read.contains(&page.facts.key())).collect();
    search.apply(source, changed, gone).await
}

/// Every skill, and every script of one that is text. Blocks.
fn pages(library: &Library) -> Vec<Page> {
    let mut pages = Vec::new();
    for skill in library.index.skills() {
        pages.push(of_skill(library, skill));
        for script in &skill.scripts {
            let Some(file) = skill.place_of(&script.file) else { continue };
            let text = library.text(&file, LARGEST).filter(|text| !text.contains('\0'));
            let Some(text) = text else { continue };
            let id = format!("{}/{}", skill.path.as_str(), script.file.as_str());
            let title = script.file.as_str();
            pages.push(page(library, SCRIPT, Kind::Code, &id, title, &script.description, &file, text, &[]));
        }
    }
    pages
}

fn of_skill(library: &Library, skill: &Skill) -> Page {
    let id = skill.path.as_str();
    let title = id.rsplit('/').next().unwrap_or(id).replace('-', " ");
    let body = format!("{}\n\n{}", skill.description, skill.body);
    page(library, SKILL, Kind::Prose, id, &title, &skill.description, &skill.file, body, &skill.keywords)
}

#[expect(clippy::too_many_arguments, reason = "each is a field of the page, and two lines call it")]
fn page(
    library: &Library,
    content_type: &str,
    kind: Kind,
    id: &str,
    title: &str,
    description: &str,
    file: &RelPath,
    body: String,
    tags: &[String],
) -> Page {
    let mut hash = Sha256::new();
    for part in [title, description, file.as_str(), &body, library.commit().unwrap_or_default()] {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    let version = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let facts = Facts {
        id: id.to_owned(),
        content_type: content_type.to_owned(),
        kind,
        title: title.to_owned(),
        description: description.to_owned(),
        path: file.as_str().to_owned(),
        url: None,
        commit_sha: library.commit().unwrap_or_default().to_owned(),
        synced_at: Timestamp::from_millisecond(library.synced_at.as_millisecond())
            .unwrap_or(library.synced_at),
        group: None,
        release: None,
        status: None,
        tags: tags.to_vec(),
        date: None,
    };
    Page { facts, version, body, first_line: 1 }
}
