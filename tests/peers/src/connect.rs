//! `lyceum connect`: real clients reach our server with the configuration that it writes, over HTTP, with a key and over
//! stdio; then `--undo` gives them their file back.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::claude;
use super::scene::{LOG_FILE, Scene, ready};
use lyceum_harness::process::ProcessOutput;
use lyceum_harness::server::Server;

const TIMEOUT: Duration = Duration::from_secs(60);

/// The variable with the API key, for the server and the clients.
const KEY: &str = "CONNECT_KEY";

/// A client, and how it is asked.
pub(super) struct Client {
    /// Its name for `lyceum connect`.
    id: &'static str,
    /// Its file in the home folder.
    file: &'static str,
    /// What is in the file before.
    before: &'static str,
    /// The command that lists the servers it reaches.
    list: fn(&Scene<'_>) -> Result<Command>,
    /// Whether that list says that it reaches ours.
    reaches: fn(&str) -> bool,
    /// Whether it writes its file whenever it runs.
    writes_its_file: bool,
}

pub(super) const CLAUDE: Client = Client {
    id: "claude",
    file: ".claude.json",
    before: "{\n  \"mcpServers\": {}\n}\n",
    list: |scene| {
        let mut command = scene.command(claude::program(scene)?)?;
        command.args(["mcp", "list"]).env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        Ok(command)
    },
    reaches: |list| list.lines().any(|line| line.starts_with("lyceum:") && line.ends_with("✔ Connected")),
    writes_its_file: true,
};

pub(super) const CODEX: Client = Client {
    id: "codex",
    file: ".codex/config.toml",
    before: "# Mine\nmodel = \"gpt-5\"   # the one I know\n\n[tui]\nnotifications = false\n",
    list: |scene| {
        let mut command = scene.command(scene.tools.node())?;
        let program = "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";
        command.arg(scene.repo.path("tests/peers/connect.mjs")).arg(installed(scene, program)?);
        Ok(command)
    },
    reaches: |list| {
        let answer: Value = serde_json::from_str(list).unwrap_or_default();
        let servers = answer.get("data").and_then(Value::as_array);
        let ours = servers.and_then(|servers| {
            servers.iter().find(|server| server.pointer("/name") == Some(&"lyceum".into()))
        });
        ours.is_some_and(|ours| {
            let has_tools =
                ours.get("tools").and_then(Value::as_object).is_some_and(|tools| !tools.is_empty());
            ours.pointer("/serverInfo/name") == Some(&"lyceum".into()) && has_tools
        })
    },
    writes_its_file: false,
};

pub(super) const GEMINI: Client = Client {
    id: "gemini",
    file: ".gemini/settings.json",
    before: "{\n  // Colours\n  \"ui\": { \"theme\": \"Ayu\" }\n}\n",
    list: |scene| {
        let mut command = scene.command(scene.tools.node())?;
        command.arg(installed(scene, "@google/gemini-cli/bundle/gemini.js")?).args(["mcp", "list"]);
        // It reaches no server in a folder that nobody has trusted.
        let home = scene.folder("home")?;
        let trusted = serde_json::json!({ home.display().to_string(): "TRUST_FOLDER" }).to_string();
        fs::write(scene.folder("home/.gemini")?.join("trustedFolders.json"), trusted)?;
        Ok(command)
    },
    reaches: |list| list.lines().any(|line| line.contains("lyceum:") && line.ends_with("- Connected")),
    writes_its_file: false,
};

pub(super) const OPENCODE: Client = Client {
    id: "opencode",
    file: ".config/opencode/opencode.jsonc",
    before: "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"autoupdate\": false, // by hand\n}\n",
    list: |scene| {
        let mut command = scene.command(installed(scene, "opencode-linux-x64/bin/opencode")?)?;
        command.args(["mcp", "list"]).env("OPENCODE_DISABLE_MODELS_FETCH", "1");
        Ok(command)
    },
    reaches: |list| list.lines().any(|line| line.contains("✓ lyceum") && line.contains("connected")),
    writes_its_file: false,
};

/// Connects a client in each way, asks it, and disconnects it.
pub(super) fn meets(scene: &Scene<'_>, client: &Client) -> Result<String> {
    let file = scene.folder("home")?.join(client.file);
    fs::create_dir_all(file.parent().context("a file without a folder")?)?;
    fs::write(&file, client.before)?;
    if client.writes_its_file {
        listed(scene, client, None)?;
    }
    {
        let server = scene.serve()?;
        ready(&server)?;
        let met = visit(scene, client, &file, &["--url", &server.mcp_url()], None);
        server.explain(met.context("over HTTP"))?;
    }
    {
        let (server, key) = serve_with_keys(scene)?;
        let words = ["--url", &server.mcp_url(), "--key-env", KEY];
        let met = visit(scene, client, &file, &words, Some(&key)).and_then(|()| {
            let said = ours(scene, client, &words)?;
            ensure!(said.contains("added lyceum"), "{said}");
            let (list, is_connected) = listed(scene, client, None)?;
            ensure!(!is_connected, "it is connected without a key:\n{list}");
            ours(scene, client, &["--undo"]).map(drop)
        });
        server.explain(met.context("with a key"))?;
    }
    let documents = scene.folder("documents")?;
    fs::write(documents.join("page.md"), "# A page\n\nText.\n")?;
    let documents = documents.to_str().context("a path here is not UTF-8")?;
    let data_dir = scene.data_dir()?;
    let data_dir = data_dir.to_str().context("a path here is not UTF-8")?;
    let words = ["--data-dir", data_dir, "--stdio", documents];
    visit(scene, client, &file, &words, None).context("over stdio")?;
    Ok("connected over HTTP, with a key and over stdio, and disconnected again".to_owned())
}

/// Connects a client, asks it, and disconnects it: its file must be what it was.
fn visit(
    scene: &Scene<'_>,
    client: &Client,
    file: &PathBuf,
    words: &[&str],
    key: Option<&str>,
) -> Result<()> {
    let before = fs::read_to_string(file)?;
    ours(scene, client, words)?;
    let (list, is_connected) = listed(scene, client, key)?;
    ensure!(is_connected, "it is not connected:\n{list}\n{}", fs::read_to_string(file)?);
    let again = ours(scene, client, words)?;
    ensure!(again.contains("already"), "the second run says: {again}");
    ours(scene, client, &["--undo"])?;
    let after = fs::read_to_string(file)?;
    if client.writes_its_file {
        let settings = |text: &str| serde_json::from_str::<Value>(text).context("not JSON");
        let (before, after) = (settings(&before)?, settings(&after)?);
        ensure!(after.get("mcpServers") == before.get("mcpServers"), "an entry is left: {after}");
        let lost: Vec<_> =
            before.as_object().into_iter().flatten().filter(|(key, _)| after.get(key).is_none()).collect();
        ensure!(lost.is_empty(), "settings are lost: {lost:?}");
    } else {
        ensure!(after == before, "the file is not what it was:\n{after}");
    }
    Ok(())
}

/// Runs `lyceum connect`, which must succeed.
fn ours(scene: &Scene<'_>, client: &Client, words: &[&str]) -> Result<String> {
    let mut command = scene.ours("lyceum")?;
    scene.output(command.args(["connect", client.id]).args(words), TIMEOUT)
}

/// What the client lists, and whether that has our server.
fn listed(scene: &Scene<'_>, client: &Client, key: Option<&str>) -> Result<(String, bool)> {
    let mut command = (client.list)(scene)?;
    if let Some(key) = key {
        command.env(KEY, key);
    }
    let ProcessOutput { status, stdout, stderr } = scene.finish(&mut command, TIMEOUT)?;
    ensure!(status.success(), "{status}\n{stdout}{stderr}");
    // Some write the list to standard error, and colours.
    let is_connected = [&stdout, &stderr].into_iter().any(|text| (client.reaches)(text.trim()));
    Ok((format!("{stdout}{stderr}"), is_connected))
}

/// A server for callers with a key, and the key.
fn serve_with_keys(scene: &Scene<'_>) -> Result<(Server, String)> {
    let key = scene.output(scene.ours("lyceum")?.arg("key"), TIMEOUT)?.trim().to_owned();
    let folder = scene.folder("config")?;
    let config = folder.join("lyceum.toml");
    let auth = format!(
        "[auth]\nmode = \"api-key\"\n\n[[auth.api_key]]\nname = \"ci\"\ntier = \"member\"\nkey_env = \"{KEY}\"\n"
    );
    fs::write(&config, auth).context("could not write the configuration")?;
    let mut command = scene.ours("lyceum")?;
    command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(scene.data_dir()?);
    command.arg("--config").arg(config).env(KEY, &key);
    let server = Server::start(&mut command, &folder.join(LOG_FILE))?;
    ready(&server)?;
    Ok((server, key))
}

/// A file of an npm package that is published for some platforms only.
fn installed(scene: &Scene<'_>, path: &str) -> Result<PathBuf> {
    let program = scene.tools.package(path);
    ensure!(
        program.is_file(),
        "{} is missing: npm left out this package; run by hand: cd tests/peers && npm ci --ignore-scripts",
        program.display()
    );
    Ok(program)
}
