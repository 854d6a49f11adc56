//! The environment variables of the specification, and their precedence.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpListener,
};

use super::{Folder, command::lyceum, folder::skill, repository::Repository};
use crate::{app::within, stdio::Program};

fn text(folder: &Folder) -> String {
    folder.path().to_str().unwrap().to_owned()
}

/// What the program serves for "one".
async fn served(program: &mut Program) -> Value {
    let mut result = program.call("get_skill", json!({ "context": "one" })).await;
    result["structuredContent"]["content"].take()
}

fn named(words: &str) -> Value {
    json!(format!("=== ONE (from one.md) ===\n\n{words}"))
}

#[tokio::test]
async fn without_a_folder_and_a_repository_the_program_says_what_to_set() {
    for variables in [
        &[][..],
        &[("LYCEUM_LISTEN", "127.0.0.1:0")],
        &[("SKILLS_DIR", ""), ("SKILLS_REPO", "")],
        &[("SKILLS_BRANCH", "main"), ("GITHUB_TOKEN", "t")],
    ] {
        let ended = lyceum("stdio", "", variables).await;
        let text = "lyceum: there is nothing to serve; set SKILLS_DIR to a folder of skills or SKILLS_REPO to a Git \
            repository, or name a configuration file with --config\n";
        assert_eq!(
            (ended.code, ended.out.as_str(), ended.err.as_str()),
            (Some(1), "", text),
            "{variables:?}"
        );
    }
}

#[tokio::test]
async fn a_folder_is_served() {
    let folder = Folder::of(&[("one.md", &skill("one", "Of the folder."))]);
    let mut program = Program::with(&[("SKILLS_DIR", &text(&folder))]);
    assert_eq!(served(&mut program).await, named("Of the folder."));
    program.finish().await;
}

#[tokio::test]
async fn a_folder_counts_over_a_repository() {
    let folder = Folder::of(&[("one.md", &skill("one", "Of the folder."))]);
    let repository = Repository::of(&[("skills/one.md", &skill("one", "Of the repository."))]);
    let mut program = Program::with(&[("SKILLS_DIR", &text(&folder)), ("SKILLS_REPO", &repository.url())]);
    assert_eq!(served(&mut program).await, named("Of the folder."));
    let info = program.call("server_info", json!({})).await["structuredContent"]["sources"].take();
    assert_eq!((info.as_array().unwrap().len(), &info[0]["commit"]), (1, &Value::Null), "{info}");
    program.finish().await;
}

#[tokio::test]
async fn a_repository_is_served_from_main_or_the_branch_that_is_named() {
    let repository = Repository::of(&[("skills/one.md", &skill("one", "Of main."))]);
    repository.branch("next/2");
    let commit = repository.commit(&[("skills/one.md", &skill("one", "Of the next one."))]);
    let mut program = Program::with(&[("SKILLS_REPO", &repository.url())]);
    assert_eq!(served(&mut program).await, named("Of main."));
    program.finish().await;
    let mut program = Program::with(&[("SKILLS_REPO", &repository.url()), ("SKILLS_BRANCH", "next/2")]);
    assert_eq!(served(&mut program).await, named("Of the next one."));
    super::eventually_in(&mut program, "server_info", |info| info["sources"][0]["commit"] == *commit).await;
    program.finish().await;
}

#[tokio::test]
async fn a_branch_that_is_not_there_is_told_and_the_program_stays_up() {
    let repository = Repository::of(&[("skills/one.md", &skill("one", "Of main."))]);
    let mut program = Program::with(&[("SKILLS_REPO", &repository.url()), ("SKILLS_BRANCH", "nothing")]);
    let (code, text) = super::refused(&program.call("get_skill", json!({ "context": "one" })).await);
    assert_eq!(code, "UNAVAILABLE");
    assert!(text.starts_with("cannot read the skills: ") && text.contains("nothing"), "{text}");
    program.finish().await;
}

#[tokio::test]
async fn a_branch_that_can_be_none_is_refused_at_the_start() {
    let ended =
        lyceum("stdio", "", &[("SKILLS_REPO", "file:///x.git"), ("SKILLS_BRANCH", "--upload-pack=id")]).await;
    let text = "lyceum: a source can't be used: \"--upload-pack=id\" is not a valid branch name\n";
    assert_eq!((ended.code, ended.err.as_str()), (Some(1), text));
    let ended = lyceum("stdio", "", &[("SKILLS_REPO", "ext::sh -c id")]).await;
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.contains("protocol that is not allowed"), "{}", ended.err);
}

#[tokio::test]
async fn a_repository_without_the_folder_skills_is_served_whole() {
    let repository = Repository::of(&[
        ("one.md", &skill("one", "At the top.")),
        ("config.yaml", "matching: { min_score: 0.9 }"),
    ]);
    let mut program = Program::with(&[("SKILLS_REPO", &repository.url())]);
    assert_eq!(served(&mut program).await, named("At the top."));
    program.finish().await;
}

#[tokio::test]
async fn the_config_yaml_of_a_repository_counts_at_its_top_and_in_its_folder() {
    let half = skill("one, two", "A half.");
    let repository =
        Repository::of(&[("skills/one.md", &half), ("config.yaml", "matching: { min_score: 0.9 }")]);
    let mut program = Program::with(&[("SKILLS_REPO", &repository.url())]);
    assert_eq!(served(&mut program).await, Value::Null);
    repository.commit(&[("skills/config.yaml", "matching: { min_score: 0.1 }")]);
    super::eventually_in(&mut program, "refresh_skills", |answer| answer["files_changed"] == 1).await;
    assert_eq!(served(&mut program).await, named("A half."));
    program.finish().await;
}

#[tokio::test]
async fn the_variables_count_over_lyceum_toml() {
    let (written, set) = (
        Folder::of(&[("one.md", &skill("one", "Of the file."))]),
        Folder::of(&[("one.md", &skill("one", "Of the variable."))]),
    );
    let config = super::tables(&written);
    let mut program = Program::of(&config, &[]);
    assert_eq!(served(&mut program).await, named("Of the file."));
    program.finish().await;
    let mut program = Program::of(&config, &[("SKILLS_DIR", &text(&set))]);
    assert_eq!(served(&mut program).await, named("Of the variable."));
    program.finish().await;
}

#[tokio::test]
async fn over_stdio_scripts_are_on_unless_someone_turns_them_off() {
    let folder = Folder::of(&[
        (
            "run.md",
            "---\nkeywords: [run]\ndescription: Runs\nscripts: [{ file: a.sh, execution: server, args: [x] }]\n---\nRun\n",
        ),
        ("run/a.sh", "echo a"),
    ]);
    for (yaml, toml, code) in [
        ("", "", "VALIDATION_ERROR"),
        ("scripts: { enabled: false }", "", "FORBIDDEN"),
        ("scripts: { enabled: true }", "", "VALIDATION_ERROR"),
        ("scripts: { enabled: false }", "[skills.scripts]\nenabled = true\n", "VALIDATION_ERROR"),
        ("scripts: { enabled: true }", "[skills.scripts]\nenabled = false\n", "FORBIDDEN"),
    ] {
        folder.write("config.yaml", yaml);
        let mut program = Program::of(&format!("{}{toml}", super::tables(&folder)), &[]);
        let run = json!({ "skill_path": "run", "file": "a.sh", "args": {} });
        assert_eq!(super::refused(&program.call("run_script", run).await).0, code, "{yaml} {toml}");
        program.finish().await;
    }
}

/// Checks that the program does not start, and reports that error of the variable.
async fn check_fault(name: &str, value: &str, fault: &str) {
    let folder = Folder::example();
    for command in ["stdio", "serve"] {
        let ended = lyceum(command, "", &[("SKILLS_DIR", &text(&folder)), (name, value)]).await;
        let expected =
            format!("lyceum: the configuration has 1 error\n  the environment variable {name}: {fault}\n");
        assert_eq!((ended.code, ended.err), (Some(1), expected), "{command}, {name}={value}");
        assert_eq!(ended.out, "");
    }
}

#[tokio::test]
async fn an_interval_that_is_none_is_named() {
    let key = "skills.refresh.interval_minutes";
    let example = "write for example interval_minutes = 15";
    for garbage in ["soon", "1.5", "-5", "5m"] {
        check_fault("REFRESH_INTERVAL_MINUTES", garbage, &format!("{key}: must be an integer; {example}"))
            .await;
    }
    let zero = format!("{key}: 0 is less than the minimum of 1; {example}");
    check_fault("REFRESH_INTERVAL_MINUTES", "0", &zero).await;
    let never = format!("{key}: 999999 is greater than the maximum of 10080; {example}");
    check_fault("REFRESH_INTERVAL_MINUTES", "999999", &never).await;
}

#[tokio::test]
async fn an_endpoint_that_is_none_is_named_and_not_repeated() {
    let key = "skills.analytics.endpoint";
    let fault = format!("{key}: is not an absolute URL; write it like https://example.com/events");
    check_fault("ANALYTICS_ENDPOINT", "swordfish", &fault).await;
    let fault = format!("{key}: must start with https:// or http://");
    check_fault("ANALYTICS_ENDPOINT", "ftp://user:swordfish@example.org/", &fault).await;
}

#[tokio::test]
async fn variables_of_the_service_mean_nothing_where_it_is_off() {
    let ended =
        lyceum("check", "", &[("ANALYTICS_ENDPOINT", "swordfish"), ("REFRESH_INTERVAL_MINUTES", "soon")])
            .await;
    let text = "the configuration is valid: listen on 127.0.0.1:8787, 0 sources\n";
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (Some(0), text, ""));
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_told_in_the_answer_and_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let mut program = Program::with(&[("SKILLS_DIR", missing.to_str().unwrap())]);
    let (code, told) = super::refused(&program.call("list_skills", json!({})).await);
    let text = "no such folder; check its path";
    assert_eq!((code.as_str(), told), ("UNAVAILABLE", format!("cannot read the skills: {text}")));
    let (log, _) = program.finish().await;
    assert!(log.iter().any(|line| line["level"] == "WARN" && line["error.cause"] == text), "{log:?}");
}

#[tokio::test]
async fn a_folder_may_be_named_from_the_working_folder_on() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("mine")).unwrap();
    std::fs::write(folder.path().join("mine/one.md"), skill("one", "Nearby.")).unwrap();
    let mut program = Program::at(folder, "", &[("SKILLS_DIR", "mine")]);
    assert_eq!(served(&mut program).await, named("Nearby."));
    program.finish().await;
}

/// A Git server that requires authentication, and then has nothing; returns the credentials it got.
async fn ask_for_password(listener: TcpListener) -> String {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = BufReader::new(stream);
        let mut told = None;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.unwrap() <= 2 {
                break;
            }
            told = told.or(line.strip_prefix("Authorization: ").map(|value| value.trim().to_owned()));
        }
        let status = if told.is_some() {
            "404 Not Found"
        } else {
            "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\""
        };
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        stream.get_mut().write_all(answer.as_bytes()).await.unwrap();
        if let Some(told) = told {
            return told;
        }
    }
}

#[tokio::test]
async fn a_token_reaches_the_git_server_and_is_nowhere_else() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/team/skills.git", listener.local_addr().unwrap());
    let asking = tokio::spawn(ask_for_password(listener));
    let mut program =
        Program::with(&[("SKILLS_REPO", &url), ("GITHUB_TOKEN", "swordfish"), ("LYCEUM_LOG", "debug")]);
    let told = within("git says who it is", asking).await.unwrap();
    assert_eq!(told, format!("Basic {}", BASE64_STANDARD.encode("x-access-token:swordfish")));
    let (code, text) = super::refused(&program.call("get_skill", json!({ "context": "one" })).await);
    assert_eq!(code, "UNAVAILABLE");
    assert!(!text.contains("swordfish"), "{text}");
    let (log, folder) = program.finish().await;
    assert!(!log.is_empty() && !json!(log).to_string().contains("swordfish"), "{log:?}");
    let found =
        std::process::Command::new("grep").args(["-r", "swordfish"]).arg(folder.path()).output().unwrap();
    assert_eq!(found.status.code(), Some(1), "{}", String::from_utf8_lossy(&found.stdout));
}

#[tokio::test]
async fn the_doctor_shows_no_password_of_an_address() {
    let ended = lyceum("doctor", "", &[("SKILLS_REPO", "https://user:swordfish@127.0.0.1:1/x.git")]).await;
    assert!(!format!("{ended:?}").contains("swordfish"), "{ended:?}");
    assert!(ended.out.contains("source skills: https://127.0.0.1:1/x.git, branch main"), "{ended:?}");
}

#[tokio::test]
async fn two_repositories_have_a_copy_each() {
    let one = Repository::of(&[("one.md", &skill("one", "The first."))]);
    let two = Repository::of(&[("one.md", &skill("one", "The second."))]);
    let mut folder = tempfile::tempdir().unwrap();
    for (repository, body) in [(&one, "The first."), (&two, "The second."), (&one, "The first.")] {
        let mut program = Program::at(folder, "", &[("SKILLS_REPO", &repository.url())]);
        assert_eq!(served(&mut program).await, named(body));
        (_, folder) = program.finish().await;
    }
    let copies = std::fs::read_dir(folder.path().join("data/sources")).unwrap();
    assert_eq!(copies.filter(|entry| entry.as_ref().unwrap().path().is_dir()).count(), 2);
}
