//! `scripts.workspace`: a folder of the user that scripts may use, over stdio only.

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Folder, OTHERS_ARE_OFF, Server, folder, lyceum, refused, tables};
use crate::stdio::Program;

const SCRIPT: &str = "cat \"$SKILL_WORKSPACE/auth.json\"\ncat \"$SKILL_WORKSPACE/../beside\" || echo no\n\
    echo checked > \"$SKILL_WORKSPACE/report\" || echo read only\npwd\n";

/// A project, and a file beside it that every user may read: only the sandbox protects it.
fn project() -> (TempDir, String) {
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    let project = place.path().canonicalize().unwrap().join("project");
    fs::create_dir(&project).unwrap();
    fs::write(project.join("auth.json"), "{}\n").unwrap();
    fs::write(place.path().join("beside"), "secret\n").unwrap();
    for path in [place.path(), &project] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let path = project.display().to_string();
    (place, path)
}

fn check_folder() -> Folder {
    folder(&[("check.sh", SCRIPT)])
}

fn asked(cwd: &str) -> Value {
    json!({ "skill_path": "run", "file": "check.sh", "args": {}, "cwd": cwd })
}

#[tokio::test]
async fn a_script_reads_and_writes_the_workspace_as_told() {
    let (folder, (_place, project)) = (check_folder(), project());
    let config =
        |access: &str| format!("{}[skills.scripts]\nworkspace = {project:?}\n{access}", tables(&folder));
    for (access, word, out) in [
        ("", "read", format!("{{}}\nno\nread only\n{project}\n")),
        ("workspace_access = \"write\"\n", "write", format!("{{}}\nno\n{project}\n")),
    ] {
        let mut program = Program::of(&config(access), &[]);
        let answer = program.call("run_script", asked(&project)).await["structuredContent"].take();
        assert_eq!(answer["stdout"], json!(out), "{answer}");
        assert_eq!(answer["workspace"], json!({ "path": project, "access": word }));
        let (code, _) = refused(&program.call("run_script", asked("/etc")).await);
        assert_eq!(code, "INVALID_PATH");
        program.finish().await;
        let ended = lyceum("doctor", &config(access), &[]).await;
        let line = format!(
            "  workspace of scripts: {project}, to {word}, over stdio only (skills.scripts.workspace)"
        );
        assert!(ended.out.ends_with(&format!("{line}\n{OTHERS_ARE_OFF}\n")), "{ended:?}");
    }
}

#[tokio::test]
async fn the_environment_opens_a_workspace_and_a_repository_does_not() {
    let (folder, (_place, project)) = (check_folder(), project());
    let place = folder.path();
    let skills = ("SKILLS_DIR", place.to_str().unwrap());
    let variables = [skills, ("SKILLS_WORKSPACE", project.as_str()), ("SKILLS_WORKSPACE_ACCESS", "write")];
    let mut program = Program::with(&variables);
    let answer = program.call("run_script", asked(".")).await["structuredContent"].take();
    assert_eq!(answer["workspace"], json!({ "path": project, "access": "write" }));
    program.finish().await;

    folder.write("config.yaml", format!("scripts: {{ workspace: {project}, workspace_access: write }}"));
    let mut program = Program::with(&[skills]);
    let answer = program.call("run_script", asked(".")).await["structuredContent"].take();
    check_closed(&answer);
    program.finish().await;
}

/// Checks that the script ran without a workspace.
#[track_caller]
fn check_closed(answer: &Value) {
    assert!(answer["sandbox"].is_string() && answer["workspace"].is_null(), "{answer}");
    assert!(!answer["stdout"].as_str().unwrap().contains("{}"), "{answer}");
}

#[tokio::test]
async fn over_http_there_is_no_workspace() {
    let (folder, (_place, project)) = (check_folder(), project());
    let config = format!("{}[skills.scripts]\nenabled = true\nworkspace = {project:?}\n", tables(&folder));
    let server = Server::start(&config).await;
    check_closed(&server.call("run_script", &asked(".")).await.json()["structuredContent"]);
    server.stop().await;
}

#[tokio::test]
async fn a_workspace_that_is_not_there_is_a_fault_of_the_configuration() {
    let folder = check_folder();
    let config = format!("{}[skills.scripts]\nworkspace = \"/no/such/folder\"\n", tables(&folder));
    let ended = lyceum("check", &config, &[]).await;
    let said = format!("{}{}", ended.out, ended.err);
    assert!(said.contains("skills.scripts.workspace: no such folder: /no/such/folder"), "{ended:?}");
}
