//! Vectors of skills: computed once, cached on disk, used when complete.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use lyceum_models::embedder::{EmbedError, Embedder, Identity, Pooling, Purpose};
use lyceum_search::{Connect, VectorTable};
use tokio_util::sync::CancellationToken;

use super::{folder, refreshing::skills_of, write};
use crate::{Skills, ranking::Coverage};

/// A model with one dimension per subject.
#[derive(Debug)]
struct Subjects {
    identity: Identity,
    passages: Arc<AtomicUsize>,
}

const SUBJECTS: [&[&str]; 3] = [&["contract", "agreement"], &["chart", "diagram"], &["invoice", "bill"]];

#[async_trait]
impl Embedder for Subjects {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    async fn embed(&self, purpose: Purpose, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if purpose == Purpose::Passage {
            self.passages.fetch_add(texts.len(), Ordering::SeqCst);
        }
        let vector = |text: &String| {
            let has = |words: &&[&str]| words.iter().any(|word| text.to_lowercase().contains(word));
            SUBJECTS.iter().map(|words| if has(words) { 1.0 } else { 0.0 }).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

fn connect(model: &str, passages: &Arc<AtomicUsize>) -> Connect {
    let identity = Identity {
        kind: "local".to_owned(),
        name: model.to_owned(),
        sha256: None,
        pooling: Pooling::Mean,
        query_prefix: String::new(),
        passage_prefix: String::new(),
        dimensions: SUBJECTS.len(),
        max_tokens: 256,
    };
    let model: Arc<dyn Embedder> = Arc::new(Subjects { identity, passages: passages.clone() });
    Arc::new(move |_| {
        let model = model.clone();
        Box::pin(async move { Ok(model) })
    })
}

fn skill(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n# Text\n")
}

/// The skills of a folder, with a background task that embeds them until `stop`.
fn start(
    root: &Path,
    cache: &Path,
    model: &str,
    passages: &Arc<AtomicUsize>,
    stop: &CancellationToken,
) -> Arc<Skills> {
    let skills = Arc::new(skills_of(root, Some(cache.to_owned())));
    skills.load_local();
    tokio::spawn(skills.clone().keep_embedded(connect(model, passages), String::new(), stop.clone()));
    skills
}

/// Waits for another state than this; the task yields between its steps.
async fn until_ranked_by(skills: &Skills, mode: &str) {
    let reached = async {
        while skills.ranking() != Some(mode) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), reached).await.unwrap();
}

const MODEL: &str = "all-MiniLM-L6-v2";

#[tokio::test]
async fn skills_are_embedded_once_and_found_by_meaning() {
    let files = folder(&[
        ("law/SKILL.md", &skill("law", "Reviews contracts")),
        ("plot/SKILL.md", &skill("plot", "Draws charts")),
    ]);
    let data = tempfile::tempdir().unwrap();
    let (cache, passages) = (data.path().join("below/vectors.bin"), Arc::new(AtomicUsize::new(0)));
    let stop = CancellationToken::new();
    let skills = start(files.path(), &cache, MODEL, &passages, &stop);
    assert_eq!(skills.ranking(), Some("lexical"));
    until_ranked_by(&skills, "hybrid").await;
    assert_eq!(passages.load(Ordering::SeqCst), 2);
    let skill_set = skills.skill_set().await.unwrap();
    let cosines = skills.embedding.cosines(&skill_set.ranker, "check this agreement").await.unwrap();
    assert_eq!(cosines.iter().map(|cosine| (cosine * 100.0).round()).collect::<Vec<_>>(), [100.0, 0.0]);
    assert_eq!(skills.embedding.cosines(&skill_set.ranker, " ").await, None);

    // A changed skill is lexical until it has its vector; the others keep theirs.
    write(files.path(), "plot/SKILL.md", &skill("plot", "Draws invoices"));
    skills.refresh_in_turn().await;
    until_ranked_by(&skills, "hybrid").await;
    assert_eq!(passages.load(Ordering::SeqCst), 3);
    while std::fs::metadata(&cache).map_or(0, |meta| meta.len()) != 32 + 2 * (32 + 4 + 3) {
        tokio::task::yield_now().await;
    }
    stop.cancel();

    // The next start reads them from the file.
    let stop = CancellationToken::new();
    let skills = start(files.path(), &cache, MODEL, &passages, &stop);
    until_ranked_by(&skills, "hybrid").await;
    assert_eq!(passages.load(Ordering::SeqCst), 3);
    stop.cancel();

    // A damaged file is computed again.
    std::fs::write(&cache, b"short").unwrap();
    let stop = CancellationToken::new();
    let skills = start(files.path(), &cache, MODEL, &passages, &stop);
    until_ranked_by(&skills, "hybrid").await;
    assert_eq!(passages.load(Ordering::SeqCst), 5);
    stop.cancel();
}

#[tokio::test]
async fn a_body_that_speaks_of_the_task_counts_as_much_as_the_description() {
    let with_body = |name: &str, description: &str, body: &str| skill(name, description) + body;
    let files = folder(&[
        ("both/SKILL.md", &with_body("both", "Reviews contracts", "Read each agreement twice.")),
        ("description/SKILL.md", &with_body("description", "Reviews contracts", "Draw a chart first.")),
        ("body/SKILL.md", &with_body("body", "Draws charts", "For every agreement.")),
        ("neither/SKILL.md", &with_body("neither", "Draws charts", "For every invoice.")),
        ("short/SKILL.md", &skill("short", "Reviews contracts")),
    ]);
    let data = tempfile::tempdir().unwrap();
    let (cache, passages) = (data.path().join("vectors.bin"), Arc::new(AtomicUsize::new(0)));
    let stop = CancellationToken::new();
    let skills = start(files.path(), &cache, MODEL, &passages, &stop);
    until_ranked_by(&skills, "hybrid").await;
    let skill_set = skills.skill_set().await.unwrap();
    let paths: Vec<&str> = skill_set.index.skills().iter().map(|skill| skill.path.as_str()).collect();
    assert_eq!(paths, ["body", "both", "description", "neither", "short"]);
    let cosines = skills.embedding.cosines(&skill_set.ranker, "an agreement").await.unwrap();
    let percent: Vec<f32> = cosines.iter().map(|cosine| (cosine * 100.0).round()).collect();
    assert_eq!(percent, [50.0, 100.0, 50.0, 0.0, 100.0]);
    assert_eq!(passages.load(Ordering::SeqCst), 5 + 4);
    stop.cancel();
}

#[test]
fn descriptions_count_alone_until_the_bodies_are_embedded() {
    let text = skill("law", "Reviews contracts") + "Draw a chart first.";
    let skill_set = super::skill_set(&[("law/SKILL.md", text.as_str())]);
    let ranker = &skill_set.ranker;
    let [summary, body] = [[1.0, 0.0], [0.0, 1.0]].map(|vector| VectorTable::quantize(&vector));
    let summary_hash = ranker.summaries().next().unwrap().hash;
    assert_eq!((ranker.coverage(), ranker.cosines(&[1.0, 0.0])), (Coverage::Nothing, None));
    ranker.take_vectors(|hash| (*hash == summary_hash).then_some(summary.as_slice()));
    let percent = || (ranker.cosines(&[1.0, 0.0]).unwrap()[0] * 100.0).round();
    assert_eq!((ranker.coverage(), percent()), (Coverage::Summaries, 100.0));
    ranker.take_vectors(|_| Some(body.as_slice()));
    assert_eq!((ranker.coverage(), percent()), (Coverage::All, 50.0));
}

#[tokio::test]
async fn a_model_with_another_scale_is_not_used() {
    let files = folder(&[("law/SKILL.md", &skill("law", "Reviews contracts"))]);
    let data = tempfile::tempdir().unwrap();
    let passages = Arc::new(AtomicUsize::new(0));
    let skills = Arc::new(skills_of(files.path(), Some(data.path().join("vectors.bin"))));
    skills.load_local();
    let connected = Arc::new(tokio::sync::Notify::new());
    let (inner, told) = (connect("another", &passages), connected.clone());
    let connect: Connect = Arc::new(move |settings| {
        told.notify_one();
        inner(settings)
    });
    let stop = CancellationToken::new();
    let task = tokio::spawn(skills.clone().keep_embedded(connect, String::new(), stop.clone()));
    connected.notified().await;
    stop.cancel();
    task.await.unwrap();
    assert_eq!((skills.ranking(), passages.load(Ordering::SeqCst)), (Some("lexical"), 0));
}
