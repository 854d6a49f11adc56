//! Calls on local sockets: permission was checked before.

use std::{
    net::{SocketAddr, TcpListener, UdpSocket},
    os::fd::OwnedFd,
    time::{Duration, Instant},
};

use rustix::{
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    io::Errno,
    net::{AddressFamily, SendFlags, SocketType, connect, listen, socket},
};

use super::Task;
use crate::guard::broker::{
    handover::{Handover, Operation},
    message::Message,
};

fn stream() -> OwnedFd {
    socket(AddressFamily::INET, SocketType::STREAM, None).unwrap()
}

fn task(socket: &OwnedFd, operation: Operation) -> Task {
    Task::new(Handover { call: 1, socket: socket.try_clone().unwrap(), operation }).unwrap()
}

/// A listener with a full backlog: connection attempts hang.
fn silent() -> (TcpListener, Vec<OwnedFd>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listen(&listener, 0).unwrap();
    let address = listener.local_addr().unwrap();
    let waiting = (0..4).map(|_| {
        let one = stream();
        fcntl_setfl(&one, OFlags::NONBLOCK).unwrap();
        assert!(matches!(connect(&one, &address), Ok(()) | Err(Errno::INPROGRESS)));
        one
    });
    let waiting = waiting.collect();
    (listener, waiting)
}

/// Polls until the result is available.
fn result_of(mut task: Task) -> Result<usize, Errno> {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        assert!(Instant::now() < until);
        if let Some(result) = task.attempt() {
            return result;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn blocks(socket: &OwnedFd) -> bool {
    !fcntl_getfl(socket).unwrap().contains(OFlags::NONBLOCK)
}

#[test]
fn a_blocking_connect_to_a_slow_peer_ends_when_the_peer_answers() {
    let (listener, waiting) = silent();
    let one = stream();
    let mut task = task(&one, Operation::Connect(listener.local_addr().unwrap()));
    assert!(task.attempt().is_none() && task.attempt().is_none(), "the call waits for its peer");
    drop(waiting);
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        for _ in 0..2000 {
            let _taken_in = listener.accept();
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    assert_eq!(result_of(task), Ok(0));
    assert!(blocks(&one), "the flag is restored");
}

/// The result must be fetched without another `connect`, which would block now.
#[test]
fn a_connect_that_is_made_to_block_is_not_called_again() {
    let (listener, _waiting) = silent();
    let one = stream();
    let mut task = task(&one, Operation::Connect(listener.local_addr().unwrap()));
    assert!(task.attempt().is_none());
    fcntl_setfl(&one, OFlags::empty()).unwrap();
    let started = Instant::now();
    assert!((0..100).all(|_| task.attempt().is_none()));
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
}

#[test]
fn a_connected_socket_is_not_connected_again() {
    let (first, second) =
        (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let one = stream();
    let connect =
        |listener: &TcpListener| result_of(task(&one, Operation::Connect(listener.local_addr().unwrap())));
    assert_eq!(connect(&first), Ok(0));
    assert_eq!(connect(&second), Err(Errno::ISCONN));
    assert_eq!(connect(&first), Err(Errno::ISCONN));
}

#[test]
fn a_socket_that_was_refused_can_be_connected_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let closed: SocketAddr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let one = stream();
    assert_eq!(result_of(task(&one, Operation::Connect(closed))), Err(Errno::CONNREFUSED));
    assert_eq!(result_of(task(&one, Operation::Connect(listener.local_addr().unwrap()))), Ok(0));
}

#[test]
fn a_socket_that_does_not_block_hears_at_once_that_it_has_to_wait() {
    let (listener, _waiting) = silent();
    let one = stream();
    fcntl_setfl(&one, OFlags::NONBLOCK).unwrap();
    let address = listener.local_addr().unwrap();
    assert_eq!(task(&one, Operation::Connect(address)).attempt(), Some(Err(Errno::INPROGRESS)));
    assert_eq!(task(&one, Operation::Connect(address)).attempt(), Some(Err(Errno::ALREADY)));
    assert!(!blocks(&one));
}

#[test]
fn a_message_waits_for_room_unless_it_says_otherwise() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let one = stream();
    connect(&one, &listener.local_addr().unwrap()).unwrap();
    let send =
        |flags: SendFlags| task(&one, Operation::Send(Message { bytes: vec![0; 60_000], flags })).attempt();
    let full = (0..10_000)
        .find_map(|_| Some(send(SendFlags::DONTWAIT)).filter(|result| !matches!(result, Some(Ok(_)))));
    assert_eq!(full, Some(Some(Err(Errno::AGAIN))));
    assert_eq!(send(SendFlags::empty()), None);
}

#[test]
fn a_handover_is_the_same_on_the_other_side() {
    use crate::guard::broker::handover;
    let (here, there) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        rustix::net::SocketFlags::empty(),
        None,
    )
    .unwrap();
    let socket = OwnedFd::from(UdpSocket::bind("127.0.0.1:0").unwrap());
    let pass = |operation: Operation| {
        let handover = Handover { call: 77, socket: socket.try_clone().unwrap(), operation };
        handover::send(&here, &handover.pack(), &handover.socket).unwrap();
        let received = Handover::unpack(handover::receive(&there).unwrap().unwrap()).unwrap();
        assert_eq!(received.call, 77);
        received.operation
    };
    for address in ["1.1.1.1:443", "[2606:4700::1111%3]:443"] {
        let address = address.parse().unwrap();
        assert!(matches!(pass(Operation::Connect(address)), Operation::Connect(same) if same == address));
    }
    let bytes = vec![7; crate::guard::broker::foreign::MAX_DATAGRAM_BYTES];
    let message = Message { bytes: bytes.clone(), flags: SendFlags::OOB };
    assert!(
        matches!(pass(Operation::Send(message)), Operation::Send(same) if same.bytes == bytes && same.flags == SendFlags::OOB)
    );
    assert_eq!(handover::receive(&there).err(), Some(Errno::AGAIN));
    drop(here);
    assert!(handover::receive(&there).unwrap().is_none(), "the other side is gone");
}
