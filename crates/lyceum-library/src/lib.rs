//! The library service: skills, agent profiles and docs of repositories.
//!
//! Lists come from indexes that are built from the repositories themselves, without a request to GitHub. Contents are
//! read live from GitHub with the token of the caller, who sees what GitHub lets them see; or, if the operator says so,
//! from the server's own copy (ADR 23).
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests start what they test, and wait for it"))]

mod cache;
mod error;
mod index;
mod part;
mod read;
mod resources;
mod search;
mod service;
mod tools;

use std::sync::Arc;

use lyceum_model::Domain;
use lyceum_tools::{RegistryBuilder, RegistryError};

pub use index::{Indexed, Indexes};
pub use part::{PartKind, PartOptions, Reader};
pub use service::{Library, Options, SourceOptions, State};

/// Registers the tools and resource templates of the parts that are configured.
pub fn register(
    mut builder: RegistryBuilder,
    domain: &Domain,
    library: &Arc<Library>,
) -> Result<RegistryBuilder, RegistryError> {
    if library.has(PartKind::Skills) {
        builder = builder
            .tool::<tools::ListSkills>(domain, library)?
            .tool::<tools::GetSkill>(domain, library)?
            .tool::<tools::GetSkillFile>(domain, library)?;
    }
    if library.has(PartKind::Agents) {
        builder =
            builder.tool::<tools::ListAgents>(domain, library)?.tool::<tools::GetAgent>(domain, library)?;
    }
    if library.has(PartKind::Docs) {
        builder = builder.tool::<tools::ListDocs>(domain, library)?.tool::<tools::GetDoc>(domain, library)?;
    }
    builder = builder.tool::<tools::SearchLibrary>(domain, library)?;
    resources::register(builder, domain, library)
}

#[cfg(test)]
mod tests;
