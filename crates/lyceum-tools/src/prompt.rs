//! Prompts: messages that a person picks from a menu, with arguments filled in.

use std::{collections::BTreeMap, fmt, future::Future};

use futures::future::BoxFuture;
use lyceum_model::Access;

use crate::{
    Call, Error, Outcome, Prefix,
    mcp::{GetPromptResult, WirePrompt},
};

/// The arguments of a prompt are text.
pub(crate) type PromptArguments = BTreeMap<String, String>;

type Write = Box<
    dyn Fn(Call, PromptArguments) -> BoxFuture<'static, Result<Outcome<GetPromptResult>, Error>>
        + Send
        + Sync,
>;
type Complete = Box<dyn Fn(&str, &str) -> Vec<String> + Send + Sync>;

/// A registered prompt.
pub struct PromptEntry {
    pub(crate) access: Access,
    pub(crate) wire: WirePrompt,
    write: Write,
    complete: Option<Complete>,
}

impl PromptEntry {
    /// A prompt and how its messages are written.
    pub fn new<F, W>(access: Access, wire: WirePrompt, write: F) -> Self
    where
        F: Fn(Call, PromptArguments) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Outcome<GetPromptResult>, Error>> + Send + 'static,
    {
        let write: Write = Box::new(move |call, arguments| Box::pin(write(call, arguments)));
        Self { access, wire, write, complete: None }
    }

    /// Adds completion of the arguments: given an argument's name and what is typed so far, what it could be.
    pub fn completed_by(
        mut self,
        complete: impl Fn(&str, &str) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.complete = Some(Box::new(complete));
        self
    }

    /// The same under a name with that before it.
    pub(crate) fn prefixed(mut self, prefix: &Prefix) -> Self {
        self.wire.name = prefix.of(&self.wire.name);
        self
    }

    /// Checks that every required argument is there, then writes the messages.
    pub(crate) async fn write(
        &self,
        call: Call,
        arguments: PromptArguments,
    ) -> Result<Outcome<GetPromptResult>, Error> {
        let declared = self.wire.arguments.as_deref().unwrap_or_default();
        let absent = declared
            .iter()
            .find(|argument| argument.required == Some(true) && !arguments.contains_key(&argument.name));
        if let Some(absent) = absent {
            let field = format!("arguments.{}", absent.name);
            let message = format!("{field}: this prompt needs it");
            return Err(Error::Invalid { field, message });
        }
        (self.write)(call, arguments).await
    }

    pub(crate) fn complete(&self, argument: &str, typed: &str) -> Option<Vec<String>> {
        let declared = self.wire.arguments.as_deref().unwrap_or_default();
        declared
            .iter()
            .any(|declared| declared.name == argument)
            .then(|| self.complete.as_ref().map_or_else(Vec::new, |complete| complete(argument, typed)))
    }
}

impl fmt::Debug for PromptEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptEntry").field("wire", &self.wire).finish_non_exhaustive()
    }
}
