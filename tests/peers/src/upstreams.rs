//! Servers of the official SDKs as upstreams of the gateway, each in the latest protocol version and in an earlier one.
#![expect(clippy::indexing_slicing, reason = "reads JSON by index; what is missing is null")]

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::scene::{Scene, ready};
use lyceum_harness::exchange::{self, Request};
use lyceum_harness::server::Server;

const LIMIT: Duration = Duration::from_secs(30);

/// Lists and calls the tools of each server, in both protocol versions.
pub(super) fn meets(scene: &Scene<'_>) -> Result<String> {
    let folder = scene.folder("upstreams")?;
    let start =
        |name: &str, command: &mut Command| Server::start(command, &folder.join(format!("{name}.log")));
    let script = |path: &str| scene.repo.path(path);
    let python = start("py", scene.command(scene.tools.python())?.arg(script("tests/peers/upstream.py")))?;
    let typescript =
        start("ts", scene.command(scene.tools.node())?.arg(script("tests/peers/bench/typescript.mjs")))?;
    let mut text = String::new();
    for (name, server) in [("py", &python), ("ts", &typescript)] {
        let url = server.mcp_url();
        text += &format!("[upstream.{name}_new]\nurl = \"{url}\"\nprotocol = \"2026-07-28\"\n");
        text += &format!("[upstream.{name}_old]\nurl = \"{url}\"\nprotocol = \"2025-11-25\"\n");
    }
    let config = folder.join("lyceum.toml");
    fs::write(&config, text).context("could not write the configuration")?;
    let mut command = scene.ours("lyceum")?;
    command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(scene.data_dir()?);
    let server = Server::start(command.arg("--config").arg(config), &folder.join("server.log"))?;
    server.explain(ready(&server))?;
    let names = ["py_new", "py_old", "ts_new", "ts_old"];
    for name in names {
        server.explain(up(&server, name))?;
        let result = call(&server, &format!("{name}_add"), &json!({ "a": 2, "b": 3 }))?;
        ensure!(result["structuredContent"] == json!({ "sum": 5 }), "{name}: {result}");
        let refused = call(&server, &format!("{name}_add"), &json!({ "a": "x", "b": 3 }))?;
        ensure!(refused["error"]["code"] == "VALIDATION_ERROR", "{name}: {refused}");
    }
    for name in ["py_new", "py_old"] {
        let failed = call(&server, &format!("{name}_fail"), &json!({}))?;
        ensure!(failed["isError"] == true, "{name}: {failed}");
    }
    Ok(format!("{} upstreams", names.len()))
}

/// Waits until an upstream is up.
fn up(server: &Server, name: &str) -> Result<()> {
    let started = Instant::now();
    loop {
        let health: Value =
            serde_json::from_str(&exchange::send(server.addr, &Request::get("/health"))?.body)?;
        if health[name]["state"] == "up" {
            return Ok(());
        }
        ensure!(started.elapsed() < LIMIT, "{name} is not up after {LIMIT:?}: {}", health[name]);
        thread::sleep(Duration::from_millis(20));
    }
}

fn call(server: &Server, tool: &str, arguments: &Value) -> Result<Value> {
    let request = Request {
        method: "POST",
        path: format!("/tools/{tool}/call").into(),
        headers: vec![("Content-Type", "application/json".to_owned())],
        body: json!({ "arguments": arguments }).to_string(),
    };
    serde_json::from_str(&exchange::send(server.addr, &request)?.body).context("the response is not JSON")
}
