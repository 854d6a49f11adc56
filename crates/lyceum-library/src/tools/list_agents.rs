//! `list_agents`: the index of agent profiles.

use lyceum_content::library::AgentEntry;
use lyceum_tools::{Call, Error, Faults, Tool};

use super::PageArgs;
use crate::{Library, PartKind};

/// The tool.
#[derive(Debug)]
pub(crate) struct ListAgents;

impl Tool for ListAgents {
    const NAME: &'static str = "list_agents";
    const TITLE: &'static str = "List agent profiles";
    const DESCRIPTION: &'static str = "Lists the team's agent profiles: name, description, model and allowed tools. \
        Read one with get_agent. Returns at most 1000; if you get as many as the limit, call again with a larger offset.";
    const FAULTS: Faults = Faults::InResultAsJson;

    type Service = Library;
    type Args = PageArgs;
    type Output = Vec<AgentEntry>;

    async fn call(library: &Library, _: &Call, args: PageArgs) -> Result<Vec<AgentEntry>, Error> {
        let agents = library.index(PartKind::Agents, |indexes| indexes.agents.clone()).await?;
        Ok(args.of(&agents.index.entries))
    }
}
