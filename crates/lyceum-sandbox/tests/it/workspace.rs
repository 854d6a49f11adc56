//! Workspaces: accessible as configured, and nothing else.

use std::{
    fs::{self, Permissions},
    io::Write as _,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::PathBuf,
    process::{Command, Stdio},
};

use lyceum_harness::skip::skipped;
use lyceum_sandbox::{Cwd, Error, Sandbox, Script, Workspace, WorkspaceAccess};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::stage::{ALL, CONFINED, Stage, bash, driver, is_root, skip_sandbox};

/// Prints which operations succeed, in the workspace and outside.
const SCRIPT: &str = r#"
probe() { if eval "$2" 2>/dev/null; then echo "$1 ALLOWED"; else echo "$1 DENIED"; fi; }
probe read 'read -r line < "$SKILL_WORKSPACE/sub/file"'
probe write 'echo changed > "$SKILL_WORKSPACE/sub/file"'
probe make 'echo new > "$SKILL_WORKSPACE/new"'
probe folder 'mkdir "$SKILL_WORKSPACE/folder" && mv "$SKILL_WORKSPACE/new" "$SKILL_WORKSPACE/folder/"'
probe remove 'rm "$SKILL_WORKSPACE/folder/new"'
probe beside 'read -r line < "$SKILL_WORKSPACE/../beside/secret"'
probe write-beside 'echo spoiled > "$SKILL_WORKSPACE/../beside/secret"'
probe above 'echo new > "$SKILL_WORKSPACE/../new"'
probe link 'read -r line < "$SKILL_WORKSPACE/link/secret"'
probe write-link 'echo spoiled > "$SKILL_WORKSPACE/link/secret"'
probe write-skill 'echo spoiled > "$SKILL_DIR/scripts/run"'
"#;

/// A workspace, a folder next to it, and a symlink to that one; all open to every user, so that only the sandbox
/// prevents access.
struct Fixture(TempDir);

impl Fixture {
    fn new() -> Self {
        let fixture = tempfile::tempdir_in("/var/tmp").unwrap();
        let root = fixture.path();
        fs::create_dir_all(root.join("workspace/sub")).unwrap();
        fs::create_dir(root.join("beside")).unwrap();
        fs::write(root.join("workspace/sub/file"), "of the person\n").unwrap();
        fs::write(root.join("beside/secret"), "secret\n").unwrap();
        symlink("../beside", root.join("workspace/link")).unwrap();
        for (path, mode) in [
            ("", 0o777),
            ("workspace", 0o777),
            ("workspace/sub", 0o777),
            ("beside", 0o777),
            ("workspace/sub/file", 0o666),
            ("beside/secret", 0o666),
        ] {
            fs::set_permissions(root.join(path), Permissions::from_mode(mode)).unwrap();
        }
        Self(fixture)
    }

    fn workspace(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap().join("workspace")
    }

    fn script(&self, access: WorkspaceAccess) -> Script {
        Script { workspace: Some(Workspace { path: self.workspace(), access }), ..bash(SCRIPT) }
    }

    /// Checks the output, and the content of the files.
    #[track_caller]
    fn check(&self, name: &str, access: WorkspaceAccess, printed: &str) {
        let own = if access == WorkspaceAccess::Write { "ALLOWED" } else { "DENIED" };
        let expected = format!(
            "read ALLOWED\nwrite {own}\nmake {own}\nfolder {own}\nremove {own}\nbeside DENIED\nwrite-beside DENIED\n\
             above DENIED\nlink DENIED\nwrite-link DENIED\nwrite-skill DENIED\n"
        );
        assert_eq!(printed, expected, "{name}");
        let read = |path: &str| fs::read_to_string(self.0.path().join(path)).unwrap();
        let text = if access == WorkspaceAccess::Write { "changed\n" } else { "of the person\n" };
        assert_eq!(
            (read("workspace/sub/file").as_str(), read("beside/secret").as_str()),
            (text, "secret\n"),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_script_works_in_its_workspace_as_told_and_nowhere_else() {
    let stage = Stage::new();
    for variant in CONFINED {
        for access in [WorkspaceAccess::Read, WorkspaceAccess::Write] {
            let fixture = Fixture::new();
            for (variant, finished) in stage.run_in(&[variant], &fixture.script(access)).await {
                assert_eq!(finished.exit_code, 0, "{variant:?}: {}", finished.stderr.text);
                fixture.check(&format!("{variant:?} {access:?}"), access, &finished.stdout.text);
            }
        }
    }
}

#[tokio::test]
async fn a_script_starts_in_a_folder_of_its_workspace() {
    let (stage, fixture) = (Stage::new(), Fixture::new());
    let folder = fixture.workspace().join("sub");
    let workspace = Workspace { path: fixture.workspace(), access: WorkspaceAccess::Read };
    let script =
        Script { cwd: Cwd::Absolute(folder.clone()), workspace: Some(workspace), ..bash("pwd; cat file") };
    for (variant, finished) in stage.run_in(&ALL, &script).await {
        let expected = format!("{}\nof the person\n", folder.display());
        assert_eq!(finished.stdout.text, expected, "{variant:?}: {}", finished.stderr.text);
    }
}

/// The error of an invalid script.
async fn refusal(sandbox: &Sandbox, script: Script) -> String {
    match sandbox.run(script).await {
        Err(Error::Invalid(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_is_no_workspace_is_refused() {
    let (stage, fixture) = (Stage::new(), Fixture::new());
    for variant in CONFINED {
        let Some(sandbox) = stage.sandbox(variant).await else { continue };
        for outside in ["/etc".into(), fixture.workspace().join("../beside"), fixture.0.path().join("beside")]
        {
            let script = Script { cwd: Cwd::Absolute(outside), ..fixture.script(WorkspaceAccess::Write) };
            assert!(refusal(&sandbox, script).await.starts_with("a script starts in its skill's folder"));
        }
        for path in ["/", "/proc/1", "/dev", "relative", "/usr/../etc"] {
            let workspace = Workspace { path: path.into(), access: WorkspaceAccess::Write };
            let script = Script { workspace: Some(workspace), ..bash("echo ran") };
            assert!(refusal(&sandbox, script).await.contains("can't be"), "{path}");
        }
        let workspace = Workspace { path: stage.path().to_owned(), access: WorkspaceAccess::Read };
        let script = Script { workspace: Some(workspace), ..bash("echo ran") };
        assert!(refusal(&sandbox, script).await.contains("it contains the folder for temporary files"));
    }
}

#[test]
fn a_server_that_is_not_root_opens_its_own_folder() {
    if !is_root() {
        return skipped("only root can run a server as nobody");
    }
    let stage = Stage::new();
    let program = stage.path().join("sandbox-driver");
    fs::copy(driver(), &program).unwrap();
    for variant in ["strict", "namespaces", "plain", "oldest"] {
        for access in [WorkspaceAccess::Read, WorkspaceAccess::Write] {
            let fixture = Fixture::new();
            let mut child = Command::new("setpriv")
                .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
                .args([program.as_os_str(), "run".as_ref()])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let request = json!({
                "variant": variant, "base": stage.path(), "runner": ["/bin/bash"], "script": SCRIPT.replace("scripts/run", "script"),
                "args": {}, "timeout": { "secs": 30, "nanos": 0 },
                "workspace": { "path": fixture.workspace(), "access": access },
            });
            child.stdin.take().unwrap().write_all(request.to_string().as_bytes()).unwrap();
            let outcome: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
            if let Some(error) = outcome["error"].as_str() {
                skip_sandbox(variant, error);
                continue;
            }
            fixture.check(variant, access, outcome["stdout"]["text"].as_str().unwrap());
        }
    }
}
