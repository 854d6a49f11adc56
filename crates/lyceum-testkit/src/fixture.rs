//! The fixture: every tool, prompt and resource that the MCP conformance suite expects, of both eras.
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

/// Builds a hub with the whole fixture, all of it open to anyone.
pub fn fixture_hub() -> Result<Arc<Hub>, RegistryError> {
    let extras = Arc::new(Extras::default());
    let hub = Arc::new(Hub::new(registry(&extras, &BTreeSet::new())?));
    extras.publish_on(&hub);
    Ok(hub)
}

/// The fixture with those extras shown.
fn registry(extras: &Arc<Extras>, shown: &BTreeSet<Extra>) -> Result<Registry, RegistryError> {
    let mut shelf = add::place(FixtureRegistry::empty())?;
    shelf = content::place(shelf)?;
    shelf = schemas::place(shelf)?;
    shelf = reporting::place(shelf)?;
    shelf = asking::place(shelf)?;
    shelf = rounds::place(shelf)?;
    shelf = states::place(shelf)?;
    shelf = diagnostics::place(shelf, extras)?;
    shelf = prompts::place(shelf)?;
    shelf = resources::place(shelf)?;
    for extra in shown {
        shelf = extras::place(shelf, *extra)?;
    }
    Ok(shelf.build())
}

#[cfg(test)]
mod tests;
