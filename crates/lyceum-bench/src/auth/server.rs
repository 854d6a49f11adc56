//! `lyceum serve` in open or OAuth mode, otherwise configured the same.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use lyceum_harness::process;
use lyceum_harness::scratch::Scratch;
use lyceum_harness::server::Server;

/// Environment variable of the API key.
const KEY: &str = "LYCEUM_KEY_BENCH";

/// Timeout of a command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);

/// Authentication mode.
#[derive(Clone, Copy)]
pub(super) enum Mode<'a> {
    /// No authentication.
    Open,
    /// OAuth: with this API key, or with a wallet on the fake chain at this address.
    Oauth { key: &'a str, chain: SocketAddr },
}

/// Creates an API key with `lyceum key`.
pub(super) fn new_key(lyceum: &Path, scratch: &Scratch) -> Result<String> {
    let output = process::output(clean_command(lyceum, scratch).arg("key"), scratch.path(), COMMAND_TIMEOUT)?;
    Ok(output.trim().to_owned())
}

/// Starts a server; its data folder is named after the mode.
pub(super) fn start(lyceum: &Path, scratch: &Scratch, mode: Mode<'_>) -> Result<Server> {
    let (name, key) = match mode {
        Mode::Open => ("open", String::new()),
        Mode::Oauth { .. } => {
            let hats = "[auth.hats]\ntiers = { \"30.3.1\" = \"vibecoder\", \"30.3.5\" = \"member\" }";
            let key = format!("[[auth.api_key]]\nname = \"bench\"\ntier = \"member\"\nkey_env = {KEY:?}");
            ("oauth", format!("\n{hats}\n\n{key}\n"))
        }
    };
    let addr = free_address()?;
    let config = scratch.path().join(format!("{name}.toml"));
    let text = format!(
        "[server]\npublic_url = \"http://{addr}\"\ntrusted_proxies = [\"127.0.0.1\"]\n\n[auth]\nmode = {name:?}\n{key}\n\
         [limits]\nanonymous_per_second = 1000000\nanonymous_total_per_second = 1000000\n"
    );
    fs::write(&config, text).with_context(|| format!("could not write {}", config.display()))?;
    let mut command = clean_command(lyceum, scratch);
    if let Mode::Oauth { key, chain } = mode {
        command.env(KEY, key);
        command.env("MAINNET_RPC_URL", format!("http://{chain}/1"));
        command.env("OPTIMISM_RPC_URL", format!("http://{chain}/10"));
    }
    command.arg("serve").arg("--config").arg(&config).arg("--listen").arg(addr.to_string());
    command.arg("--data-dir").arg(scratch.folder(name)?);
    Server::start(&mut command, &scratch.path().join(format!("{name}.log")))
}

/// The program with an empty environment.
fn clean_command(lyceum: &Path, scratch: &Scratch) -> Command {
    let mut command = Command::new(lyceum);
    command.env_clear().env("LYCEUM_EMBEDDER", "none").current_dir(scratch.path());
    command
}

/// A free address. In OAuth mode the server must know its own URL before it starts.
pub(crate) fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port on 127.0.0.1")?;
    Ok(listener.local_addr()?)
}
