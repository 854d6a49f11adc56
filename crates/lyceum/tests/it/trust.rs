//! Trust in configuration files: a `lyceum.toml` from a checkout must not configure a program unnoticed (S1).

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::Path,
    process::{Output, Stdio},
    sync::{Arc, Mutex},
};

use serde_json::json;
use tempfile::TempDir;
use tokio::process::Command;

use crate::{app::within, stdio::Program};

/// `x-access-token:s3cr3t`, as Git sends it.
const SECRET: &str = "Basic eC1hY2Nlc3MtdG9rZW46czNjcjN0";

/// A hostile Git server, which asks for a password and records what it gets.
struct Stranger {
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Stranger {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let written = heads.clone();
        // Ends with the process of the test.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let head: Vec<String> =
                    lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
                written.lock().unwrap().push(head.join("\n"));
                let _gone = stream.write_all(
                    b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                );
            }
        });
        Self { port, heads }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// A folder with a `lyceum.toml` that sends the variable `CANARY` here.
    fn checkout(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "[[source]]\nname = \"kb\"\nurl = \"http://127.0.0.1:{}/x.git\"\ntoken_env = \"CANARY\"\n[knowledge]\nsource = \"kb\"\n",
            self.port
        );
        fs::write(folder.path().join("lyceum.toml"), text).unwrap();
        folder
    }
}

fn skills(folder: &Path) -> String {
    fs::write(folder.join("a.md"), "---\nkeywords: [alpha]\ndescription: A\n---\nA.").unwrap();
    folder.display().to_string()
}

async fn lyceum(folder: &Path, words: &[&str]) -> (Option<i32>, String) {
    let running = Command::new(env!("CARGO_BIN_EXE_lyceum"))
        .args(["--data-dir", "data"])
        .args(words)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("LYCEUM_EMBEDDER", "none")
        .env("CANARY", "s3cr3t")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let Output { status, stdout, stderr } = within("the program ends", running).await.unwrap();
    let said = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
    (status.code(), said)
}

#[tokio::test]
async fn s1_stdio_does_not_obey_a_configuration_of_the_working_folder() {
    let (stranger, own) = (Stranger::start(), tempfile::tempdir().unwrap());
    let own = skills(own.path());
    let variables = [("SKILLS_DIR", own.as_str()), ("CANARY", "s3cr3t")];
    let mut program = Program::unnamed(stranger.checkout(), &variables);
    let info = program.call("server_info", json!({})).await;
    let sources = &info["structuredContent"]["sources"];
    let names: Vec<_> = sources.as_array().unwrap().iter().map(|source| source["name"].as_str()).collect();
    assert_eq!(names, [Some("skills")], "{info}");
    assert_eq!(stranger.heads(), [""; 0]);
}

#[tokio::test]
async fn s1_commands_read_no_secret_for_a_file_that_nobody_named() {
    let stranger = Stranger::start();
    let checkout = stranger.checkout();
    let commands: [&[&str]; 7] = [
        &["sync"],
        &["search", "text"],
        &["doctor"],
        &["reindex"],
        &["eval"],
        &["model", "pull"],
        &["embed", "--stdin"],
    ];
    for words in commands {
        let (code, said) = lyceum(checkout.path(), words).await;
        assert_eq!(code, Some(1), "{words:?}: {said}");
        assert!(
            said.contains(".token_env: secrets are not read for a lyceum.toml in the working directory"),
            "{said}"
        );
        assert!(said.contains("name it with --config lyceum.toml"), "{said}");
    }
    assert_eq!(stranger.heads(), [""; 0]);
    // Naming the file means trusting it.
    lyceum(checkout.path(), &["--config", "lyceum.toml", "sync"]).await;
    let heads = stranger.heads();
    assert!(heads.iter().any(|head| head.contains(SECRET)), "{heads:?}");
}

#[tokio::test]
async fn a_command_says_which_file_of_the_working_folder_it_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("kb")).unwrap();
    let text = "[[source]]\nname = \"kb\"\npath = \"kb\"\n[knowledge]\nsource = \"kb\"\n";
    fs::write(folder.path().join("lyceum.toml"), text).unwrap();
    for words in [&["sync"][..], &["doctor"], &["check"]] {
        let (code, said) = lyceum(folder.path(), words).await;
        assert_eq!(code, Some(0), "{words:?}: {said}");
        assert!(said.contains("lyceum.toml in the working directory"), "{words:?}: {said}");
    }
}

#[tokio::test]
async fn stdio_reads_the_configuration_of_the_user() {
    let (home, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let own = skills(own.path());
    fs::create_dir_all(home.path().join(".config/lyceum")).unwrap();
    let text = format!("[[source]]\nname = \"mine\"\npath = {own:?}\n[skills]\nsource = \"mine\"\n");
    fs::write(home.path().join(".config/lyceum/lyceum.toml"), text).unwrap();
    let home = home.path().display().to_string();
    let mut program = Program::unnamed(tempfile::tempdir().unwrap(), &[("HOME", &home)]);
    let info = program.call("server_info", json!({})).await;
    assert_eq!(info["structuredContent"]["sources"][0]["name"], "mine", "{info}");
}

#[tokio::test]
async fn stdio_says_that_it_does_not_read_the_file_of_the_working_folder() {
    let stranger = Stranger::start();
    let (code, said) = lyceum(stranger.checkout().path(), &["stdio"]).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("stdio ignores the lyceum.toml in the working directory"), "{said}");
}

#[tokio::test]
async fn s1_python_runs_no_module_of_the_working_folder() {
    let checkout = tempfile::tempdir().unwrap();
    let marker = checkout.path().join("pwned");
    for module in ["pip.py", "zipfile.py"] {
        fs::write(checkout.path().join(module), format!("open({marker:?}, 'w')\n")).unwrap();
    }
    let running = Command::new(env!("CARGO_BIN_EXE_lyceum"))
        .args(["--data-dir", "data", "model", "pull"])
        .current_dir(checkout.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        // Neither a hub nor an index is contacted.
        .env("HF_ENDPOINT", "http://127.0.0.1:9")
        .env("PIP_NO_INDEX", "1")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let Output { status, stderr, .. } = within("the program ends", running).await.unwrap();
    let said = String::from_utf8_lossy(&stderr);
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("pip"), "it was not asked: {said}");
    assert!(!marker.exists(), "a module of the checkout was run: {said}");
}
