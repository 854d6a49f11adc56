//! Which sessions there are beside those in memory: whose each is, when it was last used, and which one makes room.
//!
//! What is not in here is over. A session that never got past its handshake is held here and has no file.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, SystemTime},
};

use rmcp::transport::streamable_http_server::session::SessionState;

/// How long a session that nobody uses is kept.
const SESSION_TTL: Duration = Duration::from_secs(30 * 24 * 3600);

/// The sessions that can come back.
#[derive(Debug)]
pub(super) struct Index {
    entries: HashMap<String, Entry>,
    /// Ids in the order of their handshakes; also of sessions that have a file or are over by now.
    opened: VecDeque<String>,
    max_written: usize,
    max_unwritten: usize,
}

/// One session.
#[derive(Debug)]
pub(super) struct Entry {
    /// The first subject that used it; from then on it is nobody else's.
    pub(super) owner: Option<String>,
    pub(super) used: SystemTime,
    pub(super) storage: Storage,
}

/// Where the state of a session is.
#[derive(Debug)]
pub(super) enum Storage {
    /// In memory: nobody has come back since the handshake. Nothing where the state is too large to be kept.
    Unwritten(Option<Box<SessionState>>),
    /// In a file.
    Written,
}

/// What a request of a session asks for.
#[derive(Debug)]
pub(super) enum Visit {
    /// There is no such session in the index.
    Unknown,
    /// It is somebody else's.
    Foreign,
    /// There is nothing to do.
    Known,
    /// It is the first request after the handshake: the state is to be written, with its owner.
    Write(Box<SessionState>, Option<String>),
    /// It has an owner from now on, and its file is to say so.
    Bind(String),
}

impl Index {
    pub(super) fn new(max_written: usize, max_unwritten: usize) -> Self {
        Self { entries: HashMap::new(), opened: VecDeque::new(), max_written, max_unwritten }
    }

    /// Adds a session that was opened just now. The oldest that never got past their handshakes make room.
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

    /// Notes a request of a session, by somebody who is known or not.
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

    /// Says whose a session is, as its file does.
    pub(super) fn belongs_to(&mut self, id: &str, owner: String) {
        if let Some(entry) = self.entries.get_mut(id) {
            entry.owner = Some(owner);
        }
    }

    /// The state of a session that has no file yet.
    pub(super) fn unwritten(&self, id: &str) -> Option<SessionState> {
        match &self.entries.get(id)?.storage {
            Storage::Unwritten(state) => state.as_deref().cloned(),
            Storage::Written => None,
        }
    }

    /// Takes a session out.
    pub(super) fn remove(&mut self, id: &str) {
        self.entries.remove(id);
    }

    /// Takes out the sessions whose files are to go: those that nobody used for long, and where there are too many those
    /// without an owner first, then the longest idle. None that is in memory.
    pub(super) fn make_room(&mut self, now: SystemTime, in_memory: impl Fn(&str) -> bool) -> Vec<String> {
        let written = || self.entries.iter().filter(|(_, entry)| entry.is_written());
        let is_old = |entry: &Entry| now.duration_since(entry.used).is_ok_and(|idle| idle > SESSION_TTL);
        let too_many = written().count().saturating_sub(self.max_written);
        let mut leaving: Vec<String> = written()
            .filter(|(id, entry)| is_old(entry) && !in_memory(id))
            .map(|(id, _)| id.clone())
            .collect();
        if let Some(more) = too_many.checked_sub(leaving.len()).filter(|more| *more > 0) {
            let mut idle: Vec<_> = written()
                .filter(|(id, entry)| !is_old(entry) && !in_memory(id))
                .map(|(id, entry)| (entry.owner.is_some(), entry.used, id))
                .collect();
            let more = more.min(idle.len());
            if let Some(last) = more.checked_sub(1) {
                idle.select_nth_unstable(last);
            }
            leaving.extend(idle.into_iter().take(more).map(|(_, _, id)| id.clone()));
        }
        for id in &leaving {
            self.entries.remove(id);
        }
        leaving
    }

    /// Whether more sessions have files than may.
    pub(super) fn is_over_full(&self) -> bool {
        // Counted only where it can be so: the map is never smaller than what is written.
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
