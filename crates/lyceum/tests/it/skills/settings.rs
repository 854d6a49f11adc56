//! Precedence of settings: `lyceum.toml` overrides `config.yaml`, which overrides the defaults.

use serde_json::{Value, json};

use super::{Folder, ask, check_refused, command::Server, folder::skill, serving, tables};

/// A folder with one skill that half matches "one", so that `min_score` makes a difference.
fn halves() -> Folder {
    Folder::of(&[("half.md", &skill("one, two", "A half."))])
}

/// Whether "one" finds the skill that half matches.
async fn is_found(folder: &Folder, tables: &str) -> bool {
    let app = serving(folder, tables).await;
    let answer = ask(&app, "get_skill", json!({ "context": "one" })).await;
    app.stop().await;
    answer["skill_path"] == "half"
}

/// The findings about `config.yaml`.
async fn told(folder: &Folder, tables: &str) -> Value {
    let app = serving(folder, tables).await;
    let answer = ask(&app, "refresh_skills", json!({})).await;
    app.stop().await;
    let findings = answer.get("findings").cloned().unwrap_or_else(|| json!([]));
    let message = |finding: &Value| {
        assert_eq!((&finding["file"], &finding["severity"]), (&json!("config.yaml"), &json!("warning")));
        finding["message"].clone()
    };
    findings.as_array().unwrap().iter().map(message).collect()
}

const STRICT: &str = "matching:\n  min_score: 0.6\n";
const LENIENT: &str = "matching:\n  min_score: 0.4\n";

#[tokio::test]
async fn config_yaml_counts_in_the_folder_then_beside_it() {
    let folder = halves();
    assert!(is_found(&folder, "").await, "the default is 0.2");
    std::fs::write(folder.beside("config.yaml"), STRICT).unwrap();
    assert!(!is_found(&folder, "").await, "beside the folder");
    folder.write("config.yaml", LENIENT);
    assert!(is_found(&folder, "").await, "in the folder, over the one beside it");
    folder.write("config.yaml", STRICT);
    std::fs::write(folder.beside("config.yaml"), LENIENT).unwrap();
    assert!(!is_found(&folder, "").await, "in the folder, over the one beside it");
    assert_eq!(told(&folder, "").await, json!([]));
}

#[tokio::test]
async fn lyceum_toml_counts_over_config_yaml() {
    let folder = halves();
    folder.write("config.yaml", STRICT);
    assert!(is_found(&folder, "[skills.matching]\nmin_score = 0.4\n").await);
    folder.write("config.yaml", LENIENT);
    assert!(!is_found(&folder, "[skills.matching]\nmin_score = 0.6\n").await);
    assert!(
        is_found(&folder, "[skills.matching]\nmax_results = 1\n").await,
        "what is not written is not touched"
    );
}

#[tokio::test]
async fn candidates_and_their_distance_are_settings() {
    let folder = Folder::of(&[
        ("a.md", &skill("one", "A")),
        ("b.md", &skill("one", "B")),
        ("c.md", &skill("one", "C")),
        ("d.md", &skill("one", "D")),
        ("e.md", &skill("one, two", "E")),
    ]);
    for (config, candidates) in [
        ("", json!(["a", "b", "c"])),
        ("matching: { max_results: 2 }", json!(["a", "b"])),
        ("matching: { max_results: 10 }", json!(["a", "b", "c", "d", "e"])),
        ("matching: { max_results: 10, min_score: 0.6 }", json!(["a", "b", "c", "d"])),
        ("matching: { max_results: 1, ambiguity_threshold: 1.0 }", json!(["a"])),
    ] {
        folder.write("config.yaml", config);
        let app = serving(&folder, "").await;
        let answer = ask(&app, "get_skill", json!({ "context": "one" })).await;
        let found: Value =
            answer["candidates"].as_array().unwrap().iter().map(|one| one["skill_path"].clone()).collect();
        assert_eq!(found, candidates, "{config}");
        app.stop().await;
    }
    folder.write("config.yaml", "matching: { ambiguity_threshold: 0 }");
    let app = serving(&folder, "").await;
    assert_eq!(ask(&app, "get_skill", json!({ "context": "one" })).await["skill_path"], "a");
    app.stop().await;
}

#[tokio::test]
async fn a_config_yaml_that_is_broken_is_told_and_the_defaults_count() {
    let folder = halves();
    for (text, word) in [
        ("matching: [", "can't be parsed; it has no effect"),
        ("matching:\n\tmin_score: 0.6", "can't be parsed; it has no effect"),
        ("- a\n- b\n", "is not a YAML mapping; it has no effect"),
        ("just words", "is not a YAML mapping; it has no effect"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nmatching: *b\n", "it has no effect"),
    ] {
        folder.write("config.yaml", text);
        assert!(is_found(&folder, "").await, "{text}");
        let told = told(&folder, "").await.to_string();
        assert!(told.contains(word), "{text}: {told}");
    }
}

#[tokio::test]
async fn one_table_that_is_wrong_leaves_the_others_alone() {
    let folder = halves();
    folder.write(
        "config.yaml",
        "matching: { min_score: 0.6 }\nassets: { max_size_bytes: many }\nscripts: { sandbox: none }\nextra: 1\n\
         refresh: { interval_minutes: 0 }\n",
    );
    assert!(!is_found(&folder, "").await, "the first table counts");
    let told = told(&folder, "").await;
    let told: Vec<&str> = told.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(told.len(), 4, "{told:?}");
    for (message, start) in told.iter().zip([
        "assets.max_size_bytes: ",
        "extra: unknown table",
        "scripts.sandbox: only lyceum.toml",
        "refresh.interval_minutes: is out of range",
    ]) {
        assert!(message.starts_with(start), "{message}");
    }
}

#[tokio::test]
async fn a_config_yaml_that_is_empty_says_nothing() {
    let folder = halves();
    for text in ["", "# nothing yet\n", "---\n", "matching:\n", "{}"] {
        folder.write("config.yaml", text);
        assert!(is_found(&folder, "").await, "{text:?}");
        assert_eq!(told(&folder, "").await, json!([]), "{text:?}");
    }
}

/// A skill with a script that the server could run, if it were allowed and had a runner.
fn scripted() -> Folder {
    let text = "---\nkeywords: [run]\ndescription: Runs\nscripts: [{ file: a.sh, execution: server, args: [x] }]\n---\nRun\n";
    Folder::of(&[("run.md", text), ("run/a.sh", "echo a")])
}

/// Whether scripts are enabled: then the next check is about the arguments.
async fn check_scripts(folder: &Folder, tables: &str, on: bool) {
    let app = serving(folder, tables).await;
    let arguments = json!({ "skill_path": "run", "file": "a.sh", "args": {} });
    if on {
        let text = "args: missing required arguments: x";
        check_refused(&app, "run_script", arguments, "VALIDATION_ERROR", text).await;
    } else {
        let text =
            "scripts are disabled (scripts.enabled = false); the one who runs this server can enable them";
        check_refused(&app, "run_script", arguments, "FORBIDDEN", text).await;
    }
    app.stop().await;
}

#[tokio::test]
async fn over_http_only_lyceum_toml_turns_scripts_on() {
    let (on, off) = ("[skills.scripts]\nenabled = true\n", "[skills.scripts]\nenabled = false\n");
    let folder = scripted();
    check_scripts(&folder, "", false).await;
    check_scripts(&folder, on, true).await;
    folder.write("config.yaml", "scripts: { enabled: true }");
    check_scripts(&folder, "", false).await;
    check_scripts(&folder, "[skills.scripts]\ntimeout_seconds = 5\n", false).await;
    check_scripts(&folder, off, false).await;
    check_scripts(&folder, on, true).await;
    let told = told(&folder, "").await;
    let text = "scripts.enabled: on a shared server, only lyceum.toml can enable it; it has no effect here";
    assert_eq!(told, json!([text]));
    folder.write("config.yaml", "scripts: { enabled: false }");
    check_scripts(&folder, "", false).await;
    check_scripts(&folder, on, true).await;
}

#[tokio::test]
async fn s6_over_http_a_repository_names_no_runner_and_adds_no_extension() {
    let folder = scripted();
    folder.write(
        "config.yaml",
        "scripts: { runners: { .sh: bash -x }, allowed_extensions: [.sh, .exe], network: any }",
    );
    let expected = [
        "scripts.network: only lyceum.toml can choose the network; it has no effect here",
        "scripts.runners: on a shared server, only lyceum.toml can set runners; it has no effect here",
        "scripts.allowed_extensions: on a shared server, only lyceum.toml can add extensions; the additional ones have \
         no effect here",
    ];
    assert_eq!(told(&folder, "").await, json!(expected));
}

/// Settings that are documented to have no effect have none.
#[tokio::test]
async fn s6_over_http_scripts_run_by_the_runners_and_extensions_of_the_operator() {
    let skill = "---\nkeywords: [run]\ndescription: Runs\nscripts:\n  - { file: a.sh, execution: server }\n  \
        - { file: b.exe, execution: server }\n---\nRun\n";
    let folder = Folder::of(&[("run.md", skill), ("run/a.sh", "echo a"), ("run/b.exe", "echo b")]);
    folder.write(
        "config.yaml",
        "scripts: { runners: { .sh: echo, .exe: echo }, allowed_extensions: [.sh, .exe] }",
    );
    let server = Server::start(&format!("{}[skills.scripts]\nenabled = true\n", tables(&folder))).await;
    let run = async |file: &str| {
        server.call("run_script", &json!({ "skill_path": "run", "file": file, "args": {} })).await
    };
    let ran = run("a.sh").await.json();
    assert_eq!(ran["structuredContent"]["stdout"], "a\n", "{ran}");
    let refused = run("b.exe").await;
    assert!(refused.text().contains("the extension \\\".exe\\\" is not allowed"), "{refused:?}");
    server.stop().await;
}
