//! Names that are like what was typed: to suggest where nothing was found, and to complete what is being written.

use std::{cmp::Ordering, collections::BTreeMap, sync::Arc};

use super::{
    Catalog, Entry,
    lexicon::{folded, terms},
};

/// How alike two names are at least, for one to be suggested for the other.
const MIN_SIMILARITY: f64 = 0.35;

/// How long a name is at least, in bytes, for one that contains it to be alike for that reason alone.
const MIN_NAME_BYTES: usize = 3;

/// The terms whose names are most like a name: so many at most, the nearest first.
pub fn near_terms<'a>(catalog: &'a Catalog, name: &str, most: usize) -> Vec<&'a Arc<Entry>> {
    let wanted = Name::of(name);
    let score = |entry: &Entry| {
        let aliases = entry.texts("aliases");
        let names = [&entry.summary.title, &entry.summary.id].into_iter().chain(&aliases);
        names.map(|name| wanted.likeness(&Name::of(name))).fold(0.0, f64::max)
    };
    nearest(terms(catalog).map(|entry| (score(entry), entry)), most)
}

/// The documents that may be meant by a type and an id: the same id of another type, then ids that are like it.
pub fn near_documents<'a>(
    catalog: &'a Catalog,
    content_type: &str,
    id: &str,
    most: usize,
) -> Vec<&'a Arc<Entry>> {
    let wanted = Name::of(id);
    let score = |entry: &Entry| {
        let same_type = if entry.summary.content_type == content_type { 0.01 } else { 0.0 };
        match wanted.likeness(&Name::of(&entry.summary.id)) {
            likeness if likeness < MIN_SIMILARITY => 0.0,
            likeness => likeness + same_type,
        }
    };
    nearest(catalog.entries().iter().map(|entry| (score(entry), entry)), most)
}

/// The names that what is typed can become, each once: those that begin with it, then those that contain it.
pub fn completions<'a>(names: impl IntoIterator<Item = &'a str>, typed: &str) -> Vec<String> {
    let typed = folded(typed);
    let mut found: BTreeMap<(u8, String), &str> = BTreeMap::new();
    for name in names {
        let compared = folded(name);
        let place = match () {
            () if compared.is_empty() => continue,
            () if compared.starts_with(&typed) => 0,
            () if compared.contains(&typed) => 1,
            () => continue,
        };
        found.entry((place, compared)).or_insert(name);
    }
    found.into_values().map(str::to_owned).collect()
}

fn nearest<'a>(scored: impl Iterator<Item = (f64, &'a Arc<Entry>)>, most: usize) -> Vec<&'a Arc<Entry>> {
    let mut scored: Vec<(f64, &Arc<Entry>)> = scored.filter(|(score, _)| *score >= MIN_SIMILARITY).collect();
    scored.sort_by(|(a, one), (b, other)| {
        b.partial_cmp(a).unwrap_or(Ordering::Equal).then_with(|| one.summary.path.cmp(&other.summary.path))
    });
    scored.into_iter().take(most).map(|(_, entry)| entry).collect()
}

/// A name as it is compared, and the pairs of letters in it, in order.
struct Name {
    folded: String,
    pairs: Vec<(char, char)>,
}

impl Name {
    fn of(text: &str) -> Self {
        let folded = folded(text);
        let mut pairs: Vec<(char, char)> = folded.chars().zip(folded.chars().skip(1)).collect();
        pairs.sort_unstable();
        Self { folded, pairs }
    }

    /// From 0 to 1: how many of all pairs of letters the two share. A name within the other is alike in any case.
    fn likeness(&self, other: &Self) -> f64 {
        if self.folded.is_empty() || other.folded.is_empty() {
            return 0.0;
        }
        let (mut left, mut right, mut shared) =
            (self.pairs.iter().peekable(), other.pairs.iter().peekable(), 0);
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            match a.cmp(b) {
                Ordering::Less => drop(left.next()),
                Ordering::Greater => drop(right.next()),
                Ordering::Equal => {
                    shared += 1;
                    left.next();
                    right.next();
                }
            }
        }
        let all = u32::try_from(self.pairs.len() + other.pairs.len()).unwrap_or(u32::MAX).max(1);
        let alike = f64::from(2 * shared) / f64::from(all);
        let (short, long) = match self.folded.len() < other.folded.len() {
            true => (&self.folded, &other.folded),
            false => (&other.folded, &self.folded),
        };
        let within = short.len() >= MIN_NAME_BYTES && long.contains(short);
        match self.folded == other.folded {
            true => 1.0,
            false if within => alike.max(0.5),
            false => alike,
        }
    }
}

#[cfg(test)]
mod tests;
