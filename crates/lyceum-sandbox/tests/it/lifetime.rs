//! A run ends on time, with every process it started.

use std::{
    io::Write as _,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use lyceum_sandbox::{Error, Script, StopReason, Variant};
use serde_json::json;

use crate::stage::{ALL, CONFINED, Stage, bash, driver, processes_with, python, wait_for_process};

/// A script that leaves a process behind, without a common parent, session or process group.
fn with_orphan(marker: &str, then: &str) -> Script {
    bash(&format!("(setsid bash -c 'exec -a {marker} sleep 300' & ) ; {then}"))
}

/// A unique process name.
fn marker(test: &str) -> String {
    format!("sandbox-test-{test}-{}", std::process::id())
}

fn limited(mut script: Script, timeout: u64, grace: u64) -> Script {
    script.limits.timeout = Duration::from_millis(timeout);
    script.limits.grace = Duration::from_millis(grace);
    script
}

#[tokio::test]
async fn the_exit_code_is_the_scripts() {
    let stage = Stage::new();
    for code in [0, 1, 7, 126, 255] {
        for (variant, finished) in stage.run_in(&ALL, &bash(&format!("exit {code}"))).await {
            assert_eq!((finished.exit_code, finished.stopped), (code, None), "{variant:?}");
        }
    }
    for (variant, finished) in stage.run_in(&ALL, &python("import ctypes; ctypes.string_at(0)")).await {
        assert_eq!(finished.exit_code, 128 + 11, "a crash, {variant:?}");
    }
}

#[tokio::test]
async fn a_script_that_takes_too_long_is_asked_to_end() {
    let stage = Stage::new();
    let script = bash("trap 'echo bye; exit 3' TERM; echo begun; sleep 300 & wait");
    for (variant, finished) in stage.run_in(&ALL, &limited(script, 500, 10_000)).await {
        assert_eq!(finished.stdout.text, "begun\nbye\n", "{variant:?}");
        assert_eq!((finished.exit_code, finished.stopped), (137, Some(StopReason::Timeout)), "{variant:?}");
        assert!(finished.duration < Duration::from_secs(5), "{variant:?}: {:?}", finished.duration);
    }
}

#[tokio::test]
async fn a_script_that_does_not_listen_is_killed() {
    let stage = Stage::new();
    let script = bash("trap '' TERM; echo begun; while true; do sleep 0.05; done");
    for (variant, finished) in stage.run_in(&ALL, &limited(script, 300, 300)).await {
        assert_eq!(finished.stdout.text, "begun\n", "{variant:?}");
        assert_eq!((finished.exit_code, finished.stopped), (137, Some(StopReason::Timeout)), "{variant:?}");
        assert!(finished.duration >= Duration::from_millis(600), "{variant:?}: {:?}", finished.duration);
        assert!(finished.duration < Duration::from_secs(5), "{variant:?}: {:?}", finished.duration);
    }
}

#[tokio::test]
async fn what_a_script_leaves_behind_is_killed_when_it_ends() {
    let stage = Stage::new();
    let marker = marker("left");
    // It waits until the other process runs, which keeps its standard output open.
    let script = with_orphan(&marker, "sleep 0.3; echo done");
    for (variant, finished) in stage.run_in(&ALL, &script).await {
        assert_eq!(finished.stdout.text, "done\n", "{variant:?}");
        assert_eq!((finished.exit_code, finished.stopped), (0, None), "{variant:?}");
        assert!(finished.duration < Duration::from_secs(5), "{variant:?}: {:?}", finished.duration);
        assert!(processes_with(&marker).is_empty(), "{variant:?}");
    }
}

#[tokio::test]
async fn a_script_that_only_starts_others_is_ended_with_all_of_them() {
    let stage = Stage::new();
    // Every process forks and exits, so that no pid stays valid for long.
    let runs_away = python(
        "import os, time\nend = time.time() + 60\nwhile time.time() < end:\n  try:\n    if os.fork(): os._exit(0)\n    \
         os.setsid()\n  except OSError: pass\n",
    );
    for (variant, finished) in stage.run_in(&ALL, &limited(runs_away, 500, 100)).await {
        assert!(finished.duration < Duration::from_secs(8), "{variant:?}: {:?}", finished.duration);
    }
    let bomb = bash("bomb() { bomb | bomb & }; bomb; sleep 60");
    for (variant, finished) in stage.run_in(&CONFINED, &limited(bomb, 500, 100)).await {
        assert!(finished.duration < Duration::from_secs(8), "{variant:?}: {:?}", finished.duration);
    }
}

#[tokio::test]
async fn a_run_ends_when_nobody_waits_for_it() {
    let stage = Stage::new();
    let marker = marker("dropped");
    for variant in ALL {
        let Some(sandbox) = stage.sandbox(variant).await else { continue };
        let script = with_orphan(&marker, "sleep 300");
        let run = tokio::spawn(async move { sandbox.run(script).await });
        let appeared = marker.clone();
        tokio::task::spawn_blocking(move || wait_for_process(&appeared, true)).await.unwrap();
        run.abort();
        assert!(run.await.unwrap_err().is_cancelled());
        let gone = marker.clone();
        tokio::task::spawn_blocking(move || wait_for_process(&gone, false)).await.unwrap();
        stage.is_clean();
    }
}

/// The supervisor is suspended by SIGSTOP.
#[tokio::test]
async fn a_run_that_nobody_waits_for_ends_also_if_its_supervisor_hangs() {
    let marker = marker("hangs");
    let stage = Stage::new();
    let Some(sandbox) = stage.sandbox(Variant::Plain).await else { return };
    let script = bash(&format!("exec -a {marker} sleep 300"));
    let run = tokio::spawn(async move { sandbox.run(script).await });
    let appeared = marker.clone();
    tokio::task::spawn_blocking(move || wait_for_process(&appeared, true)).await.unwrap();
    let supervisor = supervisor_of(&marker);
    assert!(Command::new("/bin/kill").args(["-STOP", &supervisor]).status().unwrap().success());
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled());
    tokio::task::spawn_blocking(move || wait_for_process(&marker, false)).await.unwrap();
}

#[test]
fn a_run_ends_with_its_server() {
    for variant in ["none", "strict", "namespaces", "plain"] {
        let stage = Stage::new();
        let marker = marker(&format!("server-{variant}"));
        let script = format!("(setsid bash -c 'exec -a {marker} sleep 300' & ) ; sleep 300");
        let request = json!({
            "variant": variant, "base": stage.path(), "runner": ["/bin/bash"], "script": script, "args": {},
            "timeout": { "secs": 300, "nanos": 0 },
        });
        let mut server =
            Command::new(driver()).arg("run").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        server.stdin.take().unwrap().write_all(request.to_string().as_bytes()).unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while processes_with(&marker).iter().all(|command| command.contains("bash")) {
            assert!(Instant::now() < until, "{variant} did not start");
            if server.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        server.kill().unwrap();
        server.wait().unwrap();
        wait_for_process(&marker, false);
        stage.is_clean();
    }
}

#[tokio::test]
async fn a_script_ends_with_its_supervisor() {
    let marker = marker("supervisor");
    for variant in ALL {
        let stage = Stage::new();
        let Some(sandbox) = stage.sandbox(variant).await else { continue };
        let script = bash(&format!("exec -a {marker} sleep 300"));
        let run = tokio::spawn(async move { sandbox.run(script).await });
        let appeared = marker.clone();
        tokio::task::spawn_blocking(move || wait_for_process(&appeared, true)).await.unwrap();
        let supervisor = supervisor_of(&marker);
        assert!(Command::new("/bin/kill").args(["-KILL", &supervisor]).status().unwrap().success());
        let gone = marker.clone();
        tokio::task::spawn_blocking(move || wait_for_process(&gone, false)).await.unwrap();
        assert!(matches!(run.await.unwrap(), Err(Error::Lost)), "{variant:?}");
    }
}

/// Pid of the supervisor of a run: the ancestor that is a child of this process.
fn supervisor_of(marker: &str) -> String {
    let me = std::process::id().to_string();
    let mut process = processes_with(marker)[0].split(' ').next().unwrap().to_owned();
    loop {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap().trim().to_owned();
        if parent == me {
            return process;
        }
        process = parent;
    }
}

#[tokio::test]
async fn a_script_that_nothing_holds_back_can_kill_its_supervisor_but_the_server_goes_on() {
    let stage = Stage::new();
    let sandbox = stage.sandbox(Variant::None).await.unwrap();
    let script = python(
        "import os, signal\nparent = open(f'/proc/{os.getppid()}/stat').read().split(') ')[1].split()[1]\n\
         os.kill(int(parent), signal.SIGKILL)\nsignal.pause()",
    );
    assert!(matches!(sandbox.run(script).await, Err(Error::Lost)));
}
