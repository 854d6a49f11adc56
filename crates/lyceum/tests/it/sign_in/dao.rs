//! `examples/knowledge-dao.toml` unchanged; only the repository and the chains are fakes.

use std::{fs, path::Path, process::Stdio};

use lyceum_testkit::TestChain;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use super::{MEMBER, Stage, VIBECODER, address, key, with_token};
use crate::app::{Request, TestApp, call, get, modern, within};

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/knowledge-dao.toml");
const TERM: &str =
    "---\ntitle: Commons\ndate: 2025-01-10\npublish: true\n---\n\nA resource and those who care for it.\n";

/// A repository with one term, which Git uses instead of the one in the example.
async fn repository(home: &Path) {
    let folder = home.join("kb");
    fs::create_dir_all(folder.join("tags")).unwrap();
    fs::write(folder.join("tags/commons.md"), TERM).unwrap();
    let script = "git init -q -b main . && git add . && git -c user.name=a -c user.email=a@example.org commit -q -m first";
    let made = Command::new("sh").args(["-c", script]).current_dir(&folder).status().await.unwrap();
    assert!(made.success());
    let config = format!(
        "[url \"file://{}\"]\n\tinsteadOf = https://github.com/superbenefit/knowledge-base.git\n",
        folder.display()
    );
    fs::write(home.join(".gitconfig"), config).unwrap();
}

/// The program with the example, once it is ready.
async fn serve(home: &Path, mainnet: &TestChain, optimism: &TestChain) -> (Child, TestApp) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lyceum"))
        .args(["--config", EXAMPLE, "--data-dir", "data", "serve", "--listen", "127.0.0.1:0"])
        .current_dir(home)
        .env("HOME", home)
        .env("LYCEUM_EMBEDDER", "none")
        .env("MAINNET_RPC_URL", mainnet.url())
        .env("OPTIMISM_RPC_URL", optimism.url())
        .env("GITHUB_TOKEN", "a-token")
        .env("GITHUB_WEBHOOK_SECRET", "a-webhook-secret-that-is-long")
        .env("COOKIE_ENCRYPTION_KEY", "0123456789abcdef".repeat(4))
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let addr = loop {
        let line = within("the next line", lines.next_line()).await.unwrap();
        let Some(line) = line else { panic!("it ended before it listened") };
        let line: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"));
        if line["message"] == "listening" {
            break line["addr"].as_str().unwrap().parse().unwrap();
        }
    };
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    let app = TestApp::elsewhere(addr);
    let ready = async || app.send(get("/readyz")).await.status == 200;
    within("the knowledge base is read", async { while !ready().await {} }).await;
    (child, app)
}

fn document() -> Request {
    call("get_document", &json!({ "contentType": "tag", "id": "commons" }))
}

#[tokio::test]
async fn the_example_of_a_dao_is_served_with_its_hats_as_tiers() {
    let home = tempfile::tempdir().unwrap();
    repository(home.path()).await;
    let (mainnet, chain) = (TestChain::start(1).await.unwrap(), TestChain::start(10).await.unwrap());
    chain.put_on(&address(&key(1)), MEMBER);
    chain.put_on(&address(&key(2)), VIBECODER);
    let (_child, app) = serve(home.path(), &mainnet, &chain).await;
    let stage = Stage { app, chain, client: String::new() }.registered().await;

    let tools = stage.app.send(modern("tools/list", &json!({}))).await.text().to_owned();
    assert!(tools.contains("from the SuperBenefit lexicon"), "{tools}");
    let defined = stage.app.send(call("define_term", &json!({ "term": "commons" }))).await;
    assert!(defined.text().contains("those who care for it"), "{defined:?}");
    // The tool is for members; the REST API is public.
    assert_eq!(stage.app.send(document()).await.status, 401);
    let read = stage.app.send(get("/api/v1/entries/tag/commons")).await;
    assert!(read.text().contains("those who care for it"), "{read:?}");

    for (person, tier, may_read, may_refresh) in
        [(1, "member", true, false), (2, "vibecoder", true, true), (3, "public", false, false)]
    {
        let tokens = stage.sign_in(&key(person)).await;
        let account = stage.app.send(with_token(get("/account"), &tokens.access)).await.json();
        assert_eq!(account["tier"], tier, "{person}: {account}");
        let read = stage.app.send(with_token(document(), &tokens.access)).await;
        assert_eq!(read.text().contains("those who care for it"), may_read, "{person}: {read:?}");
        let refresh = call("refresh_sources", &json!({}));
        let refreshed = stage.app.send(with_token(refresh, &tokens.access)).await;
        assert_eq!(refreshed.status == 200, may_refresh, "{person}: {refreshed:?}");
    }
}
