//! Tests of reading what qmd says.

use super::{answers, found, ndcg};

#[test]
fn what_was_found_is_read_from_its_list() {
    let said =
        "note\n[{\"file\": \"qmd://bench/set/d2.md\", \"score\": 0.5}, {\"file\": \"qmd://bench/d1.md\"}]\n";
    assert_eq!(found(said), ["d2", "d1"]);
    assert_eq!(found("No results found."), Vec::<String>::new());
}

#[test]
fn the_measure_is_ours() {
    let answers = answers("query-id\tcorpus-id\tscore\nq\td1\t3\nq\td2\t1\nq\td3\t0\n");
    let [(query, grades)] = answers.as_slice() else { panic!("{answers:?}") };
    assert_eq!((query.as_str(), grades.len()), ("q", 2));
    let score = ndcg(&["d2".to_owned(), "d1".to_owned()], grades);
    assert!((score - 0.796_707).abs() < 1e-6, "{score}");
}
