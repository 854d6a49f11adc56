//! A whole evaluation run, with a fake model.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use futures::FutureExt;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use lyceum_models::embedder::{EmbedError, Embedder, Identity, Pooling, Purpose};

use super::{Expected, Question, Set, last_run, matches_name, run, save_last_run, until_embedded};
use crate::{Facts, Filter, Kind, Mode, Options, Page, Search};

/// Embeds a text as its letter counts.
#[derive(Debug)]
struct LetterCounts(Identity);

#[async_trait]
impl Embedder for LetterCounts {
    fn identity(&self) -> &Identity {
        &self.0
    }

    async fn embed(&self, _: Purpose, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vector = |text: &String| {
            let mut vector = vec![0.1; 26];
            for letter in text.to_lowercase().bytes().filter(u8::is_ascii_lowercase) {
                vector[usize::from(letter - b'a')] += 1.0;
            }
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            vector.into_iter().map(|x| x / length).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

fn letters() -> Arc<dyn Embedder> {
    let identity = Identity {
        kind: "local".to_owned(),
        name: "letters".to_owned(),
        sha256: None,
        pooling: Pooling::Mean,
        query_prefix: String::new(),
        passage_prefix: String::new(),
        dimensions: 26,
        max_tokens: 256,
    };
    Arc::new(LetterCounts(identity))
}

fn page(id: &str, body: &str) -> Page {
    let facts = Facts {
        id: id.to_owned(),
        content_type: "docs".to_owned(),
        kind: Kind::Prose,
        title: id.to_owned(),
        description: String::new(),
        path: format!("guides/{id}.md"),
        url: None,
        commit_sha: "0".to_owned(),
        synced_at: Timestamp::UNIX_EPOCH,
        group: None,
        release: None,
        status: None,
        tags: Vec::new(),
        date: None,
        language: None,
        aliases: Vec::new(),
    };
    Page { facts, version: "1".to_owned(), about: String::new(), body: body.to_owned(), first_line: 1 }
}

fn question(text: &str, expected: Expected) -> Question {
    Question { id: text.to_owned(), text: text.to_owned(), filter: Filter::default(), expected }
}

#[tokio::test]
async fn a_run_asks_in_every_way_and_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        shared: None,
        folder: folder.path().to_owned(),
        embedder: Some("letters".to_owned()),
        connect: Arc::new(|_| async { Ok(letters()) }.boxed()),
        reranker: None,
    };
    let search = Arc::new(Search::new(options));
    let stop = CancellationToken::new();
    let open = tokio::spawn(search.clone().keep_open(stop.clone()));
    let fill = tokio::spawn(search.clone().keep_embedded(stop.clone()));
    let pages = vec![page("zebra", "zebras have stripes"), page("bread", "bread is baked in an oven")];
    assert!(search.apply("source", pages, Vec::new()).await.unwrap());
    until_embedded(&search, |_| {}).await.unwrap();

    let named = |name: &str| Expected::Named(vec![name.to_owned()]);
    let graded = Expected::Graded(HashMap::from([("bread".to_owned(), 2)]));
    let too_long = "long ".repeat(1_000);
    let questions = vec![
        question("zebras", named("guides/zebra.md")),
        question("baked bread", graded),
        question(&too_long, named("docs/zebra")),
    ];
    let set = Set { name: "tiny".to_owned(), questions };
    let modes = [Mode::Hybrid, Mode::Lexical, Mode::Vector];
    let mut progress_calls = 0;
    let report = run(&search, &set, &modes, |_| progress_calls += 1).await.unwrap();
    assert_eq!((progress_calls, report.documents, report.stages.len()), (9, 2, 3));
    assert_eq!(report.model.as_ref().unwrap().name, "letters");
    for stage in &report.stages {
        let of_each: Vec<f64> = stage.questions.iter().map(|one| one.ndcg).collect();
        assert_eq!(of_each, [1.0, 1.0, 0.0], "{:?}", stage.mode);
        let [problem] = stage.problems.as_slice() else { panic!("{:?}", stage.problems) };
        assert!(problem.starts_with("the query is longer than"), "{problem}");
    }

    assert_eq!(last_run(folder.path()), None);
    save_last_run(folder.path(), &report).unwrap();
    assert_eq!(last_run(folder.path()), Some(report.clone()));
    let lexical_only = run(&search, &set, &[Mode::Lexical], |_| {}).await.unwrap();
    save_last_run(folder.path(), &lexical_only).unwrap();
    let modes: Vec<Mode> = last_run(folder.path()).unwrap().stages.iter().map(|stage| stage.mode).collect();
    assert_eq!(modes, [Mode::Lexical, Mode::Hybrid, Mode::Vector]);

    // A duplicate text: the order of the two is arbitrary.
    let duplicate = Page { facts: page("bread", "").facts, ..page("bread", "bread is baked in an oven") };
    let duplicate = Page { facts: Facts { id: "twin".to_owned(), ..duplicate.facts }, ..duplicate };
    assert!(search.apply("source", vec![duplicate], Vec::new()).await.unwrap());
    until_embedded(&search, |_| {}).await.unwrap();
    for id in ["bread", "twin"] {
        let expected = Expected::Graded(HashMap::from([(id.to_owned(), 1)]));
        let set = Set { name: "tiny".to_owned(), questions: vec![question("baked bread", expected)] };
        let report = run(&search, &set, &[Mode::Hybrid], |_| {}).await.unwrap();
        let scored = &report.stages[0].questions[0];
        assert_eq!((scored.reciprocal_rank, scored.hit), (0.75, 1.0), "{id}");
    }
    stop.cancel();
    open.await.unwrap();
    fill.await.unwrap();
}

#[tokio::test]
async fn without_a_model_it_is_said_why() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        shared: None,
        folder: folder.path().to_owned(),
        embedder: Some("none".to_owned()),
        connect: Arc::new(|_| async { Err(EmbedError::Model("there is none".to_owned())) }.boxed()),
        reranker: None,
    };
    let search = Arc::new(Search::new(options));
    let stop = CancellationToken::new();
    let open = tokio::spawn(search.clone().keep_open(stop.clone()));
    let fill = tokio::spawn(search.clone().keep_embedded(stop.clone()));
    let reason = until_embedded(&search, |_| {}).await.unwrap_err();
    assert_eq!(reason, "the model can't be used: there is none");
    stop.cancel();
    open.await.unwrap();
    fill.await.unwrap();
}

#[test]
fn a_page_is_meant_by_its_path_its_folder_or_its_key() {
    let facts = page("bread", "").facts;
    for name in ["guides/bread.md", "guides", "guides/", "docs/bread"] {
        assert!(matches_name(name, &facts), "{name}");
    }
    for name in ["guides/bread", "gui", "bread", "docs/", "guides/bread.md/"] {
        assert!(!matches_name(name, &facts), "{name}");
    }
}

#[test]
fn a_folder_is_found_once() {
    let [a, b, c] = ["a", "b", "c"].map(|id| page(id, "").facts);
    let expected = Expected::Named(vec!["guides/".to_owned(), "docs/c".to_owned()]);
    // The first page matches the folder, the second nothing, the third its own key.
    let judged = expected.judge([&a, &b, &c]);
    assert_eq!((judged.recall(2), judged.recall(3), judged.reciprocal_rank(10)), (0.5, 1.0, 1.0));
}
