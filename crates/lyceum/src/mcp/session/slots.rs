//! Which sessions are in memory, and which have a request under way and so keep their place.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rmcp::transport::streamable_http_server::session::SessionId;
use tokio::sync::Notify;

/// How long a session that makes room may take to be gone.
const EVICTION_TIMEOUT: Duration = Duration::from_secs(5);

/// Who is in memory, and who has a request under way.
#[derive(Debug, Default)]
pub(super) struct Slots {
    state: Mutex<State>,
    left: Notify,
}

#[derive(Debug, Default)]
struct State {
    held: HashMap<SessionId, Slot>,
    /// How many requests of a session are under way; also of sessions that do not exist.
    busy: HashMap<SessionId, usize>,
}

#[derive(Debug)]
struct Slot {
    used: Instant,
    phase: Phase,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The handshake is not over.
    Opening,
    Open,
    /// It makes room, and must be gone before it can come back.
    Leaving,
}

/// A request of a session under way: while it is, the session keeps its place.
#[derive(Debug)]
pub(in crate::mcp) struct RequestGuard {
    places: Arc<Slots>,
    id: SessionId,
}

impl Slots {
    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Gives a session a place, in that phase.
    pub(super) fn hold(&self, id: &SessionId, phase: Phase) {
        self.with(|state| state.held.insert(id.clone(), Slot { used: Instant::now(), phase }));
    }

    /// Notes that a request of a session has begun.
    pub(super) fn enter(self: &Arc<Self>, id: SessionId) -> RequestGuard {
        self.with(|state| *state.busy.entry(id.clone()).or_default() += 1);
        RequestGuard { places: self.clone(), id }
    }

    /// Gives the place of a session free.
    pub(super) fn leave(&self, id: &SessionId) {
        self.with(|state| state.held.remove(id));
        self.left.notify_waiters();
    }

    fn is_leaving(&self, id: &SessionId) -> bool {
        self.with(|state| state.held.get(id).is_some_and(|place| place.phase == Phase::Leaving))
    }

    /// Picks the longest idle session to leave, where there is no place left.
    pub(super) fn make_leave(&self, most: usize) -> Option<SessionId> {
        self.with(|State { held, busy }| {
            if held.values().filter(|place| place.phase != Phase::Leaving).count() < most {
                return None;
            }
            let idle =
                held.iter_mut().filter(|(id, place)| place.phase == Phase::Open && !busy.contains_key(*id));
            let (id, place) = idle.min_by_key(|(_, place)| place.used)?;
            place.phase = Phase::Leaving;
            Some(id.clone())
        })
    }

    /// Picks every session to leave that has nothing under way and was not used for that long.
    pub(super) fn make_idle_leave(&self, idle: Duration) -> Vec<SessionId> {
        self.with(|State { held, busy }| {
            let mut leaving = Vec::new();
            for (id, place) in held.iter_mut() {
                if place.phase == Phase::Open && !busy.contains_key(id) && place.used.elapsed() >= idle {
                    place.phase = Phase::Leaving;
                    leaving.push(id.clone());
                }
            }
            leaving
        })
    }

    /// The sessions in memory.
    pub(super) fn held(&self) -> HashSet<SessionId> {
        self.with(|state| state.held.keys().cloned().collect())
    }

    /// Whether a session is in memory.
    pub(super) fn holds(&self, id: &str) -> bool {
        self.with(|state| state.held.contains_key(id))
    }

    /// Waits until a session that makes room is gone.
    pub(super) async fn gone(&self, id: &SessionId) {
        let gone = async {
            loop {
                let left = self.left.notified();
                if !self.is_leaving(id) {
                    return;
                }
                left.await;
            }
        };
        let _in_time = tokio::time::timeout(EVICTION_TIMEOUT, gone).await;
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.places.with(|State { held, busy }| {
            if let Some(place) = held.get_mut(&self.id) {
                place.used = Instant::now();
            }
            if let Some(count) = busy.get_mut(&self.id) {
                *count -= 1;
                if *count == 0 {
                    busy.remove(&self.id);
                }
            }
        });
    }
}
