//! A proxy in front of Postgres that can cut connections, and drop the answer to a `COMMIT`.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

/// A simple query that commits, as a whole message.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";

pub(super) struct Proxy {
    port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    drops: AtomicBool,
    is_cut: AtomicBool,
    commits: AtomicUsize,
    dropped: AtomicUsize,
    open: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    pub(super) fn start(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let proxy = Self { port, state: state.clone() };
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if !state.is_cut.load(Ordering::SeqCst) {
                    forward(client, server, &state);
                }
            }
        });
        proxy
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn drop_answers_to_every_second_commit(&self) {
        self.state.drops.store(true, Ordering::SeqCst);
    }

    /// How many answers were dropped.
    pub(super) fn dropped(&self) -> usize {
        self.state.dropped.load(Ordering::SeqCst)
    }

    /// Cuts all connections, and accepts no more.
    pub(super) fn cut(&self) {
        self.state.is_cut.store(true, Ordering::SeqCst);
        for stream in self.state.open.lock().unwrap().drain(..) {
            let _closed = stream.shutdown(Shutdown::Both);
        }
    }

    pub(super) fn mend(&self) {
        self.state.is_cut.store(false, Ordering::SeqCst);
    }
}

fn forward(client: TcpStream, server: u16, state: &Arc<State>) {
    let server = TcpStream::connect(("127.0.0.1", server)).unwrap();
    state.open.lock().unwrap().extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
    let drop_answer = Arc::new(AtomicBool::new(false));
    let (requests, answers) = ((client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client));
    let (drops, state) = (drop_answer.clone(), state.clone());
    thread::spawn(move || {
        let _ended = forward_requests(&requests.0, &requests.1, &drops, &state);
        close(&requests.0, &requests.1);
    });
    thread::spawn(move || {
        let _ended = forward_answers(&answers.0, &answers.1, &drop_answer);
        close(&answers.0, &answers.1);
    });
}

/// Forwards message by message, to notice a `COMMIT`.
fn forward_requests(
    mut client: &TcpStream,
    mut server: &TcpStream,
    drop_answer: &AtomicBool,
    state: &State,
) -> io::Result<()> {
    // The first message has no type.
    let mut kind = 0;
    loop {
        let mut message = vec![0; kind + 4];
        client.read_exact(&mut message)?;
        let length = u32::from_be_bytes(message[kind..].try_into().unwrap()) as usize;
        message.resize(kind + length, 0);
        client.read_exact(&mut message[kind + 4..])?;
        if message == COMMIT
            && state.drops.load(Ordering::SeqCst)
            && state.commits.fetch_add(1, Ordering::SeqCst).is_multiple_of(2)
        {
            drop_answer.store(true, Ordering::SeqCst);
            state.dropped.fetch_add(1, Ordering::SeqCst);
        }
        server.write_all(&message)?;
        kind = 1;
    }
}

fn forward_answers(
    mut server: &TcpStream,
    mut client: &TcpStream,
    drop_answer: &AtomicBool,
) -> io::Result<()> {
    let mut buffer = [0; 16 * 1024];
    loop {
        let count = server.read(&mut buffer)?;
        // The answer is here, so the server has committed.
        if count == 0 || drop_answer.load(Ordering::SeqCst) {
            return Ok(());
        }
        client.write_all(&buffer[..count])?;
    }
}

fn close(one: &TcpStream, other: &TcpStream) {
    for stream in [one, other] {
        let _closed = stream.shutdown(Shutdown::Both);
    }
}
