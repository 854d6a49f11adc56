//! Family defaults by model name.

use super::{REPRESENT, defaults_for};
use crate::embedder::Pooling::{self, Cls, Mean};

#[track_caller]
fn check(name: &str, query: &str, passage: &str, pooling: Pooling) {
    let defaults = defaults_for(name);
    assert_eq!(
        (defaults.query_prefix, defaults.passage_prefix, defaults.pooling),
        (query, passage, pooling),
        "{name}"
    );
}

#[test]
fn a_family_is_known_by_its_name() {
    check("all-MiniLM-L6-v2", "", "", Mean);
    check("bge-base-en-v1.5", REPRESENT, "", Cls);
    check("bge-m3", "", "", Cls);
    check("multilingual-e5-small", "query: ", "passage: ", Mean);
    check("E5-base-v2", "query: ", "passage: ", Mean);
    check("snowflake-arctic-embed-s", REPRESENT, "", Cls);
    check("granite-embedding-30m-english", "", "", Cls);
    check("something-new", "", "", Mean);
}
