//! Comparison of runs.

use super::{Baseline, with_last, with_stages};
use crate::{
    Mode,
    eval::{QueryScore, Report, Stage},
};

fn stage(mode: Mode, scores: &[(&str, f64)]) -> Stage {
    let questions = scores.iter().map(|(text, ndcg)| QueryScore {
        id: text.chars().take(1).collect(),
        text: (*text).to_owned(),
        ndcg: *ndcg,
        ..QueryScore::default()
    });
    Stage::of(mode, questions.collect(), Vec::new())
}

fn report(stages: Vec<Stage>) -> Report {
    Report { stages, ..Report::default() }
}

#[test]
fn the_questions_that_changed_the_most_are_named() {
    let last = report(vec![stage(Mode::Hybrid, &[("a", 0.5), ("b", 1.0), ("c", 0.2), ("d", 0.0)])]);
    let now = report(vec![stage(Mode::Hybrid, &[("a", 0.5), ("b", 0.25), ("c", 0.3), ("d", 1.0)])]);
    let [comparison] = with_last(&now, &last).try_into().unwrap();
    assert_eq!((comparison.questions, comparison.better_count, comparison.worse_count), (4, 2, 1));
    assert_eq!(comparison.better.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(), ["d", "c"]);
    assert_eq!(comparison.worse.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(), ["b"]);
    assert!((comparison.difference.mean - 0.0875).abs() < 1e-9, "{comparison:?}");
}

#[test]
fn a_question_in_other_words_and_one_that_is_new_are_not_compared() {
    let last = report(vec![stage(Mode::Lexical, &[("a", 0.5), ("b", 0.5)])]);
    let now = report(vec![stage(Mode::Lexical, &[("a", 0.6), ("b again", 0.9), ("c", 1.0)])]);
    let [comparison] = with_last(&now, &last).try_into().unwrap();
    assert_eq!(comparison.questions, 1);
    assert_eq!(with_last(&report(vec![stage(Mode::Lexical, &[("z", 1.0)])]), &last), []);
    assert_eq!(with_last(&report(vec![stage(Mode::Hybrid, &[("a", 1.0)])]), &last), []);
}

#[test]
fn both_together_are_compared_with_each_alone() {
    let report = report(vec![
        stage(Mode::Hybrid, &[("a", 1.0), ("b", 0.5)]),
        stage(Mode::Lexical, &[("a", 0.5), ("b", 0.5)]),
        stage(Mode::Vector, &[("a", 1.0), ("b", 0.75)]),
    ]);
    let compared = with_stages(&report);
    let compared: Vec<_> = compared.iter().map(|one| (one.with, one.difference.mean)).collect();
    assert_eq!(compared, [(Baseline::Lexical, 0.25), (Baseline::Vector, -0.125)]);
}
