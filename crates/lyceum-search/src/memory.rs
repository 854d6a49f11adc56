//! What is held in memory of the pages: what is known of each, and the vectors of the model in use.
//!
//! It follows the database by the numbers of events and vectors, in every process alike: what is new is read first, and
//! only then is it held, so that no question waits for the database.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use lyceum_models::embedder::Embedder;
use lyceum_store::{
    DbError, Tx, events, pages,
    vectors::{self, ChunkVector},
};

use crate::{
    filter::Filter,
    page::Facts,
    vectors::{Flat, Owner, VectorHit},
};

/// How many events are taken one by one; with more of them everything is read.
const MAX_INCREMENTAL_EVENTS: usize = 2_000;

/// A page in memory.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    pub id: i64,
    pub source: Arc<str>,
    pub facts: Arc<Facts>,
}

/// The model that searches use, and what questions to it are embedded with.
#[derive(Debug, Clone)]
pub(crate) struct ActiveModel {
    pub model: i64,
    pub embedder: Arc<dyn Embedder>,
}

/// A model and its vectors. They are exchanged together, so that a question never meets the vectors of another model.
#[derive(Debug)]
pub(crate) struct ModelVectors {
    active: ActiveModel,
    flat: Flat,
    /// The number of the last vector that is in it.
    seq: i64,
}

/// How far a memory is.
#[derive(Debug)]
pub(crate) struct MemoryPosition {
    seq: i64,
    model: Option<(ActiveModel, i64)>,
}

/// What a memory does not know yet.
#[derive(Debug)]
pub(crate) enum MemoryUpdate {
    /// Pages and vectors, one by one.
    Some(Changes),
    /// So much that it is another memory.
    All(Box<Memory>),
}

/// The source of a page and what is known of it.
type KnownPage = (String, Arc<Facts>);

/// Pages that changed, each as it is known now or gone, and vectors.
#[derive(Debug)]
pub(crate) struct Changes {
    seq: i64,
    touched: Vec<(i64, Option<KnownPage>)>,
    vectors: Vec<ChunkVector>,
    vectors_seq: i64,
}

/// What is held in memory.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    cards: Vec<Option<Card>>,
    slots: HashMap<i64, u32>,
    names: HashSet<Arc<str>>,
    meaning: Option<ModelVectors>,
    /// The number of the last event that is in it.
    pub seq: i64,
}

/// Which pages may be found.
#[derive(Debug, Clone)]
pub(crate) enum AllowedPages {
    /// All of them.
    All,
    /// Those whose number is marked.
    Only(Arc<[bool]>),
}

impl AllowedPages {
    /// Whether the page of that number may be found.
    pub(crate) fn admits(&self, page: i64) -> bool {
        match self {
            Self::All => true,
            Self::Only(marked) => {
                usize::try_from(page).ok().and_then(|page| marked.get(page)).copied().unwrap_or_default()
            }
        }
    }
}

impl Memory {
    /// Reads every page, and the vectors of a model.
    pub(crate) fn load(tx: &Tx<'_>, active: Option<ActiveModel>) -> Result<Self, DbError> {
        let mut memory = Self { seq: events::last(tx)?, ..Self::default() };
        for stored in pages::all(tx)? {
            memory.put(stored.id, &stored.source, facts(&stored)?);
        }
        if let Some(active) = active {
            memory.meaning = Some(memory.meaning(tx, active)?);
        }
        Ok(memory)
    }

    /// How far it is.
    pub(crate) fn reached(&self) -> MemoryPosition {
        let model = self.meaning.as_ref().map(|meaning| (meaning.active.clone(), meaning.seq));
        MemoryPosition { seq: self.seq, model }
    }

    /// Takes in what it did not know. Gives back what it was before, where it is another altogether: to let go of that
    /// takes its time.
    pub(crate) fn take_in(&mut self, news: MemoryUpdate) -> Option<Self> {
        let Changes { seq, touched, vectors, vectors_seq } = match news {
            MemoryUpdate::Some(news) => news,
            MemoryUpdate::All(memory) => return Some(std::mem::replace(self, *memory)),
        };
        let slots = touched.iter().filter_map(|(id, _)| self.slots.get(id).copied()).collect();
        if let Some(meaning) = &mut self.meaning {
            meaning.flat.remove(&slots);
        }
        for (id, page) in touched {
            match page {
                Some((source, facts)) => self.put(id, &source, facts),
                None => self.take(id),
            }
        }
        if let Some(meaning) = &mut self.meaning {
            for placed in vectors {
                meaning.place(&self.slots, &placed);
            }
            meaning.seq = meaning.seq.max(vectors_seq);
        }
        self.seq = seq;
        None
    }

    /// The vectors of a model for these pages, not in use yet.
    pub(crate) fn meaning(&self, tx: &Tx<'_>, active: ActiveModel) -> Result<ModelVectors, DbError> {
        let flat = Flat::new(active.embedder.identity().dimensions);
        let seq = vectors::last(tx)?;
        let placed = vectors::after(tx, active.model, 0)?;
        let mut meaning = ModelVectors { active, flat, seq };
        for one in placed {
            meaning.place(&self.slots, &one);
        }
        Ok(meaning)
    }

    /// Uses these vectors from now on, and gives back those that were used before.
    pub(crate) fn use_meaning(&mut self, meaning: ModelVectors) -> Option<ModelVectors> {
        self.meaning.replace(meaning)
    }

    /// Has the questions to a model embedded by this from now on.
    pub(crate) fn use_embedder(&mut self, model: i64, embedder: &Arc<dyn Embedder>) {
        if let Some(meaning) = self.meaning.as_mut().filter(|meaning| meaning.active.model == model) {
            meaning.active.embedder = embedder.clone();
        }
    }

    /// The model whose vectors are used.
    pub(crate) fn active(&self) -> Option<&ActiveModel> {
        self.meaning.as_ref().map(|meaning| &meaning.active)
    }

    /// How many vectors it holds.
    #[cfg(test)]
    pub(crate) fn count_vectors(&self) -> usize {
        self.meaning.as_ref().map_or(0, |meaning| meaning.flat.count())
    }

    /// Every page.
    pub(crate) fn cards(&self) -> impl Iterator<Item = &Card> {
        self.cards.iter().flatten()
    }

    /// The page of that number.
    pub(crate) fn card(&self, id: i64) -> Option<&Card> {
        self.card_in(*self.slots.get(&id)?)
    }

    /// The page in that slot.
    pub(crate) fn card_in(&self, slot: u32) -> Option<&Card> {
        self.cards.get(slot as usize)?.as_ref()
    }

    /// Which pages a filter admits.
    pub(crate) fn allowed(&self, filter: &Filter) -> AllowedPages {
        if filter.is_empty() {
            return AllowedPages::All;
        }
        let last = self.cards().map(|card| card.id).max().unwrap_or_default();
        let mut marked = vec![false; usize::try_from(last).unwrap_or_default() + 1];
        for card in self.cards().filter(|card| filter.admits(&card.source, &card.facts)) {
            if let Some(mark) = usize::try_from(card.id).ok().and_then(|id| marked.get_mut(id)) {
                *mark = true;
            }
        }
        AllowedPages::Only(marked.into())
    }

    /// The chunks nearest to a vector.
    pub(crate) fn nearest(&self, vector: &[f32], most: usize, allowed: &AllowedPages) -> Vec<VectorHit> {
        let Some(meaning) = &self.meaning else { return Vec::new() };
        match allowed {
            AllowedPages::All => meaning.flat.nearest(vector, most, |_| true),
            AllowedPages::Only(_) => meaning
                .flat
                .nearest(vector, most, |slot| self.card_in(slot).is_some_and(|card| allowed.admits(card.id))),
        }
    }

    /// How near every chunk of these pages is.
    pub(crate) fn near(&self, vector: &[f32], pages: &[i64]) -> Vec<VectorHit> {
        let Some(meaning) = &self.meaning else { return Vec::new() };
        let slots: Vec<u32> = pages.iter().filter_map(|page| self.slots.get(page).copied()).collect();
        meaning.flat.of_slots(vector, &slots)
    }

    /// What each of these pages is about on the whole, as a vector of length one; those without vectors are left out.
    pub(crate) fn centroids(&self, pages: &[i64]) -> HashMap<i64, Vec<f32>> {
        let Some(meaning) = &self.meaning else { return HashMap::new() };
        let slots: Vec<u32> = pages.iter().filter_map(|page| self.slots.get(page).copied()).collect();
        let centroids = meaning.flat.centroids(&slots).into_iter();
        centroids.filter_map(|(slot, centre)| Some((self.card_in(slot)?.id, centre))).collect()
    }

    fn put(&mut self, id: i64, source: &str, facts: Arc<Facts>) {
        let source: Arc<str> = match self.names.get(source) {
            Some(name) => name.clone(),
            None => Arc::from(source),
        };
        self.names.insert(source.clone());
        let card = Card { id, source, facts };
        match self.slots.get(&id).and_then(|slot| self.cards.get_mut(*slot as usize)) {
            Some(place) => *place = Some(card),
            None => {
                let slot = u32::try_from(self.cards.len()).unwrap_or(u32::MAX);
                self.slots.insert(id, slot);
                self.cards.push(Some(card));
            }
        }
    }

    fn take(&mut self, id: i64) {
        if let Some(place) = self.slots.remove(&id).and_then(|slot| self.cards.get_mut(slot as usize)) {
            *place = None;
        }
    }
}

impl ModelVectors {
    fn place(&mut self, slots: &HashMap<i64, u32>, placed: &ChunkVector) {
        // A page that is not here yet brings its vectors along when it comes.
        if let Some(slot) = slots.get(&placed.page) {
            self.flat.insert(Owner { slot: *slot, chunk: placed.chunk }, &placed.vector);
        }
    }
}

impl MemoryPosition {
    /// What happened since, of one state of the database. Reads only, so that nobody waits for it.
    pub(crate) fn news(&self, tx: &Tx<'_>) -> Result<Option<MemoryUpdate>, DbError> {
        let seq = events::last(tx)?;
        let vectors_seq = vectors::last(tx)?;
        let is_known = self.model.as_ref().is_none_or(|(_, known)| *known == vectors_seq);
        if seq == self.seq && is_known {
            return Ok(None);
        }
        let happened = events::after(tx, pages::STREAM, self.seq, MAX_INCREMENTAL_EVENTS)?;
        if i64::try_from(happened.len()).ok() != Some(seq - self.seq) {
            let active = self.model.as_ref().map(|(active, _)| active.clone());
            return Ok(Some(MemoryUpdate::All(Box::new(Memory::load(tx, active)?))));
        }
        let ids: BTreeSet<i64> = happened.iter().filter_map(|event| event.key.parse().ok()).collect();
        let mut placed = Vec::new();
        if let Some((active, known)) = &self.model {
            placed = vectors::after(tx, active.model, *known)?;
            // Those of pages that changed come all together.
            placed.retain(|one| !ids.contains(&one.page));
        }
        let mut touched = Vec::with_capacity(ids.len());
        for id in ids {
            let stored = pages::page(tx, id)?;
            if let (Some(_), Some((active, _))) = (&stored, &self.model) {
                placed.extend(vectors::of_page(tx, active.model, id)?);
            }
            let page = match stored {
                Some(stored) => Some((facts(&stored)?, stored.source)),
                None => None,
            };
            touched.push((id, page.map(|(facts, source)| (source, facts))));
        }
        Ok(Some(MemoryUpdate::Some(Changes { seq, touched, vectors: placed, vectors_seq })))
    }
}

fn facts(stored: &pages::StoredPage) -> Result<Arc<Facts>, DbError> {
    let facts = serde_json::from_str(&stored.facts).map_err(|error| DbError::Content(error.to_string()))?;
    Ok(Arc::new(facts))
}
