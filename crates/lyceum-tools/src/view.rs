//! The view: what one caller sees of one registry. Every door works through it.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt;
use lyceum_model::{Access, Caller, Domain};

use crate::{
    AuditEvent, Call, CallContext, Denied, Effect, Error, ExtensionEntry, Faults, MethodEntry, Outcome, Page,
    PageFault, PromptEntry, Registry, ResourceEntry, TemplateEntry, ToolEntry, WriteOutcome,
    audit::PendingWrite,
    gate,
    mcp::{CallToolResult, GetPromptResult, JsonObject, ReadResourceResult, printable},
    prompt::PromptArguments,
    resource::Address,
};

/// The longest address that is looked up: matching one against templates takes more than its length in time.
const MAX_URI_BYTES: usize = 8 * 1024;

/// What one caller sees of one registry: of all services, or of one alone.
#[derive(Debug, Clone)]
pub struct View {
    registry: Arc<Registry>,
    caller: Arc<Caller>,
    service: Option<Domain>,
}

impl View {
    /// All services together.
    pub fn of_all(registry: Arc<Registry>, caller: Arc<Caller>) -> Self {
        Self { registry, caller, service: None }
    }

    /// One service alone; nothing when no service has that name.
    pub fn of_service(registry: Arc<Registry>, caller: Arc<Caller>, service: &str) -> Option<Self> {
        let service = registry.service(service)?.clone();
        Some(Self { registry, caller, service: Some(service) })
    }

    /// Who looks.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Whether every caller would see the same.
    pub fn is_public(&self) -> bool {
        self.registry.is_public()
    }

    /// The same but for tools and prompts.
    pub(crate) fn has_public_content(&self) -> bool {
        self.registry.has_public_content()
    }

    /// Every tool this caller may use.
    pub fn tools(&self) -> impl Iterator<Item = &ToolEntry> {
        self.registry.tools.values().map(Arc::as_ref).filter(|tool| self.shows(&tool.spec().access))
    }

    /// A page of the tools.
    pub fn tool_page(&self, cursor: Option<&str>) -> Result<Page<&ToolEntry>, PageFault> {
        Page::take("tools", self.tools().map(|tool| (tool.spec().name.as_str(), tool)), cursor)
    }

    /// A page of the resources.
    pub fn resource_page(&self, cursor: Option<&str>) -> Result<Page<&ResourceEntry>, PageFault> {
        let entries = self.registry.resources.iter().filter(|(_, entry)| self.shows(&entry.access));
        Page::take("resources", entries.map(|(uri, entry)| (uri.as_str(), entry.as_ref())), cursor)
    }

    /// A page of the resource templates.
    pub fn template_page(&self, cursor: Option<&str>) -> Result<Page<&TemplateEntry>, PageFault> {
        let entries = self.registry.templates.iter().filter(|(_, entry)| self.shows(&entry.access));
        Page::take("templates", entries.map(|(uri, entry)| (uri.as_str(), entry.as_ref())), cursor)
    }

    /// A page of the prompts.
    pub fn prompt_page(&self, cursor: Option<&str>) -> Result<Page<&PromptEntry>, PageFault> {
        let entries = self.registry.prompts.iter().filter(|(_, entry)| self.shows(&entry.access));
        Page::take("prompts", entries.map(|(name, entry)| (name.as_str(), entry.as_ref())), cursor)
    }

    /// How faults of that tool are told.
    pub fn faults_of(&self, name: &str) -> Faults {
        self.registry.tools.get(name).map_or(Faults::AsProtocolError, |tool| tool.spec().faults)
    }

    /// How long a call of that tool may take: what the tool itself says, or else the limit of every call.
    pub fn deadline_of(&self, name: &str, usual: Duration) -> Duration {
        self.tool(name).and_then(ToolEntry::deadline).map_or(usual, |own| own.max(usual))
    }

    /// Why this caller may not call the tool of that name, where there is one and they may not.
    pub fn denial(&self, name: &str) -> Option<Denied> {
        gate::permit(&self.caller, &self.tool(name)?.spec().access).err()
    }

    /// Whether there is a tool of that name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.tool(name).is_some()
    }

    /// The tool of that name in this view, whether or not the gate lets this caller use it.
    pub(crate) fn tool(&self, name: &str) -> Option<&ToolEntry> {
        self.registry.tools.get(name).map(Arc::as_ref).filter(|tool| self.holds(&tool.spec().access))
    }

    /// Calls a tool: finds it, asks the gate, checks the arguments, does the work.
    pub async fn call(
        &self,
        name: &str,
        arguments: JsonObject,
        context: CallContext,
    ) -> Result<Outcome<CallToolResult>, Error> {
        let tool = self.tool(name).ok_or_else(|| Error::ToolNotFound { name: printable(name) })?;
        let spec = tool.spec();
        if let Err(denied) = gate::permit(&self.caller, &spec.access) {
            if let Some(sink) = &self.registry.audit {
                let (caller, tool, denied) = (&*self.caller, spec.name.as_str(), &denied);
                sink.record(AuditEvent::Refused { caller, tool, denied }).await;
            }
            return Err(denied.into());
        }
        let work = tool.run(Call::new(self.caller.clone(), context), arguments);
        if spec.effect == Effect::Reads {
            return contain(work).await;
        }
        let under_way =
            PendingWrite { sink: self.registry.audit.as_ref(), caller: &self.caller, tool: &spec.name };
        let result = contain(work).await;
        under_way.finish(outcome_of(&result)).await;
        result
    }

    /// Reads a resource. What the caller may not read is not there.
    pub async fn read(&self, uri: &str, context: CallContext) -> Result<Outcome<ReadResourceResult>, Error> {
        if uri.len() > MAX_URI_BYTES {
            return Err(Error::ResourceNotFound { uri: printable(uri) });
        }
        let call = Call::new(self.caller.clone(), context);
        if let Some(entry) = self.registry.resources.get(uri).filter(|entry| self.shows(&entry.access)) {
            let address = Address { uri: uri.to_owned(), variables: Default::default() };
            return contain(entry.read(call, address)).await;
        }
        for entry in self.registry.templates.values().filter(|entry| self.shows(&entry.access)) {
            if let Some(variables) = entry.template.matches(uri) {
                return contain(entry.read(call, Address { uri: uri.to_owned(), variables })).await;
            }
        }
        Err(Error::ResourceNotFound { uri: printable(uri) })
    }

    /// Writes a prompt. What the caller may not use is not there.
    pub async fn prompt(
        &self,
        name: &str,
        arguments: PromptArguments,
        context: CallContext,
    ) -> Result<Outcome<GetPromptResult>, Error> {
        let entry = self.prompt_entry(name).ok_or_else(|| Error::PromptNotFound { name: printable(name) })?;
        contain(entry.write(Call::new(self.caller.clone(), context), arguments)).await
    }

    /// Every extension that this caller may use. Where several services offer the same, the first speaks for it.
    pub fn extensions(&self) -> impl Iterator<Item = &ExtensionEntry> {
        let shown = |entry: &&ExtensionEntry| self.shows(&entry.access);
        self.registry.extensions.values().filter_map(move |same| same.iter().map(Arc::as_ref).find(shown))
    }

    /// Whether an extension that this caller may use has that method.
    pub fn has_method(&self, name: &str) -> bool {
        self.method(name).is_some()
    }

    /// The method of that name in this view, whether or not the gate lets this caller use it.
    pub(crate) fn method(&self, name: &str) -> Option<&MethodEntry> {
        let mut methods = self.extensions().flat_map(|entry| &entry.methods);
        methods.find(|method| method.name == name && self.holds(&method.access))
    }

    /// Performs a method of an extension: finds it, asks the gate, does the work.
    pub async fn perform(
        &self,
        name: &str,
        params: JsonObject,
        context: CallContext,
    ) -> Result<JsonObject, Error> {
        let method = self.method(name).ok_or_else(|| Error::MethodNotFound { name: printable(name) })?;
        gate::permit(&self.caller, &method.access)?;
        contain(method.perform(Call::new(self.caller.clone(), context), params)).await
    }

    /// What a prompt's argument could be, given what is typed so far.
    pub fn complete_prompt(&self, name: &str, argument: &str, typed: &str) -> Result<Vec<String>, Error> {
        let entry = self.prompt_entry(name).ok_or_else(|| Error::PromptNotFound { name: printable(name) })?;
        contain_now(|| entry.complete(argument, typed).ok_or_else(|| unknown_argument(argument)))
    }

    /// What a template's variable could be, given what is typed so far.
    pub fn complete_template(
        &self,
        template: &str,
        variable: &str,
        typed: &str,
    ) -> Result<Vec<String>, Error> {
        let entry = self.registry.templates.get(template).filter(|entry| self.shows(&entry.access));
        let entry = entry.ok_or_else(|| Error::ResourceNotFound { uri: printable(template) })?;
        contain_now(|| entry.complete(variable, typed).ok_or_else(|| unknown_argument(variable)))
    }

    /// Whether there is a resource under that address for this caller.
    pub fn has_resource(&self, uri: &str) -> bool {
        if uri.len() > MAX_URI_BYTES {
            return false;
        }
        let fixed = self.registry.resources.get(uri).is_some_and(|entry| self.shows(&entry.access));
        let has = |entry: &TemplateEntry| self.shows(&entry.access) && entry.has(uri);
        fixed || self.registry.templates.values().any(|entry| has(entry))
    }

    fn prompt_entry(&self, name: &str) -> Option<&PromptEntry> {
        self.registry.prompts.get(name).map(Arc::as_ref).filter(|entry| self.shows(&entry.access))
    }

    fn holds(&self, access: &Access) -> bool {
        self.service.as_ref().is_none_or(|service| *service == access.domain)
    }

    fn shows(&self, access: &Access) -> bool {
        self.holds(access) && gate::permit(&self.caller, access).is_ok()
    }
}

fn outcome_of(result: &Result<Outcome<CallToolResult>, Error>) -> WriteOutcome {
    match result {
        Ok(Outcome::Done(answer)) if answer.is_error != Some(true) => WriteOutcome::Done,
        Ok(Outcome::NeedInput(_)) => WriteOutcome::InputRequired,
        Ok(Outcome::Done(_)) | Err(_) => WriteOutcome::Failed,
    }
}

fn unknown_argument(name: &str) -> Error {
    Error::invalid("argument.name", format!("argument.name: there is no argument {:?}", printable(name)))
}

/// Turns a panic of the work into a fault of ours, for none may reach a client or take others down, and logs
/// faults that are not the caller's.
async fn contain<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let result = AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(Error::internal(format!("panicked: {}", text.unwrap_or_default())))
    });
    if let Err(error @ (Error::Internal(cause) | Error::Upstream { source: cause, .. })) = &result {
        tracing::error!(error.code = %error.code(), error.cause = %cause, "a call failed");
    }
    result
}

/// The same for work that does not wait.
fn contain_now<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let waited = || Err(Error::internal("work that should not wait did"));
    contain(async { work() }).now_or_never().unwrap_or_else(waited)
}
