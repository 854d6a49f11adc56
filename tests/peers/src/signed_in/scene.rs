//! A server with sign-in, and its user.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::super::scene::{LOG_FILE, Scene, ready};
use super::{SECRET, TOOL};
use lyceum_harness::exchange::{self, Request};
use lyceum_harness::process::ProcessOutput;
use lyceum_harness::server::Server;

const TIMEOUT: Duration = Duration::from_secs(60);

/// The variable with the API key of the user, for the server and the scripts.
const KEY: &str = "SIGN_IN_KEY";

/// What anonymous callers may do.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum AnonymousAccess {
    /// Read public content.
    Public,
    /// Nothing: the first request of a client returns 401.
    Refused,
}

/// A server with one document for members, and the key of a member.
pub(super) struct SignedInScene<'a> {
    pub(super) scene: &'a Scene<'a>,
    pub(super) server: Server,
    key: String,
}

/// An entry of the audit log.
#[derive(Deserialize)]
struct Line {
    kind: String,
    subject: Option<String>,
    client: Option<String>,
    #[serde(default)]
    detail: Detail,
}

#[derive(Default, Deserialize)]
struct Detail {
    #[serde(default)]
    scopes: String,
}

impl<'a> SignedInScene<'a> {
    /// Starts the server.
    pub(super) fn open(scene: &'a Scene<'a>, anonymous_access: AnonymousAccess) -> Result<Self> {
        let key = scene.output(scene.ours("lyceum")?.arg("key"), TIMEOUT)?.trim().to_owned();
        let config = scene.folder("config")?.join("lyceum.toml");
        fs::write(&config, configuration(&documents(scene)?, anonymous_access))
            .context("could not write the configuration")?;
        let mut command = scene.ours("lyceum")?;
        command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(scene.data_dir()?);
        // At debug level: no secret may appear in the log.
        command.arg("--config").arg(config).env(KEY, &key).env("LYCEUM_LOG", "debug");
        let server = Server::start(&mut command, &scene.folder("config")?.join(LOG_FILE))?;
        let setup = Self { scene, server, key };
        let outcome = ready(&setup.server).and_then(|()| setup.refuses_anonymous(anonymous_access));
        setup.server.explain(outcome).map(|()| setup)
    }

    /// A script in Node that acts as the user, with the key.
    pub(super) fn node(&self, script: &str) -> Result<Command> {
        let mut command = self.scene.command(self.scene.tools.node())?;
        command.arg(self.script(script)).env(KEY, &self.key);
        // The script reads the URL from the output; no browser needs to open.
        command.env("BROWSER", "true");
        Ok(command)
    }

    /// The variables of the user, for a client that starts a script.
    pub(super) fn variables(&self) -> [(&'static str, &str); 2] {
        [(KEY, &self.key), ("BROWSER", "true")]
    }

    /// The path of a script.
    pub(super) fn script(&self, name: &str) -> PathBuf {
        self.scene.repo.path("tests/peers/signed_in").join(name)
    }

    /// Runs a client to its end, whatever its exit status.
    pub(super) fn finish(&self, command: &mut Command) -> Result<ProcessOutput> {
        self.scene.finish(command, TIMEOUT)
    }

    /// Runs a client that must succeed, and returns its standard output and standard error.
    pub(super) fn run(&self, command: &mut Command) -> Result<(String, String)> {
        let ProcessOutput { status, stdout, stderr } = self.finish(command)?;
        ensure!(status.success(), "{status}\n{stdout}{stderr}");
        Ok((stdout, stderr))
    }

    /// The client in the audit log: exactly one signed in and was granted the scope of members.
    pub(super) fn who_signed_in(&self) -> Result<String> {
        self.who_was_given("knowledge:read")
    }

    /// The same for another scope.
    pub(super) fn who_was_given(&self, scope: &str) -> Result<String> {
        let (lines, text) = self.record()?;
        let mut signed_in = lines.iter().filter(|line| line.kind == "sign_in");
        let first = signed_in.next().with_context(|| format!("nobody signed in:\n{text}"))?;
        let by = first.subject.as_deref().unwrap_or_default();
        ensure!(by.starts_with("key:member#"), "somebody else signed in:\n{text}");
        ensure!(signed_in.all(|line| line.client == first.client), "several clients signed in:\n{text}");
        let is_grant = |line: &Line| line.kind == "grant" && line.client == first.client;
        let is_given = |line: &Line| line.detail.scopes.split(' ').any(|given| given == scope);
        ensure!(lines.iter().any(|line| is_grant(line) && is_given(line)), "no grant of {scope}:\n{text}");
        first.client.clone().context("a sign-in without a client")
    }

    /// Counts the audit log entries of that kind.
    pub(super) fn count(&self, kind: &str) -> Result<usize> {
        Ok(self.record()?.0.iter().filter(|line| line.kind == kind).count())
    }

    fn record(&self) -> Result<(Vec<Line>, String)> {
        let mut command = self.scene.ours("lyceum")?;
        command.args(["audit", "--data-dir"]).arg(self.scene.data_dir()?);
        let text = self.scene.output(&mut command, TIMEOUT)?;
        let lines = text.lines().map(serde_json::from_str).collect::<Result<_, _>>();
        Ok((lines.with_context(|| format!("not a record: {text}"))?, text))
    }

    /// Fails if an anonymous caller may do more than configured.
    fn refuses_anonymous(&self, anonymous_access: AnonymousAccess) -> Result<()> {
        let answer = exchange::send(self.server.addr, &Request::get("/tools"))?;
        let expected = if anonymous_access == AnonymousAccess::Public { 200 } else { 401 };
        ensure!(answer.status == expected, "/tools returns {} to an anonymous caller", answer.status);
        // Other tools mention it in their descriptions.
        let shown = format!("\"name\":\"{TOOL}\"");
        ensure!(!answer.body.contains(&shown), "an anonymous caller sees {TOOL}: {}", answer.body);
        let nobody = self.count("sign_in")?;
        ensure!(nobody == 0, "{nobody} sign-ins before the start");
        Ok(())
    }
}

/// A free port.
pub(super) fn free_port() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no port is free")?;
    Ok(listener.local_addr()?.port())
}

/// A knowledge base with one document.
fn documents(scene: &Scene<'_>) -> Result<String> {
    let folder = scene.folder("kb")?;
    let patterns = scene.folder("kb/artifacts/patterns")?;
    let text = format!("---\ntitle: The key\npublish: true\n---\n{SECRET}\n");
    fs::write(patterns.join("the-key.md"), text).context("could not write the document")?;
    folder.to_str().map(str::to_owned).context("a path here is not UTF-8")
}

/// Preregisters clients that can't register themselves: the suite requires that, and the client metadata document of
/// Claude Code is on the Internet.
fn configuration(folder: &str, anonymous_access: AnonymousAccess) -> String {
    let folder = toml::Value::from(folder);
    let anonymous = anonymous_access == AnonymousAccess::Public;
    format!(
        r#"[[source]]
name = "kb"
path = {folder}

[knowledge]
source = "kb"

[auth]
mode = "oauth"
anonymous = {anonymous}

[[auth.api_key]]
name = "member"
tier = "member"
key_env = "{KEY}"

[[auth.client]]
id = "conformance"
name = "Conformance suite"
redirect_uris = ["http://127.0.0.1/callback"]

[[auth.client]]
id = "claude-code"
name = "Claude Code"
redirect_uris = ["http://localhost/callback"]
"#
    )
}
