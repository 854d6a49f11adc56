//! Rotel, an OpenTelemetry collector: receives our traces over OTLP; log lines contain the trace ids.

use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::scene::{Scene, ready};
use lyceum_harness::exchange::{self, Request};
use lyceum_harness::process::Running;
use lyceum_harness::server::Server;

const LIMIT: Duration = Duration::from_secs(30);

/// The trace of the modern client, and its parent span.
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

/// Calls a tool in both protocol versions. Its span continues the trace of the client, the job that it starts is a
/// child span, and the log line of the job has the ids of both.
pub(super) fn meets(scene: &Scene<'_>) -> Result<String> {
    let folder = scene.folder("otlp")?;
    let collector = Collector::start(scene, &folder)?;
    let server = serve(scene, &folder, collector.port)?;
    server.explain(ready(&server))?;
    call_modern(&server)?;
    call_in_session(&server)?;
    let log = server_log(&folder)?;
    for id in ["peer-modern", "peer-session"] {
        let line = log.iter().find(|line| line["message"] == "skills are served" && line["request_id"] == id);
        let line = line.with_context(|| format!("no log line of the refresh has the request id {id}"))?;
        let trace = line["trace_id"].as_str().context("a log line has no trace_id")?;
        let call = collector.span("tools/call refresh_skills", trace)?;
        ensure!(call.contains(&format!("request_id: Str({id})")), "the span has another request id: {call}");
        ensure!(call.contains("Kind           : SPAN_KIND_SERVER"), "not the span of a server: {call}");
        let job = collector.span("refresh_skills", trace)?;
        ensure!(job.contains("source.name: Str(skills)"), "the job does not name its source: {job}");
        if id == "peer-modern" {
            ensure!(trace == TRACE, "the trace of the client is not continued: {trace}");
            ensure!(call.contains(&format!("Parent ID      : {PARENT}")), "another parent: {call}");
        }
    }
    let first = log.iter().find(|line| line["job"] == "refresh_skills").context("no line names a job")?;
    ensure!(first["job_id"].is_string() && first.get("request_id").is_none(), "not a line of a job: {first}");
    drop(server);
    let text = collector.text()?;
    ensure!(text.contains("service.name: Str(team-lyceum)"), "OTEL_SERVICE_NAME is not the service's name");
    Ok(format!("{} spans", text.matches("\nSpan #").count()))
}

fn serve(scene: &Scene<'_>, folder: &Path, port: u16) -> Result<Server> {
    let skills = scene.folder("skills")?;
    fs::write(
        skills.join("greet.md"),
        "---\nname: greet\ndescription: Greets\nkeywords: [greet]\n---\nSay hello.\n",
    )?;
    let mut command = scene.ours("lyceum")?;
    command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(scene.data_dir()?);
    command
        .env("SKILLS_DIR", skills)
        .env("OTEL_SERVICE_NAME", "team-lyceum")
        .env("OTEL_BSP_SCHEDULE_DELAY", "100");
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://127.0.0.1:{port}"));
    Server::start(&mut command, &folder.join("server.log"))
}

fn server_log(folder: &Path) -> Result<Vec<Value>> {
    // Log lines are buffered for a moment.
    let started = Instant::now();
    loop {
        let text = fs::read_to_string(folder.join("server.log"))?;
        if text.contains("peer-modern") && text.contains("peer-session") {
            return text
                .lines()
                .map(|line| serde_json::from_str(line).context("a log line is not JSON"))
                .collect();
        }
        ensure!(started.elapsed() < LIMIT, "the requests are not in the log:\n{text}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn call_modern(server: &Server) -> Result<()> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "refresh_skills", "arguments": {}, "_meta": meta });
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28".to_owned()),
        ("Mcp-Method", "tools/call".to_owned()),
        ("Mcp-Name", "refresh_skills".to_owned()),
        ("traceparent", format!("00-{TRACE}-{PARENT}-01")),
        ("X-Request-Id", "peer-modern".to_owned()),
    ];
    post(server, &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }), &headers)?;
    Ok(())
}

fn call_in_session(server: &Server) -> Result<()> {
    let client = json!({ "name": "peer", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let opened =
        post(server, &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }), &[])?;
    let session = opened.header("mcp-session-id").context("initialize opened no session")?.to_owned();
    let headers = [
        ("Mcp-Session-Id", session),
        ("MCP-Protocol-Version", "2025-11-25".to_owned()),
        ("X-Request-Id", "peer-session".to_owned()),
    ];
    post(server, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }), &headers[..2])?;
    let params = json!({ "name": "refresh_skills", "arguments": {} });
    post(server, &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params }), &headers)?;
    Ok(())
}

fn post(server: &Server, message: &Value, headers: &[(&'static str, String)]) -> Result<exchange::Response> {
    let mut all = vec![
        ("Content-Type", "application/json".to_owned()),
        ("Accept", "application/json, text/event-stream".to_owned()),
    ];
    all.extend(headers.iter().cloned());
    let request = Request { method: "POST", path: "/mcp".into(), headers: all, body: message.to_string() };
    let response = server.explain(exchange::send(server.addr, &request))?;
    ensure!(response.status < 300, "{} returned {}: {}", message["method"], response.status, response.body);
    Ok(response)
}

/// The collector, which prints every span that it receives.
struct Collector {
    port: u16,
    out: PathBuf,
    _running: Running,
}

impl Collector {
    fn start(scene: &Scene<'_>, folder: &Path) -> Result<Self> {
        let locate = "import rotel, pathlib; print(pathlib.Path(rotel.__file__).parent / 'rotel-agent')";
        let agent = scene.output(scene.command(scene.tools.python())?.args(["-c", locate]), LIMIT)?;
        let (port, other) = (free_port()?, free_port()?);
        let out = folder.join("collector.out");
        let mut command = scene.command(agent.trim())?;
        command.args(["start", "--exporter", "blackhole", "--debug-log", "traces"]);
        command.args(["--debug-log-verbosity", "detailed"]);
        command.args(["--otlp-http-endpoint", &format!("127.0.0.1:{port}")]);
        command.args(["--otlp-grpc-endpoint", &format!("127.0.0.1:{other}")]);
        command.arg("--pid-file").arg(folder.join("collector.pid"));
        command.arg("--log-file").arg(folder.join("collector.log"));
        let running = Running::start(
            &mut command,
            File::create(&out)?.into(),
            File::create(folder.join("err"))?.into(),
        )?;
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            ensure!(
                started.elapsed() < LIMIT,
                "the collector does not listen: {}",
                fs::read_to_string(&out)?
            );
            thread::sleep(Duration::from_millis(20));
        }
        Ok(Self { port, out, _running: running })
    }

    fn text(&self) -> Result<String> {
        Ok(fs::read_to_string(&self.out)?)
    }

    /// Waits for the span of that name in that trace; returns what the collector printed.
    fn span(&self, name: &str, trace: &str) -> Result<String> {
        let started = Instant::now();
        loop {
            let text = self.text()?;
            let is_match = |span: &&str| {
                span.contains(&format!("Name           : {name}\n"))
                    && span.contains(&format!("Trace ID       : {trace}\n"))
            };
            if let Some(span) = text.split("\nSpan #").find(is_match) {
                return Ok(span.to_owned());
            }
            ensure!(started.elapsed() < LIMIT, "no span {name:?} of the trace {trace}:\n{text}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// A free port: the collector does not report which port it uses.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
