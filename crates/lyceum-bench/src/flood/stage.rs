//! A server with sign-in, behind a trusted proxy that forwards client addresses.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::github;
use super::members::COUNT;
use lyceum_harness::process;
use lyceum_harness::scratch::Scratch;
use lyceum_harness::server::Server;

/// Environment variables of the member's API key and of the token that reads teams.
const KEY: &str = "LYCEUM_KEY_MEMBER";
const GITHUB_TOKEN_VARIABLE: &str = "GITHUB_TOKEN";

/// Timeout of a command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// How members authenticate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// With an API key.
    Oauth,
    /// With a GitHub personal access token.
    GithubPat,
}

impl Mode {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Oauth => "oauth",
            Self::GithubPat => "github-pat",
        }
    }
}

/// The server and its clients' credentials.
pub(super) struct Stage {
    pub(super) server: Server,
    pub(super) mode: Mode,
    /// `Authorization` header of each member.
    pub(super) members: Vec<String>,
    /// Address of a host that never replies.
    pub(super) silent: SocketAddr,
    _silent: TcpListener,
    lyceum: PathBuf,
    folder: PathBuf,
}

impl Stage {
    pub(super) fn start(lyceum: &Path, scratch: &Scratch, mode: Mode) -> Result<Self> {
        let folder = scratch.folder(mode.name())?;
        let skills = folder.join("skills");
        fs::create_dir_all(&skills)?;
        fs::write(
            skills.join("alpha.md"),
            "---\nkeywords: [alpha, beta]\ndescription: A skill\n---\nDo it.\n",
        )?;
        fs::create_dir_all(skills.join("gamma"))?;
        fs::write(
            skills.join("gamma/SKILL.md"),
            "---\nname: gamma\ndescription: Another skill\n---\nDo it.\n",
        )?;
        let silent = TcpListener::bind("127.0.0.1:0").context("no free port on 127.0.0.1")?;
        let silent_addr = silent.local_addr()?;
        let listen = TcpListener::bind("127.0.0.1:0").context("no free port on 127.0.0.1")?.local_addr()?;
        let key = process::output(Command::new(lyceum).arg("key").env_clear(), &folder, COMMAND_TIMEOUT)?;
        let key = key.trim();
        let (auth_config, members) = match mode {
            Mode::Oauth => (
                format!("[[auth.api_key]]\nname = \"member\"\ntier = \"vibecoder\"\nkey_env = {KEY:?}\n"),
                vec![format!("Bearer {key}"); COUNT],
            ),
            Mode::GithubPat => {
                let api = github::start(COUNT)?;
                let auth_config = format!(
                    "[auth.github]\napi = \"http://{api}\"\ntiers = {{ \"acme\" = \"vibecoder\" }}\n"
                );
                (auth_config, (0..COUNT).map(github::authorization).collect())
            }
        };
        let text = format!(
            "[server]\npublic_url = \"http://{listen}\"\ntrusted_proxies = [\"127.0.0.0/8\"]\n\n\
             [[source]]\nname = \"skills\"\npath = {skills:?}\n\n[skills]\nsource = \"skills\"\n\n\
             [auth]\nmode = {:?}\ntrusted_hosts = [\"localhost:{}\"]\n\n{auth_config}",
            mode.name(),
            silent_addr.port()
        );
        let config = folder.join("lyceum.toml");
        fs::write(&config, text)?;
        let mut command = Command::new(lyceum);
        command
            .env_clear()
            .env("LYCEUM_EMBEDDER", "none")
            .env("LYCEUM_LOG", "warn,lyceum::cli=info")
            .current_dir(&folder);
        command
            .env(KEY, key)
            .env(GITHUB_TOKEN_VARIABLE, github::READER)
            .arg("serve")
            .arg("--config")
            .arg(&config);
        command.arg("--listen").arg(listen.to_string()).arg("--data-dir").arg(folder.join("data"));
        let server = Server::start(&mut command, &folder.join("log.jsonl"))?;
        let lyceum = lyceum.to_path_buf();
        Ok(Self { server, mode, members, silent: silent_addr, _silent: silent, lyceum, folder })
    }

    /// Kills the server and counts the rows of a kind in its audit log.
    pub(super) fn stop_and_count(self, kind: &str) -> Result<usize> {
        let Self { server, lyceum, folder, .. } = self;
        drop(server);
        let mut command = Command::new(lyceum);
        command
            .env_clear()
            .arg("audit")
            .arg("--data-dir")
            .arg(folder.join("data"))
            .current_dir(folder.join("data"));
        let rows = process::output(&mut command, &folder, COMMAND_TIMEOUT)?;
        ensure!(rows.starts_with('{') || rows.is_empty(), "not an audit log: {rows:.200}");
        Ok(rows.lines().filter(|row| row.contains(&format!("\"kind\":\"{kind}\""))).count())
    }
}
