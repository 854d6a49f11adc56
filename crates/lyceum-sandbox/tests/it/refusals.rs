//! If a layer can't be applied, nothing is run, and the error says why.

use std::{
    fs::{self, Permissions},
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    process::{Command, Stdio},
};

use lyceum_harness::skip::skipped;
use lyceum_sandbox::{Helper, LevelChoice, Sandbox, Setup};
use serde_json::{Value, json};

use crate::stage::{Stage, driver, is_root, skip_sandbox};

const ENOSYS: u32 = 38;
const EPERM: u32 = 1;

/// Runs a script on a kernel where these system calls fail, such as `442:38` (call and errno).
#[cfg(target_arch = "x86_64")]
fn run_without(calls: &[String], variant: &str) -> Value {
    run_without_in(calls, variant, "none")
}

/// Like [`run_without`], with a network setting.
#[cfg(target_arch = "x86_64")]
fn run_without_in(calls: &[String], variant: &str, network: &str) -> Value {
    let stage = Stage::new();
    let wrapper = stage.path().join("without.py");
    fs::write(&wrapper, include_str!("without.py")).unwrap();
    let mut child = Command::new("/usr/bin/python3")
        .arg(&wrapper)
        .args(calls)
        .args(["--", driver(), "run"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let request = json!({
        "variant": variant, "base": stage.path(), "runner": ["/bin/sh"], "script": "echo ran", "args": {},
        "timeout": { "secs": 10, "nanos": 0 }, "network": network,
    });
    child.stdin.take().unwrap().write_all(request.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    stage.is_clean();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[cfg(target_arch = "x86_64")]
#[track_caller]
fn check(call: u32, error: u32, variant: &str, expected: &str) {
    let outcome = run_without(&[format!("{call}:{error}")], variant);
    let text = outcome["error"].as_str().unwrap_or_else(|| panic!("without {call} a script ran: {outcome}"));
    assert!(text.contains(expected), "without {call}: {text:?} does not contain {expected:?}");
    assert!(text.contains("scripts.sandbox"), "{text:?} does not say what to do");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_kernel_without_a_layer_is_refused() {
    const LANDLOCK: [u32; 2] = [444, 446];
    const SECCOMP: u32 = 317;
    check(LANDLOCK[0], ENOSYS, "plain", "this kernel has no Landlock (needs Linux 5.13 or later)");
    check(LANDLOCK[0], ENOSYS, "auto-standard", "this kernel has no Landlock (needs Linux 5.13 or later)");
    check(LANDLOCK[0], 95, "plain", "it is disabled");
    check(LANDLOCK[1], EPERM, "plain", "could not apply Landlock");
    check(SECCOMP, ENOSYS, "plain", "could not install the seccomp filter");
    check(SECCOMP, EPERM, "namespaces", "could not install the seccomp filter");
    check(157, EPERM, "plain", "could not");
    check(436, ENOSYS, "plain", "no report");
    check(112, EPERM, "plain", "could not leave the server's session");
    check(126, EPERM, "plain", "could not drop the server's capabilities");
    check(302, EPERM, "plain", "could not create the sandbox");
    check(272, EPERM, "namespaces", "could not create namespaces");
    check(165, EPERM, "namespaces", "could not set up the mounts of the run");
    check(442, ENOSYS, "namespaces", "could not set up the mounts of the run");
    if is_root() {
        check(116, EPERM, "plain", "could not change to the script's user");
        check(117, EPERM, "plain", "could not change to the script's user");
        check(119, EPERM, "plain", "could not change to the script's user");
    } else {
        skipped("only root changes to the script's user");
    }
}

/// Never a weaker sandbox: if addresses can't be checked, there is no network, and no script.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_kernel_that_does_not_let_us_look_at_addresses_is_refused_if_the_network_must_be_public() {
    const PIDFD_GETFD: u32 = 438;
    let refused = [format!("{PIDFD_GETFD}:{EPERM}")];
    for variant in ["strict", "namespaces", "plain"] {
        for (error, says) in [
            (
                EPERM,
                "the supervisor can't take over the script's connections; a server that runs as root needs",
            ),
            (ENOSYS, "this kernel can't intercept connections"),
        ] {
            let outcome = run_without_in(&[format!("{PIDFD_GETFD}:{error}")], variant, "public");
            let error = outcome["error"].as_str().unwrap_or_default();
            let says = format!("the script's network can't be limited to public addresses here: {says}");
            if !error.starts_with(&says) {
                skip_sandbox(variant, error);
            }
        }
        for network in ["none", "any"] {
            let outcome = run_without_in(&refused, variant, network);
            let error = outcome["error"].as_str().unwrap_or_default();
            if outcome["stdout"]["text"] != "ran\n" {
                skip_sandbox(variant, error);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn where_no_namespaces_can_be_made_as_in_a_container_the_standard_level_still_works() {
    let refused = [format!("272:{EPERM}"), format!("clone:{EPERM}"), format!("435:{ENOSYS}")];
    let outcome = run_without(&refused, "auto");
    assert_eq!(
        (outcome["level"].as_str(), outcome["stdout"]["text"].as_str()),
        (Some("standard"), Some("ran\n")),
        "{outcome}"
    );
    let outcome = run_without(&refused, "strict");
    assert!(outcome["error"].as_str().unwrap().contains("sandbox"), "{outcome}");
}

#[tokio::test]
async fn a_helper_that_is_none_is_refused() {
    let stage = Stage::new();
    for program in ["/bin/true", "/no/such/program"] {
        let helper = Helper { program: PathBuf::from(program), args: Vec::new() };
        for wanted in [LevelChoice::Auto, LevelChoice::None] {
            let error =
                Sandbox::find(wanted, Setup { helper: helper.clone(), ..stage.setup() }).await.unwrap_err();
            // If bubblewrap is not installed, that reason comes first.
            let error = error.to_string();
            assert!(error.starts_with("scripts can't run: "), "{program}: {error}");
            assert!(error.contains("the sandbox helper"), "{program}: {error}");
        }
    }
}

#[tokio::test]
async fn a_folder_that_the_scripts_user_cannot_enter_is_refused() {
    if !is_root() {
        return skipped("only root runs scripts as another user");
    }
    let stage = Stage::new();
    fs::set_permissions(stage.path(), Permissions::from_mode(0o700)).unwrap();
    let error = Sandbox::find(LevelChoice::Standard, stage.setup()).await.unwrap_err().to_string();
    assert!(error.contains("all its parent folders must be accessible to other users"), "{error}");
    stage.is_clean();
}

#[tokio::test]
async fn a_bubblewrap_that_others_can_change_is_not_used() {
    let stage = Stage::new();
    let search = vec![stage.path().to_owned()];
    let find =
        async || Sandbox::find(LevelChoice::Strict, Setup { search: search.clone(), ..stage.setup() }).await;
    let error = find().await.unwrap_err().to_string();
    assert!(error.contains("bubblewrap (bwrap) is not installed"), "{error}");
    assert!(error.contains("scripts.sandbox = \"auto\""), "{error}");

    fs::copy("/bin/true", stage.path().join("bwrap")).unwrap();
    let error = find().await.unwrap_err().to_string();
    assert!(error.contains("users other than root can modify it"), "{error}");
}
