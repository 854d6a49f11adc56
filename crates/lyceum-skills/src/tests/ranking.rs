//! Which skills without keywords fit a task, without a model.

use lyceum_content::skill::{Hit, Match};

use super::{document, skill_set};
use crate::{
    SkillSet,
    ranking::{Reason, Task, merge},
};

/// Skills as people write them: no keywords, a description, headings.
fn office() -> Vec<(&'static str, String)> {
    let skill = |name: &str, description: &str, body: &str| {
        format!("---\nname: {name}\ndescription: {description}\n---\n{body}\n")
    };
    vec![
        (
            "office/pptx/SKILL.md",
            skill("pptx", "Create and edit PowerPoint presentations (.pptx), slide decks and speaker notes.", "# Slides"),
        ),
        (
            "office/xlsx/SKILL.md",
            skill("xlsx", "Spreadsheets with formulas and charts, in Excel files (.xlsx).", "# Requirements\n## Formulas"),
        ),
        (
            "office/docx/SKILL.md",
            skill("docx", "Word documents (.docx), with comments and tracked changes.", "## Redlining a contract"),
        ),
        (
            "office/pdf/SKILL.md",
            skill("pdf", "Extract text and tables from PDF files, fill forms, merge documents.", "# PDF"),
        ),
        (
            "brand/SKILL.md",
            "---\nname: brand\ndescription: Colours and fonts of the company.\nmetadata:\n  tags: logo, typography\n---\n"
                .to_owned(),
        ),
    ]
}

fn set_of(files: &[(&'static str, String)]) -> std::sync::Arc<SkillSet> {
    let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (*file, text.as_str())).collect();
    skill_set(&files)
}

/// The paths of the outcome, best first.
fn paths(skill_set: &SkillSet, outcome: &Match) -> Vec<String> {
    let path = |hit: &Hit| skill_set.index.skills()[hit.skill].path.to_string();
    match outcome {
        Match::Nothing => Vec::new(),
        Match::Ambiguous(hits) => hits.iter().map(path).collect(),
        Match::One(hit) => vec![path(hit)],
    }
}

#[track_caller]
fn check(task: &str, expected: &[&str]) {
    let skill_set = set_of(&office());
    let outcome = skill_set.ranker.rank(&Task::new(task), None).outcome(3);
    assert_eq!(paths(&skill_set, &outcome), expected, "{task}: {outcome:?}");
}

#[test]
fn a_task_finds_the_skill_that_its_words_describe() {
    check("make a powerpoint deck", &["office/pptx"]);
    check("edit an excel file", &["office/xlsx"]);
    check("track changes in a Word document", &["office/docx"]);
    check("read the tables of a PDF", &["office/pdf"]);
}

#[test]
fn headings_and_tags_are_read_too() {
    check("redlining", &["office/docx"]);
    check("which typography do we use?", &["brand"]);
}

#[test]
fn a_task_of_another_kind_fits_none() {
    check("bake a sourdough loaf", &[]);
    check("write a poem about the sea in autumn", &[]);
    check("", &[]);
}

#[test]
fn one_word_of_a_long_task_is_not_enough_but_its_subject_is() {
    let long = "Finance sends me a spreadsheet every Monday, and I need the formulas fixed and the charts redrawn \
        before the meeting";
    check(long, &["office/xlsx"]);
}

#[test]
fn equals_are_at_most_three_candidates_each_with_a_reason() {
    let same = |name: &str| format!("---\nname: {name}\ndescription: Deploys the billing service.\n---\n");
    let files: Vec<(&str, String)> = vec![
        ("a/SKILL.md", same("a")),
        ("b/SKILL.md", same("b")),
        ("c/SKILL.md", same("c")),
        ("d/SKILL.md", same("d")),
    ];
    let skill_set = set_of(&files);
    let ranking = skill_set.ranker.rank(&Task::new("deploy billing"), None);
    assert_eq!(paths(&skill_set, &ranking.outcome(10)), ["a", "b", "c"]);
    assert_eq!(paths(&skill_set, &ranking.outcome(2)), ["a", "b"]);
    assert!(matches!(ranking.outcome(1), Match::Ambiguous(hits) if hits.len() == 1));
    let reason = Reason::of(&Task::new("Deploy billing"), skill_set.ranker.text_of(0).unwrap());
    assert_eq!(reason.line(), "\"deploy\", \"billing\" in its description");
    assert_eq!(reason.words(), ["deploy", "billing"]);
    let distant = Reason::of(&Task::new("ship invoices"), skill_set.ranker.text_of(0).unwrap());
    assert_eq!(distant.line(), "no word in common; its description is close in meaning");
}

#[test]
fn vectors_find_what_shares_no_word() {
    let skill_set = set_of(&office());
    let position =
        |path: &str| skill_set.index.skills().iter().position(|one| one.path.as_str() == path).unwrap();
    let mut cosines = vec![0.05; 5];
    cosines[position("office/docx")] = 0.7;
    let outcome = skill_set.ranker.rank(&Task::new("legal agreement"), Some(&cosines)).outcome(3);
    assert_eq!(paths(&skill_set, &outcome), ["office/docx"]);
    assert_eq!(
        skill_set.ranker.rank(&Task::new("legal agreement"), Some(&[0.1; 5])).outcome(3),
        Match::Nothing
    );
    // Vectors of another set are not used.
    assert_eq!(
        skill_set.ranker.rank(&Task::new("legal agreement"), Some(&[0.9; 3])).outcome(3),
        Match::Nothing
    );
}

#[test]
fn declared_keywords_come_first_in_a_mixed_set_and_both_are_offered() {
    let mut files = office();
    files.push(("slides.md", document("slides")));
    let skill_set = set_of(&files);
    let outcome_of = |task: &str| {
        let settings = &skill_set.settings.matching;
        let by_keywords = skill_set.index.query(task).outcome(settings);
        paths(
            &skill_set,
            &merge(
                by_keywords,
                skill_set.ranker.rank(&Task::new(task), None).outcome(3),
                settings.max_results,
            ),
        )
    };
    assert_eq!(outcome_of("make powerpoint slides"), ["slides", "office/pptx"]);
    assert_eq!(outcome_of("fill a PDF form"), ["office/pdf"]);
    assert_eq!(outcome_of("slides"), ["slides", "office/pptx"]);
    assert_eq!(outcome_of("bake bread"), [""; 0]);
}

#[test]
fn the_best_of_both_survives_the_limit() {
    let hit = |skill| Hit { skill, score: 0.5 };
    let merged =
        merge(Match::Ambiguous(vec![hit(0), hit(1), hit(2)]), Match::Ambiguous(vec![hit(7), hit(8)]), 3);
    assert_eq!(merged, Match::Ambiguous(vec![hit(0), hit(1), hit(7)]));
    assert_eq!(merge(Match::One(hit(0)), Match::One(hit(7)), 1), Match::Ambiguous(vec![hit(0), hit(7)]));
    assert_eq!(merge(Match::One(hit(0)), Match::Nothing, 3), Match::One(hit(0)));
}
