//! Tiny models with random weights in the Hugging Face layout, to check that converted graphs run and compute the same.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use rten::ThreadPool;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::{Task, Variant, convert};
use crate::model::{
    Folder,
    runtime::{Output, Runtime},
};

const WIDTH: usize = 32;
const INTERMEDIATE: usize = 64;
const LAYERS: usize = 2;
const POSITIONS: usize = 64;
/// Padding token of XLM-R.
const PADDING: usize = 1;
const WORDS: &[&str] = &["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c", "d", "tool", "library"];

/// Supported model families.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bert,
    XlmR,
}

/// Writes a tiny ONNX model with random weights to a folder.
pub(crate) fn write_model(folder: &Path, kind: Kind, variant: Variant, task: Task) {
    let config = config(kind);
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
    fs::write(folder.join("tokenizer.json"), tokenizer().to_string()).unwrap();
    let weights = folder.join("model.safetensors");
    write_safetensors(&weights, &weights_of(kind, task));
    let to = folder.join("model.onnx");
    convert(&weights, &folder.join("config.json"), variant, task, &to).unwrap();
    fs::remove_file(weights).unwrap();
}

/// Writes a `.safetensors` file.
pub(crate) fn write_safetensors(path: &Path, tensors: &BTreeMap<String, (Vec<usize>, Vec<f32>)>) {
    let (mut header, mut bytes) = (Map::new(), Vec::new());
    header.insert("__metadata__".to_owned(), json!({ "format": "pt" }));
    for (name, (shape, data)) in tensors {
        let from = bytes.len();
        bytes.extend(data.iter().flat_map(|x| x.to_le_bytes()));
        let entry = json!({ "dtype": "F32", "shape": shape, "data_offsets": [from, bytes.len()] });
        header.insert(name.clone(), entry);
    }
    let header = Value::Object(header).to_string();
    let length = (header.len() as u64).to_le_bytes();
    fs::write(path, [&length[..], header.as_bytes(), &bytes].concat()).unwrap();
}

fn config(kind: Kind) -> Value {
    let (model_type, unused) = match kind {
        Kind::Bert => ("bert", 0),
        Kind::XlmR => ("xlm-roberta", PADDING + 1),
    };
    json!({
        "model_type": model_type, "hidden_act": "gelu", "hidden_size": WIDTH, "intermediate_size": INTERMEDIATE,
        "num_attention_heads": 4, "num_hidden_layers": LAYERS, "max_position_embeddings": POSITIONS + unused,
        "pad_token_id": if kind == Kind::Bert { 0 } else { PADDING }, "layer_norm_eps": 1e-5,
    })
}

fn tokenizer() -> Value {
    let vocabulary: Map<String, Value> =
        WORDS.iter().enumerate().map(|(id, word)| ((*word).to_owned(), id.into())).collect();
    let special = |id: usize| json!({ "id": WORDS[id], "ids": [id], "tokens": [WORDS[id]] });
    let token = |id: usize, kind: usize| json!({ "SpecialToken": { "id": WORDS[id], "type_id": kind } });
    let text = |id: &str, kind: usize| json!({ "Sequence": { "id": id, "type_id": kind } });
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": { "type": "Lowercase" }, "pre_tokenizer": { "type": "Whitespace" }, "decoder": null,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [token(2, 0), text("A", 0), token(3, 0)],
            "pair": [token(2, 0), text("A", 0), token(3, 0), text("B", 1), token(3, 1)],
            "special_tokens": { "[CLS]": special(2), "[SEP]": special(3) },
        },
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary,
        },
    })
}

/// The same weights for both families, except for the position offset and the names of the head.
fn weights_of(kind: Kind, task: Task) -> BTreeMap<String, (Vec<usize>, Vec<f32>)> {
    let mut random = Random(7);
    let mut tensors = BTreeMap::new();
    let prefix = match (task, kind) {
        (Task::TokenVectors, _) => "",
        (Task::Relevance, Kind::Bert) => "bert.",
        (Task::Relevance, Kind::XlmR) => "roberta.",
    };
    let mut add = |name: String, shape: &[usize]| {
        let spread = if name.contains("LayerNorm.weight") { 1.0 } else { 0.0 };
        let data: Vec<f32> = (0..shape.iter().product()).map(|_| spread + 0.3 * random.next()).collect();
        tensors.insert(name, (shape.to_vec(), data));
    };
    let mut linear = |name: String, outputs: usize, inputs: usize| {
        add(format!("{name}.weight"), &[outputs, inputs]);
        add(format!("{name}.bias"), &[outputs]);
    };
    for layer in 0..LAYERS {
        let name = format!("{prefix}encoder.layer.{layer}");
        for part in ["self.query", "self.key", "self.value", "output.dense"] {
            linear(format!("{name}.attention.{part}"), WIDTH, WIDTH);
        }
        linear(format!("{name}.intermediate.dense"), INTERMEDIATE, WIDTH);
        linear(format!("{name}.output.dense"), WIDTH, INTERMEDIATE);
    }
    let (dense, last) = match kind {
        Kind::Bert => ("bert.pooler.dense", "classifier"),
        Kind::XlmR => ("classifier.dense", "classifier.out_proj"),
    };
    linear(dense.to_owned(), WIDTH, WIDTH);
    linear(last.to_owned(), 1, WIDTH);
    let mut norms = vec![format!("{prefix}embeddings.LayerNorm")];
    for layer in 0..LAYERS {
        let name = format!("{prefix}encoder.layer.{layer}");
        norms.extend([format!("{name}.attention.output.LayerNorm"), format!("{name}.output.LayerNorm")]);
    }
    for norm in norms {
        add(format!("{norm}.weight"), &[WIDTH]);
        add(format!("{norm}.bias"), &[WIDTH]);
    }
    let types = if kind == Kind::Bert { 2 } else { 1 };
    add(format!("{prefix}embeddings.word_embeddings.weight"), &[WORDS.len(), WIDTH]);
    add(format!("{prefix}embeddings.position_embeddings.weight"), &[POSITIONS, WIDTH]);
    add(format!("{prefix}embeddings.token_type_embeddings.weight"), &[types, WIDTH]);
    if kind == Kind::XlmR {
        let name = format!("{prefix}embeddings.position_embeddings.weight");
        let (shape, data) = tensors.get_mut(&name).unwrap();
        shape[0] += PADDING + 1;
        data.splice(0..0, vec![9.0; (PADDING + 1) * WIDTH]);
    }
    tensors
}

/// Deterministic pseudo-random numbers between -1 and 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }
}

fn run(kind: Kind, variant: Variant, text: &str) -> Output {
    let folder = TempDir::new().unwrap();
    write_model(folder.path(), kind, variant, Task::TokenVectors);
    let folder = Folder::open(folder.path()).unwrap();
    let runtime = Runtime::load(&folder, 32, &["last_hidden_state"]).unwrap();
    runtime.run(&Arc::new(ThreadPool::with_num_threads(1)), text).unwrap()
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    dot(one, other) / (dot(one, one) * dot(other, other)).sqrt()
}

#[test]
fn a_model_gives_a_vector_for_each_token() {
    let output = run(Kind::Bert, Variant::Fp32, "a tool library");
    assert_eq!(output.shape, [1, 5, WIDTH]);
}

#[test]
fn xlm_r_counts_positions_from_behind_its_padding() {
    // With equal weights, the unused rows of the position table must make no difference.
    let (bert, xlm) = (run(Kind::Bert, Variant::Fp32, "a b c"), run(Kind::XlmR, Variant::Fp32, "a b c"));
    assert_eq!(bert.data, xlm.data);
}

#[test]
fn eight_bits_say_nearly_the_same() {
    for kind in [Kind::Bert, Kind::XlmR] {
        let text = "a tool b c d library ".repeat(5);
        let (floats, bytes) = (run(kind, Variant::Fp32, &text), run(kind, Variant::Int8, &text));
        assert!(cosine(&floats.data, &bytes.data) > 0.99, "{kind:?}");
        assert_ne!(floats.data, bytes.data, "{kind:?} was not quantized");
    }
}

#[test]
fn a_model_of_another_family_is_refused() {
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("config.json");
    fs::write(
        &config,
        json!({ "model_type": "mamba", "hidden_size": 8, "num_attention_heads": 2 }).to_string(),
    )
    .unwrap();
    let error = convert(&config, &config, Variant::Fp32, Task::TokenVectors, &config).unwrap_err();
    assert_eq!(
        error.to_string(),
        "model type `mamba` is not supported; use a BERT or XLM-R family model with model.onnx and tokenizer.json"
    );
}
