//! The view: the registry as one caller sees it. Every transport goes through it.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt;
use lyceum_model::{Access, Caller, Domain};

use crate::{
    AuditEvent, Call, CallContext, Denied, Effect, Error, ExtensionEntry, Faults, InvalidCursor, MethodEntry,
    Outcome, Page, PromptEntry, Registry, ResourceEntry, TemplateEntry, ToolEntry, ToolResult, WriteOutcome,
    audit::PendingWrite,
    extension::merge,
    gate,
    mcp::{GetPromptResult, JsonObject, ReadResourceResult, printable},
    prompt::PromptArguments,
    resource::Address,
};

/// Maximum length of a URI: matching it against templates takes more than linear time.
const MAX_URI_BYTES: usize = 8 * 1024;

/// The registry as one caller sees it: all services, or one.
#[derive(Debug, Clone)]
pub struct View {
    registry: Arc<Registry>,
    caller: Arc<Caller>,
    service: Option<Domain>,
}

impl View {
    /// A view of all services.
    pub fn of_all(registry: Arc<Registry>, caller: Arc<Caller>) -> Self {
        Self { registry, caller, service: None }
    }

    /// A view of one service; `None` if there is no service of that name.
    pub fn of_service(registry: Arc<Registry>, caller: Arc<Caller>, service: &str) -> Option<Self> {
        let service = registry.service(service)?.clone();
        Some(Self { registry, caller, service: Some(service) })
    }

    /// The caller.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The caller, to keep.
    pub fn shared_caller(&self) -> Arc<Caller> {
        self.caller.clone()
    }

    /// The service, if it is a view of one.
    pub fn service(&self) -> Option<&Domain> {
        self.service.as_ref()
    }

    /// Whether every caller sees the same entries.
    pub fn is_public(&self) -> bool {
        self.registry.is_public()
    }

    /// Whether every caller sees the same, apart from tools and prompts.
    pub(crate) fn has_public_content(&self) -> bool {
        self.registry.has_public_content()
    }

    /// All tools that this caller may use.
    pub fn tools(&self) -> impl Iterator<Item = &ToolEntry> {
        self.registry.listed_tools().filter(|tool| self.is_visible(&tool.spec().access))
    }

    /// A page of the tools.
    pub fn tool_page(&self, cursor: Option<&str>) -> Result<Page<&ToolEntry>, InvalidCursor> {
        Page::take("tools", self.tools().map(|tool| (tool.spec().name.as_str(), tool)), cursor)
    }

    /// A page of the resources.
    pub fn resource_page(&self, cursor: Option<&str>) -> Result<Page<&ResourceEntry>, InvalidCursor> {
        let entries = self.registry.resources.iter().filter(|(_, entry)| self.is_visible(&entry.access));
        Page::take("resources", entries.map(|(uri, entry)| (uri.as_str(), entry.as_ref())), cursor)
    }

    /// A page of the resource templates.
    pub fn template_page(&self, cursor: Option<&str>) -> Result<Page<&TemplateEntry>, InvalidCursor> {
        let entries = self.registry.templates.iter().filter(|(_, entry)| self.is_visible(&entry.access));
        Page::take("templates", entries.map(|(uri, entry)| (uri.as_str(), entry.as_ref())), cursor)
    }

    /// A page of the prompts.
    pub fn prompt_page(&self, cursor: Option<&str>) -> Result<Page<&PromptEntry>, InvalidCursor> {
        let entries = self.registry.prompts.iter().filter(|(_, entry)| self.is_visible(&entry.access));
        Page::take("prompts", entries.map(|(name, entry)| (name.as_str(), entry.as_ref())), cursor)
    }

    /// How errors of that tool are reported.
    pub fn faults_of(&self, name: &str) -> Faults {
        self.registry.tools.get(name).map_or(Faults::AsProtocolError, |tool| tool.spec().faults)
    }

    /// The timeout of a call: that of the tool if it is longer, else the limit of every call.
    pub fn deadline_of(&self, name: &str, limit: Duration) -> Duration {
        self.tool(name).and_then(ToolEntry::deadline).map_or(limit, |own| own.max(limit))
    }

    /// Why this caller may not call the tool; `None` if they may, or if there is no such tool.
    pub fn denial(&self, name: &str) -> Option<Denied> {
        gate::permit(&self.caller, &self.tool(name)?.spec().access).err()
    }

    /// Whether this view has a tool of that name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.tool(name).is_some()
    }

    /// Finds a tool in this view, whether or not this caller may use it.
    pub(crate) fn tool(&self, name: &str) -> Option<&ToolEntry> {
        self.registry.tools.get(name).map(Arc::as_ref).filter(|tool| self.contains(&tool.spec().access))
    }

    /// Calls a tool: finds it, checks permissions, validates the arguments, runs it.
    pub async fn call(
        &self,
        name: &str,
        arguments: JsonObject,
        context: CallContext,
    ) -> Result<Outcome<ToolResult>, Error> {
        let tool = self.tool(name).ok_or_else(|| Error::ToolNotFound { name: printable(name) })?;
        let spec = tool.spec();
        if let Err(denied) = gate::permit(&self.caller, &spec.access) {
            if let Some(sink) = &self.registry.audit {
                let (caller, tool, denied) = (&*self.caller, spec.name.as_str(), &denied);
                let _logged = sink.record(AuditEvent::Refused { caller, tool, denied }).await;
            }
            return Err(denied.into());
        }
        let call =
            Call::new(self.caller.clone(), context).audited_by(self.registry.audit.clone(), &spec.name);
        let work = tool.run(call, arguments);
        if spec.effect == Effect::Reads {
            return catch_panic(work).await;
        }
        let pending =
            PendingWrite { sink: self.registry.audit.as_ref(), caller: &self.caller, tool: &spec.name };
        let result = catch_panic(work).await;
        pending.finish(outcome_of(&result)).await;
        result
    }

    /// Reads a resource. One that the caller may not read is reported as unknown.
    pub async fn read(&self, uri: &str, context: CallContext) -> Result<Outcome<ReadResourceResult>, Error> {
        if uri.len() > MAX_URI_BYTES {
            return Err(Error::ResourceNotFound { uri: printable(uri) });
        }
        let call = Call::new(self.caller.clone(), context);
        if let Some(entry) = self.registry.resources.get(uri).filter(|entry| self.is_visible(&entry.access)) {
            let address = Address { uri: uri.to_owned(), variables: Default::default() };
            return catch_panic(entry.read(call, address)).await;
        }
        for entry in self.registry.templates.values().filter(|entry| self.is_visible(&entry.access)) {
            if let Some(variables) = entry.template.matches(uri) {
                return catch_panic(entry.read(call, Address { uri: uri.to_owned(), variables })).await;
            }
        }
        Err(Error::ResourceNotFound { uri: printable(uri) })
    }

    /// Renders a prompt. One that the caller may not use is reported as unknown.
    pub async fn prompt(
        &self,
        name: &str,
        arguments: PromptArguments,
        context: CallContext,
    ) -> Result<Outcome<GetPromptResult>, Error> {
        let entry = self.prompt_entry(name).ok_or_else(|| Error::PromptNotFound { name: printable(name) })?;
        catch_panic(entry.render(Call::new(self.caller.clone(), context), arguments)).await
    }

    /// All extensions that this caller may use. If several services offer the same one, it is listed once.
    pub fn extensions(&self) -> impl Iterator<Item = &ExtensionEntry> {
        let visible = |entry: &&ExtensionEntry| self.is_visible(&entry.access);
        self.registry.extensions.values().filter_map(move |same| same.iter().map(Arc::as_ref).find(visible))
    }

    /// Whether an extension that this caller may use has that method.
    pub fn has_method(&self, name: &str) -> bool {
        self.method(name).is_some()
    }

    /// Finds an extension method in this view, whether or not this caller may use it.
    pub(crate) fn method(&self, name: &str) -> Option<&MethodEntry> {
        let mut methods = self.extensions().flat_map(|entry| &entry.methods);
        methods.find(|method| method.name == name && self.contains(&method.access))
    }

    /// Calls an extension method: finds it, checks permissions, runs it.
    pub async fn call_method(
        &self,
        name: &str,
        params: JsonObject,
        context: CallContext,
    ) -> Result<JsonObject, Error> {
        let method = self.method(name).ok_or_else(|| Error::MethodNotFound { name: printable(name) })?;
        gate::permit(&self.caller, &method.access)?;
        let methods = self.registry.extensions.values().flatten().flat_map(|entry| &entry.methods);
        let permitted = methods.filter(|method| method.name == name && self.is_visible(&method.access));
        merge::run(&permitted.collect::<Vec<_>>(), params, |method, params| {
            catch_panic(method.run(Call::new(self.caller.clone(), context.clone()), params))
        })
        .await
    }

    /// Suggests values for an argument of a prompt.
    pub fn complete_prompt(&self, name: &str, argument: &str, typed: &str) -> Result<Vec<String>, Error> {
        let entry = self.prompt_entry(name).ok_or_else(|| Error::PromptNotFound { name: printable(name) })?;
        catch_panic_sync(|| entry.complete(argument, typed).ok_or_else(|| unknown_argument(argument)))
    }

    /// Suggests values for a variable of a resource template.
    pub fn complete_template(
        &self,
        template: &str,
        variable: &str,
        typed: &str,
    ) -> Result<Vec<String>, Error> {
        let entry = self.registry.templates.get(template).filter(|entry| self.is_visible(&entry.access));
        let entry = entry.ok_or_else(|| Error::ResourceNotFound { uri: printable(template) })?;
        catch_panic_sync(|| entry.complete(variable, typed).ok_or_else(|| unknown_argument(variable)))
    }

    /// Whether a resource with that URI exists for this caller.
    pub fn has_resource(&self, uri: &str) -> bool {
        if uri.len() > MAX_URI_BYTES {
            return false;
        }
        let fixed = self.registry.resources.get(uri).is_some_and(|entry| self.is_visible(&entry.access));
        let has = |entry: &TemplateEntry| self.is_visible(&entry.access) && entry.has(uri);
        fixed || self.registry.templates.values().any(|entry| has(entry))
    }

    fn prompt_entry(&self, name: &str) -> Option<&PromptEntry> {
        self.registry.prompts.get(name).map(Arc::as_ref).filter(|entry| self.is_visible(&entry.access))
    }

    fn contains(&self, access: &Access) -> bool {
        self.service.as_ref().is_none_or(|service| *service == access.domain)
    }

    fn is_visible(&self, access: &Access) -> bool {
        self.contains(access) && gate::permit(&self.caller, access).is_ok()
    }
}

fn outcome_of(result: &Result<Outcome<ToolResult>, Error>) -> WriteOutcome {
    match result {
        Ok(Outcome::Done(result)) if !result.is_error() => WriteOutcome::Done,
        Ok(Outcome::NeedInput(_)) => WriteOutcome::InputRequired,
        Ok(Outcome::Done(_)) | Err(_) => WriteOutcome::Failed,
    }
}

fn unknown_argument(name: &str) -> Error {
    Error::invalid("argument.name", format!("argument.name: unknown argument {:?}", printable(name)))
}

/// Turns a panic into an internal error, so that it affects neither the client nor other calls. Logs errors that are
/// not the caller's fault.
async fn catch_panic<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let result = AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(Error::internal(format!("panicked: {}", text.unwrap_or_default())))
    });
    if let Err(error @ (Error::Internal(cause) | Error::Upstream { source: cause, .. })) = &result {
        tracing::error!(error.code = %error.code(), error.cause = %cause, "call failed");
    }
    result
}

/// The same for a function that does not wait.
fn catch_panic_sync<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let waited = || Err(Error::internal("a function that must not wait did"));
    catch_panic(async { work() }).now_or_never().unwrap_or_else(waited)
}
