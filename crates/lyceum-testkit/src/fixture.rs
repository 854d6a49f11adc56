//! The fixture: every tool, prompt and resource that the MCP conformance suite expects, for all protocol versions.
//!
//! Names, texts and schemas are the suite's; change one only when the suite does.

mod add;
mod asking;
mod content;
mod diagnostics;
mod extras;
mod fixture_registry;
mod prompts;
mod question;
mod reporting;
mod resources;
mod rounds;
mod samples;
mod schemas;
mod states;

use std::{collections::BTreeSet, sync::Arc};

use lyceum_tools::{Hub, Registry, RegistryError};

use self::{
    extras::{Extra, Extras},
    fixture_registry::FixtureRegistry,
};

/// Builds a hub with the whole fixture, all of it public.
pub fn fixture_hub() -> Result<Arc<Hub>, RegistryError> {
    let extras = Arc::new(Extras::default());
    let hub = Arc::new(Hub::new(registry(&extras, &BTreeSet::new())?));
    extras.publish_on(&hub);
    Ok(hub)
}

/// The fixture with those extras.
fn registry(extras: &Arc<Extras>, shown: &BTreeSet<Extra>) -> Result<Registry, RegistryError> {
    let mut registry = add::register(FixtureRegistry::empty())?;
    registry = content::register(registry)?;
    registry = schemas::register(registry)?;
    registry = reporting::register(registry)?;
    registry = asking::register(registry)?;
    registry = rounds::register(registry)?;
    registry = states::register(registry)?;
    registry = diagnostics::register(registry, extras)?;
    registry = prompts::register(registry)?;
    registry = resources::register(registry)?;
    for extra in shown {
        registry = extras::register(registry, *extra)?;
    }
    Ok(registry.build())
}

#[cfg(test)]
mod tests;
