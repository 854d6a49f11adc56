//! The MCP server: identity, capabilities and budget.

use std::{fmt, sync::Arc};

use lyceum_model::{Access, Caller};
use rmcp::model::{
    DiscoverResult, ExtensionCapabilities, Implementation, JsonObject, PromptsCapability,
    ResourcesCapability, ServerCapabilities, ToolsCapability,
};

use super::{Message, SUPPORTED_VERSIONS, Seal, encode::ServerInfoStamp};
use crate::{ByteBudget, Hub, View, gate};

/// Identity of the server.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Name, title, version.
    pub implementation: Implementation,
    /// Instructions for the model, by service.
    pub instructions: Vec<Instructions>,
}

/// Instructions for the model about one service, for the callers who may use it. They are made when a client asks, because
/// they may depend on what is served then.
#[derive(Clone)]
pub struct Instructions {
    access: Access,
    text: Arc<dyn Fn() -> String + Send + Sync>,
}

impl Instructions {
    /// Makes instructions with that function, for callers with that access.
    pub fn new(access: Access, text: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self { access, text: Arc::new(text) }
    }
}

impl fmt::Debug for Instructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Instructions").field(&self.access).field(&(self.text)()).finish()
    }
}

/// The MCP server over one hub.
#[derive(Debug, Clone)]
pub struct Mcp {
    pub(crate) hub: Arc<Hub>,
    pub(crate) identity: Arc<Identity>,
    stamp: Arc<ServerInfoStamp>,
    pub(crate) seal: Seal,
    budget: ByteBudget,
    /// The share of the budget for anonymous callers.
    anonymous_budget: ByteBudget,
}

impl Mcp {
    /// Serves `hub` under that identity.
    pub fn new(hub: Arc<Hub>, identity: Identity, seal: Seal) -> Self {
        let server_info = serde_json::to_value(&identity.implementation).unwrap_or_default();
        let (identity, stamp) = (Arc::new(identity), Arc::new(ServerInfoStamp::new(server_info)));
        let budget = ByteBudget::new(usize::MAX);
        Self { hub, identity, stamp, seal, anonymous_budget: budget.clone(), budget }
    }

    /// Limits the bytes held for all clients together: subscriptions, and buffers that a transport counts. Anonymous
    /// callers may use half of it.
    pub fn within(mut self, max_bytes: usize) -> Self {
        self.budget = ByteBudget::new(max_bytes);
        self.anonymous_budget = self.budget.share(max_bytes / 2);
        self
    }

    /// The budget for that caller.
    pub fn budget_of(&self, caller: &Caller) -> &ByteBudget {
        if caller.is_anonymous() { &self.anonymous_budget } else { &self.budget }
    }

    /// The budget for all clients together.
    pub fn budget(&self) -> &ByteBudget {
        &self.budget
    }

    /// The hub it serves.
    pub fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// The identity of the server.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Encodes a message of MCP 2026-07-28 as compact JSON, with `serverInfo` in a response.
    pub fn encode(&self, message: Message) -> Vec<u8> {
        self.stamp.encode(message)
    }

    /// The capabilities as a caller with this view sees them, the same in every protocol version.
    pub fn capabilities(&self, view: &View) -> ServerCapabilities {
        let mut tools = ToolsCapability::default();
        tools.list_changed = Some(true);
        let mut prompts = PromptsCapability::default();
        prompts.list_changed = Some(true);
        let mut resources = ResourcesCapability::default();
        resources.list_changed = Some(true);
        resources.subscribe = Some(true);
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = Some(tools);
        capabilities.prompts = Some(prompts);
        capabilities.resources = Some(resources);
        capabilities.completions = Some(JsonObject::new());
        capabilities.logging = Some(JsonObject::new());
        let extensions = view.extensions().map(|entry| (entry.id.clone(), entry.settings.clone()));
        capabilities.extensions =
            Some(extensions.collect()).filter(|all: &ExtensionCapabilities| !all.is_empty());
        capabilities
    }

    /// The instructions for a caller: those of the services that the caller may use.
    pub fn instructions(&self, caller: &Caller) -> Option<String> {
        let parts = self.identity.instructions.iter().filter(|one| gate::permit(caller, &one.access).is_ok());
        let texts: Vec<String> = parts.map(|one| (one.text)()).filter(|text| !text.is_empty()).collect();
        (!texts.is_empty()).then(|| texts.join(" "))
    }

    pub(crate) fn discover(&self, view: &View) -> DiscoverResult {
        let mut result = DiscoverResult::new(SUPPORTED_VERSIONS.to_vec(), self.capabilities(view));
        result.instructions = self.instructions(view.caller());
        result
    }
}
