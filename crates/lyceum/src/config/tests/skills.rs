//! The table `[skills]`, its source, and the variables that override it.

use std::path::Path;

use lyceum_content::skill::{AnalyticsOverlay, RefreshOverlay};

use super::declared;
use crate::config::{Config, Faults, Location, Overrides, Repository, SkillsService, document::Document};

/// The configuration of a text with those variables.
fn with(text: &str, variables: &[(&str, &str)]) -> Result<Config, Faults> {
    let document = Document::parse(Path::new("lyceum.toml"), text).unwrap();
    let variable = |name: &str| {
        let found = variables.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, value)| value.into())
    };
    Config::of(document, variable, &Overrides::default())
}

const REPOSITORY: &str = "[[source]]\nname = \"team\"\nurl = \"https://example.org/skills.git\"\n";

/// Checks that the text has exactly this error.
#[track_caller]
fn check(text: &str, variables: &[(&str, &str)], fault: &str) {
    let told = with(text, variables).map(|config| format!("{config:?}")).unwrap_err().to_string();
    assert_eq!(told, format!("the configuration has 1 error\n  {fault}"), "{text} {variables:?}");
}

#[test]
fn the_service_is_on_where_its_table_is() {
    assert!(with(REPOSITORY, &[]).unwrap().services.is_empty());
    let config = with(&format!("{REPOSITORY}[skills]\nsource = \"team\"\npath = \"a/b\""), &[]).unwrap();
    let skills = declared::<SkillsService>(&config);
    assert_eq!((skills.source.name.as_str(), skills.path.unwrap().as_str()), ("team", "a/b"));
}

#[test]
fn a_variable_turns_the_service_on_and_counts_over_the_table() {
    let here = std::env::current_dir().unwrap();
    let table = format!("{REPOSITORY}[skills]\nsource = \"team\"");
    for text in ["", &table] {
        let config =
            with(text, &[("SKILLS_DIR", "mine"), ("SKILLS_REPO", "https://example.org/x.git")]).unwrap();
        let source = declared::<SkillsService>(&config).source;
        assert_eq!((source.name.as_str(), source.location), ("skills", Location::Folder(here.join("mine"))));
    }
}

#[test]
fn a_source_of_the_file_keeps_its_name() {
    let text = "[[source]]\nname = \"skills\"\npath = \"/srv/skills\"\n[skills]\nsource = \"skills\"";
    let config = with(text, &[("SKILLS_DIR", "/mine")]).unwrap();
    assert_eq!(declared::<SkillsService>(&config).source.location, Location::Folder("/mine".into()));
    let names: Vec<_> = config.sources.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(names, ["skills", "skills-2"]);
}

#[track_caller]
fn repository(text: &str, variables: &[(&str, &str)]) -> Repository {
    match with(text, variables).unwrap().sources.remove(0).location {
        Location::Repository(repository) => repository,
        other @ (Location::Folder(_) | Location::Example) => panic!("{other:?}"),
    }
}

#[test]
fn a_repository_is_served_from_main_unless_another_branch_is_named() {
    let url = ("SKILLS_REPO", "https://example.org/skills.git");
    assert_eq!(repository("", &[url]).branch, "main");
    assert_eq!(repository("", &[url, ("SKILLS_BRANCH", "next")]).branch, "next");
    assert_eq!(repository(REPOSITORY, &[("SKILLS_BRANCH", "next")]).branch, "main");
    assert_eq!(repository(&format!("{REPOSITORY}branch = \"next\""), &[]).branch, "next");
}

#[test]
fn a_token_is_for_the_repository_of_the_variables_or_the_one_that_names_it() {
    let (url, token) = (("SKILLS_REPO", "https://example.org/skills.git"), ("GITHUB_TOKEN", "swordfish"));
    assert!(repository("", &[url]).token.is_none());
    assert!(repository("", &[url, token]).token.is_some());
    assert!(repository(REPOSITORY, &[token]).token.is_none());
    let config = with(&format!("{REPOSITORY}token_env = \"GITHUB_TOKEN\""), &[token]).unwrap();
    assert!(!format!("{config:?}").contains("swordfish"), "a token is never shown");
}

#[test]
fn a_token_that_can_not_be_used_is_a_fault_and_not_repeated() {
    let named = format!("{REPOSITORY}token_env = \"TOKEN\"");
    let key = "lyceum.toml:4: source \"team\".token_env";
    check(&named, &[], &format!("{key}: the variable TOKEN is not set; set it, or remove token_env"));
    let plain = named.replace("https", "http");
    let fault = format!("{key}: a token is not sent over plain http; use https");
    check(&plain, &[("TOKEN", "swordfish")], &fault);
    let told = with(&named, &[("TOKEN", "sword\nfish")]).unwrap_err().to_string();
    assert!(told.contains("the variable TOKEN can't be used") && !told.contains("fish"), "{told}");
}

fn with_token(url: &str) -> String {
    format!("[[source]]\nname = \"team\"\nurl = {url:?}\ntoken_env = \"TOKEN\"")
}

#[test]
fn a_token_may_be_sent_in_the_clear_to_this_very_machine() {
    for url in ["http://127.0.0.1:3000/s.git", "http://localhost/s.git", "HTTP://[::1]:80/s.git"] {
        assert!(repository(&with_token(url), &[("TOKEN", "swordfish")]).token.is_some(), "{url}");
    }
}

#[test]
fn an_address_that_only_looks_like_this_machine_gets_no_token() {
    for url in [
        "http://127.0.0.1.example.org/s.git",
        "http://localhost.example.org/s.git",
        "http://localhost:80@example.org/s.git",
        "http://127.0.0.1@example.org/s.git",
        "HTTP://example.org/s.git",
        " http://example.org/s.git",
        "http://exa mple.org/s.git",
    ] {
        let fault = "a token is not sent over plain http; use https";
        let fault = format!("lyceum.toml:4: source \"team\".token_env: {fault}");
        check(&with_token(url), &[("TOKEN", "swordfish")], &fault);
    }
}

#[test]
fn news_are_asked_for_as_the_source_the_table_or_the_variable_says() {
    let refresh = |text: &str, variables: &[(&str, &str)]| {
        let config = with(&format!("{REPOSITORY}{text}"), variables).unwrap();
        declared::<SkillsService>(&config).overlay.refresh
    };
    let minutes = |enabled, minutes| RefreshOverlay { enabled, interval_minutes: Some(minutes) };
    let (source, table) = ("poll_minutes = 5\n", "[skills]\nsource = \"team\"\n");
    let both = format!("{source}{table}[skills.refresh]\ninterval_minutes = 7\nenabled = false");
    assert_eq!(refresh(table, &[]), RefreshOverlay::default());
    assert_eq!(refresh(&format!("{source}{table}"), &[]), minutes(None, 5));
    assert_eq!(refresh(&both, &[]), minutes(Some(false), 7));
    let variable = [("REFRESH_INTERVAL_MINUTES", " 30 ")];
    assert_eq!(refresh(&both, &variable), minutes(Some(true), 30));
}

#[test]
fn an_endpoint_in_a_variable_turns_analytics_on() {
    let text = format!("{REPOSITORY}[skills]\nsource = \"team\"\n[skills.analytics]\nenabled = false");
    let config = with(&text, &[("ANALYTICS_ENDPOINT", "https://usage.example.org/events")]).unwrap();
    let endpoint = Some("https://usage.example.org/events".to_owned());
    let expected = AnalyticsOverlay { enabled: Some(true), endpoint };
    assert_eq!(declared::<SkillsService>(&config).overlay.analytics, expected);
}

#[test]
fn a_fault_in_the_table_is_told_where_it_is() {
    let text = |more: &str| format!("{REPOSITORY}[skills]\nsource = \"team\"\n{more}");
    for (more, fault) in [
        ("sorce = 1", "6: skills.sorce: unknown key; did you mean source?"),
        (
            "path = \"../up\"",
            "6: skills.path: \"../up\" is not a path that stays in its folder: it has an empty part, . or ..",
        ),
        (
            "[skills.scripts]\ntimeout_seconds = 0",
            "7: skills.scripts.timeout_seconds: 0 is less than the minimum of 1; write for example timeout_seconds = 60",
        ),
        (
            "[skills.scripts]\nsandbox = \"jail\"",
            "7: skills.scripts.sandbox: is not an allowed value; write one of \"auto\", \"strict\", \"standard\", \"none\"",
        ),
        (
            "[skills.scripts]\nenabled = \"yes\"",
            "7: skills.scripts.enabled: must be a boolean; write for example enabled = true",
        ),
        (
            "[skills.matching]\nmin_score = 2",
            "7: skills.matching.min_score: 2 is greater than the maximum of 1.0; write for example min_score = 0.2",
        ),
        (
            "[skills.analytics]\nendpoint = \"here\"",
            "7: skills.analytics.endpoint: is not an absolute URL; write it like https://example.com/events",
        ),
        (
            "[skills.extra]",
            "6: skills.extra: unknown key; valid keys: analytics, assets, matching, path, prefix, refresh, scripts, source",
        ),
    ] {
        check(&text(more), &[], &format!("lyceum.toml:{fault}"));
    }
    let missing = "4: skills: source is missing; write for example source = \"team-skills\"";
    check(&format!("{REPOSITORY}[skills]"), &[], &format!("lyceum.toml:{missing}"));
    let unknown = "5: skills.source: no [[source]] is named \"other\"; add one, or use the name of another";
    check(
        &text("").replace("source = \"team\"", "source = \"other\""),
        &[],
        &format!("lyceum.toml:{unknown}"),
    );
    check("skills = 5", &[], "lyceum.toml:1: skills: must be a table; write [skills] and its keys below it");
}

#[test]
fn what_anyone_said_is_known() {
    let empty = |variables: &[(&str, &str)]| {
        let variable = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| value.into())
        };
        Config::of(Document::empty(), variable, &Overrides::default()).unwrap().is_written
    };
    assert!(with("", &[]).unwrap().is_written, "a file");
    assert!(empty(&[("SKILLS_DIR", "/srv/skills")]), "a variable that turns a service on");
    assert!(!empty(&[]), "nothing");
    let elsewhere = [("LYCEUM_DATA_DIR", "/data"), ("LYCEUM_LISTEN", "127.0.0.1:0")];
    assert!(!empty(&elsewhere), "where to serve, but not what");
    assert!(
        !empty(&[("ANALYTICS_ENDPOINT", "https://example.org"), ("SKILLS_BRANCH", "main")]),
        "parts of no service"
    );
}
