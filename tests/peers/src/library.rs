//! The library before emulate, an independent GitHub from npm: clients send a GitHub token in the `Authorization`
//! header, list, search and read through the real program. emulate has no Git transport, so clones come from a Git server.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::claude::{self, claude, connected};
use super::git_server::{GitServer, TOKEN};
use super::inspector::Inspector;
use super::sample::{self, Sample, files};
use super::scene::{Scene, ready};
use lyceum_harness::server::Server;

/// The token of the caller, and the header that carries it.
const CALLER: &str = "ghp_peer0123456789";
const HEADER: &str = "Authorization: Bearer Z2hwX3BlZXIwMTIzNDU2Nzg5";

/// An agent profile and a page, beside the skills of the sample.
const FILES: [(&str, &str); 2] = [
    ("agents/reviewer.md", "---\nname: reviewer\ndescription: Reviews changes\n---\nReview it.\n"),
    ("docs/guides/setup.md", "---\ndescription: How to set up\n---\n# Setup\n"),
];

/// A library with everything that it needs; stops on drop.
struct Library {
    server: Server,
    _github: Server,
    _git: GitServer,
}

impl Library {
    fn open(scene: &Scene<'_>) -> Result<Self> {
        let sample = Sample::make(scene)?;
        for (path, text) in FILES {
            sample.write(path, text.as_bytes())?;
        }
        sample.push(scene)?;
        // Owner and name, as at GitHub.
        fs::create_dir_all(sample.served().join("acme"))?;
        std::os::unix::fs::symlink(
            sample.served().join(sample::NAME),
            sample.served().join("acme/library.git"),
        )?;
        let git = GitServer::start(scene, &sample)?;
        let folder = scene.folder("emulate")?;
        let mut command = scene.command(scene.tools.node())?;
        command.arg(scene.repo.path("tests/peers/emulate.mjs")).arg(sample.work()).arg(CALLER);
        let github = Server::start(&mut command, &folder.join("log"))?;
        let config = folder.join("lyceum.toml");
        let text = format!(
            "[[source]]\nname = \"team\"\nurl = \"{git}/acme/library.git\"\ntoken_env = \"LIBRARY_TOKEN\"\n\n\
             [auth]\nmode = \"github-pat\"\n[auth.github]\nweb = \"{git}\"\napi = \"http://{github}\"\n\n\
             [library]\nskills = {{ source = \"team\", path = \"skills\" }}\nagents = {{ source = \"team\" }}\n\
             docs = {{ source = \"team\", path = \"docs\" }}\n",
            git = git.origin(),
            github = github.addr,
        );
        fs::write(&config, text).with_context(|| format!("could not write {}", config.display()))?;
        let mut command = scene.ours("lyceum")?;
        command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(scene.data_dir()?);
        command.arg("--config").arg(config).env("LIBRARY_TOKEN", TOKEN);
        let server = Server::start(&mut command, &folder.join("server.log"))?;
        server.explain(ready(&server))?;
        Ok(Self { server, _github: github, _git: git })
    }
}

/// Lists, searches and reads with the Inspector.
pub(super) fn inspector(scene: &Scene<'_>, era: &'static str) -> Result<String> {
    let library = Library::open(scene)?;
    let inspector = Inspector::at(scene, era, library.server.mcp_url()).sending(HEADER);
    library.server.explain(reads(&inspector))
}

fn reads(inspector: &Inspector<'_>) -> Result<String> {
    let call = |tool: &str, arguments: &str| -> Result<Value> {
        let words = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", arguments];
        let result = inspector.ask(&words)?;
        ensure!(result.get("isError") != Some(&true.into()), "{tool} failed: {result}");
        // Before 2026-07-28, an array can only be text.
        let text = result.pointer("/content/0/text").and_then(Value::as_str);
        let text = text.with_context(|| format!("{tool} returned {result}"))?;
        serde_json::from_str(text).with_context(|| format!("{tool} returned {text}"))
    };
    let text =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let skills = call("list_skills", "{}")?;
    let count = skills.as_array().map_or(0, Vec::len);
    ensure!(count > 100, "{count} skills are listed");
    let skill = call("get_skill", &format!("{{\"name\":\"{}\"}}", files::RICH))?;
    ensure!(text(&skill, "content").contains("---"), "get_skill returned {skill}");
    ensure!(text(&skill, "url").contains(&text(&skill, "commit")), "the link has no commit: {skill}");
    let agent = call("get_agent", "{\"name\":\"reviewer\"}")?;
    ensure!(text(&agent, "content").ends_with("Review it.\n"), "get_agent returned {agent}");
    let page = call("get_doc", "{\"path\":[\"guides\",\"setup\"]}")?;
    ensure!(text(&page, "filePath") == "docs/guides/setup.md", "get_doc returned {page}");
    let found = call("search_library", "{\"query\":\"set up\"}")?;
    ensure!(found.pointer("/results/0/name") == Some(&"guides/setup".into()), "search returned {found}");
    Ok(format!("{count} skills listed; a skill, an agent profile and a page read from emulate"))
}

/// `claude mcp add --header`, then `claude mcp list`: connected with the token, and not without.
pub(super) fn claude_code(scene: &Scene<'_>) -> Result<String> {
    let library = Library::open(scene)?;
    let url = library.server.mcp_url();
    claude(scene, &["mcp", "add", "--transport", "http", claude::NAME, &url])?;
    let without = claude(scene, &["mcp", "list"])?;
    ensure!(connected(&without).is_err(), "it is connected without a token:\n{without}");
    claude(scene, &["mcp", "remove", claude::NAME])?;
    claude(scene, &["mcp", "add", "--transport", "http", claude::NAME, &url, "--header", HEADER])?;
    let list = claude(scene, &["mcp", "list"])?;
    library.server.explain(connected(&list))?;
    Ok("refused without a token, connected with one".to_owned())
}
