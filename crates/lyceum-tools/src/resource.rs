//! Resources: content with a URI that clients can read, registered one by one or as a template.

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

/// The requested URI, with the values of the template's variables if a template matched.
#[derive(Debug, Clone)]
pub struct Address {
    /// The URI.
    pub uri: String,
    /// The values of the template's variables.
    pub variables: BTreeMap<String, String>,
}

/// A resource with a fixed URI.
pub struct ResourceEntry {
    pub(crate) access: Access,
    pub(crate) wire: WireResource,
    read: Read,
}

/// A URI template, which stands for many resources.
pub struct TemplateEntry {
    pub(crate) access: Access,
    pub(crate) wire: ResourceTemplate,
    pub(crate) template: Template,
    read: Read,
    exists: Option<Exists>,
    complete: Option<Complete>,
}

impl ResourceEntry {
    /// Creates a resource and the function that reads it.
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
    /// Creates a resource template and the function that reads one resource.
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

    /// Matches URIs against another template with the same variables, to accept more than is advertised.
    pub fn matched_by(mut self, template: &str) -> Result<Self, RegistryError> {
        let parsed =
            Template::parse(template).filter(|other| other.variables().eq(self.template.variables()));
        self.template = parsed.ok_or_else(|| RegistryError::Template { template: template.to_owned() })?;
        Ok(self)
    }

    /// Adds an existence check. Without it, every URI that matches the template exists.
    pub fn existing_by(mut self, exists: impl Fn(&Address) -> bool + Send + Sync + 'static) -> Self {
        self.exists = Some(Box::new(exists));
        self
    }

    /// Whether a resource with that URI exists.
    pub(crate) fn has(&self, uri: &str) -> bool {
        let Some(variables) = self.template.matches(uri) else { return false };
        let address = Address { uri: uri.to_owned(), variables };
        self.exists.as_ref().is_none_or(|exists| exists(&address))
    }

    /// Adds completion of variables: a function from the name of a variable and the text typed so far to suggestions.
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
