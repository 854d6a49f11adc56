//! What the server says of itself.

use std::sync::Arc;

use lyceum_model::Caller;
use rmcp::model::{
    DiscoverResult, ExtensionCapabilities, Implementation, JsonObject, PromptsCapability,
    ResourcesCapability, ServerCapabilities, ToolsCapability,
};

use super::{Message, SUPPORTED_VERSIONS, Seal, encode::Stamp};
use crate::{ByteBudget, Hub, View};

/// Who the server is.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Name, title, version.
    pub implementation: Implementation,
    /// What a model should know before it uses the tools.
    pub instructions: String,
}

/// The protocol over one hub.
#[derive(Debug, Clone)]
pub struct Mcp {
    pub(crate) hub: Arc<Hub>,
    pub(crate) identity: Arc<Identity>,
    stamp: Arc<Stamp>,
    pub(crate) seal: Seal,
    budget: ByteBudget,
    /// The part of it that strangers may spend.
    strangers: ByteBudget,
}

impl Mcp {
    /// Speaks for `hub` under that name.
    pub fn new(hub: Arc<Hub>, identity: Identity, seal: Seal) -> Self {
        let server_info = serde_json::to_value(&identity.implementation).unwrap_or_default();
        let (identity, stamp) = (Arc::new(identity), Arc::new(Stamp::new(server_info)));
        let budget = ByteBudget::new(usize::MAX);
        Self { hub, identity, stamp, seal, strangers: budget.clone(), budget }
    }

    /// Bounds what is held for all clients together: their subscriptions, and whatever else a door counts. Strangers may spend
    /// half of it.
    pub fn within(mut self, max_bytes: usize) -> Self {
        self.budget = ByteBudget::new(max_bytes);
        self.strangers = self.budget.share(max_bytes / 2);
        self
    }

    /// What may be held for that caller.
    pub fn budget_of(&self, caller: &Caller) -> &ByteBudget {
        if caller.is_anonymous() { &self.strangers } else { &self.budget }
    }

    /// What is held for all clients together.
    pub fn budget(&self) -> &ByteBudget {
        &self.budget
    }

    /// The hub it speaks for.
    pub fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// Who the server is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// A message of the modern era as compact JSON, with the server's name on an answer.
    pub fn encode(&self, message: Message) -> Vec<u8> {
        self.stamp.encode(message)
    }

    /// What whoever has this view can ask of the server, the same in every era.
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

    pub(crate) fn discover(&self, view: &View) -> DiscoverResult {
        let mut result = DiscoverResult::new(SUPPORTED_VERSIONS.to_vec(), self.capabilities(view));
        result.instructions = Some(self.identity.instructions.clone());
        result
    }
}
