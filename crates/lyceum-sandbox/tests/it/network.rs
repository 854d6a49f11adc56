//! Network access of scripts.

use std::{
    fs,
    io::{self, Write as _},
    net::{Ipv6Addr, SocketAddr, TcpListener, UdpSocket},
    os::unix::net::UnixListener,
    process::{Command, Stdio},
};

use lyceum_harness::skip::skipped;
use lyceum_sandbox::{Network, Script, Variant};
use serde_json::{Value, json};

use crate::stage::{CONFINED, Stage, driver, is_root, python, skip_sandbox};

const SCRIPT: &str = r"
import os, socket
def probe(name, function):
    try:
        function()
        print(name, 'ALLOWED')
    except OSError as error:
        print(name, 'DENIED')
port = int(os.environ['SKILL_ARG_PORT'])
probe('tcp', lambda: socket.create_connection(('localhost', port), 2))
probe('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', port)))
probe('unix', lambda: socket.socket(socket.AF_UNIX).connect(os.environ['SKILL_ARG_SOCKET']))
probe('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
probe('ping', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP))
probe('netlink', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
probe('vsock', lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))
probe('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM))
probe('listen', lambda: socket.socket().bind(('127.0.0.1', 0)))
";

#[tokio::test]
async fn a_script_with_a_network_speaks_tcp_and_udp_only() {
    let stage = Stage::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let _udp = UdpSocket::bind(("127.0.0.1", port)).unwrap();
    let socket = stage.path().join("socket");
    let _unix = UnixListener::bind(&socket).unwrap();
    let mut script = Script { network: Network::Any, ..python(SCRIPT) };
    script.args.insert("port".to_owned(), port.to_string());
    script.args.insert("socket".to_owned(), socket.display().to_string());
    for (variant, finished) in stage.run_in(&CONFINED, &script).await {
        // Only Landlock restricts listening, and only since Linux 6.7.
        let listen =
            if matches!(variant, Variant::Namespaces | Variant::Plain) { "DENIED" } else { "ALLOWED" };
        let expected = format!(
            "tcp ALLOWED\nudp ALLOWED\nunix DENIED\nraw DENIED\nping DENIED\nnetlink DENIED\nvsock DENIED\n\
             packet DENIED\nlisten {listen}\n"
        );
        assert_eq!(finished.stdout.text, expected, "{variant:?}: {}", finished.stderr.text);
    }
}

/// DNS servers of this machine.
fn resolvers() -> String {
    let text = fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let servers = text.lines().filter_map(|line| line.strip_prefix("nameserver "));
    servers.map(|server| server.trim().split('%').next().unwrap_or_default()).collect::<Vec<_>>().join(" ")
}

/// Checks the result of every probe.
#[track_caller]
fn check_public(name: &str, out: &str, err: &str) {
    let lines: Vec<_> = out.lines().collect();
    assert!(lines.len() > 35, "{name}: {lines:?}");
    for line in lines {
        let (probe, result) = line.rsplit_once(' ').unwrap();
        let allowed = [
            "public tcp",
            "public tcp by an IPv6 socket",
            "public udp",
            "resolver",
            "a message between processes",
        ];
        let expected = if allowed.contains(&probe) { "ALLOWED" } else { "DENIED" };
        assert_eq!(result, expected, "{name}: {probe}\n{err}");
    }
}

/// P6, and all other ways to reach an address that is not public.
#[tokio::test]
async fn s6_a_script_with_a_public_network_reaches_nothing_of_this_machine_or_its_network() {
    let stage = Stage::new();
    // Both address families, so that anything that gets through is noticed.
    let tcp = TcpListener::bind(SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0))).unwrap();
    let port = tcp.local_addr().unwrap().port();
    let udp = UdpSocket::bind(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port))).unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    let mut script = Script { network: Network::Public, ..python(include_str!("public_network.py")) };
    script.args.insert("port".to_owned(), port.to_string());
    script.args.insert("resolvers".to_owned(), resolvers());
    for (variant, finished) in stage.run_in(&CONFINED, &script).await {
        assert_eq!(finished.exit_code, 0, "{variant:?}: {}", finished.stderr.text);
        check_public(&format!("{variant:?}"), &finished.stdout.text, &finished.stderr.text);
        assert_eq!(tcp.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock, "{variant:?}");
        assert_eq!(udp.recv(&mut [0; 9]).unwrap_err().kind(), io::ErrorKind::WouldBlock, "{variant:?}");
    }
}

/// Network `none`.
#[tokio::test]
async fn without_a_network_no_socket_can_be_made() {
    let stage = Stage::new();
    let script = python("import socket\ntry: socket.socket()\nexcept OSError: print('DENIED')");
    for (variant, finished) in stage.run_in(&CONFINED, &script).await {
        assert_eq!(finished.stdout.text, "DENIED\n", "{variant:?}");
    }
}

#[test]
fn s6_the_same_holds_for_a_server_that_is_not_root() {
    if !is_root() {
        return skipped("only root can run a server as nobody");
    }
    let stage = Stage::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let program = stage.path().join("sandbox-driver");
    fs::copy(driver(), &program).unwrap();
    for variant in ["strict", "namespaces", "plain", "oldest"] {
        let mut child = Command::new("setpriv")
            .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
            .args([program.as_os_str(), "run".as_ref()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let request = json!({
            "variant": variant,
            "base": stage.path(),
            "runner": ["/usr/bin/python3"],
            "script": include_str!("public_network.py"),
            "args": { "port": port.to_string(), "resolvers": resolvers() },
            "timeout": { "secs": 30, "nanos": 0 },
            "network": "public",
        });
        child.stdin.take().unwrap().write_all(request.to_string().as_bytes()).unwrap();
        let outcome: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
        if let Some(error) = outcome["error"].as_str() {
            skip_sandbox(variant, error);
            continue;
        }
        let text = |stream: &str| outcome[stream]["text"].as_str().unwrap().to_owned();
        assert_eq!(outcome["exit_code"], 0, "{variant}: {outcome}");
        check_public(variant, &text("stdout"), &text("stderr"));
    }
}
