//! What is held in memory of the pages: what is known of each, and the vectors of the model in use.
//!
//! It follows the database by the numbers of events and vectors, in every process alike.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use lyceum_store::{DbError, Tx, events, pages, vectors};

use crate::{
    filter::Filter,
    page::Facts,
    vectors::{Flat, Near, Owner},
};

/// How many events are taken one by one; with more of them everything is read.
const ONE_BY_ONE: usize = 2_000;

/// A page in memory.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    pub id: i64,
    pub source: Arc<str>,
    pub facts: Arc<Facts>,
}

/// A model and its vectors.
#[derive(Debug)]
struct Meaning {
    model: i64,
    flat: Flat,
    /// The number of the last vector that is in it.
    seq: i64,
}

/// What is held in memory.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    cards: Vec<Option<Card>>,
    slots: HashMap<i64, u32>,
    names: HashSet<Arc<str>>,
    meaning: Option<Meaning>,
    /// The number of the last event that is in it.
    pub seq: i64,
}

/// Which pages may be found.
#[derive(Debug, Clone)]
pub(crate) enum Allowed {
    /// All of them.
    All,
    /// Those whose number is marked.
    Only(Arc<[bool]>),
}

impl Allowed {
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
    /// Reads every page.
    pub(crate) fn load(tx: &Tx<'_>) -> Result<Self, DbError> {
        let mut memory = Self { seq: events::last(tx)?, ..Self::default() };
        for kept in pages::all(tx)? {
            memory.put(kept)?;
        }
        Ok(memory)
    }

    /// Takes in what happened since, and says which pages were touched; nothing where all of them may have been.
    pub(crate) fn follow(&mut self, tx: &Tx<'_>) -> Result<Option<Vec<i64>>, DbError> {
        let last = events::last(tx)?;
        if last == self.seq {
            return Ok(Some(Vec::new()));
        }
        let news = events::after(tx, pages::STREAM, self.seq, ONE_BY_ONE)?;
        if i64::try_from(news.len()).ok() != Some(last - self.seq) {
            let model = self.meaning.as_ref().map(|meaning| (meaning.model, meaning.flat.dimensions()));
            *self = Self::load(tx)?;
            if let Some((model, dimensions)) = model {
                self.use_model(tx, model, dimensions)?;
            }
            return Ok(None);
        }
        let mut touched: Vec<i64> = news.iter().filter_map(|event| event.key.parse().ok()).collect();
        touched.sort_unstable();
        touched.dedup();
        self.forget_vectors(&touched);
        for id in &touched {
            match pages::page(tx, *id)? {
                Some(kept) => {
                    self.put(kept)?;
                    self.place_vectors(tx, *id)?;
                }
                None => self.take(*id),
            }
        }
        self.seq = last;
        Ok(Some(touched))
    }

    /// Uses the vectors of a model from now on.
    pub(crate) fn use_model(&mut self, tx: &Tx<'_>, model: i64, dimensions: usize) -> Result<(), DbError> {
        self.meaning = Some(Meaning { model, flat: Flat::new(dimensions), seq: 0 });
        self.follow_vectors(tx)
    }

    /// The model whose vectors are used.
    pub(crate) fn model(&self) -> Option<i64> {
        self.meaning.as_ref().map(|meaning| meaning.model)
    }

    /// Takes in vectors that were kept since.
    pub(crate) fn follow_vectors(&mut self, tx: &Tx<'_>) -> Result<(), DbError> {
        let Some(meaning) = &mut self.meaning else { return Ok(()) };
        for placed in vectors::after(tx, meaning.model, meaning.seq)? {
            meaning.seq = placed.seq;
            // A page that is not here yet brings its vectors along when it comes.
            if let Some(slot) = self.slots.get(&placed.page) {
                let owner = Owner { slot: *slot, chunk: placed.chunk };
                meaning.flat.insert(owner, &placed.vector);
            }
        }
        Ok(())
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
    pub(crate) fn allowed(&self, filter: &Filter) -> Allowed {
        if filter.is_empty() {
            return Allowed::All;
        }
        let last = self.cards().map(|card| card.id).max().unwrap_or_default();
        let mut marked = vec![false; usize::try_from(last).unwrap_or_default() + 1];
        for card in self.cards().filter(|card| filter.admits(&card.source, &card.facts)) {
            if let Some(mark) = usize::try_from(card.id).ok().and_then(|id| marked.get_mut(id)) {
                *mark = true;
            }
        }
        Allowed::Only(marked.into())
    }

    /// The chunks nearest to a vector.
    pub(crate) fn nearest(&self, vector: &[f32], most: usize, allowed: &Allowed) -> Vec<Near> {
        let Some(meaning) = &self.meaning else { return Vec::new() };
        match allowed {
            Allowed::All => meaning.flat.nearest(vector, most, |_| true),
            Allowed::Only(_) => meaning
                .flat
                .nearest(vector, most, |slot| self.card_in(slot).is_some_and(|card| allowed.admits(card.id))),
        }
    }

    /// How near every chunk of these pages is.
    pub(crate) fn near(&self, vector: &[f32], pages: &[i64]) -> Vec<Near> {
        let Some(meaning) = &self.meaning else { return Vec::new() };
        let slots = pages.iter().filter_map(|page| self.slots.get(page).copied()).collect();
        meaning.flat.of_slots(vector, &slots)
    }

    fn put(&mut self, kept: pages::Kept) -> Result<(), DbError> {
        let facts = serde_json::from_str(&kept.facts).map_err(|error| DbError::Content(error.to_string()))?;
        let source: Arc<str> = match self.names.get(kept.source.as_str()) {
            Some(name) => name.clone(),
            None => Arc::from(kept.source),
        };
        self.names.insert(source.clone());
        let card = Card { id: kept.id, source, facts: Arc::new(facts) };
        match self.slots.get(&kept.id).and_then(|slot| self.cards.get_mut(*slot as usize)) {
            Some(place) => *place = Some(card),
            None => {
                let slot = u32::try_from(self.cards.len()).unwrap_or(u32::MAX);
                self.slots.insert(kept.id, slot);
                self.cards.push(Some(card));
            }
        }
        Ok(())
    }

    fn take(&mut self, id: i64) {
        if let Some(place) = self.slots.remove(&id).and_then(|slot| self.cards.get_mut(slot as usize)) {
            *place = None;
        }
    }

    fn forget_vectors(&mut self, touched: &[i64]) {
        let slots = touched.iter().filter_map(|id| self.slots.get(id).copied()).collect();
        if let Some(meaning) = &mut self.meaning {
            meaning.flat.remove(&slots);
        }
    }

    /// Vectors that are there already, for chunks that did not change.
    fn place_vectors(&mut self, tx: &Tx<'_>, id: i64) -> Result<(), DbError> {
        let Some(meaning) = &mut self.meaning else { return Ok(()) };
        let Some(slot) = self.slots.get(&id) else { return Ok(()) };
        for placed in vectors::of_page(tx, meaning.model, id)? {
            // Those that came later are placed when they are followed.
            if placed.seq <= meaning.seq {
                meaning.flat.insert(Owner { slot: *slot, chunk: placed.chunk }, &placed.vector);
            }
        }
        Ok(())
    }
}
