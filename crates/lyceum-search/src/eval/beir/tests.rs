//! Reading test sets in the BEIR layout, and errors in them.

use std::{collections::HashMap, fs};

use super::{Beir, read};
use crate::eval::{Expected, SetError};

const CORPUS: &str =
    "{\"_id\": \"a\", \"title\": \"A\", \"text\": \"one\"}\n{\"_id\": 2, \"text\": \"two\"}\n";
const QUERIES: &str =
    "{\"_id\": \"q1\", \"text\": \"what\", \"more\": 1}\n\n{\"_id\": \"q2\", \"text\": \"who\"}\n";

fn set(files: &[(&str, &str)]) -> Result<Beir, SetError> {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("qrels")).unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    read(folder.path())
}

#[track_caller]
fn check(files: &[(&str, &str)], expected: &str) {
    assert_eq!(set(files).unwrap_err().to_string(), expected);
}

#[test]
fn questions_with_answers_and_all_documents_are_read() {
    let relevant = "query-id\tcorpus-id\tscore\nq1\ta\t3\nq1\t2\t1\nq2\ta\t0\n";
    let beir = set(&[("corpus.jsonl", CORPUS), ("queries.jsonl", QUERIES), ("qrels.tsv", relevant)]).unwrap();
    assert_eq!(beir.pages.iter().map(|page| page.facts.id.as_str()).collect::<Vec<_>>(), ["a", "2"]);
    let [question] = beir.set.questions.as_slice() else { panic!("{:?}", beir.set.questions) };
    let grades = HashMap::from([("a".to_owned(), 3), ("2".to_owned(), 1)]);
    assert_eq!((question.text.as_str(), &question.expected), ("what", &Expected::Graded(grades)));
}

#[test]
fn a_table_without_a_heading_in_a_folder_of_its_own_is_read_too() {
    for relevant in ["q2\ta\t1\n", "q2\t0\ta\t1\n"] {
        let files = [("corpus.jsonl", CORPUS), ("queries.jsonl", QUERIES), ("qrels/test.tsv", relevant)];
        assert_eq!(set(&files).unwrap().set.questions[0].id, "q2");
    }
}

#[test]
fn another_corpus_has_another_hash() {
    let hash = |corpus: &str| {
        set(&[("corpus.jsonl", corpus), ("queries.jsonl", QUERIES), ("qrels.tsv", "q2\ta\t1\n")])
            .unwrap()
            .hash
    };
    assert_eq!(hash(CORPUS), hash(CORPUS));
    assert_ne!(hash(CORPUS), hash(&CORPUS.replace("two", "three")));
}

#[test]
fn a_fault_has_its_file_its_line_and_what_to_do() {
    let good = [("corpus.jsonl", CORPUS), ("queries.jsonl", QUERIES)];
    check(&good, "qrels.tsv: is missing; write lines of query-id, corpus-id and score, with tabs between");
    let with = |relevant: &'static str| [good[0], good[1], ("qrels.tsv", relevant)];
    check(&with("q1 a 1\n"), "qrels.tsv:1: is not query-id, corpus-id and score; put tabs between the three");
    check(
        &with("query-id\tcorpus-id\tscore\nq1\ta\tgood\n"),
        "qrels.tsv:2: the score \"good\" is not a whole number",
    );
    check(&with("q1\tz\t1\n"), "qrels.tsv:1: there is no document \"z\" in corpus.jsonl");
    check(
        &with("q9\ta\t1\n"),
        "queries.jsonl: no query has an answer in the qrels; check that their ids are the same",
    );
    let twice = CORPUS.replace('2', "\"a\"");
    check(
        &[("corpus.jsonl", &twice)],
        "corpus.jsonl:2: there are two documents with the _id \"a\"; leave one out",
    );
    let fault = set(&[("corpus.jsonl", "{\"_id\": \"a\"}")]).unwrap_err().to_string();
    assert!(fault.starts_with("corpus.jsonl:1: invalid line: missing field `text`"), "{fault}");
    let fault = set(&[]).unwrap_err().to_string();
    assert!(fault.starts_with("corpus.jsonl: can't be read: "), "{fault}");
}
