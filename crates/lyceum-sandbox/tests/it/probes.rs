//! Probes of what a script must not do: each succeeds without a sandbox, and is denied in one.

use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    io::Write as _,
    net::{TcpListener, UdpSocket},
    os::{
        linux::net::SocketAddrExt as _,
        unix::{
            fs::{PermissionsExt as _, chown},
            net::{SocketAddr, UnixDatagram, UnixListener},
        },
    },
    process::{Command, Stdio},
};

use lyceum_harness::skip::skipped;
use serde_json::{Value, json};

use crate::stage::{Stage, driver, is_root, skip_sandbox};

/// User of the server.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Server {
    Myself,
    Nobody,
}

/// The server's open files never reach a script, even without a sandbox.
const NEVER: &str = "use_an_inherited_file";

/// Setting the owner is harmless if the signal is not delivered: because of Landlock, or because the server is
/// another user.
const AIMED: &str = "aim_a_files_signal_at_the_server";

/// Runs all probes with a server process of their own. `None` if this machine doesn't support the variant.
fn results(variant: &str, server: Server) -> Option<BTreeMap<String, Value>> {
    let stage = Stage::new();
    let outside = stage.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::set_permissions(&outside, Permissions::from_mode(0o777)).unwrap();
    for (name, mode) in [("secret", 0o666), ("long", 0o666), ("own", 0o600), ("program", 0o777)] {
        fs::write(outside.join(name), "#!/bin/sh\n").unwrap();
        fs::set_permissions(outside.join(name), Permissions::from_mode(mode)).unwrap();
        if server == Server::Nobody {
            chown(outside.join(name), Some(65_534), Some(65_534)).unwrap();
        }
    }
    let (tcp, udp) = (TcpListener::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
    let _unix = UnixListener::bind(outside.join("socket")).unwrap();
    let _datagrams = UnixDatagram::bind(outside.join("datagrams")).unwrap();
    for name in ["socket", "datagrams"] {
        fs::set_permissions(outside.join(name), Permissions::from_mode(0o777)).unwrap();
    }
    let abstract_name = format!("sandbox-test-{}-{variant}-{server:?}", std::process::id());
    let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
    let _abstract = UnixListener::bind_addr(&address).unwrap();
    let address = SocketAddr::from_abstract_name(format!("{abstract_name}-datagrams")).unwrap();
    let _abstract_datagrams = UnixDatagram::bind_addr(&address).unwrap();

    // In a folder where `nobody` can execute it, and with a leaked descriptor.
    let program = stage.path().join("sandbox-driver");
    fs::copy(driver(), &program).unwrap();
    let start = match server {
        Server::Myself => "exec 9< \"$0\"; exec \"$1\" run",
        Server::Nobody => {
            "exec 9< \"$0\"; exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$1\" run"
        }
    };
    let mut child = Command::new("/bin/sh")
        .args(["-c", start])
        .args([outside.join("secret"), program])
        .env("SECRET", "LYCEUM_SECRET_OF_THE_TEST")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The shell execs the server, so that its pid is the server's.
    let request = json!({
        "variant": variant,
        "base": stage.path(),
        "runner": ["/usr/bin/python3"],
        "script": include_str!("probes.py"),
        "args": {
            "server": child.id().to_string(),
            "outside": outside,
            "port": tcp.local_addr().unwrap().port().to_string(),
            "udp": udp.local_addr().unwrap().port().to_string(),
            "abstract": abstract_name,
        },
        "timeout": { "secs": 30, "nanos": 0 },
    });
    child.stdin.take().unwrap().write_all(request.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    stage.is_clean();
    if let Some(error) = outcome["error"].as_str() {
        skip_sandbox(variant, error);
        return None;
    }
    let printed = outcome["stdout"]["text"].as_str().unwrap();
    Some(serde_json::from_str(printed).unwrap_or_else(|error| panic!("{error}: {outcome}")))
}

#[track_caller]
fn check(variant: &str, server: Server) {
    let Some(results) = results(variant, server) else { return };
    // If other processes run as the same user, the process limit is not exact.
    let alone = variant == "namespaces" || server == Server::Myself && is_root();
    let mut faults = Vec::new();
    for (probe, result) in &results {
        let fine = match result.as_str() {
            Some("works") => true,
            Some("ALLOWED") if probe == AIMED && variant == "plain" => true,
            Some("ALLOWED") if probe == AIMED && variant == "oldest" => server == Server::Myself && is_root(),
            Some(result) if variant != "none" || probe == NEVER => result.starts_with("DENIED"),
            Some(result) => result == "ALLOWED",
            // Number of processes that were started.
            None => !alone || variant == "none" || result.as_u64().is_some_and(|count| count <= 64),
        };
        if !fine {
            faults.push(format!("{probe}: {result}"));
        }
    }
    assert!(results.len() > 50, "{results:?}");
    assert!(faults.is_empty(), "{variant} as {server:?}:\n{}", faults.join("\n"));
}

#[test]
fn every_probe_works_where_nothing_holds_it_back() {
    check("none", Server::Myself);
}

#[test]
fn every_probe_is_denied_by_bubblewrap() {
    check("strict", Server::Myself);
}

#[test]
fn every_probe_is_denied_by_the_kernel_with_namespaces() {
    check("namespaces", Server::Myself);
}

#[test]
fn every_probe_is_denied_by_the_kernel_without_namespaces() {
    check("plain", Server::Myself);
}

#[test]
fn every_probe_is_denied_by_what_the_first_kernel_with_landlock_can_do() {
    check("oldest", Server::Myself);
}

/// Sequentially, because Linux counts the processes of `nobody` together.
#[test]
fn every_probe_is_denied_to_scripts_of_a_server_that_is_not_root() {
    if !is_root() {
        return skipped("only root can run a server as nobody");
    }
    for variant in ["none", "strict", "namespaces", "plain", "oldest"] {
        check(variant, Server::Nobody);
    }
}
