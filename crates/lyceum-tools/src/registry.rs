//! The registry: everything that the server offers, registered explicitly.
//!
//! A registry is an immutable snapshot sorted by name, so lists are stable. Each service builds its own, and they are
//! joined. Joining recompiles no schema, so a change of one service costs the others nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use lyceum_model::{Access, Domain};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    AuditSink, Change, ExtensionEntry, MethodEntry, Outcome, Prefix, PromptEntry, RegistryError,
    ResourceEntry, TemplateEntry, Tool, ToolEntry, prefix::Mentions,
};

/// An immutable snapshot of everything that the server offers.
#[derive(Debug, Default)]
pub struct Registry {
    pub(crate) tools: BTreeMap<String, Arc<ToolEntry>>,
    pub(crate) resources: BTreeMap<String, Arc<ResourceEntry>>,
    pub(crate) templates: BTreeMap<String, Arc<TemplateEntry>>,
    pub(crate) prompts: BTreeMap<String, Arc<PromptEntry>>,
    /// By id. Several services may offer the same extension.
    pub(crate) extensions: BTreeMap<String, Vec<Arc<ExtensionEntry>>>,
    services: BTreeSet<Domain>,
    is_public: bool,
    has_public_content: bool,
    pub(crate) audit: Option<AuditSink>,
}

impl Registry {
    /// Starts an empty registry.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder::default()
    }

    /// Joins several registries into one. Fails if two entries have the same name.
    pub fn join<'a>(parts: impl IntoIterator<Item = &'a Arc<Self>>) -> Result<Self, RegistryError> {
        let builder = parts.into_iter().try_fold(Self::builder(), |builder, part| builder.join(part))?;
        Ok(builder.build())
    }

    /// Records refusals and calls that write in `audit`.
    pub fn audited_by(self, audit: Option<AuditSink>) -> Self {
        Self { audit, ..self }
    }

    /// The services that offer something.
    pub fn services(&self) -> impl Iterator<Item = &Domain> {
        self.services.iter()
    }

    /// The service of that name, if it offers something.
    pub fn service(&self, name: &str) -> Option<&Domain> {
        self.services.get(name)
    }

    /// Whether every caller sees the same entries.
    pub(crate) fn is_public(&self) -> bool {
        self.is_public
    }

    /// Whether every caller sees the same resources, templates and extensions, from which extension methods respond.
    pub(crate) fn has_public_content(&self) -> bool {
        self.has_public_content
    }

    /// The lists that differ from those of another registry. The protocol has no notification for extensions: clients
    /// see a change when they next read the capabilities.
    pub(crate) fn changes_from(&self, before: &Self) -> Vec<Change> {
        // Access rules count too: a tool that is now restricted to members is gone for everyone else.
        let same_tools = (self.listed_tools().map(|tool| (tool.wire(), &tool.spec().access)))
            .eq(before.listed_tools().map(|tool| (tool.wire(), &tool.spec().access)));
        let same_prompts = (self.prompts.values().map(|entry| (&entry.wire, &entry.access)))
            .eq(before.prompts.values().map(|entry| (&entry.wire, &entry.access)));
        let same_resources = (self.resources.values().map(|entry| (&entry.wire, &entry.access)))
            .eq(before.resources.values().map(|entry| (&entry.wire, &entry.access)));
        let same_templates = (self.templates.values().map(|entry| (&entry.wire, &entry.access)))
            .eq(before.templates.values().map(|entry| (&entry.wire, &entry.access)));
        let same_resources = same_resources && same_templates;
        [(same_tools, Change::Tools), (same_prompts, Change::Prompts), (same_resources, Change::Resources)]
            .into_iter()
            .filter_map(|(same, change)| (!same).then_some(change))
            .collect()
    }

    /// The tools that lists show to callers who may use them.
    pub(crate) fn listed_tools(&self) -> impl Iterator<Item = &ToolEntry> {
        self.tools.values().map(Arc::as_ref).filter(|tool| tool.is_listed())
    }

    fn accesses(&self) -> impl Iterator<Item = &Access> {
        let tools = self.tools.values().map(|entry| &entry.spec().access);
        let prompts = self.prompts.values().map(|entry| &entry.access);
        tools.chain(prompts).chain(self.content_accesses())
    }

    fn content_accesses(&self) -> impl Iterator<Item = &Access> {
        let resources = self.resources.values().map(|entry| &entry.access);
        let templates = self.templates.values().map(|entry| &entry.access);
        let extensions = self.extensions.values().flatten().map(|entry| &entry.access);
        let methods = self.methods().map(|method| &method.access);
        resources.chain(templates).chain(extensions).chain(methods)
    }

    fn methods(&self) -> impl Iterator<Item = &MethodEntry> {
        self.extensions.values().flatten().flat_map(|entry| &entry.methods)
    }
}

/// Builds a registry. The first error ends it, and says how to fix it.
#[derive(Debug, Default)]
pub struct RegistryBuilder {
    registry: Registry,
    prefix: Prefix,
}

impl RegistryBuilder {
    /// Adds a prefix to the name of each tool and prompt that is registered from now on.
    pub fn prefixed(mut self, prefix: &Prefix) -> Self {
        self.prefix = prefix.clone();
        self
    }

    /// Declares a service, so that it has an endpoint while it offers nothing.
    pub fn service(mut self, domain: &Domain) -> Self {
        self.registry.services.insert(domain.clone());
        self
    }

    /// Adds a tool of the service `domain`, which is called with `service`.
    pub fn tool<T: Tool>(self, domain: &Domain, service: &Arc<T::Service>) -> Result<Self, RegistryError> {
        self.tool_entry(ToolEntry::of::<T>(domain, service.clone())?)
    }

    /// Adds a tool that may ask the user for input.
    pub fn asking_tool<T, O>(self, domain: &Domain, service: &Arc<T::Service>) -> Result<Self, RegistryError>
    where
        T: Tool<Output = Outcome<O>>,
        O: Serialize + JsonSchema,
    {
        self.tool_entry(ToolEntry::asking::<T, O>(domain, service.clone())?)
    }

    /// Adds a tool that is defined at run time.
    pub fn tool_entry(self, tool: ToolEntry) -> Result<Self, RegistryError> {
        let tool = tool.prefixed(&self.prefix)?;
        self.add_tool(tool.into())
    }

    fn add_tool(mut self, tool: Arc<ToolEntry>) -> Result<Self, RegistryError> {
        let name = tool.spec().name.clone();
        check_scope("tool", &name, &tool.spec().access)?;
        if let Some(first) = self.registry.tools.get(&name) {
            return Err(duplicate("tool", name, &first.spec().access, &tool.spec().access));
        }
        self.registry.tools.insert(name, tool);
        Ok(self)
    }

    /// Adds a resource.
    pub fn resource(self, resource: ResourceEntry) -> Result<Self, RegistryError> {
        self.add_resource(resource.into())
    }

    fn add_resource(mut self, resource: Arc<ResourceEntry>) -> Result<Self, RegistryError> {
        let uri = resource.wire.uri.clone();
        check_scope("resource", &uri, &resource.access)?;
        if let Some(first) = self.registry.resources.get(&uri) {
            return Err(duplicate("resource", uri, &first.access, &resource.access));
        }
        self.registry.resources.insert(uri, resource);
        Ok(self)
    }

    /// Adds a resource template.
    pub fn template(self, template: TemplateEntry) -> Result<Self, RegistryError> {
        self.add_template(template.into())
    }

    fn add_template(mut self, template: Arc<TemplateEntry>) -> Result<Self, RegistryError> {
        let uri = template.wire.uri_template.clone();
        check_scope("resource template", &uri, &template.access)?;
        if let Some(first) = self.registry.templates.get(&uri) {
            return Err(duplicate("resource template", uri, &first.access, &template.access));
        }
        self.registry.templates.insert(uri, template);
        Ok(self)
    }

    /// Adds a prompt.
    pub fn prompt(self, prompt: PromptEntry) -> Result<Self, RegistryError> {
        let prompt = prompt.prefixed(&self.prefix);
        self.add_prompt(prompt.into())
    }

    fn add_prompt(mut self, prompt: Arc<PromptEntry>) -> Result<Self, RegistryError> {
        let name = prompt.wire.name.clone();
        check_scope("prompt", &name, &prompt.access)?;
        if let Some(first) = self.registry.prompts.get(&name) {
            return Err(duplicate("prompt", name, &first.access, &prompt.access));
        }
        self.registry.prompts.insert(name, prompt);
        Ok(self)
    }

    /// Adds an extension with its methods.
    pub fn extension(self, extension: ExtensionEntry) -> Result<Self, RegistryError> {
        extension.check()?;
        self.add_extension(extension.into())
    }

    fn add_extension(mut self, extension: Arc<ExtensionEntry>) -> Result<Self, RegistryError> {
        check_scope("extension", &extension.id, &extension.access)?;
        let same = self.registry.extensions.get(&extension.id).into_iter().flatten();
        if let Some(first) = same.clone().find(|first| !extension.is_same_as(first)) {
            return Err(duplicate("extension", extension.id.clone(), &first.access, &extension.access));
        }
        // Two services that offer the same extension have the same methods.
        let others = self.registry.extensions.iter().filter(|(id, _)| **id != extension.id);
        let others = others.flat_map(|(_, entries)| entries).flat_map(|entry| &entry.methods);
        let mut names: BTreeMap<&str, &Access> =
            others.map(|method| (method.name.as_str(), &method.access)).collect();
        for MethodEntry { name, access, .. } in &extension.methods {
            check_scope("method", name, access)?;
            if let Some(first) = names.insert(name, access) {
                return Err(duplicate("method", name.clone(), first, access));
            }
        }
        self.registry.extensions.entry(extension.id.clone()).or_default().push(extension);
        Ok(self)
    }

    /// Adds all entries of another registry under their names.
    fn join(self, part: &Registry) -> Result<Self, RegistryError> {
        let declared = part.services.iter().fold(self, Self::service);
        let builder = part.tools.values().cloned().try_fold(declared, Self::add_tool)?;
        let builder = part.resources.values().cloned().try_fold(builder, Self::add_resource)?;
        let builder = part.templates.values().cloned().try_fold(builder, Self::add_template)?;
        let builder = part.prompts.values().cloned().try_fold(builder, Self::add_prompt)?;
        part.extensions.values().flatten().cloned().try_fold(builder, Self::add_extension)
    }

    /// Finishes the registry.
    pub fn build(mut self) -> Registry {
        self.mention_prefixed_names();
        let services: Vec<Domain> = self.registry.accesses().map(|access| access.domain.clone()).collect();
        let is_public = self.registry.accesses().all(Access::is_public);
        let has_public_content = self.registry.content_accesses().all(Access::is_public);
        self.registry.services.extend(services);
        self.registry.is_public = is_public;
        self.registry.has_public_content = has_public_content;
        self.registry
    }
}

impl RegistryBuilder {
    /// Rewrites tool names in descriptions, prompts and errors to their prefixed names, so that a model can call them.
    fn mention_prefixed_names(&mut self) {
        let Self { registry, prefix } = self;
        if prefix.is_empty() {
            return;
        }
        let bare = |name: &String| name.strip_prefix(&prefix.of("")).map(str::to_owned);
        let mentions = Mentions::new(prefix, registry.tools.keys().filter_map(bare));
        for tool in registry.tools.values_mut().filter_map(Arc::get_mut) {
            tool.rewrite_mentions(&mentions);
        }
        for prompt in registry.prompts.values_mut().filter_map(Arc::get_mut) {
            prompt.rewrite_mentions(&mentions);
        }
    }
}

/// Whatever is above `public` needs a scope: the tier of a person alone permits nothing to a client.
fn check_scope(kind: &'static str, name: &str, access: &Access) -> Result<(), RegistryError> {
    if access.lacks_scope() {
        return Err(RegistryError::NoScope { kind, name: name.to_owned(), tier: access.tier });
    }
    Ok(())
}

fn duplicate(kind: &'static str, name: String, first: &Access, second: &Access) -> RegistryError {
    RegistryError::Duplicate { kind, name, first: first.domain.clone(), second: second.domain.clone() }
}
