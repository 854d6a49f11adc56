//! Where drafts of a knowledge base go, built from the configuration.

use anyhow::Context as _;
use lyceum_knowledge::{DRAFTS_WRITE, Destination, DraftOptions, LINKS_WRITE};
use lyceum_model::{Right, Tier};
use lyceum_source::{
    Source,
    github::{GitHub, Identity},
};

use crate::{
    config::{self, Config, DraftTarget, Drafts, Location},
    sources,
};

/// The settings of drafts.
pub(super) fn options(
    config: &Config,
    source: &config::Source,
    drafts: &Drafts,
) -> anyhow::Result<DraftOptions> {
    let destination = match &drafts.target {
        DraftTarget::GitHub { api, repo, token } => Destination::GitHub {
            github: GitHub::new(api)?,
            identity: Identity::Token(token.clone()),
            repo: repo.clone(),
        },
        DraftTarget::Git(token) => {
            let mut source = source.clone();
            if let (Location::Repository(repository), Some(token)) = (&mut source.location, token) {
                repository.token = Some(token.clone());
            }
            match sources::source(config, &source).context("drafts can't be pushed")? {
                Source::Repository(repository) => Destination::Git(repository),
                Source::Folder(_) | Source::Bundled(_) => anyhow::bail!("drafts need a Git repository"),
            }
        }
    };
    Ok(DraftOptions { destination, base: drafts.branch.clone(), folder: drafts.folder.clone() })
}

/// The scopes of the tools that propose documents.
pub(super) fn scopes() -> Vec<Right> {
    vec![
        Right::new(LINKS_WRITE, Tier::Member, "Propose links, once you approved the text"),
        Right::new(DRAFTS_WRITE, Tier::Vibecoder, "Propose documents, once you approved the text"),
    ]
}
