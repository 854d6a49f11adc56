//! Resources: things with an address that a client can read, one by one or by template.

use std::{collections::BTreeMap, fmt, future::Future};

use futures::future::BoxFuture;
use lyceum_model::Access;

use crate::{
    Call, Error, Outcome, RegistryError,
    mcp::{ReadResourceResult, ResourceTemplate, WireResource},
    template::Template,
};

type Read = Box<
    dyn Fn(Call, Address) -> BoxFuture<'static, Result<Outcome<ReadResourceResult>, Error>> + Send + Sync,
>;
type Exists = Box<dyn Fn(&Address) -> bool + Send + Sync>;
type Complete = Box<dyn Fn(&str, &str) -> Vec<String> + Send + Sync>;

/// The address that is read, with the values of the template's variables where it came through one.
#[derive(Debug, Clone)]
pub struct Address {
    /// The whole address.
    pub uri: String,
    /// The values of the template's variables.
    pub variables: BTreeMap<String, String>,
}

/// A resource with a fixed address.
pub struct ResourceEntry {
    pub(crate) access: Access,
    pub(crate) wire: WireResource,
    read: Read,
}

/// A family of resources, by a template of their addresses.
pub struct TemplateEntry {
    pub(crate) access: Access,
    pub(crate) wire: ResourceTemplate,
    pub(crate) template: Template,
    read: Read,
    exists: Option<Exists>,
    complete: Option<Complete>,
}

impl ResourceEntry {
    /// A resource and how to read it.
    pub fn new<F, W>(access: Access, wire: WireResource, read: F) -> Self
    where
        F: Fn(Call, Address) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Outcome<ReadResourceResult>, Error>> + Send + 'static,
    {
        Self { access, wire, read: Box::new(move |call, address| Box::pin(read(call, address))) }
    }

    pub(crate) async fn read(
        &self,
        call: Call,
        address: Address,
    ) -> Result<Outcome<ReadResourceResult>, Error> {
        (self.read)(call, address).await
    }
}

impl TemplateEntry {
    /// A family of resources and how to read one of them.
    pub fn new<F, W>(access: Access, wire: ResourceTemplate, read: F) -> Result<Self, RegistryError>
    where
        F: Fn(Call, Address) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Outcome<ReadResourceResult>, Error>> + Send + 'static,
    {
        let template = Template::parse(&wire.uri_template)
            .ok_or_else(|| RegistryError::Template { template: wire.uri_template.clone() })?;
        let read: Read = Box::new(move |call, address| Box::pin(read(call, address)));
        Ok(Self { access, wire, template, read, exists: None, complete: None })
    }

    /// Adds how to tell whether there is anything under an address; without it there is under each that fits.
    pub fn existing_by(mut self, exists: impl Fn(&Address) -> bool + Send + Sync + 'static) -> Self {
        self.exists = Some(Box::new(exists));
        self
    }

    /// Whether there is anything under that address.
    pub(crate) fn has(&self, uri: &str) -> bool {
        let Some(variables) = self.template.matches(uri) else { return false };
        let address = Address { uri: uri.to_owned(), variables };
        self.exists.as_ref().is_none_or(|exists| exists(&address))
    }

    /// Adds completion of the variables: given a variable's name and what is typed so far, what it could be.
    pub fn completed_by(
        mut self,
        complete: impl Fn(&str, &str) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.complete = Some(Box::new(complete));
        self
    }

    pub(crate) async fn read(
        &self,
        call: Call,
        address: Address,
    ) -> Result<Outcome<ReadResourceResult>, Error> {
        (self.read)(call, address).await
    }

    pub(crate) fn complete(&self, variable: &str, typed: &str) -> Option<Vec<String>> {
        self.template
            .variables()
            .any(|name| name == variable)
            .then(|| self.complete.as_ref().map_or_else(Vec::new, |complete| complete(variable, typed)))
    }
}

impl fmt::Debug for ResourceEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceEntry").field("wire", &self.wire).finish_non_exhaustive()
    }
}

impl fmt::Debug for TemplateEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemplateEntry").field("wire", &self.wire).finish_non_exhaustive()
    }
}
