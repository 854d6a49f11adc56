//! A script that may use the network speaks TCP and UDP, and nothing else.

use std::{
    net::{TcpListener, UdpSocket},
    os::unix::net::UnixListener,
};

use lyceum_sandbox::{Script, Variant};

use crate::stage::{CONFINED, Stage, python};

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
    let mut script = Script { network: true, ..python(SCRIPT) };
    script.args.insert("port".to_owned(), port.to_string());
    script.args.insert("socket".to_owned(), socket.display().to_string());
    for (variant, finished) in stage.run_in(&CONFINED, &script).await {
        // Only Landlock knows a right to listen, and that not from the beginning.
        let listen =
            if matches!(variant, Variant::Namespaces | Variant::Plain) { "DENIED" } else { "ALLOWED" };
        let expected = format!(
            "tcp ALLOWED\nudp ALLOWED\nunix DENIED\nraw DENIED\nping DENIED\nnetlink DENIED\nvsock DENIED\n\
             packet DENIED\nlisten {listen}\n"
        );
        assert_eq!(finished.stdout.text, expected, "{variant:?}: {}", finished.stderr.text);
    }
}
