//! Tasks and scores.

use std::collections::HashSet;

use serde_json::json;

use super::{Score, Task, paths, tasks::tasks};

#[test]
fn every_task_is_asked_once_and_a_quarter_fits_no_skill() {
    let tasks = tasks().unwrap();
    for (part, size) in [(&tasks.tune, 80), (&tasks.report, 40), (&tasks.held_out, 40)] {
        let without = part.iter().filter(|task| task.skills.is_empty()).count();
        assert_eq!((part.len(), without * 4), (size, size));
    }
    let all = || tasks.tune.iter().chain(&tasks.report).chain(&tasks.held_out);
    let texts: HashSet<&str> = all().map(|task| task.task.as_str()).collect();
    assert_eq!(texts.len(), 160);
}

#[test]
fn a_held_out_task_names_skills_of_its_own() {
    let tasks = tasks().unwrap();
    let seen: HashSet<&String> =
        tasks.tune.iter().chain(&tasks.report).flat_map(|task| &task.skills).collect();
    for task in &tasks.held_out {
        assert!(task.skills.iter().all(|skill| !seen.contains(skill)), "{}", task.task);
    }
}

#[test]
fn answers_are_counted_by_place() {
    let task = |skills: &[&str]| Task {
        task: "t".to_owned(),
        skills: skills.iter().map(|&skill| skill.to_owned()).collect(),
        reason: String::new(),
    };
    let answer = |paths: &[&str]| paths.iter().map(|&path| path.to_owned()).collect::<Vec<_>>();
    let mut score = Score::default();
    assert_eq!(score.add(&task(&["a", "b"]), &answer(&["b"])), None);
    assert!(score.add(&task(&["a"]), &answer(&["x", "a"])).is_some());
    assert!(score.add(&task(&["a"]), &answer(&["x"])).is_some());
    assert!(score.add(&task(&["a"]), &answer(&[])).is_some());
    assert_eq!(score.add(&task(&[]), &answer(&[])), None);
    assert!(score.add(&task(&[]), &answer(&["x"])).is_some());
    let figures = [score.first(), score.among_three(), score.none(), score.single(), score.single_right()];
    assert_eq!((figures, score.tasks()), ([0.25, 0.5, 0.5, 0.5, 0.5], 6));
}

#[test]
fn each_form_of_an_answer_gives_its_paths() {
    assert_eq!(paths(&json!({ "no_match": true })), [""; 0]);
    assert_eq!(paths(&json!({ "skill_path": "a" })), ["a"]);
    assert_eq!(paths(&json!({ "candidates": [{ "skill_path": "a" }, { "skill_path": "b" }] })), ["a", "b"]);
}
