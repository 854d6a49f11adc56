//! Sign-in on the command line: grants and their revocation, the audit log, and the state of the chains.

use std::{fs, path::Path, process::Stdio};

use lyceum_testkit::TestChain;
use serde_json::Value;
use tokio::process::Command;

use super::{Stage, key, with_token};
use crate::app::{get, within};

async fn lyceum(folder: &Path, arguments: &[&str], variables: &[(&str, String)]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lyceum"));
    command.args(arguments).current_dir(folder).env("LYCEUM_DATA_DIR", folder).env("LYCEUM_EMBEDDER", "none");
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    let running = command.stdin(Stdio::null()).kill_on_drop(true).output();
    let ended = within("the program ends", running).await.unwrap();
    let said = [ended.stdout, ended.stderr].map(|said| String::from_utf8(said).unwrap()).concat();
    (ended.status.code(), said)
}

#[tokio::test]
async fn the_operator_sees_what_was_allowed_and_ends_it_beside_a_server() {
    let mut stage = Stage::start().await;
    let folder = stage.app.folder();
    let (first, second) = (stage.sign_in(&key(1)).await, stage.sign_in(&key(2)).await);
    let (code, said) = lyceum(folder.path(), &["grants"], &[]).await;
    assert_eq!(code, Some(0), "{said}");
    let grants: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(grants.len(), 2, "{said}");
    assert_eq!((&grants[0]["client"], said.lines().count()), (&grants[0]["clientName"], 2), "{said}");
    // The newest comes first.
    let id = grants[1]["id"].as_str().unwrap();
    let (code, said) = lyceum(folder.path(), &["grants", "--end", id], &[]).await;
    assert_eq!((code, said.starts_with("1 grant revoked")), (Some(0), true), "{said}");
    assert_eq!(stage.refresh(&first.refresh).await.json()["error"], "invalid_grant");
    assert_eq!(stage.app.send(with_token(get("/account"), &second.access)).await.status, 200);
    let (code, said) = lyceum(folder.path(), &["grants", "--end", id], &[]).await;
    assert_eq!((code, said.contains("there is no such grant")), (Some(1), true), "{said}");
    let (code, said) = lyceum(folder.path(), &["audit"], &[]).await;
    let kinds: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((code, kinds.last().unwrap()["kind"].as_str()), (Some(0), Some("revoked")), "{said}");
    assert_eq!(kinds.last().unwrap()["clientName"], grants[1]["clientName"], "{said}");
}

#[tokio::test]
async fn the_doctor_names_the_chain_that_can_not_be_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("lyceum.toml"), "[auth]\nmode = \"oauth\"\n").unwrap();
    let (one, ten) = (TestChain::start(1).await.unwrap(), TestChain::start(10).await.unwrap());
    let variables = [("MAINNET_RPC_URL", one.url()), ("OPTIMISM_RPC_URL", ten.url())];
    let (code, said) = lyceum(folder.path(), &["doctor"], &variables).await;
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("sign-in: on; anonymous callers may use what is public\n"), "{said}");
    assert!(said.contains("  chain 1 answers\n  chain 10 answers\n"), "{said}");
    ten.become_chain(5);
    let (code, said) = lyceum(folder.path(), &["doctor"], &variables).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("chain 10 can't be read: its RPC URL is for chain 5"), "{said}");
    assert!(!said.contains("secret-key-of-the-provider"), "{said}");
}

#[tokio::test]
async fn s9_where_no_hat_is_named_everyone_is_public_and_the_operator_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (file, ten) = (folder.path().join("lyceum.toml"), TestChain::start(10).await.unwrap());
    let variables = [("OPTIMISM_RPC_URL", ten.url())];
    let told =
        "everyone who signs in with a wallet gets the tier public; map hats to tiers with [auth.hats] tiers";
    fs::write(&file, "[auth]\nmode = \"oauth\"\n").unwrap();
    for command in ["check", "doctor"] {
        let (code, said) = lyceum(folder.path(), &[command], &variables).await;
        assert_eq!((code, said.contains(told)), (Some(0), true), "{command}: {said}");
    }
    fs::write(&file, "[auth]\nmode = \"oauth\"\n[auth.hats]\ntiers = { \"30.3.5\" = \"member\" }\n").unwrap();
    let (code, said) = lyceum(folder.path(), &["check"], &variables).await;
    assert_eq!((code, said.contains(told)), (Some(0), false), "{said}");
    fs::write(&file, "[auth]\nmode = \"oauth\"\n[auth.hats]\nchain = 10\n").unwrap();
    let (code, said) = lyceum(folder.path(), &["check"], &variables).await;
    assert_eq!((code, said.contains("auth.hats: grants nobody a tier")), (Some(1), true), "{said}");
}
