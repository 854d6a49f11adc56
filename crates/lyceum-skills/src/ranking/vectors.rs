//! The vectors of the ranked skills, in tables that are scanned for every task.

use std::sync::OnceLock;

use lyceum_search::VectorTable;

use super::{Passage, Ranker, TextHash};

/// The vectors of all summaries, and of all passages of bodies, each once all are computed.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    summaries: OnceLock<VectorTable>,
    bodies: OnceLock<VectorTable>,
}

/// What of the skills is embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// Not all summaries.
    Nothing,
    /// All summaries.
    Summaries,
    /// All summaries and bodies.
    All,
}

impl Ranker {
    /// The summaries of the skills, to embed.
    pub(crate) fn summaries(&self) -> impl Iterator<Item = &Passage> {
        self.texts.iter().map(|text| &text.summary)
    }

    /// The passages of their bodies, to embed.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = &Passage> {
        self.texts.iter().flat_map(|text| &text.body)
    }

    /// Takes the vectors that it lacks, if all summaries, or all bodies, have theirs.
    pub(crate) fn take_vectors<'a>(&self, vector_of: impl Fn(&TextHash) -> Option<&'a [u8]>) {
        if self.vectors.summaries.get().is_none() {
            take(&self.vectors.summaries, self.summaries(), &vector_of);
        }
        if self.vectors.bodies.get().is_none() {
            take(&self.vectors.bodies, self.bodies(), &vector_of);
        }
    }

    /// What is embedded.
    pub(crate) fn coverage(&self) -> Coverage {
        match (self.vectors.summaries.get(), self.vectors.bodies.get()) {
            (None, _) => Coverage::Nothing,
            (Some(_), None) => Coverage::Summaries,
            (Some(_), Some(_)) => Coverage::All,
        }
    }

    /// The similarity of a task with each skill: the mean of that with its summary and that with the best passage of its
    /// body. Without the latter the summary counts alone. `None` until all summaries are embedded.
    pub(crate) fn cosines(&self, task: &[f32]) -> Option<Vec<f32>> {
        let mut cosines = self.vectors.summaries.get()?.cosines(task);
        if let Some(bodies) = self.vectors.bodies.get() {
            let bodies = bodies.cosines(task);
            let mut rest = bodies.as_slice();
            for (cosine, text) in cosines.iter_mut().zip(&self.texts) {
                let (own, others) = rest.split_at_checked(text.body.len())?;
                rest = others;
                if let Some(best) = own.iter().copied().reduce(f32::max) {
                    *cosine = f32::midpoint(*cosine, best);
                }
            }
        }
        Some(cosines)
    }
}

fn take<'p, 'v>(
    table: &OnceLock<VectorTable>,
    passages: impl Iterator<Item = &'p Passage>,
    vector_of: impl Fn(&TextHash) -> Option<&'v [u8]>,
) {
    let vectors: Option<Vec<&[u8]>> = passages.map(|passage| vector_of(&passage.hash)).collect();
    if let Some(vectors) = vectors {
        table.get_or_init(|| VectorTable::new(vectors));
    }
}
