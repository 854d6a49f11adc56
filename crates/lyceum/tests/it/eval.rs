//! `lyceum eval` on a set of four documents.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;

const CORPUS: &str = r#"{"_id": "d1", "title": "Zebras", "text": "Zebras have black and white stripes."}
{"_id": "d2", "title": "Bread", "text": "Bread is baked in a hot oven."}
{"_id": "d3", "title": "", "text": "def area(width, height):\n    return width * height"}
{"_id": "d4", "title": "Ships", "text": "A ship crosses the sea."}
"#;

const QUERIES: &str = r#"{"_id": "q1", "text": "which animal has stripes"}
{"_id": "q2", "text": "how is bread baked"}
{"_id": "q3", "text": "quantum chromodynamics"}
{"_id": "q4", "text": "not judged"}
"#;

const RELEVANT: &str = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq2\td2\t1\nq3\td4\t1\n";

fn eval(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lyceum"));
    command.args(["--data-dir", "data", "eval"]).args(words).current_dir(folder).env_clear();
    command.output().unwrap()
}

#[track_caller]
fn said(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn fails(folder: &Path, words: &[&str], with: &str) {
    let output = eval(folder, words);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && complaint.contains(with), "{complaint}");
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        fs::write(folder.join(name), text).unwrap();
    }
}

fn set() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files =
        [("tiny/corpus.jsonl", CORPUS), ("tiny/queries.jsonl", QUERIES), ("tiny/qrels.tsv", RELEVANT)];
    write(folder.path(), &files);
    folder
}

#[test]
fn a_set_is_measured_and_compared_with_the_last_run() {
    let folder = set();
    let first = said(&eval(folder.path(), &["tiny", "--mode", "lexical"]));
    assert!(first.starts_with("tiny: 3 queries, 4 documents, 4 chunks\n\n"), "{first}");
    let row = first.lines().find(|line| line.starts_with("lexical ")).unwrap();
    // Two of three queries find their document first, the third never.
    assert_eq!(row.matches("0.667 ± ").count(), 4, "{row}");
    assert!(first.contains("no earlier run to compare with"), "{first}");

    let second = said(&eval(folder.path(), &["tiny", "--mode", "lexical"]));
    assert!(second.contains("lexical differs from last run: in none of 3 queries"), "{second}");

    // Another document is relevant to the second query.
    write(folder.path(), &[("tiny/qrels.tsv", &RELEVANT.replace("q2\td2", "q2\td1"))]);
    let third = said(&eval(folder.path(), &["tiny", "--mode", "lexical"]));
    assert!(third.contains("; 0 better, 1 worse of 3\n"), "{third}");
    assert!(third.contains("  - 1.00 → 0.00  how is bread baked\n"), "{third}");
}

#[test]
fn json_has_every_question_and_a_part_of_them_is_not_kept() {
    let folder = set();
    let words = ["tiny", "--mode", "lexical", "--json"];
    let part = said(&eval(folder.path(), &[&words[..], &["--queries", "2"]].concat()));
    let part: Value = serde_json::from_str(&part).unwrap();
    assert_eq!(part[0]["report"]["stages"][0]["questions"].as_array().unwrap().len(), 2);
    let whole: Value = serde_json::from_str(&said(&eval(folder.path(), &words))).unwrap();
    assert_eq!(whole[0]["comparedWithLastRun"], Value::Null);
    let stage = &whole[0]["report"]["stages"][0];
    assert_eq!((&stage["mode"], &stage["hit"]["mean"]), (&"lexical".into(), &(2.0 / 3.0).into()));
    assert_eq!(stage["questions"][0]["text"], "which animal has stripes");
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    let folder = set();
    fails(folder.path(), &[], "eval.yaml: no such file or folder; name a test set in BEIR layout");
    fails(folder.path(), &["."], "the folder has no corpus.jsonl; name a folder with corpus.jsonl");
    write(folder.path(), &[("eval.yaml", "- question: what\n  expects: [a]\n")]);
    fails(folder.path(), &[], "eval.yaml, entry 1: unknown field `expects`");
    write(folder.path(), &[("eval.yaml", "- question: what\n  expect: [a]\n")]);
    fails(folder.path(), &["--mode", "lexical"], "nothing is indexed yet; run `lyceum sync`");
    write(folder.path(), &[("tiny/qrels.tsv", "q1\td9\t1\n")]);
    fails(folder.path(), &["tiny"], "qrels.tsv:1: there is no document \"d9\" in corpus.jsonl");
}
