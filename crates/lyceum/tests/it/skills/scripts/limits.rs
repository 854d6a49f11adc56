//! Scripts that run too long, start processes, or print too much.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{asked, ended, folder, run, start};
use crate::{
    skills::{command::Server, tables},
    stdio::Program,
};

#[tokio::test]
async fn a_script_that_takes_too_long_is_killed() {
    let folder = folder(&[("long.sh", "echo started\nprintf trouble >&2\nsleep 60\necho never\n")]);
    folder.write("config.yaml", "scripts: { timeout_seconds: 2 }");
    let mut program = start(&folder);
    let began = Instant::now();
    let result = program.call("run_script", asked("long.sh", &json!({}))).await;
    let mut answer = result["structuredContent"].clone();
    let took = answer["duration_ms"].as_u64().unwrap();
    assert!((2000..7500).contains(&took) && began.elapsed() < Duration::from_secs(15), "{answer}");
    for key in ["duration_ms", "sandbox"] {
        answer.as_object_mut().unwrap().remove(key);
    }
    let stderr = "trouble\n[skills-mcp] Script killed: timeout exceeded.";
    assert_eq!(answer, ended("long.sh", 137, "started\n", stderr));
    program.finish().await;
}

/// Number of processes with that word on their command line.
fn processes_with(word: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(word)).count()
}

#[tokio::test]
async fn a_script_that_ignores_the_end_is_killed_with_all_it_started() {
    let marks = ["86401.25", "86402.25", "86403.25"];
    let script = format!(
        "trap '' TERM\nsetsid sleep {} &\n(setsid sh -c 'trap \"\" TERM; sleep {}; echo' &)\necho started\nsleep {}\n",
        marks[0], marks[1], marks[2]
    );
    let folder = folder(&[("stubborn.sh", &script)]);
    folder.write("config.yaml", "scripts: { timeout_seconds: 2 }");
    let mut program = start(&folder);
    let answer = run(&mut program, asked("stubborn.sh", &json!({}))).await;
    let stderr = "[skills-mcp] Script killed: timeout exceeded.";
    assert_eq!(answer, ended("stubborn.sh", 137, "started\n", stderr));
    assert_eq!(marks.map(processes_with), [0, 0, 0], "a process is left");
    program.finish().await;
}

#[tokio::test]
async fn what_a_script_leaves_behind_ends_with_it() {
    let folder = folder(&[("leaves.sh", "setsid sleep 86404.25 >/dev/null 2>&1 &\necho done\n")]);
    let mut program = start(&folder);
    let began = Instant::now();
    let answer = run(&mut program, asked("leaves.sh", &json!({}))).await;
    assert_eq!(answer, ended("leaves.sh", 0, "done\n", ""));
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(processes_with("86404.25"), 0, "a process is left");
    program.finish().await;
}

#[tokio::test]
async fn output_is_cut_at_the_limit_and_that_is_told() {
    let folder = folder(&[
        ("loud.sh", "head -c 3000 /dev/zero | tr '\\0' o\nhead -c 3000 /dev/zero | tr '\\0' e >&2\n"),
        ("full.sh", "head -c 2000 /dev/zero | tr '\\0' o\n"),
        ("flood.sh", "head -c 100000000 /dev/zero | tr '\\0' o\necho end >&2\n"),
    ]);
    folder.write("config.yaml", "scripts: { max_output_bytes: 2000 }");
    let mut program = start(&folder);
    let cut = |file: &str, stderr: &str| {
        let mut answer = ended(file, 0, &"o".repeat(2000), stderr);
        answer["truncated"] = json!(true);
        answer
    };
    assert_eq!(run(&mut program, asked("loud.sh", &json!({}))).await, cut("loud.sh", &"e".repeat(2000)));
    assert_eq!(run(&mut program, asked("flood.sh", &json!({}))).await, cut("flood.sh", "end\n"));
    let full = ended("full.sh", 0, &"o".repeat(2000), "");
    assert_eq!(run(&mut program, asked("full.sh", &json!({}))).await, full);
    program.finish().await;
}

/// S-8.4: `timeout_seconds` is the timeout of a script; the timeout of other calls does not shorten it.
#[tokio::test]
async fn a_script_may_take_its_own_time_out_whatever_other_calls_may_take() {
    let folder = folder(&[("slow.sh", "sleep 2\necho done\n")]);
    folder.write("config.yaml", "scripts: { timeout_seconds: 20 }");
    let limits = "[limits]\ncall_seconds = 1\n";
    let mut program = Program::of(limits, &[("SKILLS_DIR", folder.path().to_str().unwrap())]);
    let answer = run(&mut program, asked("slow.sh", &json!({}))).await;
    assert_eq!(answer, ended("slow.sh", 0, "done\n", ""));
    program.finish().await;

    let config = format!("{}[skills.scripts]\nenabled = true\n{limits}", tables(&folder));
    let server = Server::start(&config).await;
    let answer = server.call("run_script", &asked("slow.sh", &json!({}))).await.json();
    assert_eq!(answer["structuredContent"]["stdout"], "done\n", "{answer}");
    server.stop().await;
}
