//! A receiver of events: a real HTTP server that counts deliveries and can misbehave.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::analytics::Endpoint;

/// How the receiver handles a request.
#[derive(Debug, Clone)]
pub(super) enum Behavior {
    /// Stores the events and responds.
    Store,
    /// Responds with a status and headers; stores nothing.
    Answer(u16, &'static str),
    /// Stores nothing and doesn't respond until the client gives up.
    Hang,
    /// Stores nothing and closes the connection.
    HangUp,
    /// Stores the events and closes the connection.
    StoreAndHangUp,
    /// Stores the events, and responds after the client has given up.
    StoreAndAnswerLate,
}

/// A received request.
#[derive(Debug, Clone)]
pub(super) struct RecordedRequest {
    pub(super) head: String,
    pub(super) key: String,
    pub(super) events: usize,
}

#[derive(Default)]
struct State {
    first: VecDeque<Behavior>,
    then: Option<Behavior>,
    requests: Vec<RecordedRequest>,
    /// Stored bodies by key, for a receiver that deduplicates by key.
    bodies: HashMap<String, Vec<u8>>,
    /// Number of times each event id was stored under a new key.
    counted: HashMap<String, usize>,
    /// Number of times each event was stored, for a receiver without deduplication.
    arrived: HashMap<String, usize>,
    /// Ids of stored events by context.
    ids: HashMap<String, HashSet<String>>,
    /// Violated invariants.
    faults: Vec<String>,
}

/// A receiver; stops on drop.
pub(super) struct Receiver {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    stopped: Arc<AtomicBool>,
}

impl Receiver {
    /// Starts with these behaviors for the first requests; later ones are stored.
    pub(super) fn start(first: impl IntoIterator<Item = Behavior>) -> Self {
        Self::start_over(first, Some)
    }

    /// Like `start`, over a custom transport.
    pub(super) fn start_over<S: Read + Write>(
        first: impl IntoIterator<Item = Behavior>,
        transport: impl Fn(TcpStream) -> Option<S> + Send + Clone + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = State { first: first.into_iter().collect(), ..State::default() };
        let (state, stopped) = (Arc::new(Mutex::new(state)), Arc::new(AtomicBool::new(false)));
        let receiver = Self { address, state: state.clone(), stopped: stopped.clone() };
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let (stream, state, transport) = (stream.unwrap(), state.clone(), transport.clone());
                stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
                thread::spawn(move || transport(stream).map(|mut stream| handle(&mut stream, &state)));
            }
        });
        receiver
    }

    pub(super) fn endpoint(&self) -> Endpoint {
        Endpoint::parse(&self.url()).unwrap()
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/events", self.address)
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Sets the behaviors of the next requests.
    pub(super) fn behave(&self, first: impl IntoIterator<Item = Behavior>) {
        self.state.lock().unwrap().first = first.into_iter().collect();
    }

    /// Sets the behavior of all further requests.
    pub(super) fn always(&self, behavior: Behavior) {
        self.state.lock().unwrap().then = Some(behavior);
    }

    pub(super) fn requests(&self) -> Vec<RecordedRequest> {
        self.state.lock().unwrap().requests.clone()
    }

    /// The keys of the requests, in order.
    pub(super) fn keys(&self) -> Vec<String> {
        self.requests().into_iter().map(|requests| requests.key).collect()
    }

    /// Number of distinct events stored.
    pub(super) fn stored(&self) -> usize {
        self.state.lock().unwrap().arrived.len()
    }

    pub(super) fn has(&self, context: &str) -> bool {
        self.state.lock().unwrap().ids.contains_key(context)
    }

    /// Maximum number of times an event was delivered.
    pub(super) fn max_deliveries(&self) -> usize {
        self.state.lock().unwrap().arrived.values().copied().max().unwrap_or(0)
    }

    /// Checks that these were stored, that each event was counted once, and that each key has one body.
    #[track_caller]
    pub(super) fn check_once(&self, contexts: impl IntoIterator<Item = String>) {
        let state = self.state.lock().unwrap();
        assert_eq!(state.faults, [] as [String; 0]);
        for context in contexts {
            let ids = state.ids.get(&context).map_or(0, HashSet::len);
            assert_eq!(ids, 1, "{context} was stored as {ids} events");
        }
        let twice: Vec<_> = state.counted.iter().filter(|(_, times)| **times != 1).collect();
        assert!(twice.is_empty(), "counted more than once: {twice:?}");
        assert_eq!(state.counted.len(), state.arrived.len());
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        // Unblock `accept`.
        let _ = TcpStream::connect(self.address);
    }
}

/// Handles one request, and closes the connection.
fn handle(stream: &mut (impl Read + Write), state: &Mutex<State>) {
    // A killed client sends an incomplete request; ignore it.
    let Some((head, body)) = read(stream) else { return };
    let (behavior, answer) = {
        let mut state = state.lock().unwrap();
        let behavior = state.first.pop_front().or(state.then.clone()).unwrap_or(Behavior::Store);
        state.record(&head, &body);
        let stores = match behavior {
            Behavior::Store | Behavior::StoreAndHangUp | Behavior::StoreAndAnswerLate => true,
            Behavior::Answer(..) | Behavior::Hang | Behavior::HangUp => false,
        };
        if stores {
            state.store(&head, &body);
        }
        (
            behavior.clone(),
            if let Behavior::Answer(status, headers) = behavior { (status, headers) } else { (200, "") },
        )
    };
    let wait_for_the_end = |stream: &mut dyn Read| while matches!(stream.read(&mut [0; 64]), Ok(1..)) {};
    match behavior {
        Behavior::Store | Behavior::Answer(..) => {}
        Behavior::Hang | Behavior::StoreAndAnswerLate => wait_for_the_end(stream),
        Behavior::HangUp | Behavior::StoreAndHangUp => return,
    }
    let (status, headers) = answer;
    let answer = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n");
    let _client_may_be_gone = stream.write_all(answer.as_bytes()).and_then(|()| stream.flush());
}

fn read(stream: &mut impl Read) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        let mut part = [0; 64 * 1024];
        let count = stream.read(&mut part).ok()?;
        if count == 0 {
            return None;
        }
        bytes.extend_from_slice(&part[..count]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let length: usize = header(&head, "content-length").parse().unwrap();
        if bytes.len() == end + 4 + length {
            return Some((head, bytes.split_off(end + 4)));
        }
    }
}

fn header(head: &str, name: &str) -> String {
    let mut pairs = head.lines().filter_map(|line| line.split_once(": "));
    pairs.find(|(key, _)| key.eq_ignore_ascii_case(name)).unwrap().1.to_owned()
}

fn events(body: &[u8]) -> Vec<Value> {
    let body: Value = serde_json::from_slice(body).unwrap();
    body["events"].as_array().unwrap().clone()
}

impl State {
    fn record(&mut self, head: &str, body: &[u8]) {
        let key = header(head, "idempotency-key");
        self.requests.push(RecordedRequest { head: head.to_owned(), key, events: events(body).len() });
    }

    fn store(&mut self, head: &str, body: &[u8]) {
        let key = header(head, "idempotency-key");
        let new = match self.bodies.get(&key) {
            None => true,
            Some(before) => {
                if before != body {
                    self.faults.push(format!("{key} was sent with two different bodies"));
                }
                false
            }
        };
        for event in events(body) {
            let id = event["id"].as_str().unwrap().to_owned();
            let context = event["data"]["context"].as_str().unwrap_or_default();
            *self.arrived.entry(id.clone()).or_default() += 1;
            self.ids.entry(context.to_owned()).or_default().insert(id.clone());
            if new {
                *self.counted.entry(id).or_default() += 1;
            }
        }
        self.bodies.insert(key, body.to_vec());
    }
}
