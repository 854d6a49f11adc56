//! Fuzzy name matching: suggestions for failed lookups, and completions.

use std::{cmp::Ordering, collections::BTreeMap, sync::Arc};

use super::{
    Catalog, Entry,
    lexicon::{folded, terms},
};

/// Minimum similarity for a suggestion.
const MIN_SIMILARITY: f64 = 0.35;

/// Minimum length of a name, in bytes, for substring matches to count as similar.
const MIN_NAME_BYTES: usize = 3;

/// Suggests up to `limit` terms with similar names, most similar first.
pub fn near_terms<'a>(catalog: &'a Catalog, name: &str, limit: usize) -> Vec<&'a Arc<Entry>> {
    let wanted = Name::of(name);
    let score = |entry: &Entry| {
        let aliases = entry.texts("aliases");
        let names = [&entry.summary.title, &entry.summary.id].into_iter().chain(&aliases);
        names.map(|name| wanted.similarity(&Name::of(name))).fold(0.0, f64::max)
    };
    nearest(terms(catalog).map(|entry| (score(entry), entry)), limit)
}

/// Suggests documents for an unknown type and id: most similar ids first, with a small bonus for the same type.
pub fn near_documents<'a>(
    catalog: &'a Catalog,
    content_type: &str,
    id: &str,
    limit: usize,
) -> Vec<&'a Arc<Entry>> {
    let wanted = Name::of(id);
    let score = |entry: &Entry| {
        let same_type = if entry.summary.content_type == content_type { 0.01 } else { 0.0 };
        match wanted.similarity(&Name::of(&entry.summary.id)) {
            similarity if similarity < MIN_SIMILARITY => 0.0,
            similarity => similarity + same_type,
        }
    };
    nearest(catalog.entries().iter().map(|entry| (score(entry), entry)), limit)
}

/// Completes a typed text: distinct names that start with it, then names that contain it.
pub fn completions<'a>(names: impl IntoIterator<Item = &'a str>, typed: &str) -> Vec<String> {
    let typed = folded(typed);
    let mut found: BTreeMap<(u8, String), &str> = BTreeMap::new();
    for name in names {
        let compared = folded(name);
        let rank = match () {
            () if compared.is_empty() => continue,
            () if compared.starts_with(&typed) => 0,
            () if compared.contains(&typed) => 1,
            () => continue,
        };
        found.entry((rank, compared)).or_insert(name);
    }
    found.into_values().map(str::to_owned).collect()
}

fn nearest<'a>(scored: impl Iterator<Item = (f64, &'a Arc<Entry>)>, limit: usize) -> Vec<&'a Arc<Entry>> {
    let mut scored: Vec<(f64, &Arc<Entry>)> = scored.filter(|(score, _)| *score >= MIN_SIMILARITY).collect();
    scored.sort_by(|(a, one), (b, other)| {
        b.partial_cmp(a).unwrap_or(Ordering::Equal).then_with(|| one.summary.path.cmp(&other.summary.path))
    });
    scored.into_iter().take(limit).map(|(_, entry)| entry).collect()
}

/// A normalized name and its sorted character bigrams.
struct Name {
    folded: String,
    bigrams: Vec<(char, char)>,
}

impl Name {
    fn of(text: &str) -> Self {
        let folded = folded(text);
        let mut bigrams: Vec<(char, char)> = folded.chars().zip(folded.chars().skip(1)).collect();
        bigrams.sort_unstable();
        Self { folded, bigrams }
    }

    /// Sørensen–Dice coefficient of the bigrams, from 0 to 1; at least 0.5 if one name contains the other.
    fn similarity(&self, other: &Self) -> f64 {
        if self.folded.is_empty() || other.folded.is_empty() {
            return 0.0;
        }
        let (mut left, mut right, mut shared) =
            (self.bigrams.iter().peekable(), other.bigrams.iter().peekable(), 0);
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
        let all = u32::try_from(self.bigrams.len() + other.bigrams.len()).unwrap_or(u32::MAX).max(1);
        let dice = f64::from(2 * shared) / f64::from(all);
        let (short, long) = match self.folded.len() < other.folded.len() {
            true => (&self.folded, &other.folded),
            false => (&other.folded, &self.folded),
        };
        let contained = short.len() >= MIN_NAME_BYTES && long.contains(short);
        match self.folded == other.folded {
            true => 1.0,
            false if contained => dice.max(0.5),
            false => dice,
        }
    }
}

#[cfg(test)]
mod tests;
