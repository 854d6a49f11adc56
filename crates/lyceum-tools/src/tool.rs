//! A tool: its contract as constants and types, its work in `call`.
//!
//! A [`Tool`] is erased once, into a [`ToolEntry`]; the registry, the gate and the doors know only entries.

use std::{fmt, future::Future, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use lyceum_model::{Access, Domain, Scope, Tier};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    Call, Error, Outcome, Prefix, RegistryError,
    mcp::{CallToolResult, JsonObject, MirroredArgument, WireTool},
    schema::{ArgumentCheck, compiled, output_schema_of, schema_of},
};

/// A tool, whole. The schemas come from `Args` and `Output`; the gate has run before `call`.
pub trait Tool: 'static {
    /// The name that clients call.
    const NAME: &'static str;
    /// The name that people read.
    const TITLE: &'static str;
    /// What it does and when to use it, for a model to choose by.
    const DESCRIPTION: &'static str;
    /// The lowest tier that may use it.
    const TIER: Tier = Tier::Public;
    /// Every scope that is needed.
    const SCOPES: &'static [&'static str] = &[];
    /// What it does to the world.
    const EFFECT: Effect = Effect::Reads;
    /// How refusals and failures are told.
    const FAULTS: Faults = Faults::InResult;

    /// What it works on.
    type Service: Send + Sync + 'static;
    /// The arguments.
    type Args: DeserializeOwned + JsonSchema + Send;
    /// Its answer.
    type Output: Serialize + JsonSchema;

    /// Completes the contract with what only the service knows, such as whose knowledge it is.
    fn contract(_service: &Self::Service, spec: ToolSpec) -> ToolSpec {
        spec
    }

    /// How long a call may take at most, where that is for the tool to say: then `limits.call_seconds` does not cut it.
    fn deadline(_service: &Self::Service) -> Option<Duration> {
        None
    }

    /// Does the work.
    fn call(
        service: &Self::Service,
        call: &Call,
        args: Self::Args,
    ) -> impl Future<Output = Result<Self::Output, Error>> + Send;
}

/// What a tool does to the world; becomes the hints that clients show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Only reads.
    Reads,
    /// Adds or changes something that can be taken back.
    Writes,
    /// May take something away.
    Destroys,
}

/// How refusals and failures of a tool are told, as its document says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Faults {
    /// In a result with `isError`, which the model reads and can act on.
    InResult,
    /// Refusals of the gate as a JSON-RPC error, the gateway's contract; failures of the tool in a result.
    InResultUnlessDenied,
    /// As a JSON-RPC error with `error.data.error_code`, the gateway's contract.
    AsProtocolError,
}

/// What a tool is, without its work.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// The name that clients call.
    pub name: String,
    /// The name that people read.
    pub title: String,
    /// What it does and when to use it.
    pub description: String,
    /// The terms on which it is seen and used.
    pub access: Access,
    /// JSON Schema 2020-12 of the arguments.
    pub input_schema: JsonObject,
    /// JSON Schema 2020-12 of the structured answer, where there is one.
    pub output_schema: Option<JsonObject>,
    /// What it does to the world.
    pub effect: Effect,
    /// How refusals and failures are told.
    pub faults: Faults,
}

type Work =
    Box<dyn Fn(Call, JsonObject) -> BoxFuture<'static, Result<Outcome<CallToolResult>, Error>> + Send + Sync>;

/// A registered tool: what it is, the check of its arguments, and its work.
pub struct ToolEntry {
    spec: ToolSpec,
    wire: WireTool,
    check: ArgumentCheck,
    mirrored: Vec<MirroredArgument>,
    work: Work,
    deadline: Box<dyn Fn() -> Option<Duration> + Send + Sync>,
}

impl ToolEntry {
    /// Erases a [`Tool`] that belongs to `domain` and works on `service`.
    pub fn of<T: Tool>(domain: &Domain, service: Arc<T::Service>) -> Result<Self, RegistryError> {
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
                let output = T::call(&service, &call, args).await?;
                let output = serde_json::to_value(output).map_err(Error::internal)?;
                Ok(Outcome::Done(CallToolResult::structured(output)))
            }
        })?;
        Ok(Self { deadline: Box::new(move || T::deadline(&timed)), ..entry })
    }

    /// A tool whose contract is only known at run time, or whose answer is more than one structure.
    pub fn new<F, W>(spec: ToolSpec, work: F) -> Result<Self, RegistryError>
    where
        F: Fn(Call, JsonObject) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Outcome<CallToolResult>, Error>> + Send + 'static,
    {
        if !is_tool_name(&spec.name) {
            return Err(RegistryError::ToolName { name: spec.name });
        }
        let refused = |source| RegistryError::Schema { name: spec.name.clone(), source };
        let check = ArgumentCheck::new(&spec.input_schema).map_err(refused)?;
        let mirrored = MirroredArgument::all(&spec.input_schema).map_err(refused)?;
        spec.output_schema.as_ref().map(compiled).transpose().map_err(refused)?;
        let wire = crate::mcp::wire_tool(&spec);
        Ok(Self {
            spec,
            wire,
            check,
            mirrored,
            work: Box::new(move |call, arguments| Box::pin(work(call, arguments))),
            deadline: Box::new(|| None),
        })
    }

    /// The same under a name with that before it.
    pub(crate) fn prefixed(mut self, prefix: &Prefix) -> Result<Self, RegistryError> {
        let name = prefix.of(&self.spec.name);
        if !is_tool_name(&name) {
            return Err(RegistryError::ToolName { name });
        }
        self.wire.name = name.clone().into();
        self.spec.name = name;
        Ok(self)
    }

    /// Describes it otherwise.
    pub(crate) fn describe(&mut self, description: String) {
        self.wire.description = Some(description.clone().into());
        self.spec.description = description;
    }

    /// What the tool is.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// How long a call may take, if the tool itself says so.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        (self.deadline)()
    }

    pub(crate) fn wire(&self) -> &WireTool {
        &self.wire
    }

    /// The arguments that HTTP requests repeat in headers.
    pub(crate) fn mirrored(&self) -> &[MirroredArgument] {
        &self.mirrored
    }

    /// Checks the arguments, then does the work.
    pub(crate) async fn run(
        &self,
        call: Call,
        arguments: JsonObject,
    ) -> Result<Outcome<CallToolResult>, Error> {
        let arguments = Value::Object(arguments);
        self.check.check(&arguments)?;
        match arguments {
            Value::Object(arguments) => (self.work)(call, arguments).await,
            _ => Err(Error::invalid("arguments", "arguments: must be an object")),
        }
    }
}

impl fmt::Debug for ToolEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolEntry").field("spec", &self.spec).finish_non_exhaustive()
    }
}

fn scopes(names: &[&str]) -> Result<Vec<Scope>, RegistryError> {
    names
        .iter()
        .map(|name| Scope::parse(name).map_err(|_| RegistryError::Scope { scope: (*name).to_owned() }))
        .collect()
}

/// The characters that every client can send; see the specification's page on tools.
fn is_tool_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    (1..=128).contains(&name.len()) && name.bytes().all(allowed)
}
