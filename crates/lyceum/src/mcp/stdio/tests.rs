//! Extensions are served over stdio too. `tests/it/stdio` tests the program itself.

use std::{path::Path, sync::Arc, time::Duration};

use lyceum_model::{Access, Domain};
use lyceum_tools::{Hub, Registry};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use super::serve;
use crate::{app::App, config::Config};

/// A server with one extension.
fn app(folder: &Path) -> App {
    let config = Config::from_text(Path::new("lyceum.toml"), &format!("[server]\ndata_dir = {folder:?}\n"));
    let letters = lyceum_testkit::sample_extension(Access::public(Domain::from_static("post")));
    let registry = Registry::builder().extension(letters).unwrap().build();
    App::with_hub(config.unwrap(), ([127, 0, 0, 1], 0).into(), Arc::new(Hub::new(registry)))
}

/// Writes each message and returns the responses, waiting for one after each request.
async fn answers(messages: &[Value]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let app = app(folder.path());
    let (client, server) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(server);
    let talking = async {
        let (from_server, mut to_server) = tokio::io::split(client);
        let mut lines = BufReader::new(from_server).lines();
        let mut answers = Vec::new();
        for message in messages {
            to_server.write_all(format!("{message}\n").as_bytes()).await.unwrap();
            if message.get("id").is_some() {
                let line = lines.next_line().await.unwrap().unwrap();
                answers.push(serde_json::from_str(&line).unwrap());
            }
        }
        to_server.shutdown().await.unwrap();
        answers
    };
    let both = async { tokio::join!(serve(&app, BufReader::new(input), output), talking) };
    let (served, answers) = tokio::time::timeout(Duration::from_secs(20), both).await.unwrap();
    served.unwrap();
    answers
}

fn older(id: u32, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn modern(id: u32, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    older(id, method, &params)
}

#[tokio::test]
async fn an_extension_is_served_in_both_eras_on_one_pipe() {
    let client = json!({ "name": "test", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let letter = || json!({ "uri": "letter://007" });
    let answers = answers(&[
        modern(1, "server/discover", json!({})),
        modern(2, "letters/get", letter()),
        modern(3, "letters/read", json!({})),
        older(4, "initialize", &hello),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        older(5, "letters/get", &letter()),
        older(6, "letters/read", &json!({})),
        older(7, "letters/burn", &json!({})),
        older(8, "letters/get", &json!({})),
    ])
    .await;
    let ids: Vec<u64> = answers.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5, 6, 7, 8]);
    let declared = json!({ "org.lyceum.test/letters": { "sealed": true } });
    assert_eq!(answers[0]["result"]["capabilities"]["extensions"], declared);
    assert_eq!(answers[3]["result"]["capabilities"]["extensions"], declared);
    assert_eq!(answers[1]["result"]["resultType"], "complete");
    assert_eq!(answers[4]["result"].get("resultType"), None);
    assert_eq!(answers[1]["result"]["letter"], answers[4]["result"]["letter"]);
    let codes: Vec<&Value> = [2, 5, 6, 7].map(|at: usize| &answers[at]["error"]["code"]).into();
    assert_eq!(codes, [-32601, -32601, -32603, -32602]);
}
