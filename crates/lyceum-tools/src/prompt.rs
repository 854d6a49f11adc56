//! Prompts: message templates with arguments, which a user picks from a menu.

use std::{collections::BTreeMap, fmt, future::Future};

use futures::future::BoxFuture;
use lyceum_model::Access;

use crate::{
    Call, Error, Outcome, Prefix,
    mcp::{ContentBlock, GetPromptResult, WirePrompt},
    prefix::Mentions,
};

/// Arguments of a prompt; the protocol allows only strings.
pub(crate) type PromptArguments = BTreeMap<String, String>;

type Render = Box<
    dyn Fn(Call, PromptArguments) -> BoxFuture<'static, Result<Outcome<GetPromptResult>, Error>>
        + Send
        + Sync,
>;
type Complete = Box<dyn Fn(&str, &str) -> Vec<String> + Send + Sync>;

/// A registered prompt.
pub struct PromptEntry {
    pub(crate) access: Access,
    pub(crate) wire: WirePrompt,
    render: Render,
    complete: Option<Complete>,
    mentions: Option<Mentions>,
}

impl PromptEntry {
    /// Creates a prompt and the function that renders its messages.
    pub fn new<F, W>(access: Access, wire: WirePrompt, render: F) -> Self
    where
        F: Fn(Call, PromptArguments) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Outcome<GetPromptResult>, Error>> + Send + 'static,
    {
        let render: Render = Box::new(move |call, arguments| Box::pin(render(call, arguments)));
        Self { access, wire, render, complete: None, mentions: None }
    }

    /// Adds argument completion: a function from the name of an argument and the text typed so far to suggestions.
    pub fn completed_by(
        mut self,
        complete: impl Fn(&str, &str) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.complete = Some(Box::new(complete));
        self
    }

    /// Adds a prefix to the name.
    pub(crate) fn prefixed(mut self, prefix: &Prefix) -> Self {
        self.wire.name = prefix.of(&self.wire.name);
        self
    }

    /// Uses prefixed names wherever a message or the description mentions a tool of the same service.
    pub(crate) fn rewrite_mentions(&mut self, mentions: &Mentions) {
        self.wire.description = self.wire.description.take().map(|text| mentions.in_text(&text));
        self.mentions = Some(mentions.clone());
    }

    /// Checks the required arguments, then renders the messages.
    pub(crate) async fn render(
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
            let message = format!("{field}: is required by this prompt");
            return Err(Error::Invalid { field, message });
        }
        let mut outcome = (self.render)(call, arguments).await?;
        if let (Some(mentions), Outcome::Done(result)) = (&self.mentions, &mut outcome) {
            for message in &mut result.messages {
                if let ContentBlock::Text(content) = &mut message.content {
                    content.text = mentions.in_text(&content.text);
                }
            }
        }
        Ok(outcome)
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
