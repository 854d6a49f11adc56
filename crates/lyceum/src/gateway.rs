//! Upstreams as services, built from the configuration.

use std::{fmt::Write, sync::Arc};

use anyhow::Context as _;
use futures::future::BoxFuture;
use lyceum_gateway::{Settings, State, Upstream};
use lyceum_model::{Access, Domain, Right};
use lyceum_tools::{Registry, RegistryError, UpstreamStatus};
use serde_json::Value;

use crate::{
    config::{self, UpstreamService},
    service::{Context, Examination, Health, Kind, Service},
};

/// The kind: `[upstream.NAME]`.
pub(crate) static KIND: Kind = Kind {
    table: "upstream",
    hint: "add an [upstream.NAME] table to lyceum.toml",
    schema: |generator| generator.subschema_for::<config::raw::Upstream>(),
    scopes: Vec::new,
    check: config::upstream::check,
    make: |declared, _| {
        let Some(settings) = declared.settings::<UpstreamService>() else { return Ok(Vec::new()) };
        let UpstreamService { endpoint, credential, limits, rule, tools, tool_errors } = settings.clone();
        let (name, prefix) = (declared.name.clone(), declared.prefix.clone());
        let settings = Settings { name, prefix, endpoint, credential, limits, rule, tools, tool_errors };
        let upstream = Upstream::new(settings).context("cannot create the HTTP client of an upstream")?;
        Ok(vec![Arc::new(UpstreamOffer(upstream))])
    },
};

/// An upstream as a service.
struct UpstreamOffer(Arc<Upstream>);

impl UpstreamOffer {
    fn state(&self) -> State {
        self.0.state().borrow().clone()
    }
}

impl Service for UpstreamOffer {
    fn name(&self) -> &Domain {
        &self.0.settings().name
    }

    fn access(&self) -> Access {
        let rule = &self.0.settings().rule;
        Access::scoped(self.name().clone(), rule.tier, rule.scopes.iter().cloned())
    }

    fn offer(&self) -> Result<Registry, RegistryError> {
        self.0.offer()
    }

    fn scopes(&self) -> Vec<Right> {
        let settings = self.0.settings();
        let right = |(scope, tier): (&lyceum_model::Scope, _)| {
            Right::new(scope.clone(), tier, format!("Call tools of {}", settings.name))
        };
        settings.scopes().map(right).collect()
    }

    fn upstream(&self) -> Option<UpstreamStatus> {
        let state = self.state();
        Some(UpstreamStatus {
            name: self.name().to_string(),
            is_up: state.is_up(),
            tools: state.tool_count(),
            error: state.fault.as_ref().map(ToString::to_string),
        })
    }

    fn start(self: Arc<Self>, context: &Context) {
        let (stopping, publishing) = (context.stopping(), context.clone());
        context.spawn(self.0.clone().keep(stopping.clone()));
        context.spawn(async move {
            let mut states = self.0.state();
            loop {
                tokio::select! {
                    () = stopping.cancelled() => return,
                    changed = states.changed() => match changed {
                        Ok(()) => publishing.publish(&*self),
                        Err(_) => return,
                    },
                }
            }
        });
    }

    fn health(&self) -> BoxFuture<'_, Health> {
        Box::pin(async {
            let state = self.state();
            // An upstream that is down never makes this server unready.
            let detail = Some(Value::Object(state.describe()));
            Health { is_well: state.is_up(), detail, ..Health::default() }
        })
    }

    fn about(&self, _: &str) -> String {
        let state = self.state();
        let status = state.fault.as_ref().map_or_else(|| "up".to_owned(), ToString::to_string);
        format!("\nUpstream {}: {} tools, {status}\n", self.name(), state.tool_count())
    }

    fn examine(&self) -> BoxFuture<'_, anyhow::Result<Examination>> {
        Box::pin(async {
            let state = self.0.refresh().await;
            let mut text = match &state.fault {
                None => format!("upstream {}: {} tools\n", self.name(), state.tool_count()),
                Some(fault) => format!("upstream {} {fault}\n", self.name()),
            };
            for skipped in state.skipped() {
                writeln!(text, "  tool {:?} can't be offered: {}", skipped.name, skipped.reason)?;
            }
            Ok(Examination { text, is_well: state.is_up(), ..Examination::default() })
        })
    }
}
