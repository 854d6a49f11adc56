//! The registry: everything that is offered, named one by one. Nothing is registered by magic.
//!
//! A registry is an immutable snapshot in the order of names, so that lists are the same on every call. Each service builds its
//! own, and they are joined: joining compiles nothing, so that a change of one service costs the others nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use lyceum_model::{Access, Domain};

use crate::{
    AuditSink, Change, ExtensionEntry, MethodEntry, Prefix, PromptEntry, RegistryError, ResourceEntry,
    TemplateEntry, Tool, ToolEntry,
};

/// Everything that is offered, at one moment.
#[derive(Debug, Default)]
pub struct Registry {
    pub(crate) tools: BTreeMap<String, Arc<ToolEntry>>,
    pub(crate) resources: BTreeMap<String, Arc<ResourceEntry>>,
    pub(crate) templates: BTreeMap<String, Arc<TemplateEntry>>,
    pub(crate) prompts: BTreeMap<String, Arc<PromptEntry>>,
    /// By their ids; several services may offer one and the same, each at its own endpoint.
    pub(crate) extensions: BTreeMap<String, Vec<Arc<ExtensionEntry>>>,
    services: BTreeSet<Domain>,
    is_public: bool,
    has_public_content: bool,
    pub(crate) audit: Option<AuditSink>,
}

impl Registry {
    /// Begins an empty one.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder::default()
    }

    /// All of them as one. Two things of one name are refused.
    pub fn join<'a>(parts: impl IntoIterator<Item = &'a Arc<Self>>) -> Result<Self, RegistryError> {
        let builder = parts.into_iter().try_fold(Self::builder(), |builder, part| builder.join(part))?;
        Ok(builder.build())
    }

    /// Has refusals and calls that write recorded there.
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

    /// Whether every caller sees the same.
    pub(crate) fn is_public(&self) -> bool {
        self.is_public
    }

    /// Whether every caller sees the same of all but tools and prompts: what methods of extensions answer from.
    pub(crate) fn has_public_content(&self) -> bool {
        self.has_public_content
    }

    /// Which lists differ from those of another registry. No notification tells of extensions: clients see a change
    /// when they next ask what the server can do.
    pub(crate) fn changes_from(&self, before: &Self) -> Vec<Change> {
        // The terms count too: a tool that is now for members only is gone for everyone else.
        let same_tools = (self.tools.values().map(|tool| (tool.wire(), &tool.spec().access)))
            .eq(before.tools.values().map(|tool| (tool.wire(), &tool.spec().access)));
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

/// A registry in the making. The first fault stops it, and says how to mend it.
#[derive(Debug, Default)]
pub struct RegistryBuilder {
    registry: Registry,
    prefix: Prefix,
}

impl RegistryBuilder {
    /// Puts that before the name of each tool and prompt that is added from now on.
    pub fn prefixed(mut self, prefix: &Prefix) -> Self {
        self.prefix = prefix.clone();
        self
    }

    /// Adds a tool that belongs to `domain` and works on `service`.
    pub fn tool<T: Tool>(self, domain: &Domain, service: &Arc<T::Service>) -> Result<Self, RegistryError> {
        self.tool_entry(ToolEntry::of::<T>(domain, service.clone())?)
    }

    /// Adds a tool that was made at run time.
    pub fn tool_entry(self, tool: ToolEntry) -> Result<Self, RegistryError> {
        let tool = tool.prefixed(&self.prefix)?;
        self.add_tool(tool.into())
    }

    fn add_tool(mut self, tool: Arc<ToolEntry>) -> Result<Self, RegistryError> {
        let name = tool.spec().name.clone();
        named_scope("tool", &name, &tool.spec().access)?;
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
        named_scope("resource", &uri, &resource.access)?;
        if let Some(first) = self.registry.resources.get(&uri) {
            return Err(duplicate("resource", uri, &first.access, &resource.access));
        }
        self.registry.resources.insert(uri, resource);
        Ok(self)
    }

    /// Adds a family of resources.
    pub fn template(self, template: TemplateEntry) -> Result<Self, RegistryError> {
        self.add_template(template.into())
    }

    fn add_template(mut self, template: Arc<TemplateEntry>) -> Result<Self, RegistryError> {
        let uri = template.wire.uri_template.clone();
        named_scope("resource template", &uri, &template.access)?;
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
        named_scope("prompt", &name, &prompt.access)?;
        if let Some(first) = self.registry.prompts.get(&name) {
            return Err(duplicate("prompt", name, &first.access, &prompt.access));
        }
        self.registry.prompts.insert(name, prompt);
        Ok(self)
    }

    /// Adds an extension of the protocol with its methods.
    pub fn extension(self, extension: ExtensionEntry) -> Result<Self, RegistryError> {
        extension.check()?;
        self.add_extension(extension.into())
    }

    fn add_extension(mut self, extension: Arc<ExtensionEntry>) -> Result<Self, RegistryError> {
        named_scope("extension", &extension.id, &extension.access)?;
        let same = self.registry.extensions.get(&extension.id).into_iter().flatten();
        if let Some(first) = same.clone().find(|first| !extension.may_stand_beside(first)) {
            return Err(duplicate("extension", extension.id.clone(), &first.access, &extension.access));
        }
        // Of one and the same extension two services have the same methods.
        let others = self.registry.extensions.iter().filter(|(id, _)| **id != extension.id);
        let others = others.flat_map(|(_, entries)| entries).flat_map(|entry| &entry.methods);
        let mut names: BTreeMap<&str, &Access> =
            others.map(|method| (method.name.as_str(), &method.access)).collect();
        for MethodEntry { name, access, .. } in &extension.methods {
            named_scope("method", name, access)?;
            if let Some(first) = names.insert(name, access) {
                return Err(duplicate("method", name.clone(), first, access));
            }
        }
        self.registry.extensions.entry(extension.id.clone()).or_default().push(extension);
        Ok(self)
    }

    /// Adds all that another registry holds, under the names it has there.
    fn join(self, part: &Registry) -> Result<Self, RegistryError> {
        let builder = part.tools.values().cloned().try_fold(self, Self::add_tool)?;
        let builder = part.resources.values().cloned().try_fold(builder, Self::add_resource)?;
        let builder = part.templates.values().cloned().try_fold(builder, Self::add_template)?;
        let builder = part.prompts.values().cloned().try_fold(builder, Self::add_prompt)?;
        part.extensions.values().flatten().cloned().try_fold(builder, Self::add_extension)
    }

    /// The finished registry.
    pub fn build(mut self) -> Registry {
        self.mention_prefixed_names();
        let services = self.registry.accesses().map(|access| access.domain.clone()).collect();
        let is_public = self.registry.accesses().all(Access::is_public);
        let has_public_content = self.registry.content_accesses().all(Access::is_public);
        self.registry.services = services;
        self.registry.is_public = is_public;
        self.registry.has_public_content = has_public_content;
        self.registry
    }
}

impl RegistryBuilder {
    /// Where the description of a tool speaks of another one, it says the name that a client can call.
    fn mention_prefixed_names(&mut self) {
        let Self { registry, prefix } = self;
        if prefix.is_empty() {
            return;
        }
        let bare = |name: &String| name.strip_prefix(&prefix.of("")).map(str::to_owned);
        let names: Vec<String> = registry.tools.keys().filter_map(bare).collect();
        for tool in registry.tools.values_mut().filter_map(Arc::get_mut) {
            let names = names.iter().map(String::as_str);
            tool.describe(prefix.in_text(&tool.spec().description, names));
        }
    }
}

/// Whatever is above `public` names a scope, for a person's tier alone opens nothing to a program.
fn named_scope(kind: &'static str, name: &str, access: &Access) -> Result<(), RegistryError> {
    if access.lacks_scope() {
        return Err(RegistryError::NoScope { kind, name: name.to_owned(), tier: access.tier });
    }
    Ok(())
}

fn duplicate(kind: &'static str, name: String, first: &Access, second: &Access) -> RegistryError {
    RegistryError::Duplicate { kind, name, first: first.domain.clone(), second: second.domain.clone() }
}
