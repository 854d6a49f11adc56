//! Search over what is listed: BM25 over names, descriptions and paths.
//!
//! Contents are not searched. Lists are for everyone who may call the tools; contents only for those whom GitHub lets
//! read them (ADR 23).

use std::collections::{BTreeSet, HashMap};

use lyceum_content::library::{AgentEntry, DocsIndex, SkillEntry};
use lyceum_model::RelPath;
use lyceum_search::terms;

use crate::PartKind;

/// Saturation of term weights, and how much long texts are discounted.
const K1: f32 = 1.2;
const B: f32 = 0.4;

/// Weights of the fields.
const NAME: f32 = 3.0;
const DESCRIPTION: f32 = 1.0;
const PATH: f32 = 0.5;

/// Maximum number of distinct words of a query.
const MAX_WORDS: usize = 50;

/// A skill, an agent profile or a page, as the lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) kind: PartKind,
    /// Its name; of a page, its keys in the tree, joined by `/`.
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) path: RelPath,
    pub(crate) url: Option<String>,
}

impl Listed {
    pub(crate) fn skill(entry: &SkillEntry) -> Self {
        Self {
            kind: PartKind::Skills,
            name: entry.name.clone(),
            description: entry.description.clone(),
            path: entry.path.clone(),
            url: entry.url.clone(),
        }
    }

    pub(crate) fn agent(entry: &AgentEntry) -> Self {
        Self {
            kind: PartKind::Agents,
            name: entry.name.clone(),
            description: entry.description.clone(),
            path: entry.path.clone(),
            url: entry.url.clone(),
        }
    }

    pub(crate) fn page(index: &DocsIndex, keys: &str, path: &RelPath, url: Option<String>) -> Self {
        let description = index.description(keys).map(str::to_owned);
        Self { kind: PartKind::Docs, name: keys.to_owned(), description, path: path.clone(), url }
    }

    /// Its stems, weighted by field.
    fn stems(&self) -> HashMap<String, f32> {
        let words = |text: &str| text.replace(['/', '-', '_', '.'], " ");
        let about = self.description.as_deref().unwrap_or_default();
        let fields =
            [(words(&self.name), NAME), (about.to_owned(), DESCRIPTION), (words(self.path.as_str()), PATH)];
        let mut stems = HashMap::new();
        for (text, weight) in fields {
            for term in terms(&text) {
                *stems.entry(term.stem).or_default() += weight;
            }
        }
        stems
    }
}

/// What one part lists, to search.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    entries: Vec<Listed>,
    /// By stem: positions of entries, with the weight of the stem there.
    postings: HashMap<String, Vec<(usize, f32)>>,
    /// Sum of the weights of each entry.
    lengths: Vec<f32>,
}

impl Listing {
    pub(crate) fn new(entries: impl Iterator<Item = Listed>) -> Self {
        let mut listing = Self { entries: entries.collect(), ..Self::default() };
        for (position, entry) in listing.entries.iter().enumerate() {
            let stems = entry.stems();
            listing.lengths.push(stems.values().sum());
            for (stem, weight) in stems {
                listing.postings.entry(stem).or_default().push((position, weight));
            }
        }
        listing
    }

    /// The names of all entries.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }
}

/// The entries of several listings that match a query, best first. An entry that has all words comes before one that has
/// a part of them.
pub(crate) fn search<'a>(listings: &[&'a Listing], query: &str, limit: usize) -> Vec<(&'a Listed, f32)> {
    let words: BTreeSet<String> = terms(query).into_iter().take(MAX_WORDS).map(|term| term.stem).collect();
    let total: usize = listings.iter().map(|listing| listing.entries.len()).sum();
    let mean = listings.iter().flat_map(|listing| &listing.lengths).sum::<f32>() / total.max(1) as f32;
    let postings =
        |listing: &'a Listing, stem: &str| listing.postings.get(stem).map_or(&[][..], Vec::as_slice);
    let mut scores: HashMap<(usize, usize), (f32, f32)> = HashMap::new();
    let mut idf_mass = 0.0;
    for stem in &words {
        let with: usize = listings.iter().map(|listing| postings(listing, stem).len()).sum();
        let idf = (1.0 + (total as f32 - with as f32 + 0.5) / (with as f32 + 0.5)).ln();
        idf_mass += idf;
        for (number, listing) in listings.iter().enumerate() {
            for (position, weight) in postings(listing, stem) {
                let length = listing.lengths.get(*position).copied().unwrap_or_default();
                let saturation = K1 * (1.0 - B + B * length / mean.max(f32::EPSILON));
                let (score, covered) = scores.entry((number, *position)).or_default();
                *score += idf * weight / (weight + saturation);
                *covered += idf;
            }
        }
    }
    let mut hits: Vec<(&Listed, f32)> = scores
        .into_iter()
        .filter_map(|((number, position), (score, covered))| {
            let entry = listings.get(number)?.entries.get(position)?;
            Some((entry, score / idf_mass.max(f32::EPSILON) * (covered / idf_mass.max(f32::EPSILON))))
        })
        .collect();
    hits.sort_by(|(one, first), (other, second)| {
        second.total_cmp(first).then_with(|| (one.kind, &one.name).cmp(&(other.kind, &other.name)))
    });
    hits.truncate(limit);
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(kind: PartKind, name: &str, description: &str) -> Listed {
        let (path, url) = (RelPath::parse(&format!("x/{name}.md")).unwrap(), None);
        Listed { kind, name: name.to_owned(), description: Some(description.to_owned()), path, url }
    }

    #[track_caller]
    fn check(query: &str, expected: &[&str]) {
        let skills = Listing::new(
            [
                listed(PartKind::Skills, "pdf-forms", "Fill in forms of a PDF"),
                listed(PartKind::Skills, "spreadsheets", "Write tables; not for forms"),
            ]
            .into_iter(),
        );
        let docs =
            Listing::new([listed(PartKind::Docs, "guides/setup", "Setting up the printer")].into_iter());
        let hits = search(&[&skills, &docs], query, 10);
        let names: Vec<&str> = hits.iter().map(|(hit, _)| hit.name.as_str()).collect();
        assert_eq!(names, expected, "{query}");
    }

    #[test]
    fn names_descriptions_and_paths_are_found_by_their_stems_and_names_first() {
        check("form", &["pdf-forms", "spreadsheets"]);
        check("writing a table", &["spreadsheets"]);
        check("guide", &["guides/setup"]);
        check("printers", &["guides/setup"]);
        check("fill in the PDF form", &["pdf-forms", "spreadsheets"]);
        check("zebra", &[]);
        check("", &[]);
        check("the of", &[]);
    }
}
