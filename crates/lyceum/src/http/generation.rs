//! The application that serves requests now, and its replacement when the configuration is reloaded.
//!
//! A connection asks for the current generation at every request, so a reload closes no connection: requests that
//! have begun are finished by the generation they began with.

use std::sync::{
    Arc,
    atomic::{Ordering, fence},
};

use lyceum_content as content;

use super::{RouteError, RouteTable, connections::Connections, routes};
use crate::app::App;

/// The application built from one configuration, and its routes.
pub struct Generation {
    pub(crate) app: App,
    pub(super) table: RouteTable,
    pub(super) slots: Arc<Connections>,
}

/// The generation that serves requests now.
pub struct Current(content::Current<Generation>);

/// A generation with a request in flight, which is counted until this is dropped.
pub(super) struct InFlight(Arc<Generation>);

impl Generation {
    /// Builds the routes of an application.
    pub fn new(app: App) -> Result<Self, RouteError> {
        let table = RouteTable::new(routes(&app), &app)?;
        let slots = Arc::new(Connections::new(&app.config));
        Ok(Self { app, table, slots })
    }

    /// Starts the background work of its transports.
    fn begin(&self) {
        let (legacy, idle) = (self.app.legacy.clone(), self.app.config.limits.session_idle);
        self.app.tasks.spawn(legacy.expire_idle(idle));
    }
}

impl Current {
    /// Starts with this generation. Needs a runtime.
    pub fn new(first: Generation) -> Self {
        first.begin();
        Self(content::Current::new(first))
    }

    /// The current generation. Don't hold it for long: an old one can't end while somebody holds it.
    pub(crate) fn get(&self) -> Arc<Generation> {
        self.0.get()
    }

    /// The current generation, for one request. It is looked up again once the request is counted, so that a replaced
    /// generation never looks finished while a request has just chosen it.
    pub(super) fn enter(&self) -> InFlight {
        loop {
            let chosen = InFlight::new(self.0.get());
            fence(Ordering::SeqCst);
            if self.0.is(&chosen.0) {
                return chosen;
            }
        }
    }

    /// Replaces the current generation, and returns the previous one.
    pub(crate) fn replace(&self, next: Generation) -> Arc<Generation> {
        next.begin();
        let previous = self.0.swap(next);
        fence(Ordering::SeqCst);
        previous
    }
}

impl InFlight {
    fn new(generation: Arc<Generation>) -> Self {
        generation.app.drain.enter();
        Self(generation)
    }
}

impl std::ops::Deref for InFlight {
    type Target = Generation;

    fn deref(&self) -> &Generation {
        &self.0
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.app.drain.leave();
    }
}
