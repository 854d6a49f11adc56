//! The machine's Git configuration: credential helpers and ssh are used, harmful settings are not.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use lyceum_testkit::GitServer;
use tempfile::TempDir;

use super::{Machine, peer, read, server};

/// A user's home folder with a `.gitconfig`.
struct Home(TempDir);

impl Home {
    fn new(settings: impl FnOnce(&Path) -> String) -> Self {
        let home = TempDir::new().unwrap();
        fs::write(home.path().join(".gitconfig"), settings(home.path())).unwrap();
        Self(home)
    }

    /// Creates a shell script in the home folder.
    fn program(&self, name: &str, script: &str) -> PathBuf {
        program(self.0.path(), name, script)
    }

    /// Refreshes the clone in a process of that user; returns its stderr on failure.
    async fn refresh(
        &self,
        machine: &Machine,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<(), String> {
        let mut command = Command::new(peer());
        command.env("HOME", self.0.path()).env_remove("XDG_CONFIG_HOME").envs(variables.iter().copied());
        command.arg(arguments[0]).arg(machine.clone_dir()).args(&arguments[1..]);
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        if output.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    fn has(&self, file: &str) -> bool {
        self.0.path().join(file).exists()
    }
}

fn program(folder: &Path, name: &str, script: &str) -> PathBuf {
    let file = folder.join(name);
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file
}

async fn server_with_one_file() -> GitServer {
    let server = server().await;
    let kb = server.repository("kb.git").unwrap();
    kb.write("a.md", "one").unwrap();
    kb.commit().unwrap();
    server
}

fn helper(home: &Path) -> String {
    let script =
        format!("cat >/dev/null; touch {}/asked; echo username=me; echo password=t0ken", home.display());
    let helper = program(home, "helper", &script);
    format!("[credential]\n\thelper = {}\n", helper.display())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_token_the_credential_helper_of_the_machine_is_asked() {
    let server = server_with_one_file().await;
    server.require_token("t0ken");
    let (machine, home) = (Machine::new(), Home::new(helper));
    home.refresh(&machine, &[&server.url("kb.git")], &[]).await.unwrap();
    assert!(home.has("asked"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_token_no_helper_hears_of_it() {
    let server = server_with_one_file().await;
    server.require_token("0ther");
    let (machine, home) = (Machine::new(), Home::new(helper));
    home.refresh(&machine, &[&server.url("kb.git"), "0ther"], &[]).await.unwrap();
    assert!(!home.has("asked"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ssh_of_the_machine_is_used() {
    let server = server_with_one_file().await;
    let home = Home::new(|_| String::new());
    let repository = server.repository("other.git").unwrap();
    repository.write("b.md", "over ssh").unwrap();
    repository.commit().unwrap();
    // Called with options, the host and the remote command.
    let ssh = home.program("ssh", "for last; do :; done; touch \"$HOME/called\"; eval \"$last\"");
    let machine = Machine::new();
    let url = format!("git@example.org:{}", repository.path().display());
    home.refresh(&machine, &[&url], &[("GIT_SSH_COMMAND", ssh.to_str().unwrap())]).await.unwrap();
    assert!(home.has("called"));
    assert_eq!(read(&machine.repository(&url).local().unwrap().unwrap(), "b.md"), "over ssh");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_that_could_do_harm_do_not() {
    let server = server_with_one_file().await;
    let home = Home::new(|home| {
        fs::create_dir_all(home.join("template/hooks")).unwrap();
        for hook in ["template/hooks/reference-transaction", "reference-transaction", "post-update"] {
            program(home, hook, &format!("touch {}/hook", home.display()));
        }
        format!(
            "[core]\n\thooksPath = {0}\n[init]\n\ttemplateDir = {0}/template\n\tdefaultRefFormat = reftable\n\
             [fetch]\n\tprune = true\n\tpruneTags = true\n\trecurseSubmodules = true\n[gc]\n\tauto = 1\n\
             [clone]\n\tdefaultRemoteName = elsewhere\n[transfer]\n\tunpackLimit = 1000\n",
            home.display()
        )
    });
    let machine = Machine::new();
    let elsewhere = home.0.path().join("elsewhere");
    let variables = [
        ("GIT_DIR", elsewhere.to_str().unwrap()),
        ("GIT_WORK_TREE", elsewhere.to_str().unwrap()),
        ("GIT_DEFAULT_REF_FORMAT", "reftable"),
        ("GIT_TRACE", elsewhere.to_str().unwrap()),
        ("GIT_TRACE_CURL", elsewhere.to_str().unwrap()),
        ("LC_ALL", "de_DE.UTF-8"),
        ("LANGUAGE", "de"),
    ];
    for _ in 0..2 {
        home.refresh(&machine, &[&server.url("kb.git")], &variables).await.unwrap();
    }
    assert!(!home.has("hook") && !home.has("elsewhere"));
    assert_eq!(read(&machine.repository(&server.url("kb.git")).local().unwrap().unwrap(), "a.md"), "one");
    let error = home.refresh(&machine, &[&server.url("nothing.git")], &variables).await.unwrap_err();
    assert!(error.starts_with("the repository was not found"), "{error}");
}

/// "Clean: command lines, `.git/config`, files, logs, scripts": the environment too (invariant 8).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn skills_4_no_secret_of_the_server_is_in_the_environment_of_git() {
    let server = server_with_one_file().await;
    server.require_token("t0ken");
    let (machine, home) = (Machine::new(), Home::new(|_| String::new()));
    let real = which("git");
    let script = format!("cat /proc/$$/environ >>\"$HOME/environ\"; exec {} \"$@\"", real.display());
    let first = home.program("git", &script).parent().unwrap().display().to_string();
    let path = format!("{first}:{}", std::env::var("PATH").unwrap());
    let variables = [
        ("PATH", path.as_str()),
        ("GITHUB_TOKEN", "t0ken"),
        ("LYCEUM_AUTH_SECRET", "s3cret"),
        ("no_proxy", "127.0.0.1"),
        ("SSH_AUTH_SOCK", "/run/agent"),
    ];
    for _ in 0..2 {
        home.refresh(&machine, &[&server.url("kb.git"), "t0ken"], &variables).await.unwrap();
    }
    let seen = fs::read_to_string(home.0.path().join("environ")).unwrap();
    for secret in ["t0ken", "s3cret", "GITHUB_TOKEN"] {
        assert!(!seen.contains(secret), "{secret} is in {seen:?}");
    }
    for needed in ["no_proxy=127.0.0.1", "SSH_AUTH_SOCK=/run/agent", "HOME=", "GIT_ASKPASS="] {
        assert!(seen.contains(needed), "{needed} is not in {seen:?}");
    }
}

fn which(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file()).unwrap()
}
