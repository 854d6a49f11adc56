//! The index of all sessions that can be restored: owner, last use, and eviction.
//!
//! A session that is not in the index has ended. One that has only completed its handshake is in the index, but has no
//! file.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, SystemTime},
};

use rmcp::transport::streamable_http_server::session::SessionState;

/// How long an unused session is stored.
const SESSION_TTL: Duration = Duration::from_secs(30 * 24 * 3600);

/// The sessions that can be restored.
#[derive(Debug)]
pub(super) struct Index {
    entries: HashMap<String, Entry>,
    /// Ids in the order of their handshakes, including sessions that have a file or have ended since.
    opened: VecDeque<String>,
    max_written: usize,
    max_unwritten: usize,
}

/// One session.
#[derive(Debug)]
pub(super) struct Entry {
    /// The first subject that used it. Nobody else may use it then.
    pub(super) owner: Option<String>,
    pub(super) used: SystemTime,
    pub(super) storage: Storage,
}

/// Where the state of a session is stored.
#[derive(Debug)]
pub(super) enum Storage {
    /// In memory: no request since the handshake. `None` if the state is too large to store.
    Unwritten(Option<Box<SessionState>>),
    /// In a file.
    Written,
}

/// What to do for a request of a session.
#[derive(Debug)]
pub(super) enum Visit {
    /// The session is not in the index.
    Unknown,
    /// The session belongs to another subject.
    Foreign,
    /// Nothing.
    Known,
    /// First request after the handshake: write the state, with its owner.
    Write(Box<SessionState>, Option<String>),
    /// The session has an owner from now on: write that to its file.
    Bind(String),
}

impl Index {
    pub(super) fn new(max_written: usize, max_unwritten: usize) -> Self {
        Self { entries: HashMap::new(), opened: VecDeque::new(), max_written, max_unwritten }
    }

    /// Adds a new session. Evicts the oldest that have only completed their handshake.
    pub(super) fn open(&mut self, id: &str, state: Option<Box<SessionState>>, now: SystemTime) {
        let entry = Entry { owner: None, used: now, storage: Storage::Unwritten(state) };
        self.entries.insert(id.to_owned(), entry);
        self.opened.push_back(id.to_owned());
        while self.opened.len() > self.max_unwritten {
            let Some(oldest) = self.opened.pop_front() else { return };
            if self.entries.get(&oldest).is_some_and(|entry| !entry.is_written()) {
                self.entries.remove(&oldest);
            }
        }
    }

    /// Adds a session that has a file.
    pub(super) fn add(&mut self, id: String, entry: Entry) {
        self.entries.entry(id).or_insert(entry);
    }

    /// Records a request of a session, anonymous or not.
    pub(super) fn visit(&mut self, id: &str, subject: Option<&str>, now: SystemTime) -> Visit {
        let Some(entry) = self.entries.get_mut(id) else { return Visit::Unknown };
        if entry.owner.is_some() && entry.owner.as_deref() != subject {
            return Visit::Foreign;
        }
        entry.used = now;
        let binds = entry.owner.is_none() && subject.is_some();
        if binds {
            entry.owner = subject.map(str::to_owned);
        }
        match &mut entry.storage {
            Storage::Unwritten(state) => match state.take() {
                Some(state) => {
                    entry.storage = Storage::Written;
                    Visit::Write(state, entry.owner.clone())
                }
                None => Visit::Known,
            },
            Storage::Written => match subject {
                Some(subject) if binds => Visit::Bind(subject.to_owned()),
                _ => Visit::Known,
            },
        }
    }

    /// Sets the owner, as read from the file.
    pub(super) fn set_owner(&mut self, id: &str, owner: String) {
        if let Some(entry) = self.entries.get_mut(id) {
            entry.owner = Some(owner);
        }
    }

    /// The state of a session without a file.
    pub(super) fn unwritten(&self, id: &str) -> Option<SessionState> {
        match &self.entries.get(id)?.storage {
            Storage::Unwritten(state) => state.as_deref().cloned(),
            Storage::Written => None,
        }
    }

    pub(super) fn remove(&mut self, id: &str) {
        self.entries.remove(id);
    }

    /// Removes the sessions whose files must be deleted: expired ones, and if there are too many, those without an
    /// owner first, then those idle for longest. Never one that is in memory.
    pub(super) fn make_room(&mut self, now: SystemTime, in_memory: impl Fn(&str) -> bool) -> Vec<String> {
        let written = || self.entries.iter().filter(|(_, entry)| entry.is_written());
        let is_old = |entry: &Entry| now.duration_since(entry.used).is_ok_and(|idle| idle > SESSION_TTL);
        let too_many = written().count().saturating_sub(self.max_written);
        let mut evicted: Vec<String> = written()
            .filter(|(id, entry)| is_old(entry) && !in_memory(id))
            .map(|(id, _)| id.clone())
            .collect();
        if let Some(more) = too_many.checked_sub(evicted.len()).filter(|more| *more > 0) {
            let mut idle: Vec<_> = written()
                .filter(|(id, entry)| !is_old(entry) && !in_memory(id))
                .map(|(id, entry)| (entry.owner.is_some(), entry.used, id))
                .collect();
            let more = more.min(idle.len());
            if let Some(last) = more.checked_sub(1) {
                idle.select_nth_unstable(last);
            }
            evicted.extend(idle.into_iter().take(more).map(|(_, _, id)| id.clone()));
        }
        for id in &evicted {
            self.entries.remove(id);
        }
        evicted
    }

    /// Whether more sessions have files than allowed.
    pub(super) fn exceeds_limit(&self) -> bool {
        // Count only if it is possible: the map has at least as many entries as are written.
        self.entries.len() > self.max_written
            && self.entries.values().filter(|entry| entry.is_written()).count() > self.max_written
    }
}

impl Entry {
    fn is_written(&self) -> bool {
        matches!(self.storage, Storage::Written)
    }
}

#[cfg(test)]
mod tests;
