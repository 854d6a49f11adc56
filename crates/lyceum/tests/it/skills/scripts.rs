//! `run_script`: real scripts in the real sandbox of this machine.

#![cfg(target_os = "linux")]

mod limits;
mod network;
mod workspace;

use serde_json::{Value, json};

use super::{
    Folder,
    analytics::Receiver,
    bad_files::OTHERS_ARE_OFF,
    command::{Server, lyceum},
    refused, tables,
};
use crate::stdio::Program;

/// A skill with those scripts.
fn folder(scripts: &[(&str, &str)]) -> Folder {
    let declared: String =
        scripts.iter().map(|(file, _)| format!("  - {{ file: {file}, execution: server }}\n")).collect();
    let folder = Folder::of(&[(
        "run.md",
        &format!("---\nkeywords: [run]\ndescription: Runs\nscripts:\n{declared}---\n\nRun.\n"),
    )]);
    folder.write("run/data/words.txt", "of the skill\n");
    for (file, text) in scripts {
        folder.write(&format!("run/{file}"), text);
    }
    folder
}

fn start(folder: &Folder) -> Program {
    Program::with(&[("SKILLS_DIR", folder.path().to_str().unwrap())])
}

fn asked(file: &str, args: &Value) -> Value {
    json!({ "skill_path": "run", "file": file, "args": args })
}

/// The result of a run without its time and its sandbox, which are checked.
async fn run(program: &mut Program, arguments: Value) -> Value {
    let mut result = program.call("run_script", arguments).await;
    assert_eq!(result["isError"], false, "{result}");
    let mut answer = result["structuredContent"].take();
    let fields = answer.as_object_mut().unwrap();
    assert!(fields.remove("duration_ms").unwrap().is_u64());
    let sandbox = fields.remove("sandbox").unwrap();
    assert!(["strict", "standard"].contains(&sandbox.as_str().unwrap()), "{sandbox}");
    answer
}

fn ended(file: &str, exit_code: i32, stdout: &str, stderr: &str) -> Value {
    json!({
        "success": exit_code == 0,
        "exit_code": exit_code,
        "stdout": stdout,
        "stderr": stderr,
        "script": file,
    })
}

#[tokio::test]
async fn a_script_that_ends_well() {
    let folder = folder(&[("valid.sh", "echo 'Auth config is valid'\n")]);
    let mut program = start(&folder);
    let answer = run(&mut program, asked("valid.sh", &json!({}))).await;
    assert_eq!(answer, ended("valid.sh", 0, "Auth config is valid\n", ""));
    program.finish().await;
}

#[tokio::test]
async fn a_script_that_fails() {
    let folder = folder(&[(
        "fails.sh",
        "echo so far\necho \"Error: Missing required field 'clientId'\" >&2\nexit 3\n",
    )]);
    let mut program = start(&folder);
    let answer = run(&mut program, asked("fails.sh", &json!({}))).await;
    assert_eq!(answer, ended("fails.sh", 3, "so far\n", "Error: Missing required field 'clientId'\n"));
    program.finish().await;
}

#[tokio::test]
async fn arguments_are_variables_and_nothing_else() {
    let script = "printf '%s|' \"$SKILL_ARG_CLIENT_ID\" \"$SKILL_ARG_MODE\" \"$SKILL_ARG_LD_PRELOAD\" \"$LD_PRELOAD\" \"$#\"\n";
    let folder = folder(&[("args.sh", script)]);
    let mut program = start(&folder);
    let odd = "two words\n$(id) `id` ; id \u{1F9F5} \"'\\";
    let args = json!({ "client-id": odd, "mode": "", "LD_PRELOAD": "/tmp/evil.so" });
    let answer = run(&mut program, asked("args.sh", &args)).await;
    assert_eq!(answer, ended("args.sh", 0, &format!("{odd}||/tmp/evil.so||0|"), ""));
    for (args, text) in [
        (json!({ "id": "a\0b" }), "the argument \"id\" has a NUL character, which no script can be given"),
        (json!({ "a\0": "b" }), "the argument \"a\\0\" has a NUL character, which no script can be given"),
        (json!({ "": "a" }), "an argument has no name"),
        (json!({ "a=b": "1", "a-b": "2" }), "two arguments would both be SKILL_ARG_A_B; send one of them"),
        (json!({ "id": "x".repeat(200_000) }), "the argument \"id\" is too long: at most 130816 bytes"),
    ] {
        let refusal = refused(&program.call("run_script", asked("args.sh", &args)).await);
        assert_eq!(refusal, ("VALIDATION_ERROR".to_owned(), text.to_owned()));
    }
    program.finish().await;
}

#[tokio::test]
async fn a_script_does_not_see_the_servers_environment_and_has_no_input() {
    let folder = folder(&[("env.sh", "env\ncat\nread line || echo no input\n")]);
    let place = folder.path();
    let variables =
        [("SKILLS_DIR", place.to_str().unwrap()), ("GITHUB_TOKEN", "swordfish"), ("SECRET", "swordfish")];
    let mut program = Program::of("", &variables);
    let answer = run(&mut program, asked("env.sh", &json!({}))).await;
    let out = answer["stdout"].as_str().unwrap();
    assert!(out.ends_with("no input\n") && out.contains("PATH="), "{out}");
    assert!(!out.contains("swordfish") && !out.contains("SKILLS_DIR"), "{out}");
    program.finish().await;
}

#[tokio::test]
async fn a_script_starts_in_its_skill_or_in_a_folder_of_it() {
    let folder =
        folder(&[("where.sh", "cat data/words.txt 2>/dev/null || cat words.txt 2>/dev/null || pwd\n")]);
    let mut program = start(&folder);
    let here = ended("where.sh", 0, "of the skill\n", "");
    let in_folder = |cwd: &str| {
        let mut arguments = asked("where.sh", &json!({}));
        arguments["cwd"] = json!(cwd);
        arguments
    };
    assert_eq!(run(&mut program, asked("where.sh", &json!({}))).await, here);
    assert_eq!(run(&mut program, in_folder(".")).await, here);
    assert_eq!(run(&mut program, in_folder("data")).await, here);
    for outside in
        ["..", "data/../..", "/", "/etc", folder.path().to_str().unwrap(), "%2e%2e", "data\\..", "\0", ""]
    {
        let (code, text) = refused(&program.call("run_script", in_folder(outside)).await);
        assert_eq!(code, "INVALID_PATH", "{outside:?}: {text}");
        assert!(text.starts_with("cwd: path traversal is not allowed"), "{outside:?}: {text}");
    }
    let missing = program.call("run_script", in_folder("nothing")).await;
    assert_eq!(missing["isError"], true, "a folder that is not there: {missing}");
    program.finish().await;
}

/// A folder with programs that any user may start.
fn common_path() -> String {
    let path = std::env::var("PATH").unwrap();
    path.split(':').filter(|folder| !folder.starts_with("/root")).collect::<Vec<_>>().join(":")
}

#[tokio::test]
async fn the_runner_is_that_of_the_extension() {
    let folder = folder(&[
        ("say.py", "import sys\nprint('of python', len(sys.argv))\n"),
        ("strict.xyz", "echo before\nfalse\necho after\n"),
        ("lost.abc", "x"),
    ]);
    folder.write(
        "config.yaml",
        "scripts:\n  allowed_extensions: [.py, .xyz, .abc]\n  runners: { .xyz: sh -e, .abc: no-such-program --flag }\n",
    );
    let (place, path) = (folder.path(), common_path());
    let mut program = Program::with(&[("SKILLS_DIR", place.to_str().unwrap()), ("PATH", &path)]);
    let answer = run(&mut program, asked("say.py", &json!({}))).await;
    assert_eq!(answer, ended("say.py", 0, "of python 1\n", ""));
    let answer = run(&mut program, asked("strict.xyz", &json!({}))).await;
    assert_eq!(answer, ended("strict.xyz", 1, "before\n", ""));
    let (code, text) = refused(&program.call("run_script", asked("lost.abc", &json!({}))).await);
    let expected = "no runner: \"no-such-program\" is not on the server's PATH; install it, or name another in \
        scripts.runners";
    assert_eq!((code.as_str(), text.as_str()), ("UNAVAILABLE", expected));
    program.finish().await;
}

/// A folder with one program that any user may start.
fn folder_with_program(name: &str, text: &str) -> tempfile::TempDir {
    use std::{fs, os::unix::fs::PermissionsExt as _};
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join(name);
    fs::write(&program, text).unwrap();
    for path in [folder.path(), &program] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

#[tokio::test]
async fn a_runner_that_would_have_to_be_fetched_is_named_at_once() {
    let folder = folder(&[("say.ts", "console.log('of TypeScript')\n")]);
    let programs = folder_with_program("npx", "#!/bin/sh\nsleep 300\n");
    let path = programs.path().to_str().unwrap();
    let mut program = Program::with(&[("SKILLS_DIR", folder.path().to_str().unwrap()), ("PATH", path)]);
    let (code, text) = refused(&program.call("run_script", asked("say.ts", &json!({}))).await);
    let expected = "no runner: `npx tsx` needs \"tsx\", which is not installed, and nothing is fetched for a script; run \
        `npm install --global tsx` on the server, or name another runner in scripts.runners";
    assert_eq!((code.as_str(), text.as_str()), ("UNAVAILABLE", expected));
    program.finish().await;
}

#[tokio::test]
async fn a_package_that_is_installed_needs_no_npx() {
    let folder = folder(&[("say.ts", "of TypeScript\n")]);
    let programs = folder_with_program("tsx", "#!/bin/sh\nexec cat \"$1\"\n");
    let path = programs.path().to_str().unwrap();
    let mut program = Program::with(&[("SKILLS_DIR", folder.path().to_str().unwrap()), ("PATH", path)]);
    let answer = run(&mut program, asked("say.ts", &json!({}))).await;
    assert_eq!(answer, ended("say.ts", 0, "of TypeScript\n", ""));
    program.finish().await;
}

#[tokio::test]
async fn an_inherited_script_runs_in_the_folder_of_the_skill_that_has_it() {
    let folder = Folder::of(&[
        (
            "_root.md",
            "---\nkeywords: [root]\ndescription: Root\nscripts: [{ file: a.sh, execution: server }]\n---\nRoot\n",
        ),
        ("_root/a.sh", "cat own.txt\n"),
        ("_root/own.txt", "of the root\n"),
        ("run.md", "---\nkeywords: [run]\ndescription: Runs\n---\nRun\n"),
        ("run/own.txt", "of the child\n"),
    ]);
    let mut program = start(&folder);
    assert_eq!(run(&mut program, asked("a.sh", &json!({}))).await, ended("a.sh", 0, "of the root\n", ""));
    program.finish().await;
}

#[tokio::test]
async fn a_script_changes_nothing_of_the_skill() {
    let folder = folder(&[(
        "spoil.sh",
        "echo spoiled > data/words.txt\necho spoiled > run.sh\necho spoiled > \"$0\"\ncat data/words.txt\n",
    )]);
    let mut program = start(&folder);
    let answer = run(&mut program, asked("spoil.sh", &json!({}))).await;
    let files = ["run/data/words.txt", "run/spoil.sh"]
        .map(|file| std::fs::read_to_string(folder.file(file)).unwrap());
    assert_eq!(files[0], "of the skill\n", "{answer}");
    assert!(files[1].starts_with("echo spoiled > data"), "{answer}");
    assert!(!folder.file("run/run.sh").exists());
    program.finish().await;
}

#[tokio::test]
async fn many_scripts_at_once_are_all_answered() {
    let folder = folder(&[("id.sh", "sleep 0.2\necho \"$SKILL_ARG_N\"\n")]);
    let mut program = start(&folder);
    let answers =
        program.call_all("run_script", (0..12).map(|n| asked("id.sh", &json!({ "n": n.to_string() })))).await;
    let mut out: Vec<u32> = answers
        .iter()
        .map(|answer| {
            answer["structuredContent"]["stdout"]
                .as_str()
                .unwrap_or_else(|| panic!("{answer}"))
                .trim()
                .parse()
                .unwrap()
        })
        .collect();
    out.sort_unstable();
    assert_eq!(out, (0..12).collect::<Vec<_>>());
    program.finish().await;
}

#[tokio::test]
async fn without_a_sandbox_the_result_says_so_and_any_folder_will_do() {
    let folder = folder(&[("pwd.sh", "pwd\n")]);
    let elsewhere = tempfile::tempdir().unwrap();
    let place = elsewhere.path().canonicalize().unwrap();
    let config = format!("{}[skills.scripts]\nsandbox = \"none\"\n", tables(&folder));
    let mut program = Program::of(&config, &[]);
    let mut arguments = asked("pwd.sh", &json!({}));
    arguments["cwd"] = json!(place);
    let answer = program.call("run_script", arguments.clone()).await["structuredContent"].take();
    assert_eq!(
        (&answer["sandbox"], &answer["stdout"]),
        (&json!("none"), &json!(format!("{}\n", place.display())))
    );
    arguments["cwd"] = json!("../..");
    assert_eq!(refused(&program.call("run_script", arguments).await).0, "INVALID_PATH");
    program.finish().await;
}

#[tokio::test]
async fn the_doctor_the_probe_and_each_result_name_the_same_sandbox() {
    let folder = folder(&[("a.sh", "echo a\n")]);
    let mut program = start(&folder);
    let level =
        program.call("run_script", asked("a.sh", &json!({}))).await["structuredContent"]["sandbox"].take();
    program.finish().await;
    let level = level.as_str().unwrap();
    let config = format!("{}[skills.scripts]\nenabled = true\n", tables(&folder));
    let ended = lyceum("doctor", &config, &[]).await;
    let line = format!("scripts: on over stdio, on over HTTP; sandbox {level}; memory limited by ");
    assert!(ended.code == Some(0) && ended.out.lines().any(|said| said.starts_with(&line)), "{ended:?}");
    let network = "  network access of scripts that declare it: public over stdio, none over HTTP (skills.scripts.network)";
    assert!(ended.out.ends_with(&format!("{network}\n{OTHERS_ARE_OFF}\n")), "{ended:?}");
    let server = Server::start(&config).await;
    let ready = server.get("/readyz").await.json();
    server.stop().await;
    let expected = json!({ "ready": true, "reasons": [], "scripts": { "enabled": true, "sandbox": level } });
    assert_eq!(ready, expected);
}

#[tokio::test]
async fn a_run_is_told_to_the_endpoint_without_the_values_of_its_arguments() {
    let (folder, receiver) = (folder(&[("a.sh", "exit 3\n")]), Receiver::start().await);
    let place = folder.path();
    let variables =
        [("SKILLS_DIR", place.to_str().unwrap()), ("ANALYTICS_ENDPOINT", &receiver.url()), ("USER", "ana")];
    let mut program = Program::with(&variables);
    run(&mut program, asked("a.sh", &json!({ "token": "swordfish", "mode": "x" }))).await;
    program.finish().await;
    let events = receiver.events();
    assert_eq!(
        (events.len(), &events[0]["type"], &events[0]["server_id"]),
        (1, &json!("script_executed"), &json!("dev-ana"))
    );
    let mut data = events[0]["data"].clone();
    assert!(data.as_object_mut().unwrap().remove("duration_ms").unwrap().is_u64());
    let expected = json!({
        "skill_path": "run",
        "file": "a.sh",
        "execution_mode": "server",
        "success": false,
        "exit_code": 3,
        "args_provided": ["mode", "token"],
    });
    assert_eq!(data, expected);
    assert!(!json!(events).to_string().contains("swordfish"));
}
