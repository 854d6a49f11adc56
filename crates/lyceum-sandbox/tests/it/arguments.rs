//! Arguments reach the script unchanged, and nothing else does.

use std::collections::BTreeMap;

use lyceum_model::RelPath;
use lyceum_sandbox::{Cwd, Error, LevelChoice, Sandbox, Script, Variant};

use crate::stage::{ALL, CONFINED, Stage, bash, python};

const PRINT_ENVIRONMENT: &str = "import json, os\nprint(json.dumps(dict(os.environ)))";

fn with_args(mut script: Script, args: &[(&str, &str)]) -> Script {
    script.args = args.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    script
}

#[tokio::test]
async fn arguments_are_variables_that_nothing_interprets() {
    let stage = Stage::new();
    let args = [
        ("plain", "word"),
        ("dry-run", "yes"),
        ("lines", "one\ntwo\r\n\ttwo and a half\n"),
        ("shell", "$(id) `id` ; rm -rf / & \"' \\ ${PATH} %s *"),
        ("umlaut", "größer \u{1F30D}"),
        ("empty", ""),
        ("LD_PRELOAD", "/tmp/evil.so"),
        ("PATH", "/tmp"),
        ("bash_env", "/tmp/evil.sh"),
        ("x=y", "z"),
    ];
    for (variant, finished) in stage.run_in(&ALL, &with_args(python(PRINT_ENVIRONMENT), &args)).await {
        assert_eq!(finished.exit_code, 0, "{variant:?}: {finished:?}");
        let environment: BTreeMap<String, String> = serde_json::from_str(&finished.stdout.text).unwrap();
        let variable = |name: &str| environment.get(name).map(String::as_str);
        assert_eq!(variable("SKILL_ARG_PLAIN"), Some("word"), "{variant:?}");
        assert_eq!(variable("SKILL_ARG_DRY_RUN"), Some("yes"), "{variant:?}");
        assert_eq!(variable("SKILL_ARG_LINES"), Some(args[2].1), "{variant:?}");
        assert_eq!(variable("SKILL_ARG_SHELL"), Some(args[3].1), "{variant:?}");
        assert_eq!(variable("SKILL_ARG_UMLAUT"), Some(args[4].1), "{variant:?}");
        assert_eq!(variable("SKILL_ARG_EMPTY"), Some(""), "{variant:?}");
        assert_eq!(variable("SKILL_ARG_LD_PRELOAD"), Some("/tmp/evil.so"), "{variant:?}");
        assert_eq!(variable("SKILL_ARG_X_Y"), Some("z"), "{variant:?}");
        assert_eq!(variable("PATH"), Some("/usr/bin:/bin"), "{variant:?}");

        // PWD comes from bubblewrap; the rest is ours. Nothing of the test's environment is passed on.
        let own = ["PATH", "HOME", "TMPDIR", "LANG", "SKILL_DIR", "PWD", "LC_CTYPE"];
        let foreign: Vec<_> = environment
            .keys()
            .filter(|name| !name.starts_with("SKILL_ARG_") && !own.contains(&name.as_str()))
            .collect();
        assert!(foreign.is_empty(), "{variant:?}: {foreign:?}");
    }
}

#[track_caller]
fn check_invalid(result: Result<lyceum_sandbox::ScriptOutcome, Error>, expected: &str) {
    match result {
        Err(Error::Invalid(text)) => {
            assert!(text.contains(expected), "{text:?} does not contain {expected:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_no_script_can_be_given_is_refused_with_its_reason() {
    let stage = Stage::new();
    let sandbox = stage.sandbox(Variant::Plain).await.unwrap();
    let run = async |script: Script| sandbox.run(script).await;
    let script = || bash("echo no");

    check_invalid(run(with_args(script(), &[("a", "b\0c")])).await, "NUL");
    check_invalid(run(with_args(script(), &[("a\0", "b")])).await, "NUL");
    check_invalid(run(with_args(script(), &[("", "b")])).await, "no name");
    check_invalid(run(with_args(script(), &[("a-b", "1"), ("a_b", "2")])).await, "SKILL_ARG_A_B");
    check_invalid(run(with_args(script(), &[("a", &"x".repeat(200_000))])).await, "too long");
    let many: Vec<(String, String)> =
        (0..20).map(|number| (format!("a{number}"), "x".repeat(100_000))).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    check_invalid(run(with_args(script(), &many)).await, "too long");

    let elsewhere = RelPath::parse("other").unwrap();
    check_invalid(run(Script { file: elsewhere.clone(), ..script() }).await, "not among the files");
    check_invalid(run(Script { runner: vec!["bash".to_owned()], ..script() }).await, "absolute");
    check_invalid(run(Script { runner: Vec::new(), ..script() }).await, "absolute");
    check_invalid(run(Script { cwd: Cwd::Absolute("/tmp".into()), ..script() }).await, "skill's folder");
    check_invalid(run(Script { cwd: Cwd::Below(elsewhere), ..script() }).await, "no folder other");
    for readable in ["/", "/proc/1", "/usr/..", "relative"] {
        check_invalid(run(Script { readable: vec![readable.into()], ..script() }).await, "readable");
    }
    stage.is_clean();
}

#[tokio::test]
async fn the_longest_arguments_are_taken() {
    let stage = Stage::new();
    let value = "x".repeat(130_000);
    let args: Vec<(&str, &str)> =
        ["a", "b", "c", "d", "e", "f", "g", "h"].map(|name| (name, value.as_str())).to_vec();
    for (variant, finished) in stage.run_in(&ALL, &with_args(bash("echo ${#SKILL_ARG_A}"), &args)).await {
        assert_eq!(finished.stdout.text, "130000\n", "{variant:?}: {finished:?}");
    }
}

#[tokio::test]
async fn a_script_starts_in_its_skill_and_finds_its_files() {
    let stage = Stage::new();
    let mut script =
        bash("pwd; cat ../data/words.txt; \"$SKILL_DIR/data/tool.sh\"; cat \"$SKILL_ARG_EXTRA\"");
    let extra = stage.path().join("extra.txt");
    std::fs::write(&extra, "extra\n").unwrap();
    script.args.insert("extra".to_owned(), extra.display().to_string());
    script.readable.push(extra);
    script.files.push((RelPath::parse("data/words.txt").unwrap(), b"words\n".to_vec()));
    script.files.push((RelPath::parse("data/tool.sh").unwrap(), b"#!/bin/sh\necho tool\n".to_vec()));
    script.files.push((RelPath::parse("data/large.bin").unwrap(), vec![7; 3_000_000]));
    script.cwd = Cwd::Below(RelPath::parse("scripts").unwrap());
    for (variant, finished) in stage.run_in(&ALL, &script).await {
        assert!(
            finished.stdout.text.ends_with("/skill/scripts\nwords\ntool\nextra\n"),
            "{variant:?}: {finished:?}"
        );
    }

    let sandbox = stage.sandbox(Variant::None).await.unwrap();
    let anywhere = Script { cwd: Cwd::Absolute("/usr/bin".into()), ..bash("pwd") };
    assert_eq!(sandbox.run(anywhere).await.unwrap().stdout.text, "/usr/bin\n");
}

#[tokio::test]
async fn a_runner_that_is_not_there_is_an_error_and_no_exit_code() {
    let stage = Stage::new();
    for variant in ALL {
        let Some(sandbox) = stage.sandbox(variant).await else { continue };
        let error = sandbox
            .run(Script { runner: vec!["/usr/bin/no-such".to_owned()], ..bash("") })
            .await
            .unwrap_err();
        assert!(error.to_string().contains("/usr/bin/no-such"), "{variant:?}: {error}");
        stage.is_clean();
    }
}

#[tokio::test]
async fn files_that_exclude_each_other_are_an_error() {
    let stage = Stage::new();
    for variant in CONFINED {
        let Some(sandbox) = stage.sandbox(variant).await else { continue };
        let mut script = bash("echo no");
        script.files.push((RelPath::parse("scripts").unwrap(), Vec::new()));
        // More than a socket buffer, so that the supervisor fails before all is sent.
        script.files.push((RelPath::parse("large").unwrap(), vec![0; 2_000_000]));
        let error = sandbox.run(script).await.unwrap_err();
        assert!(error.to_string().contains("could not write the skill file scripts"), "{variant:?}: {error}");
        stage.is_clean();
    }
}

#[tokio::test]
async fn the_best_level_that_works_is_found() {
    let stage = Stage::new();
    let level = async |wanted| Sandbox::find(wanted, stage.setup()).await.unwrap().level().as_str();
    assert_eq!(level(LevelChoice::None).await, "none");
    assert_eq!(level(LevelChoice::Standard).await, "standard");
    let best = if stage.sandbox(Variant::Strict).await.is_some() { "strict" } else { "standard" };
    assert_eq!(level(LevelChoice::Auto).await, best);
    stage.is_clean();
}
