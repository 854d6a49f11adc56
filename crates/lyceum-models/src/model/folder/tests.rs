//! Complete and incomplete model folders.

use std::fs;

use tempfile::TempDir;

use super::Folder;
use crate::{embedder::Pooling, model::ModelError};

/// Creates and opens a folder with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> (TempDir, Result<Folder, ModelError>) {
    let parent = TempDir::new().unwrap();
    let path = parent.path().join(name);
    for (file, text) in files {
        let file = path.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let opened = Folder::open(&path);
    (parent, opened)
}

#[test]
fn a_folder_says_what_its_model_wants() {
    let (_parent, folder) = folder(
        "bge-small-en-v1.5",
        &[
            ("onnx/model.onnx", ""),
            ("tokenizer.json", ""),
            ("config.json", r#"{"model_type":"bert","hidden_size":384,"max_position_embeddings":512}"#),
        ],
    );
    let identity = folder.unwrap().identity(384).unwrap();
    assert_eq!(identity.name, "bge-small-en-v1.5");
    assert_eq!((identity.pooling, identity.max_tokens), (Pooling::Cls, 512));
    assert_eq!(identity.query_prefix, "Represent this sentence for searching relevant passages: ");
}

#[test]
fn what_the_files_say_counts_more_than_the_name() {
    let (_parent, folder) = folder(
        "e5-own",
        &[
            ("model.onnx", ""),
            ("tokenizer.json", ""),
            (
                "config.json",
                r#"{"model_type":"xlm-roberta","hidden_size":8,"max_position_embeddings":514,"pad_token_id":1}"#,
            ),
            ("sentence_bert_config.json", r#"{"max_seq_length":128}"#),
            ("1_Pooling/config.json", r#"{"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":false}"#),
            ("config_sentence_transformers.json", r#"{"prompts":{"query":"ask: ","document":"doc: "}}"#),
        ],
    );
    let folder = folder.unwrap();
    let identity = folder.identity(8).unwrap();
    assert_eq!((identity.pooling, identity.max_tokens), (Pooling::Cls, 128));
    assert_eq!((identity.query_prefix.as_str(), identity.passage_prefix.as_str()), ("ask: ", "doc: "));
    let own = folder.clone().with_prefixes(Some("q ".to_owned()), None).identity(8).unwrap();
    assert_eq!((own.query_prefix.as_str(), own.passage_prefix.as_str()), ("q ", "doc: "));
    assert_eq!(
        folder.identity(9).unwrap_err().to_string(),
        "the model returns vectors of 9 dimensions, but its metadata says 8"
    );
}

#[test]
fn every_file_that_vectors_depend_on_is_part_of_what_a_model_is() {
    let digest = |files: &[(&str, &str)]| {
        let (_parent, folder) = folder("m", files);
        let folder = folder.unwrap();
        assert_eq!(folder.identity(8).unwrap().sha256.as_deref(), Some(folder.digest()));
        (folder.sha256().to_owned(), folder.digest().to_owned())
    };
    let one = digest(&[("model.onnx", "graph"), ("tokenizer.json", "{}"), ("model.onnx_data", "1")]);
    let others = [
        digest(&[("model.onnx", "graph"), ("tokenizer.json", "{ }"), ("model.onnx_data", "1")]),
        digest(&[("model.onnx", "graph"), ("tokenizer.json", "{}"), ("model.onnx_data", "2")]),
        digest(&[("model.onnx", "graph"), ("tokenizer.json", "{}")]),
    ];
    for other in others {
        assert_eq!(one.0, other.0);
        assert_ne!(one.1, other.1);
    }
    let elsewhere = [
        ("onnx/model.onnx", "graph"),
        ("tokenizer.json", "{}"),
        ("onnx/model.onnx_data", "1"),
        ("README.md", ""),
    ];
    assert_eq!(digest(&elsewhere), one);
}

#[track_caller]
fn check(files: &[(&str, &str)], expected: &str) {
    let (_parent, folder) = folder("model", files);
    let error = folder.unwrap_err().to_string();
    assert!(error.contains(expected), "{error:?} does not contain {expected:?}");
}

#[test]
fn a_folder_that_lacks_something_says_what_to_do() {
    check(&[], "there is no model folder; run `lyceum model pull`");
    check(&[("tokenizer.json", "")], "there is no model.onnx");
    check(&[("model.onnx", "")], "there is no tokenizer.json");
    check(&[("model.onnx", ""), ("tokenizer.json", ""), ("config.json", "{")], "config.json can't be used");
    check(
        &[
            ("model.onnx", ""),
            ("tokenizer.json", ""),
            ("1_Pooling/config.json", r#"{"pooling_mode_max_tokens":true}"#),
        ],
        "pooling other than",
    );
}
