//! What well-known families of models want to be told, where their files don't say: found by the model's name.

use crate::embedder::Pooling;

/// What stands before the texts of a model, and how it is pooled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FamilyDefaults {
    pub(super) query_prefix: &'static str,
    pub(super) passage_prefix: &'static str,
    pub(super) pooling: Pooling,
}

const REPRESENT: &str = "Represent this sentence for searching relevant passages: ";
const REPRESENT_ZH: &str = "为这个句子生成表示以用于检索相关文章：";

/// A part of the name, and what models with it want. The first that fits counts.
const FAMILIES: &[(&str, FamilyDefaults)] = &[
    ("bge-m3", FamilyDefaults { query_prefix: "", passage_prefix: "", pooling: Pooling::Cls }),
    ("bge-reranker", FamilyDefaults { query_prefix: "", passage_prefix: "", pooling: Pooling::Cls }),
    ("-zh-v1", FamilyDefaults { query_prefix: REPRESENT_ZH, passage_prefix: "", pooling: Pooling::Cls }),
    ("bge-", FamilyDefaults { query_prefix: REPRESENT, passage_prefix: "", pooling: Pooling::Cls }),
    ("arctic-embed", FamilyDefaults { query_prefix: REPRESENT, passage_prefix: "", pooling: Pooling::Cls }),
    ("mxbai-embed", FamilyDefaults { query_prefix: REPRESENT, passage_prefix: "", pooling: Pooling::Cls }),
    ("e5-", FamilyDefaults { query_prefix: "query: ", passage_prefix: "passage: ", pooling: Pooling::Mean }),
    ("granite-embedding", FamilyDefaults { query_prefix: "", passage_prefix: "", pooling: Pooling::Cls }),
];

/// What a model of this name wants.
pub(super) fn habits(name: &str) -> FamilyDefaults {
    let name = name.to_ascii_lowercase();
    let plain = FamilyDefaults { query_prefix: "", passage_prefix: "", pooling: Pooling::Mean };
    FAMILIES.iter().find(|(part, _)| name.contains(part)).map_or(plain, |(_, habits)| habits.clone())
}

#[cfg(test)]
mod tests;
