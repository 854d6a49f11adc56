//! Several nodes: three real processes with one Postgres database and one bucket.

mod deployment;

use std::collections::BTreeSet;

use http::HeaderName;
use lyceum_testkit::{TestChain, signature};
use serde_json::json;

use crate::{
    app::{Older, TestApp, call, get, post},
    sign_in::{self, form_post, with_cookie, with_token},
};
use deployment::{Deployment, Mode, Node, SECRET, eventually};

/// An API key.
const OPS_KEY: &str = "lyc_key_000000000000000000000000000000000000000000000000000000000000000072215969";

/// Sends a request to every node at once.
async fn race<'n>(
    nodes: impl IntoIterator<Item = &'n Node>,
    request: impl Fn() -> crate::app::Request,
) -> Vec<crate::app::Response> {
    futures::future::join_all(nodes.into_iter().map(|node| node.app.send(request()))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_to_any_node_reaches_every_node_also_after_the_first_has_stopped() {
    let Some(deployment) = Deployment::start("").await else { return };
    let [a, b, c] = deployment.three_nodes(&[]).await;
    deployment.notify(&c);
    deployment.write_document("second", "an obsidian lighthouse");
    let document = deployment.kb.publish().await.unwrap();
    deployment.write_skill("rowing");
    let skill = deployment.skills.publish().await.unwrap();
    for node in [&a, &b, &c] {
        node.shows("kb", &document).await;
        node.shows("skills", &skill).await;
        let answer = node.app.send(get("/api/v1/entries/file/second")).await;
        assert!(answer.status == 200 && answer.text().contains("obsidian"), "{answer:?}");
        let found = eventually("it is found", async || {
            let answer = node.app.send(get("/api/v1/search?q=obsidian")).await;
            if answer.text().contains("\"second\"") { Ok(answer) } else { Err(answer.text().to_owned()) }
        });
        assert_eq!(found.await.status, 200);
        let listed = node.app.send(call("list_skills", &json!({}))).await;
        assert!(listed.text().contains("rowing"), "{listed:?}");
    }
    // Two knowledge bases of one source have their own rows and objects.
    for base in ["knowledge", "again"] {
        eventually("the objects are uploaded", async || {
            let keys = deployment.s3.keys();
            let key = format!("bucket/lyceum/{base}/content/file/second.json");
            if keys.contains(&key) { Ok(()) } else { Err(format!("{keys:?}")) }
        })
        .await;
    }

    a.signal("TERM");
    deployment.notify(&b);
    deployment.write_document("third", "text");
    let document = deployment.kb.publish().await.unwrap();
    deployment.write_skill("diving");
    let skill = deployment.skills.publish().await.unwrap();
    for node in [&b, &c] {
        node.shows("kb", &document).await;
        node.shows("skills", &skill).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_three_nodes_one_takes_a_nonce_a_code_a_refresh_token_and_a_delivery() {
    let Some(deployment) = Deployment::start("[auth]\nmode = \"oauth\"\n").await else { return };
    let chain = TestChain::start(10).await.unwrap();
    let nodes = deployment.three_nodes(&[("OPTIMISM_RPC_URL", &chain.url())]).await;
    let [first, second, third] = &nodes;
    let mut stage = sign_in::Stage { app: TestApp::elsewhere(first.app.addr), chain, client: String::new() }
        .registered()
        .await;
    // A sign-in begins at one node and goes on at the others.
    let visit = stage.visit().await;
    stage.app = TestApp::elsewhere(second.app.addr);
    let (message, signature_of_message) = stage.sign(&visit, &sign_in::key(1)).await;
    let sent =
        json!({ "message": message, "signature": signature_of_message, "stateId": visit.state }).to_string();
    let answers = race(&nodes, || with_cookie(post("/siwe/verify", sent.clone()), &visit.cookie)).await;
    let signed_in: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(signed_in.len(), 1, "{answers:?}");
    let to = signed_in[0].json()["redirectTo"].as_str().unwrap().to_owned();
    let code = to.split("code=").nth(1).unwrap().split('&').next().unwrap();

    let form = format!(
        "grant_type=authorization_code&client_id={}&code={code}&code_verifier={}",
        stage.client,
        sign_in::VERIFIER
    );
    let answers = race(&nodes, || form_post("/token", &form)).await;
    let issued: BTreeSet<String> = answers
        .iter()
        .filter(|answer| answer.status == 200)
        .map(|answer| sign_in::tokens(answer).access)
        .collect();
    assert_eq!(issued.len(), 1, "one pair of tokens: {answers:?}");
    // A code that is sent twice revokes the grant, so the rest is with another sign-in.
    stage.app = TestApp::elsewhere(third.app.addr);
    let tokens = stage.sign_in(&sign_in::key(2)).await;
    for node in &nodes {
        let answer = node.app.send(with_token(get("/tools"), &tokens.access)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let form =
        format!("grant_type=refresh_token&client_id={}&refresh_token={}", stage.client, tokens.refresh);
    let answers = race(&nodes, || form_post("/token", &form)).await;
    let issued: BTreeSet<String> = answers
        .iter()
        .filter(|answer| answer.status == 200)
        .map(|answer| sign_in::tokens(answer).access)
        .collect();
    assert_eq!(issued.len(), 1, "one pair of tokens: {answers:?}");

    deployment.write_document("second", "text");
    let commit = deployment.kb.publish().await.unwrap();
    let delivery = deployment.git.deliveries().pop().unwrap();
    let push = || {
        let mut request = post("/webhooks/github", delivery.body.clone());
        for (name, value) in [
            ("x-github-event", "push"),
            ("x-github-delivery", &delivery.id),
            ("x-hub-signature-256", &signature(SECRET, &delivery.body)),
        ] {
            request.headers_mut().insert(HeaderName::from_static(name), value.parse().unwrap());
        }
        request
    };
    let before = deployment.requested_syncs().await;
    let answers = race(&nodes, push).await;
    assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
    // Each of the two knowledge bases takes it once, possibly at different nodes.
    let after = deployment.requested_syncs().await;
    let taken: Vec<i64> = before.iter().zip(&after).map(|(before, after)| after - before).collect();
    assert_eq!(taken, [1, 1], "{before:?} {after:?} {answers:?}");
    for node in &nodes {
        node.shows("kb", &commit).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sign_in_is_limited_for_all_nodes_together() {
    let lines = "[auth]\nmode = \"oauth\"\n[[auth.api_key]]\nname = \"ops\"\nkey_env = \"OPS\"\ntier = \"operator\"\n";
    let Some(deployment) = Deployment::start(lines).await else { return };

    let nodes = deployment.three_nodes(&[("OPS", OPS_KEY)]).await;
    // Each node alone would let all of these pass.
    let requests =
        (0..40).flat_map(|_| &nodes).map(|node| node.app.send(form_post("/token", "grant_type=x")));
    let answers = futures::future::join_all(requests).await;
    let refused = answers.iter().filter(|answer| answer.status == 429).count();
    assert!(refused > 0, "none of {} was refused", answers.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_at_another_node_when_its_own_is_killed() {
    let Some(deployment) = Deployment::start("").await else { return };
    let [a, b, c] = deployment.three_nodes(&[]).await;
    let session = Older::open(&a.app, "2025-06-18").await;
    // Also one whose first request after the handshake goes elsewhere.
    let answer = a.app.send(Older::initialize("2025-06-18", &json!({}))).await;
    let handshake = Older {
        id: answer.header("mcp-session-id").to_owned(),
        version: "2025-06-18",
        greeting: answer.result(),
    };
    a.signal("KILL");
    for (node, session) in [(&b, &session), (&c, &session), (&b, &handshake)] {
        let answer = node.app.send(session.call("list_skills", &json!({}))).await;
        assert!(answer.status == 200 && answer.text().contains("sailing"), "{answer:?}");
    }
    assert_eq!(b.app.send(session.end()).await.status, 204);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_with_another_key_or_none_does_not_start() {
    let auth = "[auth]\nmode = \"oauth\"\n[[auth.api_key]]\nname = \"ops\"\nkey_env = \"OPS\"\ntier = \"operator\"\n";
    let Some(deployment) = Deployment::start(auth).await else { return };

    let _first = deployment.node("a", &[("OPS", OPS_KEY)]).await;
    let other = "ff".repeat(32);
    for (key, expected) in [(other.as_str(), "give this node the same"), ("", "set the same for this node")] {
        let mut command = deployment.command("b", &[("OPS", OPS_KEY), ("COOKIE_ENCRYPTION_KEY", key)]);
        let ended = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(!ended.status.success() && said.contains(expected), "{said}");
    }
    deployment.node("b", &[("OPS", OPS_KEY)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_database_is_away_nodes_serve_from_memory_and_then_go_on() {
    let Some(deployment) = Deployment::start("[auth]\nmode = \"oauth\"\n").await else { return };
    let chain = TestChain::start(10).await.unwrap();
    let chain_url = chain.url();
    let nodes = [
        deployment.node("a", &[("OPTIMISM_RPC_URL", &chain_url)]).await,
        deployment.node("b", &[("OPTIMISM_RPC_URL", &chain_url)]).await,
    ];
    for node in &nodes {
        node.is_ready().await;
    }
    let stage = sign_in::Stage { app: TestApp::elsewhere(nodes[0].app.addr), chain, client: String::new() };
    let stage = stage.registered().await;
    let tokens = stage.sign_in(&sign_in::key(1)).await;
    for mode in [Mode::Closed, Mode::Stalled] {
        deployment.database.set(mode);
        for node in &nodes {
            eventually("readiness says so", async || {
                let answer = node.app.send(get("/readyz")).await;
                if answer.status == 503 { Ok(()) } else { Err(answer.text().to_owned()) }
            })
            .await;
            let listed = node.app.send(get("/api/v1/entries")).await;
            assert!(listed.status == 200 && listed.text().contains("first"), "{mode:?} {listed:?}");
            // A token that was not seen in the last five seconds can't be checked.
            let refused = eventually("a token can't be checked", async || {
                let answer = node.app.send(with_token(get("/tools"), &tokens.access)).await;
                if answer.status == 503 { Ok(answer) } else { Err(format!("{answer:?}")) }
            })
            .await;
            assert!(refused.json()["error"]["retry_after"].is_number(), "{refused:?}");
        }
        // A node that starts now says why it can't.
        if mode == Mode::Closed {
            let mut command = deployment.command("late", &[("OPTIMISM_RPC_URL", &chain_url)]);
            let ended = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            assert!(!ended.status.success() && said.contains("cannot use the database of [store]"), "{said}");
            assert!(said.contains("DATABASE_URL"), "{said}");
        }
        deployment.database.set(Mode::Open);
        for node in &nodes {
            node.is_ready().await;
            let answer = node.app.send(with_token(get("/tools"), &tokens.access)).await;
            assert_eq!(answer.status, 200, "{mode:?} {answer:?}");
        }
        deployment.notify(&nodes[1]);
        deployment.write_document(&format!("{mode:?}").to_lowercase(), "text");
        let commit = deployment.kb.publish().await.unwrap();
        for node in &nodes {
            node.shows("kb", &commit).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_examines_the_database_and_the_bucket() {
    let Some(deployment) = Deployment::start("").await else { return };
    for (mode, is_well, expected) in [
        (Mode::Open, true, ["shared store: Postgres ", "the bucket can be read and written"]),
        (Mode::Closed, false, ["shared store: cannot use the database of [store]", "DATABASE_URL"]),
    ] {
        deployment.database.set(mode);
        let mut doctor = deployment.lyceum(&[]);
        doctor.args(["--config", "lyceum.toml", "--data-dir", "doctor", "doctor"]);
        let ended = tokio::task::spawn_blocking(move || doctor.output()).await.unwrap().unwrap();
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert_eq!(ended.status.success(), is_well, "{said}");
        assert!(expected.iter().all(|part| said.contains(part)), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sign_in_moves_to_the_database_and_back() {
    let Some(deployment) = Deployment::start("[auth]\nmode = \"oauth\"\n").await else { return };
    let chain = TestChain::start(10).await.unwrap();
    let chain_url = chain.url();
    // Without a key in the environment, the one that was created moves too.
    let variables = [("OPTIMISM_RPC_URL", chain_url.as_str()), ("COOKIE_ENCRYPTION_KEY", "")];
    let shared = std::fs::read_to_string(deployment.folder.path().join("lyceum.toml")).unwrap();
    let start = shared.find("[store]").unwrap();
    let alone = format!("{}[auth]\nmode = \"oauth\"\n", &shared[..start]);
    let configure = |text: &str| std::fs::write(deployment.folder.path().join("lyceum.toml"), text).unwrap();
    let migrate = async |to: &'static str| {
        let mut command = deployment.lyceum(&variables);
        command.args(["--config", "lyceum.toml", "--data-dir", "a", "migrate", "--to", to]);
        let ended = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
        let said =
            [ended.stdout, ended.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        (ended.status.success(), said)
    };

    configure(&alone);
    let node = deployment.node("a", &variables).await;
    node.is_ready().await;
    let stage = sign_in::Stage { app: TestApp::elsewhere(node.app.addr), chain, client: String::new() };
    let mut stage = stage.registered().await;
    let tokens = stage.sign_in(&sign_in::key(1)).await;
    configure(&shared);
    let (is_done, said) = migrate("store").await;
    assert!(!is_done && said.contains("stop it first"), "{said}");
    drop(node);
    let (is_done, said) = migrate("store").await;
    assert!(is_done && said.contains("grants: 1 row, equal on both sides"), "{said}");
    let (is_done, said) = migrate("store").await;
    assert!(!is_done && said.contains("there is nothing to move"), "{said}");

    let node = deployment.node("b", &variables).await;
    stage.app = TestApp::elsewhere(node.app.addr);
    assert_eq!(stage.app.send(with_token(get("/tools"), &tokens.access)).await.status, 200);
    let tokens = sign_in::tokens(&stage.refresh(&tokens.refresh).await);
    drop(node);
    let (is_done, said) = migrate("data-dir").await;
    assert!(is_done && said.contains("tokens: "), "{said}");
    configure(&alone);
    let node = deployment.node("a", &variables).await;
    assert_eq!(node.app.send(with_token(get("/tools"), &tokens.access)).await.status, 200);
}
