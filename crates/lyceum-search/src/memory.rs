//! In-memory cache of page metadata and of the active model's vectors.
//!
//! Every process keeps its own cache and follows the database by the sequence numbers of events and vectors. Changes
//! are read before the lock is taken, so that no query waits for the database.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use lyceum_models::embedder::Embedder;
use lyceum_store::{
    DbError, Tx,
    events::{self, Position, Since},
    pages,
    vectors::{self, ChunkVector},
};

use crate::{
    filter::Filter,
    page::Facts,
    vectors::{FlatIndex, Owner, VectorHit},
};

/// Maximum number of events applied incrementally; with more, the cache is reloaded.
const MAX_INCREMENTAL_EVENTS: usize = 2_000;

/// A cached page, without its text.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub id: i64,
    pub source: Arc<str>,
    pub facts: Arc<Facts>,
}

/// The model that queries use, and its embedder.
#[derive(Debug, Clone)]
pub(crate) struct ActiveModel {
    pub model: i64,
    pub embedder: Arc<dyn Embedder>,
}

/// A model and its vectors. They are replaced together, so that a query never meets the vectors of another model.
#[derive(Debug)]
pub(crate) struct ModelVectors {
    active: ActiveModel,
    flat: FlatIndex,
    /// The last batch of vectors included.
    position: Position,
}

/// How far a cache has followed the database.
#[derive(Debug)]
pub(crate) struct MemoryPosition {
    index: i64,
    position: Position,
    model: Option<(ActiveModel, Position)>,
}

/// An update of the cache.
#[derive(Debug)]
pub(crate) enum MemoryUpdate {
    /// Changed pages and vectors.
    Incremental(Changes),
    /// A reloaded cache that replaces the old one.
    Full(Box<Memory>),
}

/// Source and metadata of a page.
type PageMetadata = (String, Arc<Facts>);

/// Changed pages, `None` if deleted, and new vectors.
#[derive(Debug)]
pub(crate) struct Changes {
    position: Position,
    touched: Vec<(i64, Option<PageMetadata>)>,
    vectors: Vec<ChunkVector>,
    vectors_position: Position,
}

/// The cache.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Number of the index.
    index: i64,
    entries: Vec<Option<Entry>>,
    slots: HashMap<i64, u32>,
    names: HashSet<Arc<str>>,
    vectors: Option<ModelVectors>,
    /// The last event included.
    pub position: Position,
}

/// The pages that pass a filter.
#[derive(Debug, Clone)]
pub(crate) enum AllowedPages {
    /// No filter.
    All,
    /// One flag per page id.
    Only(Arc<[bool]>),
}

impl AllowedPages {
    /// Whether a page passes.
    pub(crate) fn admits(&self, page: i64) -> bool {
        match self {
            Self::All => true,
            Self::Only(flags) => {
                usize::try_from(page).ok().and_then(|page| flags.get(page)).copied().unwrap_or_default()
            }
        }
    }
}

impl Memory {
    /// Loads all pages and the vectors of a model.
    pub(crate) fn load(tx: &Tx<'_>, index: i64, active: Option<ActiveModel>) -> Result<Self, DbError> {
        let position = events::last(tx, &pages::stream(index))?;
        let mut memory = Self { index, position, ..Self::default() };
        for stored in pages::all(tx, index)? {
            memory.put(stored.id, &stored.source, facts(&stored)?);
        }
        if let Some(active) = active {
            memory.vectors = Some(memory.load_vectors(tx, active)?);
        }
        Ok(memory)
    }

    /// How far the cache has followed the database.
    pub(crate) fn position(&self) -> MemoryPosition {
        let model = self.vectors.as_ref().map(|vectors| (vectors.active.clone(), vectors.position));
        MemoryPosition { index: self.index, position: self.position, model }
    }

    /// Applies an update. Returns the replaced cache after a reload, so that the caller can drop it outside the lock.
    pub(crate) fn apply(&mut self, update: MemoryUpdate) -> Option<Self> {
        let Changes { position, touched, vectors: new_vectors, vectors_position } = match update {
            MemoryUpdate::Incremental(changes) => changes,
            MemoryUpdate::Full(memory) => return Some(std::mem::replace(self, *memory)),
        };
        let slots = touched.iter().filter_map(|(id, _)| self.slots.get(id).copied()).collect();
        if let Some(vectors) = &mut self.vectors {
            vectors.flat.remove(&slots);
        }
        for (id, page) in touched {
            match page {
                Some((source, facts)) => self.put(id, &source, facts),
                None => self.remove(id),
            }
        }
        if let Some(vectors) = &mut self.vectors {
            for vector in new_vectors {
                vectors.insert(&self.slots, &vector);
            }
            vectors.position = vectors_position;
        }
        self.position = position;
        None
    }

    /// Loads the vectors of a model for the cached pages, without using them yet.
    pub(crate) fn load_vectors(&self, tx: &Tx<'_>, active: ActiveModel) -> Result<ModelVectors, DbError> {
        let flat = FlatIndex::new(active.embedder.identity().dimensions);
        let position = events::last(tx, &vectors::stream(self.index))?;
        let new_vectors = vectors::after(tx, active.model, 0)?;
        let mut vectors = ModelVectors { active, flat, position };
        for one in new_vectors {
            vectors.insert(&self.slots, &one);
        }
        Ok(vectors)
    }

    /// Switches to these vectors and returns the old ones.
    pub(crate) fn use_vectors(&mut self, vectors: ModelVectors) -> Option<ModelVectors> {
        self.vectors.replace(vectors)
    }

    /// Replaces the embedder of a model, if it is the active one.
    pub(crate) fn use_embedder(&mut self, model: i64, embedder: &Arc<dyn Embedder>) {
        if let Some(vectors) = self.vectors.as_mut().filter(|vectors| vectors.active.model == model) {
            vectors.active.embedder = embedder.clone();
        }
    }

    /// The active model.
    pub(crate) fn active(&self) -> Option<&ActiveModel> {
        self.vectors.as_ref().map(|vectors| &vectors.active)
    }

    /// Number of vectors.
    #[cfg(test)]
    pub(crate) fn count_vectors(&self) -> usize {
        self.vectors.as_ref().map_or(0, |vectors| vectors.flat.count())
    }

    /// All cached pages.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().flatten()
    }

    /// The page with this id.
    pub(crate) fn entry(&self, id: i64) -> Option<&Entry> {
        self.entry_at(*self.slots.get(&id)?)
    }

    /// The page in this slot.
    pub(crate) fn entry_at(&self, slot: u32) -> Option<&Entry> {
        self.entries.get(slot as usize)?.as_ref()
    }

    /// Evaluates a filter for all pages.
    pub(crate) fn allowed(&self, filter: &Filter) -> AllowedPages {
        if filter.is_empty() {
            return AllowedPages::All;
        }
        let last = self.entries().map(|entry| entry.id).max().unwrap_or_default();
        let mut flags = vec![false; usize::try_from(last).unwrap_or_default() + 1];
        for entry in self.entries().filter(|entry| filter.admits(&entry.source, &entry.facts)) {
            if let Some(flag) = usize::try_from(entry.id).ok().and_then(|id| flags.get_mut(id)) {
                *flag = true;
            }
        }
        AllowedPages::Only(flags.into())
    }

    /// Finds the chunks nearest to a vector.
    pub(crate) fn nearest(&self, vector: &[f32], limit: usize, allowed: &AllowedPages) -> Vec<VectorHit> {
        let Some(vectors) = &self.vectors else { return Vec::new() };
        match allowed {
            AllowedPages::All => vectors.flat.nearest(vector, limit, |_| true),
            AllowedPages::Only(_) => vectors.flat.nearest(vector, limit, |slot| {
                self.entry_at(slot).is_some_and(|entry| allowed.admits(entry.id))
            }),
        }
    }

    /// Scores every chunk of these pages.
    pub(crate) fn cosines(&self, vector: &[f32], pages: &[i64]) -> Vec<VectorHit> {
        let Some(vectors) = &self.vectors else { return Vec::new() };
        let slots: Vec<u32> = pages.iter().filter_map(|page| self.slots.get(page).copied()).collect();
        vectors.flat.score_slots(vector, &slots)
    }

    /// Centroids of the chunk vectors of these pages, as unit vectors. Pages without vectors are left out.
    pub(crate) fn centroids(&self, pages: &[i64]) -> HashMap<i64, Vec<f32>> {
        let Some(vectors) = &self.vectors else { return HashMap::new() };
        let slots: Vec<u32> = pages.iter().filter_map(|page| self.slots.get(page).copied()).collect();
        let centroids = vectors.flat.centroids(&slots).into_iter();
        centroids.filter_map(|(slot, centre)| Some((self.entry_at(slot)?.id, centre))).collect()
    }

    fn put(&mut self, id: i64, source: &str, facts: Arc<Facts>) {
        let source: Arc<str> = match self.names.get(source) {
            Some(name) => name.clone(),
            None => Arc::from(source),
        };
        self.names.insert(source.clone());
        let entry = Entry { id, source, facts };
        match self.slots.get(&id).and_then(|slot| self.entries.get_mut(*slot as usize)) {
            Some(existing) => *existing = Some(entry),
            None => {
                let slot = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
                self.slots.insert(id, slot);
                self.entries.push(Some(entry));
            }
        }
    }

    fn remove(&mut self, id: i64) {
        if let Some(entry) = self.slots.remove(&id).and_then(|slot| self.entries.get_mut(slot as usize)) {
            *entry = None;
        }
    }
}

impl ModelVectors {
    fn insert(&mut self, slots: &HashMap<i64, u32>, vector: &ChunkVector) {
        // A page that is not cached yet brings its vectors along later.
        if let Some(slot) = slots.get(&vector.page) {
            self.flat.insert(Owner { slot: *slot, chunk: vector.chunk }, &vector.vector);
        }
    }
}

impl MemoryPosition {
    /// Reads the changes since this position from one database snapshot. Takes no lock.
    pub(crate) fn read_update(&self, tx: &Tx<'_>) -> Result<Option<MemoryUpdate>, DbError> {
        let of_pages = events::since(tx, &pages::stream(self.index), self.position, MAX_INCREMENTAL_EVENTS)?;
        let of_vectors = match &self.model {
            Some((_, known)) => {
                events::since(tx, &vectors::stream(self.index), *known, MAX_INCREMENTAL_EVENTS)?
            }
            None => Since::Nothing,
        };
        let (events, batches) = match (of_pages, of_vectors) {
            (Since::Nothing, Since::Nothing) => return Ok(None),
            (Since::Unknown, _) | (_, Since::Unknown) => {
                let active = self.model.as_ref().map(|(active, _)| active.clone());
                return Ok(Some(MemoryUpdate::Full(Box::new(Memory::load(tx, self.index, active)?))));
            }
            (of_pages, of_vectors) => (of_pages.into_events(), of_vectors.into_events()),
        };
        let position = events.last().map_or(self.position, |event| event.position);
        let ids: BTreeSet<i64> = events.iter().filter_map(|event| event.key.parse().ok()).collect();
        let mut new_vectors = Vec::new();
        if let Some((active, known)) = &self.model {
            new_vectors = vectors::after(tx, active.model, known.seq)?;
            // Changed pages are loaded with all their vectors below.
            new_vectors.retain(|one| !ids.contains(&one.page));
        }
        let ids: Vec<i64> = ids.into_iter().collect();
        if let Some((active, _)) = &self.model {
            new_vectors.extend(vectors::of_pages(tx, active.model, &ids)?);
        }
        let mut touched = Vec::with_capacity(ids.len());
        for (id, stored) in ids.iter().zip(pages::pages(tx, &ids)?) {
            let page = match stored {
                Some(stored) => Some((facts(&stored)?, stored.source)),
                None => None,
            };
            touched.push((*id, page.map(|(facts, source)| (source, facts))));
        }
        let known = self.model.as_ref().map(|(_, known)| *known).unwrap_or_default();
        let vectors_position = batches.last().map_or(known, |batch| batch.position);
        Ok(Some(MemoryUpdate::Incremental(Changes {
            position,
            touched,
            vectors: new_vectors,
            vectors_position,
        })))
    }
}

pub(crate) fn facts(stored: &pages::StoredPage) -> Result<Arc<Facts>, DbError> {
    let facts = serde_json::from_str(&stored.facts).map_err(|error| DbError::Content(error.to_string()))?;
    Ok(Arc::new(facts))
}
