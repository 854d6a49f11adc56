//! Public network access, with peers that respond and peers that don't.

use std::{
    fs,
    io::Write as _,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use lyceum_harness::skip::skipped;
use serde_json::{Value, json};

use crate::stage::{Stage, driver, is_root, skip_sandbox};

/// Runs a script with public network access in a network namespace with these peers, once per available variant.
fn run(script: &str, timeout: Duration) -> Vec<(&'static str, Value)> {
    if !is_root() {
        skipped("only root can make a network of its own");
        return Vec::new();
    }
    let stage = Stage::new();
    let network = stage.path().join("peers.sh");
    fs::write(&network, include_str!("peers.sh")).unwrap();
    let mut ends = Vec::new();
    for variant in ["strict", "namespaces", "plain", "oldest"] {
        let mut child = Command::new("/bin/sh")
            .arg(&network)
            .args([driver(), "run"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let request = json!({
            "variant": variant, "base": stage.path(), "runner": ["/usr/bin/python3"], "script": script, "args": {},
            "timeout": timeout, "network": "public",
        });
        child.stdin.take().unwrap().write_all(request.to_string().as_bytes()).unwrap();
        let started = Instant::now();
        let outcome: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
        match outcome["error"].as_str() {
            Some(error) => {
                skip_sandbox(variant, error);
            }
            None => ends.push((variant, outcome)),
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{variant}: {:?}", started.elapsed());
    }
    stage.is_clean();
    ends
}

#[track_caller]
fn check_timeout(script: &str) {
    for (variant, outcome) in run(script, Duration::from_secs(2)) {
        assert_eq!(outcome["stopped"], "timeout", "{variant}: {outcome}");
        let seconds = outcome["duration"]["secs"].as_u64().unwrap();
        assert!((2..10).contains(&seconds), "{variant}: {outcome}");
    }
}

#[test]
fn a_blocking_connect_to_a_silent_peer_ends_with_the_time_of_the_script() {
    check_timeout("import socket\nsocket.socket().connect(('8.8.8.8', 80))");
}

/// `O_NONBLOCK` is shared between the script and the connector.
#[test]
fn a_script_that_makes_its_sockets_block_under_way_keeps_its_time_limit() {
    check_timeout(
        "import fcntl, socket, threading, time\n\
         sockets = [socket.socket() for _ in range(16)]\n\
         for one in sockets: one.setblocking(True)\n\
         def clear(one):\n  \
           while True: fcntl.fcntl(one, fcntl.F_SETFL, 0)\n\
         for one in sockets:\n  \
           threading.Thread(target=clear, args=[one]).start()\n  \
           threading.Thread(target=one.connect, args=[('8.8.8.8', 80)]).start()\n\
         time.sleep(60)",
    );
}

#[test]
fn a_script_that_blocks_its_connections_keeps_its_memory_limit() {
    let script = "import fcntl, os, socket, threading, time\n\
         one = socket.socket()\n\
         def clear():\n  \
           while True: fcntl.fcntl(one, fcntl.F_SETFL, 0)\n\
         threading.Thread(target=clear).start()\n\
         threading.Thread(target=one.connect, args=[('8.8.8.8', 80)]).start()\n\
         time.sleep(0.5)\n\
         for _ in range(30):\n  \
           if os.fork() == 0:\n    \
             kept = bytearray(os.urandom(1 << 20) * 60)\n    \
             time.sleep(60)\n\
         time.sleep(60)";
    for (variant, outcome) in run(script, Duration::from_secs(25)) {
        assert_eq!(outcome["stopped"], "memory", "{variant}: {outcome}");
    }
}

#[test]
fn a_peer_that_answers_is_reached_once() {
    let script = "import errno, socket\n\
         one = socket.socket()\n\
         one.connect(('1.1.1.1', 80))\n\
         for address in [('1.1.1.1', 80), ('8.8.8.8', 80)]:\n  \
           try: one.connect(address)\n  \
           except OSError as error: print(errno.errorcode[error.errno])\n\
         print(one.sendmsg([b'hel', b'lo']), one.recv(99).decode(), one.getblocking())\n\
         two = socket.socket()\n\
         for port in [81, 80]: print(two.connect_ex(('1.1.1.1', port)))";
    for (variant, outcome) in run(script, Duration::from_secs(20)) {
        let expected = "EISCONN\nEISCONN\n5 HELLO True\n111\n0\n";
        assert_eq!(outcome["stdout"]["text"], expected, "{variant}: {outcome}");
    }
}

/// The socket is non-blocking while the connector connects; the script must never see that.
#[test]
fn a_socket_blocks_again_before_connect_returns() {
    let script = "import os, socket\n\
         for _ in range(200):\n  \
           one = socket.socket()\n  \
           one.connect(('1.1.1.1', 80))\n  \
           if not os.get_blocking(one.fileno()): print('it does not block')\n  \
           one.close()\n\
         print('done')";
    for (variant, outcome) in run(script, Duration::from_secs(30)) {
        assert_eq!(outcome["stdout"]["text"], "done\n", "{variant}: {outcome}");
    }
}

/// As ordinary programs do it, even if the DNS server has a private address.
#[test]
fn names_are_resolved_by_the_name_server_of_the_machine_wherever_it_is() {
    let script = "import socket\n\
         print(socket.getaddrinfo('peer.example', 80, type=socket.SOCK_STREAM)[0][4])\n\
         one = socket.create_connection(('peer.example', 80))\n\
         one.sendall(b'hello')\n\
         print(one.recv(99).decode())";
    for (variant, outcome) in run(script, Duration::from_secs(20)) {
        assert_eq!(outcome["stdout"]["text"], "('1.1.1.1', 80)\nHELLO\n", "{variant}: {outcome}");
    }
}
