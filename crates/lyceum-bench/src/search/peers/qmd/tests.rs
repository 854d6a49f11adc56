//! Parsing the output of qmd.

use super::{ndcg, relevance_grades, result_ids};

#[test]
fn what_was_found_is_read_from_its_list() {
    let output =
        "note\n[{\"file\": \"qmd://bench/set/d2.md\", \"score\": 0.5}, {\"file\": \"qmd://bench/d1.md\"}]\n";
    assert_eq!(result_ids(output), ["d2", "d1"]);
    assert_eq!(result_ids("No results found."), Vec::<String>::new());
}

#[test]
fn the_measure_is_ours() {
    let answers = relevance_grades("query-id\tcorpus-id\tscore\nq\td1\t3\nq\td2\t1\nq\td3\t0\n");
    let [(query, grades)] = answers.as_slice() else { panic!("{answers:?}") };
    assert_eq!((query.as_str(), grades.len()), ("q", 2));
    let score = ndcg(&["d2".to_owned(), "d1".to_owned()], grades);
    assert!((score - 0.796_707).abs() < 1e-6, "{score}");
}
