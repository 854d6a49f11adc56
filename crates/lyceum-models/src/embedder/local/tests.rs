//! The real default model, and broken models.

use std::{fs, path::Path, sync::Arc};

use tempfile::TempDir;

use super::LocalEmbedder;
use crate::{
    embedder::{EmbedError, Embedder, Purpose},
    model::{
        Variant,
        convert::{
            Task,
            tests::{Kind, write_model},
        },
        real::{float_model_folder, model_folder},
    },
};

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(x, y)| x * y).sum()
}

/// Cosines of the three pairs of texts.
async fn cosines(folder: &Path) -> [f32; 3] {
    let embedder = LocalEmbedder::open(folder, 2).unwrap();
    let all = texts(&[
        "How do I lend a tool?",
        "The tool library lends drills and saws to members.",
        "def add(a, b):\n    return a + b",
    ]);
    let [a, b, c] = <[Vec<f32>; 3]>::try_from(embedder.embed(Purpose::Passage, &all).await.unwrap()).unwrap();
    [dot(&a, &b), dot(&a, &c), dot(&b, &c)]
}

#[track_caller]
fn check_near(found: [f32; 3], tolerance: f32) {
    // Reference values of a NumPy implementation with the same weights.
    let expected = [0.5305, 0.1228, 0.0542];
    for (found, expected) in found.into_iter().zip(expected) {
        assert!((found - expected).abs() < tolerance, "got {found}, expected {expected}");
    }
}

#[tokio::test]
async fn the_vectors_are_those_that_the_model_was_published_with() {
    check_near(cosines(&float_model_folder()).await, 0.005);
    check_near(cosines(&model_folder()).await, 0.03);
}

#[tokio::test]
async fn a_vector_does_not_depend_on_the_texts_beside_it() {
    let embedder = LocalEmbedder::open(&model_folder(), 2).unwrap();
    let all = texts(&["a spoon", "the wind tunnel at supersonic speeds, measured twice", "🦀"]);
    let together = embedder.embed(Purpose::Passage, &all).await.unwrap();
    for (text, vector) in all.iter().zip(together) {
        assert_eq!(vector.len(), 384);
        let alone = embedder.embed(Purpose::Query, std::slice::from_ref(text)).await.unwrap();
        assert_eq!(alone, [vector], "{text}");
    }
}

#[tokio::test]
async fn any_text_has_a_vector() {
    let embedder = LocalEmbedder::open(&model_folder(), 1).unwrap();
    let long = "word ".repeat(50_000);
    let unbroken = "x".repeat(100_000);
    let odd =
        texts(&["", " \n\t", "\0\u{1}", "\u{200b}\u{feff}", "שלום עולم", "((((([[[[", &long, &unbroken]);
    let vectors = embedder.embed(Purpose::Query, &odd).await.unwrap();
    assert_eq!(vectors.len(), odd.len());
    assert!(vectors.iter().all(|vector| (dot(vector, vector) - 1.0).abs() < 1e-3));
    assert!(embedder.embed(Purpose::Query, &[]).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_does_not_wait_for_passages() {
    let embedder = Arc::new(LocalEmbedder::open(&model_folder(), 1).unwrap());
    let passages = {
        let embedder = Arc::clone(&embedder);
        let long = vec!["a long passage about many things ".repeat(60); 200];
        tokio::spawn(async move { embedder.embed(Purpose::Passage, &long).await })
    };
    // Tasks run in order, so the batch has started by now; no need to wait for it.
    tokio::task::yield_now().await;
    embedder.embed(Purpose::Query, &texts(&["a question"])).await.unwrap();
    assert!(!passages.is_finished(), "the query waited for 200 passages");
    passages.abort();
}

/// The error of opening a small model after its folder was modified.
fn error_after(modify: impl Fn(&Path)) -> EmbedError {
    let folder = TempDir::new().unwrap();
    write_model(folder.path(), Kind::Bert, Variant::Int8, Task::TokenVectors);
    LocalEmbedder::open(folder.path(), 1).unwrap();
    modify(folder.path());
    LocalEmbedder::open(folder.path(), 1).unwrap_err()
}

#[track_caller]
fn check_error(modify: impl Fn(&Path), expected: &str) {
    let error = error_after(modify).to_string();
    assert!(error.contains(expected), "{error:?} does not contain {expected:?}");
}

#[test]
fn a_model_that_is_not_whole_is_refused() {
    let truncate = |folder: &Path, part: f64| {
        let bytes = fs::read(folder.join("model.onnx")).unwrap();
        fs::write(folder.join("model.onnx"), &bytes[..(bytes.len() as f64 * part) as usize]).unwrap();
    };
    for part in [0.0, 0.01, 0.3, 0.5, 0.9, 0.999] {
        check_error(|folder| truncate(folder, part), "the model can't be used: model.onnx can't be used");
    }
}

#[test]
fn a_file_of_another_kind_is_refused() {
    check_error(
        |folder| fs::write(folder.join("model.onnx"), "<html>404</html>").unwrap(),
        "model.onnx can't be used",
    );
    check_error(
        |folder| fs::write(folder.join("tokenizer.json"), "{}").unwrap(),
        "tokenizer.json can't be used",
    );
    check_error(
        |folder| write_model(folder, Kind::Bert, Variant::Fp32, Task::Relevance),
        "it has none of the outputs sentence_embedding",
    );
}

#[test]
fn other_dimensions_than_described_are_refused() {
    let error = error_after(|folder| {
        let config = fs::read_to_string(folder.join("config.json")).unwrap();
        fs::write(folder.join("config.json"), config.replace("\"hidden_size\":32", "\"hidden_size\":64"))
            .unwrap();
    });
    assert!(matches!(error, EmbedError::WrongDimensions { expected: 64, got: 32 }), "{error}");
}

#[test]
fn a_prepared_model_that_was_changed_is_refused() {
    let folder = TempDir::new().unwrap();
    for entry in fs::read_dir(model_folder()).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let model = folder.path().join("model.onnx");
    let mut bytes = fs::read(&model).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&model, bytes).unwrap();
    let error = LocalEmbedder::open(folder.path(), 1).unwrap_err().to_string();
    assert!(error.contains("model.onnx is corrupt") && error.contains("lyceum model pull"), "{error}");
}
