//! A minimal service: everything that a new service needs.

use std::sync::Arc;

use futures::future::BoxFuture;
use lyceum::{
    Service,
    http::{Audience, Route},
    service::{Declared, Examination, Health, Kind},
};
use lyceum_model::Domain;
use lyceum_tools::{Call, Error, Prefix, Registry, RegistryError, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

/// The kind: `[greeter]`.
pub(super) static GREETER: Kind = Kind {
    table: "greeter",
    hint: "write [greeter] in lyceum.toml",
    schema: |generator| generator.subschema_for::<Table>(),
    scopes: Vec::new,
    check: |checker, table, _| Some(Arc::new(checker.text(&format!("{}/greeting", table.at))?.to_owned())),
    make: |declared, _| Ok(vec![Arc::new(Greeter::new(declared))]),
};

/// The table `[greeter]`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "it is only described")]
struct Table {
    /// The greeting.
    greeting: String,
    /// Prefix of its tool names.
    prefix: Option<String>,
}

struct Greeter {
    name: Domain,
    prefix: Prefix,
    greeting: Arc<String>,
}

impl Greeter {
    fn new(declared: &Declared) -> Self {
        let greeting = declared.settings::<String>().cloned().unwrap_or_default().into();
        Self { name: declared.name.clone(), prefix: declared.prefix.clone(), greeting }
    }
}

impl Service for Greeter {
    fn name(&self) -> &Domain {
        &self.name
    }

    fn offer(&self) -> Result<Registry, RegistryError> {
        let builder = Registry::builder().prefixed(&self.prefix);
        Ok(builder.tool::<Greet>(&self.name, &self.greeting)?.build())
    }

    fn routes(self: Arc<Self>) -> Vec<Route> {
        let (name, greeting) = (self.name.clone(), self.greeting.clone());
        vec![
            Route::get(format!("/{name}/hello"), async move || greeting.to_string()),
            Route::get(format!("/{name}/version"), async || "1").audience(Audience::Public),
        ]
    }

    fn health(&self) -> BoxFuture<'_, Health> {
        let readiness = Map::from_iter([("greets".to_owned(), true.into())]);
        let detail = Some(json!({ "greeting": *self.greeting }));
        Box::pin(async { Health { is_well: true, detail, readiness, ..Health::default() } })
    }

    fn about(&self, _: &str) -> String {
        format!("It greets with {}.\n", self.greeting)
    }

    fn examine(&self) -> BoxFuture<'_, anyhow::Result<Examination>> {
        let text = format!("{}: greets with {}\n", self.name, self.greeting);
        Box::pin(async { Ok(Examination { text, is_well: true, ..Examination::default() }) })
    }
}

struct Greet;

#[derive(Deserialize, JsonSchema)]
struct Args {
    name: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    text: String,
}

impl Tool for Greet {
    const NAME: &'static str = "greet";
    const TITLE: &'static str = "Greet";
    const DESCRIPTION: &'static str = "Greets somebody.";

    type Service = String;
    type Args = Args;
    type Output = Output;

    async fn call(greeting: &String, _: &Call, Args { name }: Args) -> Result<Output, Error> {
        Ok(Output { text: format!("{greeting}, {name}") })
    }
}
