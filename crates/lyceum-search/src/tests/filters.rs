//! Filters in lexical and vector search, and facet counts.

use jiff::Timestamp;
use tempfile::TempDir;

use super::{Scene, page};
use crate::{Filter, Mode, Page, Query, tests::Control};

fn pages() -> Vec<Page> {
    let mut one = page("one", "Guide one", "words about the same thing");
    one.facts.group = Some("red".to_owned());
    one.facts.tags = vec!["a".to_owned(), "b".to_owned()];
    one.facts.date = Some(day(1));
    one.facts.release = Some("r1".to_owned());
    one.facts.status = Some("draft".to_owned());
    let mut two = page("two", "Guide two", "words about the same thing");
    two.facts.content_type = "note".to_owned();
    two.facts.path = "notes/two.md".to_owned();
    two.facts.tags = vec!["b".to_owned()];
    two.facts.date = Some(day(5));
    vec![one, two, page("three", "Guide three", "words about the same thing")]
}

fn day(number: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + number * 86_400).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_hold_for_every_stage() {
    let folder = TempDir::new().unwrap();
    let scene = Scene::open(folder.path(), Some("one:64"), &Control::new());
    scene.put(pages()).await;
    let other = vec![page("four", "Guide four", "words about the same thing")];
    assert!(scene.search.apply("other", other, Vec::new()).await.unwrap());
    scene.filled().await;
    let text = |text: &str| Some(text.to_owned());
    let none = Filter::default();
    let cases: Vec<(Filter, &[&str])> = vec![
        (none.clone(), &["four", "one", "three", "two"]),
        (Filter { content_types: vec!["note".to_owned()], ..none.clone() }, &["two"]),
        (Filter { content_types: vec!["note".to_owned(), "x".to_owned()], ..none.clone() }, &["two"]),
        (Filter { group: text("red"), ..none.clone() }, &["one"]),
        (Filter { tags: vec!["b".to_owned(), "zz".to_owned()], ..none.clone() }, &["one", "two"]),
        (Filter { release: text("r1"), ..none.clone() }, &["one"]),
        (Filter { status: text("draft"), ..none.clone() }, &["one"]),
        (Filter { since: Some(day(2)), ..none.clone() }, &["two"]),
        (Filter { until: Some(day(1)), ..none.clone() }, &["one"]),
        (Filter { since: Some(day(1)), until: Some(day(5)), ..none.clone() }, &["one", "two"]),
        (Filter { source: text("other"), ..none.clone() }, &["four"]),
        (Filter { path: text("notes/"), ..none.clone() }, &["two"]),
        (Filter { source: text("other"), group: text("red"), ..none.clone() }, &[]),
    ];
    for mode in [Mode::Lexical, Mode::Vector, Mode::Hybrid] {
        for (filter, expected) in &cases {
            let query = Query {
                text: "same words".to_owned(),
                filter: filter.clone(),
                limit: 20,
                mode,
                facets: true,
            };
            let answer = scene.search.find(query).await.unwrap();
            let mut found: Vec<&str> = answer.hits.iter().map(|hit| hit.facts.id.as_str()).collect();
            found.sort_unstable();
            assert_eq!(found, *expected, "{mode:?} {filter:?}");
            let facets = answer.facets.unwrap();
            assert_eq!(facets.content_types.values().sum::<usize>(), expected.len(), "{mode:?} {filter:?}");
        }
    }
    let query = Query { text: "guide".to_owned(), limit: 1, facets: true, ..Query::default() };
    let facets = scene.search.find(query).await.unwrap().facets.unwrap();
    let counted = |map: &std::collections::BTreeMap<String, usize>| -> String {
        map.iter().map(|(name, count)| format!("{name}={count} ")).collect()
    };
    assert_eq!(counted(&facets.content_types), "guide=3 note=1 ");
    assert_eq!(counted(&facets.tags), "a=1 b=2 ");
    assert_eq!(counted(&facets.sources), "docs=3 other=1 ");
    assert_eq!(
        counted(&facets.groups) + &counted(&facets.releases) + &counted(&facets.statuses),
        "red=1 r1=1 draft=1 "
    );
    scene.close().await;
}
