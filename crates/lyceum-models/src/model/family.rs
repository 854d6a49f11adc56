//! Default prefixes and pooling of well-known model families, by name, for models whose files don't declare them.

use crate::embedder::Pooling;

/// Prefixes and pooling of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FamilyDefaults {
    pub(super) query_prefix: &'static str,
    pub(super) passage_prefix: &'static str,
    pub(super) pooling: Pooling,
}

const REPRESENT: &str = "Represent this sentence for searching relevant passages: ";
const REPRESENT_ZH: &str = "为这个句子生成表示以用于检索相关文章：";

/// Defaults by substring of the name; the first match wins.
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

/// The defaults for a model name.
pub(super) fn defaults_for(name: &str) -> FamilyDefaults {
    let name = name.to_ascii_lowercase();
    let fallback = FamilyDefaults { query_prefix: "", passage_prefix: "", pooling: Pooling::Mean };
    FAMILIES.iter().find(|(part, _)| name.contains(part)).map_or(fallback, |(_, defaults)| defaults.clone())
}

#[cfg(test)]
mod tests;
