//! The skills service: the six tools, the Agent Skills extension, and usage events.
//!
//! The tools work on a [`SkillSet`], one immutable snapshot; [`Skills::keep_fresh`] builds the next when the source
//! changes.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests start what they test, and wait for it"))]

pub mod analytics;
mod embedding;
mod profile;
mod ranking;
mod refresh;
mod runner;
mod script;
mod service;
mod sharing;
mod skill_set;
mod standard;
mod tools;
mod usage;

use std::sync::Arc;

use lyceum_model::{Access, Domain, Tier};
use lyceum_tools::{RegistryBuilder, RegistryError};

pub use refresh::RefreshOutcome;
pub use script::{Scripts, Setup};
pub use service::{Options, Skills, State};
pub use skill_set::{Audience, Rules, SkillSet};

/// Registers the tools and the resources of the current skill set.
pub fn register(
    builder: RegistryBuilder,
    domain: &Domain,
    skills: &Arc<Skills>,
) -> Result<RegistryBuilder, RegistryError> {
    let builder = builder
        .tool::<tools::GetSkill>(domain, skills)?
        .tool::<tools::ListSkills>(domain, skills)?
        .tool::<tools::GetAsset>(domain, skills)?
        .tool::<tools::RunScript>(domain, skills)?
        .tool::<tools::ReportUsage>(domain, skills)?
        .tool::<tools::RefreshSkills>(domain, skills)?;
    let access = Access { domain: domain.clone(), tier: Tier::Public, scopes: Vec::new() };
    let skill_set = skills.state().borrow().skill_set.clone();
    standard::register(builder, &access, skills, skill_set.as_deref())
}

#[cfg(test)]
mod tests;
