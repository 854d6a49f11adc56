//! The sessions in memory. One with an in-flight request can't be evicted.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rmcp::transport::streamable_http_server::session::SessionId;
use tokio::sync::Notify;

/// How long an eviction may take.
const EVICTION_TIMEOUT: Duration = Duration::from_secs(5);

/// The sessions in memory, and in-flight requests by session.
#[derive(Debug, Default)]
pub(super) struct Slots {
    state: Mutex<State>,
    removed: Notify,
}

#[derive(Debug, Default)]
struct State {
    sessions: HashMap<SessionId, Slot>,
    /// Number of in-flight requests by session, including sessions that don't exist.
    busy: HashMap<SessionId, usize>,
}

#[derive(Debug)]
struct Slot {
    used: Instant,
    phase: Phase,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Before the end of the handshake.
    Opening,
    Open,
    /// Being evicted; must be gone before it can be restored.
    Evicting,
}

/// An in-flight request, which keeps its session in memory.
#[derive(Debug)]
pub(in crate::mcp) struct RequestGuard {
    slots: Arc<Slots>,
    id: SessionId,
}

impl Slots {
    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a session in that phase.
    pub(super) fn insert(&self, id: &SessionId, phase: Phase) {
        self.with(|state| state.sessions.insert(id.clone(), Slot { used: Instant::now(), phase }));
    }

    /// Counts a new in-flight request of a session.
    pub(super) fn enter(self: &Arc<Self>, id: SessionId) -> RequestGuard {
        self.with(|state| *state.busy.entry(id.clone()).or_default() += 1);
        RequestGuard { slots: self.clone(), id }
    }

    /// Removes a session.
    pub(super) fn remove(&self, id: &SessionId) {
        self.with(|state| state.sessions.remove(id));
        self.removed.notify_waiters();
    }

    fn is_evicting(&self, id: &SessionId) -> bool {
        self.with(|state| state.sessions.get(id).is_some_and(|slot| slot.phase == Phase::Evicting))
    }

    /// Picks the session that is idle for longest for eviction, if memory is full.
    pub(super) fn evict_one(&self, max: usize) -> Option<SessionId> {
        self.with(|State { sessions, busy }| {
            if sessions.values().filter(|slot| slot.phase != Phase::Evicting).count() < max {
                return None;
            }
            let idle =
                sessions.iter_mut().filter(|(id, slot)| slot.phase == Phase::Open && !busy.contains_key(*id));
            let (id, slot) = idle.min_by_key(|(_, slot)| slot.used)?;
            slot.phase = Phase::Evicting;
            Some(id.clone())
        })
    }

    /// Picks all sessions for eviction that have been idle that long.
    pub(super) fn evict_idle(&self, idle: Duration) -> Vec<SessionId> {
        self.with(|State { sessions, busy }| {
            let mut evicted = Vec::new();
            for (id, slot) in sessions.iter_mut() {
                if slot.phase == Phase::Open && !busy.contains_key(id) && slot.used.elapsed() >= idle {
                    slot.phase = Phase::Evicting;
                    evicted.push(id.clone());
                }
            }
            evicted
        })
    }

    /// The ids of the sessions in memory.
    pub(super) fn ids(&self) -> HashSet<SessionId> {
        self.with(|state| state.sessions.keys().cloned().collect())
    }

    /// Whether a session is in memory.
    pub(super) fn contains(&self, id: &str) -> bool {
        self.with(|state| state.sessions.contains_key(id))
    }

    /// Waits until a session that is being evicted is gone.
    pub(super) async fn wait_for_eviction(&self, id: &SessionId) {
        let gone = async {
            loop {
                let removed = self.removed.notified();
                if !self.is_evicting(id) {
                    return;
                }
                removed.await;
            }
        };
        let _in_time = tokio::time::timeout(EVICTION_TIMEOUT, gone).await;
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.slots.with(|State { sessions, busy }| {
            if let Some(slot) = sessions.get_mut(&self.id) {
                slot.used = Instant::now();
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
