//! `get_agent`: an agent profile.

use lyceum_content::library::AgentsIndex;
use lyceum_tools::{Call, Error, Faults, Tool};

use super::{NameArgs, Open, TextOutput, hint};
use crate::{
    Library, PartKind,
    read::{Found, Freshness},
};

/// The tool.
#[derive(Debug)]
pub(crate) struct GetAgent;

impl Tool for GetAgent {
    const NAME: &'static str = "get_agent";
    const TITLE: &'static str = "Get an agent profile";
    const DESCRIPTION: &'static str = "Reads one of the team's agent profiles (instructions, model, tools), by the name that list_agents shows.";
    const FAULTS: Faults = Faults::InResultAsJson;

    type Service = Library;
    type Args = NameArgs;
    type Output = TextOutput;

    async fn call(library: &Library, call: &Call, args: NameArgs) -> Result<TextOutput, Error> {
        let found = find(library, call, &args.name, Freshness::of(args.skip_cache)).await?;
        Ok(TextOutput::new(args.name, found))
    }
}

/// Reads an agent profile by its name.
pub(crate) async fn read_agent(library: &Library, call: &Call, name: &str) -> Result<Found, Error> {
    find(library, call, name, Freshness::Cached).await
}

async fn find(library: &Library, call: &Call, wanted: &str, freshness: Freshness) -> Result<Found, Error> {
    let agents: Open<'_, AgentsIndex> =
        Open::part(library, PartKind::Agents, |indexes| indexes.agents.clone()).await?;
    let name = agents.parameter("name", wanted)?;
    let index = agents.indexed.as_ref().map(|indexed| &indexed.index);
    let names = || index.iter().flat_map(|index| &index.entries).map(|entry| entry.name.as_str());
    let hint = || hint(wanted, names(), "list_agents");
    let path = match index.and_then(|index| index.get(name.as_str())) {
        Some(entry) => entry.path.clone(),
        None => {
            let folder = agents.options.path.as_ref().or_else(|| index?.folder.as_ref());
            let path = agents.below("name", folder, &format!("{name}.md"))?;
            agents.check_unlisted(&path, hint)?;
            path
        }
    };
    agents.read(call, vec![path], freshness, hint).await
}
