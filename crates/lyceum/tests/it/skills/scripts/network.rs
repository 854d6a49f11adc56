//! Network access of scripts that declare `network: true`: the operator decides.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
};

use serde_json::{Value, json};

use super::{Folder, Server, refused, start, tables};
use crate::stdio::Program;

/// P6: a script that connects to a service on this machine.
const SCRIPT: &str = "exec 3<>/dev/tcp/127.0.0.1/$SKILL_ARG_PORT || exit 7\nhead -c 5 <&3\n";

fn folder() -> Folder {
    let skill = "---\nkeywords: [run]\ndescription: Runs\nscripts:\n  - { file: ask.sh, execution: server, network: true }\n\
        ---\n\nRun.\n";
    Folder::of(&[("run.md", skill), ("run/ask.sh", SCRIPT)])
}

/// A service on this machine that greets everyone.
fn service() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _gone = stream.write_all(b"hello").and_then(|()| stream.read(&mut [0; 1]).map(drop));
        }
    });
    port
}

fn asked(port: u16) -> Value {
    json!({ "skill_path": "run", "file": "ask.sh", "args": { "port": port.to_string() } })
}

const REFUSED: &str = "\"ask.sh\" declares network: true, and scripts have no network here \
    (skills.scripts.network = \"none\"); the one who runs this server can set it to \"public\"";

#[tokio::test]
async fn s6_over_stdio_the_network_is_public_unless_told_otherwise() {
    let (folder, port) = (folder(), service());
    let mut program = start(&folder);
    let answer = program.call("run_script", asked(port)).await["structuredContent"].take();
    assert_eq!((&answer["exit_code"], &answer["stdout"]), (&json!(7), &json!("")), "{answer}");
    assert!(answer["stderr"].as_str().unwrap().contains("Permission denied"), "{answer}");
    program.finish().await;

    let config = |network: &str| format!("{}[skills.scripts]\nnetwork = \"{network}\"\n", tables(&folder));
    let mut program = Program::of(&config("any"), &[]);
    let answer = program.call("run_script", asked(port)).await["structuredContent"].take();
    assert_eq!((&answer["exit_code"], &answer["stdout"]), (&json!(0), &json!("hello")), "{answer}");
    program.finish().await;

    let mut program = Program::of(&config("none"), &[]);
    let refusal = refused(&program.call("run_script", asked(port)).await);
    assert_eq!(refusal, ("FORBIDDEN".to_owned(), REFUSED.to_owned()));
    program.finish().await;
}

#[tokio::test]
async fn s6_over_http_there_is_no_network_unless_the_operator_says_so() {
    let (folder, port) = (folder(), service());
    // The configuration in the repository has no effect.
    folder.write("config.yaml", "scripts: { network: any }");
    let config = format!("{}[skills.scripts]\nenabled = true\n", tables(&folder));
    let server = Server::start(&config).await;
    let answer = server.call("run_script", &asked(port)).await.json();
    assert_eq!(answer["error"]["message"].as_str().or(answer["message"].as_str()), Some(REFUSED), "{answer}");
    server.stop().await;

    for (network, out) in [("public", ""), ("any", "hello")] {
        let server = Server::start(&format!("{config}network = \"{network}\"\n")).await;
        let answer = server.call("run_script", &asked(port)).await.json();
        assert_eq!(answer["structuredContent"]["stdout"], out, "{network}: {answer}");
        server.stop().await;
    }
}
