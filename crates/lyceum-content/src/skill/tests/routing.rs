//! Tokens, scores and ambiguity, as in the tables of the specification.

use super::{
    super::{Match, MatchSettings, tokens::tokenize},
    document, index,
};

#[track_caller]
fn check_tokens(text: &str, tokens: &[&str]) {
    assert_eq!(tokenize(text), tokens, "{text:?}");
}

#[test]
fn a_task_becomes_the_words_that_count() {
    check_tokens(
        "Create a React component for the authentication",
        &["create", "react", "component", "authentication"],
    );
    check_tokens("Créer un composant pour l'authentification", &["créer", "composant", "authentification"]);
    check_tokens("react, REACT & React!", &["react"]);
    check_tokens("server-side auth/jwt", &["server-side", "authjwt", "auth", "jwt"]);
    check_tokens("le la les un une de du et ou en", &[]);
    check_tokens("  \n\t ", &[]);
}

/// "Remove punctuation (keep hyphens)", then "split on whitespace".
#[test]
fn skills_1_punctuation_is_removed_and_does_not_make_other_words() {
    for (text, tokens) in [
        ("I don't know", &["know"][..]),
        ("won't isn't aren’t can't don't/won't", &[]),
        ("I'm sure they've tests", &["sure", "tests"]),
        ("what's React's state?", &["reacts", "state"]),
        ("rock'n'roll", &["rocknroll"]),
        ("l'UI d'accueil", &["ui", "accueil"]),
        ("'quoted' “words”", &["quoted", "words"]),
        ("C.I.", &["ci"]),
        ("next.js", &["nextjs", "next", "js"]),
        ("CI/CD", &["cicd", "ci", "cd"]),
        ("and/or", &[]),
        ("deploy.", &["deploy"]),
        ("--dry-run, now!", &["dry-run"]),
        ("snake_case(value)", &["snake_casevalue", "snake_case", "value"]),
    ] {
        check_tokens(text, tokens);
    }
    for (text, keyword) in
        [("I don't know", "abandon"), ("I won't", "wonder"), ("it isn't", "disney"), ("aren't", "parent")]
    {
        check_match(text, keyword, false);
    }
    for (text, keyword) in
        [("run C.I. for us", "ci"), ("a next.js app", "nextjs"), ("a next.js app", "next.js"), ("l'UI", "ui")]
    {
        check_match(text, keyword, true);
    }
}

#[track_caller]
fn check_match(token: &str, keyword: &str, matches: bool) {
    let index = index(&[("a.md", &document(keyword))]);
    let found = index.query(token).outcome(&MatchSettings::default()) != Match::Nothing;
    assert_eq!(found, matches, "{token:?} against {keyword:?}");
}

#[test]
fn words_and_keywords_match_both_ways_unless_they_are_short() {
    check_match("react", "react", true);
    check_match("authentication", "auth", true);
    check_match("auth", "authentication", true);
    check_match("react", "reactjs", true);
    check_match("go", "golang", false);
    check_match("ts", "ts", true);
    check_match("golang", "go", false);
    check_match("js", "json", false);
    check_match("REACT", "React", true);
    check_match("thé", "théière", true);
}

#[track_caller]
fn check_score(context: &str, keywords: &str, priority: f64, expected: f64, matched: &[&str]) {
    let text = format!("---\nkeywords: [{keywords}]\ndescription: d\npriority: {priority}\n---\n");
    let index = index(&[("a.md", &text)]);
    let settings = MatchSettings { min_score: 0.0, ..MatchSettings::default() };
    let score = match index.query(context).outcome(&settings) {
        Match::One(hit) => hit.score,
        Match::Nothing => 0.0,
        Match::Ambiguous(_) => panic!("there is only one skill"),
    };
    assert!((score - expected).abs() < 1e-12, "{context:?} against {keywords:?}: {score}");
    assert_eq!(index.query(context).matched(&index.get("a").unwrap().keywords), matched);
}

#[test]
fn the_score_is_the_share_of_keywords_and_a_little_for_priority() {
    check_score("react auth", "react, auth, form, login", 0.0, 0.5, &["react", "auth"]);
    check_score("react auth", "react, auth, form, login", 10.0, 0.51, &["react", "auth"]);
    check_score(
        "react auth component",
        "react, auth, component",
        5.0,
        1.005,
        &["react", "auth", "component"],
    );
    check_score("nothing of it", "react, auth", 900.0, 0.0, &[]);
    check_score("form", "react, forms and inputs", -100.0, 0.4, &["forms and inputs"]);
}

#[test]
fn a_skill_below_the_least_score_is_left_out() {
    check_match_in("react", "react, b1x, c2x, d3x, e4x", true);
    check_match_in("react", "react, b1x, c2x, d3x, e4x, f5x", false);
}

#[track_caller]
fn check_match_in(context: &str, keywords: &str, matches: bool) {
    let index = index(&[("a.md", &document(keywords))]);
    assert_eq!(
        index.query(context).outcome(&MatchSettings::default()) != Match::Nothing,
        matches,
        "{keywords}"
    );
}

#[test]
fn two_that_are_near_are_ambiguous_and_the_best_come_first() {
    let index = index(&[
        ("ui/react/auth.md", &document("react, auth")),
        ("api/auth.md", &document("api, auth")),
        ("b.md", &document("auth, bbb")),
        ("c.md", &document("auth, ccc")),
        ("far.md", &document("auth, x1x, x2x, x3x")),
    ]);
    let paths = |hits: &[super::super::Hit]| {
        hits.iter().map(|hit| index.skills()[hit.skill].path.to_string()).collect::<Vec<_>>()
    };
    match index.query("auth").outcome(&MatchSettings::default()) {
        Match::Ambiguous(hits) => assert_eq!(paths(&hits), ["api/auth", "b", "c"]),
        other => panic!("{other:?}"),
    }
    match index.query("react auth").outcome(&MatchSettings::default()) {
        Match::One(hit) => assert_eq!(paths(&[hit]), ["ui/react/auth"]),
        other => panic!("{other:?}"),
    }
    let wide = MatchSettings { ambiguity_threshold: 0.6, max_results: 2, ..MatchSettings::default() };
    match index.query("react auth").outcome(&wide) {
        Match::Ambiguous(hits) => assert_eq!(paths(&hits), ["ui/react/auth", "api/auth"]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn priority_lifts_one_over_its_equal() {
    let text = |priority| format!("---\nkeywords: [auth]\ndescription: d\npriority: {priority}\n---\n");
    let index = index(&[("a.md", &text(0)), ("b.md", &text(150))]);
    match index.query("auth").outcome(&MatchSettings::default()) {
        Match::One(hit) => assert_eq!(index.skills()[hit.skill].path.as_str(), "b"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_empty_folder_matches_nothing() {
    assert_eq!(index(&[]).query("anything").outcome(&MatchSettings::default()), Match::Nothing);
}

/// Compares the vocabulary search with a naive implementation of the specified rule.
#[test]
fn the_vocabulary_finds_what_the_plain_rule_finds() {
    let keywords = [
        "react",
        "reactjs",
        "go",
        "golang",
        "auth",
        "oauth2",
        "ui",
        "unit test",
        "test",
        "été",
        "c",
        "server-side",
        "a-b",
    ];
    let contexts = [
        "react native",
        "golang go",
        "authentication",
        "ui tests",
        "unit",
        "oauth",
        "server",
        "c",
        "été reactjs auth a-b-c",
        // Enough tokens for the Aho-Corasick path.
        "one two three four five six seven eight nine ten eleven twelve thirteen act unit oauth21 go ser fourteen sixteen",
    ];
    for context in contexts {
        for keyword in keywords {
            let plain = tokenize(context).iter().any(|token| {
                let short = token.chars().count() < 3 || keyword.chars().count() < 3;
                token == keyword || (!short && (token.contains(keyword) || keyword.contains(token.as_str())))
            });
            let others: Vec<String> = keywords.iter().map(|one| document(one)).collect();
            let names: Vec<String> = (0..others.len()).map(|at| format!("s{at}.md")).collect();
            let files: Vec<(&str, &str)> =
                names.iter().zip(&others).map(|(name, text)| (name.as_str(), text.as_str())).collect();
            let index = index(&files);
            let skill = index.skills().iter().find(|skill| skill.keywords == [keyword]).unwrap();
            assert_eq!(
                !index.query(context).matched(&skill.keywords).is_empty(),
                plain,
                "{context:?} against {keyword:?}"
            );
        }
    }
}
