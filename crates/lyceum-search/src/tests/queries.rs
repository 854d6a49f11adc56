//! Ingest and queries.

use std::{collections::HashMap, sync::atomic::Ordering};

use lyceum_store::vectors;
use tempfile::TempDir;

use super::{SOURCE, Scene, fake::Behaviour, library, page, sections, until, versions};
use crate::{Mode, Query, State, tests::Control};

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_found_by_words_at_once_and_by_meaning_soon() {
    let folder = TempDir::new().unwrap();
    let scene = Scene::open(folder.path(), Some("one:256"), &Control::new());
    scene.put(library()).await;
    scene.check(Mode::Lexical, "wheel", &["boats", "cars"]).await;
    scene.filled().await;
    scene.check(Mode::Lexical, "automobile", &[]).await;
    assert_eq!(scene.ids(Mode::Hybrid, "automobile").await[0], "cars");
    assert_eq!(scene.ids(Mode::Vector, "a loaf").await[0], "bread");
    let answer = scene.ask(Mode::Hybrid, "car").await;
    assert_eq!(answer.degraded, None);
    let hit = &answer.hits[0];
    assert_eq!((hit.facts.id.as_str(), hit.lines, hit.heading.as_str()), ("cars", (1, 3), "Driving"));
    assert!(hit.snippet.contains("Every **car** has"), "{}", hit.snippet);
    assert!(hit.stages.bm25.is_some() && hit.stages.cosine.is_some() && hit.stages.rank == 1);
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_page_is_found_as_it_is_now() {
    let folder = TempDir::new().unwrap();
    let scene = Scene::open(folder.path(), Some("one:256"), &Control::new());
    scene.put(library()).await;
    scene.filled().await;
    scene.put(vec![page("cars", "Flying", "# Flying\n\nPlanes have wings.")]).await;
    scene.check(Mode::Lexical, "motor", &[]).await;
    scene.check(Mode::Lexical, "wings", &["cars"]).await;
    scene.filled().await;
    let by_meaning = scene.ask(Mode::Vector, "automobile motor").await;
    let is_near = by_meaning.hits.iter().find(|hit| hit.facts.id == "cars").map(|hit| hit.score);
    assert!(is_near.is_none_or(|score| score < 0.4), "{is_near:?}");
    assert_eq!(scene.ids(Mode::Vector, "planes").await[0], "cars");
    let plan = scene.search.plan(SOURCE, versions(&library()[1..]), |_| true).await.unwrap();
    assert_eq!((plan.read.len(), plan.gone.as_slice()), (0, &["guide/cars".to_owned()][..]));
    scene.search.apply(SOURCE, Vec::new(), plan.gone).await.unwrap();
    scene.check(Mode::Lexical, "wings", &[]).await;
    let left = scene.ids(Mode::Hybrid, "planes wings").await;
    assert!(!left.contains(&"cars".to_owned()), "{left:?}");
    let others = scene.search.plan(SOURCE, HashMap::new(), |key| key.starts_with("other/")).await.unwrap();
    assert_eq!(others.gone, Vec::<String>::new());
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_changed_is_embedded_again() {
    let folder = TempDir::new().unwrap();
    let control = Control::new();
    let scene = Scene::open(folder.path(), Some("one:64"), &control);
    scene.put(vec![sections("big", &["alpha", "beta", "gamma", "delta"])]).await;
    scene.filled().await;
    assert_eq!(control.embedded(), 4);
    scene.put(vec![sections("big", &["alpha", "beta", "epsilon", "delta"])]).await;
    scene.filled().await;
    assert_eq!(control.embedded(), 1);
    assert_eq!(scene.search.opened().await.unwrap().memory().count_vectors(), 4);
    // Vectors are stored by content: text that returns, or moves within the page, is not embedded again.
    scene.put(vec![sections("big", &["gamma", "alpha", "beta"])]).await;
    scene.filled().await;
    assert_eq!(control.embedded(), 0);
    scene.close().await;
    let again = Scene::open(folder.path(), Some("one:64"), &control);
    again.filled().await;
    assert_eq!(control.embedded(), 0);
    assert_eq!(again.search.opened().await.unwrap().memory().count_vectors(), 3);
    again.check(Mode::Lexical, "alpha", &["big"]).await;
    assert_eq!(again.ids(Mode::Vector, "about gamma").await, ["big"]);
    again.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_is_said_and_stores_nothing() {
    let folder = TempDir::new().unwrap();
    let control = Control::new();
    control.set_behaviour(Behaviour::Fails);
    let scene = Scene::open(folder.path(), Some("one:64"), &control);
    scene.put(library()).await;
    for behaviour in [
        Behaviour::Fails,
        Behaviour::TooFew,
        Behaviour::WrongLength,
        Behaviour::NotANumber,
        Behaviour::NoDirection,
    ] {
        control.set_behaviour(behaviour);
        let before = control.connected.load(Ordering::SeqCst);
        until("the model is retried", async || control.connected.load(Ordering::SeqCst) > before).await;
        until("the model failed", async || scene.status().await.state == State::Degraded).await;
        let answer = scene.ask(Mode::Hybrid, "car").await;
        let reason = answer.degraded.unwrap_or_default();
        assert!(reason.starts_with("lexical results only: "), "{behaviour:?}: {reason:?}");
        assert_eq!(answer.hits.len(), 1, "{behaviour:?}");
        let status = scene.status().await;
        assert_eq!((status.chunks, status.pending), (3, 3), "{behaviour:?}");
        assert!(status.reason.is_some());
        if behaviour == Behaviour::TooFew {
            // The back-off grows; start over.
            break;
        }
    }
    control.set_behaviour(Behaviour::Normal);
    scene.filled().await;
    assert_eq!(scene.ask(Mode::Hybrid, "automobile").await.degraded, None);
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_that_are_none_are_not_kept_and_not_asked_with() {
    for behaviour in [Behaviour::WrongLength, Behaviour::NotANumber, Behaviour::NoDirection] {
        let folder = TempDir::new().unwrap();
        let control = Control::new();
        control.set_behaviour(behaviour);
        let scene = Scene::open(folder.path(), Some("one:64"), &control);
        scene.put(library()).await;
        until("the model failed", async || scene.status().await.state == State::Degraded).await;
        assert_eq!(scene.status().await.pending, 3, "{behaviour:?}");
        let answer = scene.ask(Mode::Hybrid, "car").await;
        assert!(answer.degraded.is_some() && answer.hits.len() == 1, "{behaviour:?}: {answer:?}");
        scene.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_model_delays_no_page() {
    let folder = TempDir::new().unwrap();
    let control = Control::new();
    control.set_behaviour(Behaviour::Slow(std::time::Duration::from_secs(5)));
    let scene = Scene::open(folder.path(), Some("one:64"), &control);
    scene.put(library()).await;
    let started = std::time::Instant::now();
    scene.put(vec![page("more", "More", "another page")]).await;
    scene.check(Mode::Lexical, "another", &["more"]).await;
    assert!(started.elapsed().as_secs() < 3, "{:?}", started.elapsed());
    let answer = scene.ask(Mode::Hybrid, "another").await;
    assert!(answer.degraded.unwrap().contains("did not answer within 3 s"));
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_model_words_are_searched_and_answers_say_so() {
    let folder = TempDir::new().unwrap();
    let scene = Scene::open(folder.path(), None, &Control::new());
    scene.put(library()).await;
    let answer = scene.ask(Mode::Hybrid, "wheels").await;
    assert_eq!(answer.degraded.as_deref(), Some("lexical results only: no model is configured"));
    assert_eq!(answer.hits.len(), 2);
    assert_eq!(scene.ask(Mode::Lexical, "wheels").await.degraded, None);
    assert!(scene.ask(Mode::Vector, "wheels").await.degraded.unwrap().starts_with("vector search is not"));
    assert_eq!(scene.status().await.state, State::Ready);
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_without_a_text_is_found_by_its_title() {
    let folder = TempDir::new().unwrap();
    let scene = Scene::open(folder.path(), Some("one:64"), &Control::new());
    scene.put(vec![page("empty", "Nothing to see", ""), page("rule", "Only a line", "---\n")]).await;
    scene.check(Mode::Lexical, "see", &["empty"]).await;
    scene.check(Mode::Hybrid, "line", &["rule"]).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_have_limits_and_odd_ones_are_answered() {
    let folder = TempDir::new().unwrap();
    let scene = Scene::open(folder.path(), Some("one:64"), &Control::new());
    scene.put(library()).await;
    scene.filled().await;
    let ask = |text: String| scene.search.find(Query { text, limit: 5, ..Query::default() });
    for text in ["", "  \n\t", "\0\u{1}"] {
        assert!(ask(text.to_owned()).await.unwrap_err().to_string().contains("empty"));
    }
    for text in ["x".repeat(2_001), "x".repeat(100_000)] {
        assert!(ask(text).await.unwrap_err().to_string().contains("longer than 2000"));
    }
    for text in [
        "é".repeat(2_000),
        "the of and".into(),
        "🙂".into(),
        "(a+)+$".into(),
        "\"'; DROP TABLE pages;--".into(),
    ] {
        let answer = ask(text.clone()).await.unwrap();
        eprintln!("{:?} took {:?}", text.chars().take(20).collect::<String>(), answer.took);
    }
    for limit in [0, 1, 2, 1_000_000] {
        let found =
            scene.search.find(Query { text: "wheels".to_owned(), limit, ..Query::default() }).await.unwrap();
        assert_eq!(found.hits.len(), limit.clamp(1, 2), "{limit}");
    }
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_perhaps_meant_is_said() {
    let folder = TempDir::new().unwrap();
    let scene = Scene::open(folder.path(), None, &Control::new());
    scene
        .put(vec![page("form", "Information", "the form of three kinds of information about governance")])
        .await;
    let check = async |text: &str, expected: Option<&str>| {
        assert_eq!(scene.ask(Mode::Lexical, text).await.suggestion.as_deref(), expected, "{text:?}");
    };
    check("information", None).await;
    check("  governence Information ", Some("governance Information")).await;
    // A word of four letters may be another word, such as `role` and `roll`.
    check("information fxrm", None).await;
    // A stop word is no slip of `three`.
    check("there governence", Some("there governance")).await;
    check("İ about governence", Some("İ about governance")).await;
    check("getGovernence", Some("getgovernance")).await;
    check("zzzzzzzzzz", None).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_answer_says_what_was_searched() {
    let folder = TempDir::new().unwrap();
    let scene = Scene::open(folder.path(), None, &Control::new());
    scene.put(library()).await;
    let answer = scene.ask(Mode::Lexical, "zebra").await;
    assert_eq!((answer.hits.len(), answer.searched.documents), (0, 3));
    assert_eq!(answer.searched.sources, [SOURCE]);
    assert_eq!(answer.searched.synced_at, Some(library()[0].facts.synced_at));
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_reads_how_every_page_begins_before_it_reads_on() {
    let folder = TempDir::new().unwrap();
    let scene = Scene::open(folder.path(), None, &Control::new());
    scene.put(vec![sections("a", &["one", "two", "three"]), sections("b", &["four", "five"])]).await;
    let opened = scene.search.opened().await.unwrap();
    let read = opened.db.write("test", |tx| {
        let model = vectors::model(tx, 1, "{}", "")?;
        let chunks: Vec<i64> =
            vectors::pending(tx, model.id, 10)?.into_iter().filter_map(|one| one.chunk).collect();
        vectors::texts(tx, &chunks)
    });
    let headings: Vec<String> = read.await.unwrap().into_iter().map(|(_, _, heading, _)| heading).collect();
    assert_eq!(headings, ["one", "four", "two", "five", "three"].map(|word| format!("About {word}")));
    drop(opened);
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_quoted_binds_however_near_a_page_is() {
    let folder = TempDir::new().unwrap();
    let scene = Scene::open(folder.path(), Some("one:256"), &Control::new());
    scene.put(library()).await;
    scene.filled().await;
    scene.check(Mode::Hybrid, "\"four wheels\" automobile", &["cars"]).await;
    scene.check(Mode::Hybrid, "\"wheels four\" automobile", &[]).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_shown_has_the_words_that_a_page_was_found_by() {
    let folder = TempDir::new().unwrap();
    let scene = Scene::open(folder.path(), Some("one:256"), &Control::new());
    let (near, far) = ("car ".repeat(80), "the usual words about nothing in particular ".repeat(8));
    let body = format!("## Cars\n\n{near}\n\n## Codes\n\nE1234 means {far}\n");
    scene.put(vec![page("manual", "Manual", &body)]).await;
    scene.filled().await;
    let shown = async |question: &str| scene.ask(Mode::Hybrid, question).await.hits[0].heading.clone();
    assert_eq!(shown("automobile").await, "Cars");
    assert_eq!(shown("automobile E1234").await, "Codes");
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_vectors_are_said_from_the_first_query_on() {
    let folder = TempDir::new().unwrap();
    let control = Control::new();
    let scene = Scene::open(folder.path(), Some("one:64"), &control);
    scene.put(library()).await;
    scene.filled().await;
    assert_eq!(scene.ask(Mode::Hybrid, "car").await.degraded, None);
    // Embedding waits for a pause in ingest, so nothing of this is embedded when the query comes.
    let many: Vec<_> =
        (0..300).map(|n| page(&format!("p{n}"), "Page", &format!("about lorries {n}"))).collect();
    scene.put(many).await;
    let answer = scene.ask(Mode::Hybrid, "lorries").await;
    assert!(
        answer.degraded.as_deref().is_some_and(|why| why.contains("have no embedding yet")),
        "{answer:?}"
    );
    scene.filled().await;
    until("nothing is missing", async || scene.ask(Mode::Hybrid, "lorries").await.degraded.is_none()).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_in_the_language_of_the_query_come_first_and_an_alias_finds_like_a_title() {
    let folder = TempDir::new().unwrap();
    let scene = Scene::open(folder.path(), None, &Control::new());
    let in_language = |id: &str, language: &str| {
        let mut page = page(id, "Vault", "open the vault in the app, then the vault shows its notes");
        page.facts.language = Some(language.to_owned());
        page.facts.aliases = vec![format!("Tresor {id}")];
        page
    };
    scene.put(vec![in_language("one", "de"), in_language("two", "en-GB"), in_language("three", "ja")]).await;
    assert_eq!(scene.ids(Mode::Hybrid, "how do I open the vault").await[0], "two");
    assert_eq!(scene.ids(Mode::Hybrid, "wie geht der vault auf").await[0], "one");
    assert_eq!(scene.ids(Mode::Hybrid, "vault").await.len(), 3);
    scene.check(Mode::Hybrid, "\"tresor three\"", &["three"]).await;
    let filter = crate::Filter { language: Some("en".to_owned()), ..crate::Filter::default() };
    let query = crate::Query { text: "vault".to_owned(), limit: 5, filter, ..crate::Query::default() };
    let hits = scene.search.find(query).await.unwrap().hits;
    assert_eq!(hits.iter().map(|hit| hit.facts.id.as_str()).collect::<Vec<_>>(), ["two"]);
    scene.close().await;
}
