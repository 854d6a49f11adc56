//! A tool: its contract as constants and types, its implementation in `call`.
//!
//! A [`Tool`] is type-erased once, into a [`ToolEntry`]; the registry, the gate and the transports know only entries.

use std::{fmt, future::Future, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use lyceum_model::{Access, Domain, Scope, Tier};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    Call, Error, Outcome, Prefix, RegistryError, ToolResult,
    mcp::{CallToolResult, JsonObject, MirroredArgument, WireTool},
    prefix::Mentions,
    schema::{ArgumentValidator, compile, output_schema_of, schema_of},
};

/// A tool. The schemas are generated from `Args` and `Output`; permissions are checked before `call`.
pub trait Tool: 'static {
    /// The name that clients call.
    const NAME: &'static str;
    /// The display name.
    const TITLE: &'static str;
    /// What it does and when to use it, for the model.
    const DESCRIPTION: &'static str;
    /// The minimum tier.
    const TIER: Tier = Tier::Public;
    /// All required scopes.
    const SCOPES: &'static [&'static str] = &[];
    /// Whether it reads, writes or deletes.
    const EFFECT: Effect = Effect::Reads;
    /// How refusals and failures are reported.
    const FAULTS: Faults = Faults::InResult;

    /// The service that it is called with.
    type Service: Send + Sync + 'static;
    /// The arguments.
    type Args: DeserializeOwned + JsonSchema + Send;
    /// The structured result.
    type Output: Serialize + JsonSchema;

    /// Completes the contract with what only the service knows, such as the name of the knowledge base.
    fn contract(_service: &Self::Service, spec: ToolSpec) -> ToolSpec {
        spec
    }

    /// Maximum duration of a call, if the tool sets its own. It replaces `limits.call_seconds` if it is longer.
    fn deadline(_service: &Self::Service) -> Option<Duration> {
        None
    }

    /// Runs the tool.
    fn call(
        service: &Self::Service,
        call: &Call,
        args: Self::Args,
    ) -> impl Future<Output = Result<Self::Output, Error>> + Send;
}

/// Side effects of a tool; clients see them as annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Only reads.
    Reads,
    /// Adds or changes something, reversibly.
    Writes,
    /// May delete something.
    Destroys,
}

/// How refusals and failures of a tool are reported, as its specification says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Faults {
    /// In a result with `isError`, which the model reads and can act on.
    InResult,
    /// The same as JSON, `{ error: { code, message, details } }`: the library's contract.
    InResultAsJson,
    /// Refusals of the gate as a JSON-RPC error, the gateway's contract; failures of the tool in a result.
    InResultUnlessDenied,
    /// As a JSON-RPC error with `error.data.error_code`, the gateway's contract.
    AsProtocolError,
}

/// The contract of a tool.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// The name that clients call.
    pub name: String,
    /// The display name.
    pub title: String,
    /// What it does and when to use it.
    pub description: String,
    /// Who may see and call it.
    pub access: Access,
    /// JSON Schema 2020-12 of the arguments.
    pub input_schema: JsonObject,
    /// JSON Schema 2020-12 of the structured result, if there is one.
    pub output_schema: Option<JsonObject>,
    /// Whether it reads, writes or deletes.
    pub effect: Effect,
    /// How refusals and failures are reported.
    pub faults: Faults,
}

type Work =
    Box<dyn Fn(Call, JsonObject) -> BoxFuture<'static, Result<Outcome<ToolResult>, Error>> + Send + Sync>;

/// A registered tool: contract, argument validator and implementation.
pub struct ToolEntry {
    spec: ToolSpec,
    wire: WireTool,
    validator: ArgumentValidator,
    mirrored: Vec<MirroredArgument>,
    mentions: Option<Mentions>,
    is_listed: bool,
    work: Work,
    deadline: Box<dyn Fn() -> Option<Duration> + Send + Sync>,
}

impl ToolEntry {
    /// Type-erases a [`Tool`] of the service `domain`, which is called with `service`.
    pub fn of<T: Tool>(domain: &Domain, service: Arc<T::Service>) -> Result<Self, RegistryError> {
        Self::converting::<T>(domain, service, |output| Ok(Outcome::Done(structured(&output)?)))
    }

    /// The same for a tool that may ask the user for input: its output is an [`Outcome`].
    pub fn asking<T, O>(domain: &Domain, service: Arc<T::Service>) -> Result<Self, RegistryError>
    where
        T: Tool<Output = Outcome<O>>,
        O: Serialize + JsonSchema,
    {
        Self::converting::<T>(domain, service, |outcome| match outcome {
            Outcome::Done(output) => Ok(Outcome::Done(structured(&output)?)),
            Outcome::NeedInput(need) => Ok(Outcome::NeedInput(need)),
        })
    }

    fn converting<T: Tool>(
        domain: &Domain,
        service: Arc<T::Service>,
        convert: fn(T::Output) -> Result<Outcome<CallToolResult>, Error>,
    ) -> Result<Self, RegistryError> {
        let spec = ToolSpec {
            name: T::NAME.to_owned(),
            title: T::TITLE.to_owned(),
            description: T::DESCRIPTION.to_owned(),
            access: Access { domain: domain.clone(), tier: T::TIER, scopes: scopes(T::SCOPES)? },
            input_schema: schema_of::<T::Args>(),
            output_schema: Some(output_schema_of::<T::Output>()),
            effect: T::EFFECT,
            faults: T::FAULTS,
        };
        let timed = service.clone();
        let entry = Self::new(T::contract(&service, spec), move |call, arguments| {
            let service = service.clone();
            async move {
                let args = serde_json::from_value(Value::Object(arguments))
                    .map_err(|error| Error::invalid("arguments", format!("arguments: {error}")))?;
                convert(T::call(&service, &call, args).await?)
            }
        })?;
        Ok(Self { deadline: Box::new(move || T::deadline(&timed)), ..entry })
    }

    /// Creates a tool whose contract is only known at run time, or whose result is more than one structure.
    pub fn new<F, W>(spec: ToolSpec, work: F) -> Result<Self, RegistryError>
    where
        F: Fn(Call, JsonObject) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Outcome<CallToolResult>, Error>> + Send + 'static,
    {
        Self::relayed(spec, move |call, arguments| {
            let work = work(call, arguments);
            async move { Ok(work.await?.map(ToolResult::Own)) }
        })
    }

    /// Creates a tool of an upstream server, whose result is relayed as raw JSON.
    pub fn relayed<F, W>(spec: ToolSpec, work: F) -> Result<Self, RegistryError>
    where
        F: Fn(Call, JsonObject) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Outcome<ToolResult>, Error>> + Send + 'static,
    {
        if !is_tool_name(&spec.name) {
            return Err(RegistryError::ToolName { name: spec.name });
        }
        let invalid = |source| RegistryError::Schema { name: spec.name.clone(), source };
        let validator = ArgumentValidator::new(&spec.input_schema).map_err(invalid)?;
        let mirrored = MirroredArgument::all(&spec.input_schema).map_err(invalid)?;
        spec.output_schema.as_ref().map(compile).transpose().map_err(invalid)?;
        let wire = crate::mcp::wire_tool(&spec);
        Ok(Self {
            spec,
            wire,
            validator,
            mirrored,
            mentions: None,
            is_listed: true,
            work: Box::new(move |call, arguments| Box::pin(work(call, arguments))),
            deadline: Box::new(|| None),
        })
    }

    /// Lists the definition of an upstream instead of the one made from the contract. The name is that of the contract.
    pub fn defined_by(mut self, wire: WireTool) -> Self {
        self.wire = wire;
        self.wire.name = self.spec.name.clone().into();
        self
    }

    /// Sets the maximum duration of a call.
    pub fn within(self, deadline: Duration) -> Self {
        Self { deadline: Box::new(move || Some(deadline)), ..self }
    }

    /// Leaves the tool out of lists. It can still be called, by clients that know it from an earlier list.
    pub fn unlisted(self) -> Self {
        Self { is_listed: false, ..self }
    }

    /// Adds a prefix to the name.
    pub(crate) fn prefixed(mut self, prefix: &Prefix) -> Result<Self, RegistryError> {
        let name = prefix.of(&self.spec.name);
        if !is_tool_name(&name) {
            return Err(RegistryError::ToolName { name });
        }
        self.wire.name = name.clone().into();
        self.spec.name = name;
        Ok(self)
    }

    /// Uses prefixed names wherever the contract or an error mentions a tool of the same service.
    pub(crate) fn rewrite_mentions(&mut self, mentions: &Mentions) {
        self.spec.description = mentions.in_text(&self.spec.description);
        mentions.in_schema(&mut self.spec.input_schema);
        self.spec.output_schema.iter_mut().for_each(|schema| mentions.in_schema(schema));
        self.wire = crate::mcp::wire_tool(&self.spec);
        self.mentions = Some(mentions.clone());
    }

    /// The contract.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Whether it is in lists.
    pub(crate) fn is_listed(&self) -> bool {
        self.is_listed
    }

    /// Maximum duration of a call, if the tool sets its own.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        (self.deadline)()
    }

    pub(crate) fn wire(&self) -> &WireTool {
        &self.wire
    }

    /// The arguments that HTTP requests mirror in headers.
    pub(crate) fn mirrored(&self) -> &[MirroredArgument] {
        &self.mirrored
    }

    /// Validates the arguments, then runs the tool.
    pub(crate) async fn run(&self, call: Call, arguments: JsonObject) -> Result<Outcome<ToolResult>, Error> {
        let arguments = Value::Object(arguments);
        self.validator.validate(&arguments)?;
        let result = match arguments {
            Value::Object(arguments) => (self.work)(call, arguments).await,
            _ => Err(Error::invalid("arguments", "arguments: must be an object")),
        };
        result.map_err(|error| match &self.mentions {
            Some(mentions) => mentions.in_error(error),
            None => error,
        })
    }
}

impl fmt::Debug for ToolEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolEntry").field("spec", &self.spec).finish_non_exhaustive()
    }
}

fn structured(output: &impl Serialize) -> Result<CallToolResult, Error> {
    Ok(CallToolResult::structured(serde_json::to_value(output).map_err(Error::internal)?))
}

fn scopes(names: &[&str]) -> Result<Vec<Scope>, RegistryError> {
    names
        .iter()
        .map(|name| Scope::parse(name).map_err(|_| RegistryError::Scope { scope: (*name).to_owned() }))
        .collect()
}

/// Whether every client can send the name; see the specification's page on tools.
fn is_tool_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    (1..=128).contains(&name.len()) && name.bytes().all(allowed)
}
