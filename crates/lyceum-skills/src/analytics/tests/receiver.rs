//! A receiver of events: a real HTTP server that counts what it gets, and that can be as bad as real ones are.

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

/// How the receiver meets a request.
#[derive(Debug, Clone)]
pub(super) enum Manner {
    /// Stores the events and says so.
    Store,
    /// Answers with a status and headers, and stores nothing.
    Answer(u16, &'static str),
    /// Stores nothing and says nothing, until the client gives up.
    Hang,
    /// Stores nothing and hangs up.
    HangUp,
    /// Stores the events and hangs up.
    StoreAndHangUp,
    /// Stores the events, and says so when the client has given up.
    StoreAndAnswerLate,
}

/// What a request was like.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) head: String,
    pub(super) key: String,
    pub(super) events: usize,
}

#[derive(Default)]
struct State {
    first: VecDeque<Manner>,
    then: Option<Manner>,
    seen: Vec<Seen>,
    /// What was stored under each key, by a receiver that honours keys.
    bodies: HashMap<String, Vec<u8>>,
    /// How often each event was stored under a new key, by its id.
    counted: HashMap<String, usize>,
    /// How often each event was stored, as a receiver sees it that knows no keys.
    arrived: HashMap<String, usize>,
    /// The id of each event that was stored, by what was asked for.
    ids: HashMap<String, HashSet<String>>,
    /// What must never happen, and did.
    faults: Vec<String>,
}

/// A receiver; it ends with this value.
pub(super) struct Receiver {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    over: Arc<AtomicBool>,
}

impl Receiver {
    /// Meets the first requests in these manners, and those after them well.
    pub(super) fn start(first: impl IntoIterator<Item = Manner>) -> Self {
        Self::start_over(first, Some)
    }

    /// The same, over a transport of its own.
    pub(super) fn start_over<S: Read + Write>(
        first: impl IntoIterator<Item = Manner>,
        transport: impl Fn(TcpStream) -> Option<S> + Send + Clone + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = State { first: first.into_iter().collect(), ..State::default() };
        let (state, over) = (Arc::new(Mutex::new(state)), Arc::new(AtomicBool::new(false)));
        let receiver = Self { address, state: state.clone(), over: over.clone() };
        thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let (stream, state, transport) = (stream.unwrap(), state.clone(), transport.clone());
                stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
                thread::spawn(move || transport(stream).map(|mut stream| meet(&mut stream, &state)));
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

    /// From now on, meets requests in these manners.
    pub(super) fn behave(&self, first: impl IntoIterator<Item = Manner>) {
        self.state.lock().unwrap().first = first.into_iter().collect();
    }

    /// From now on, meets all requests in this manner.
    pub(super) fn always(&self, manner: Manner) {
        self.state.lock().unwrap().then = Some(manner);
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.state.lock().unwrap().seen.clone()
    }

    /// The keys of the requests, in order.
    pub(super) fn keys(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.key).collect()
    }

    /// How many different events were stored.
    pub(super) fn stored(&self) -> usize {
        self.state.lock().unwrap().arrived.len()
    }

    pub(super) fn has(&self, context: &str) -> bool {
        self.state.lock().unwrap().ids.contains_key(context)
    }

    /// What the most frequent event was stored for, by a receiver without keys.
    pub(super) fn most_often(&self) -> usize {
        self.state.lock().unwrap().arrived.values().copied().max().unwrap_or(0)
    }

    /// Checks that these were stored, that each event was counted once, and that keys and bodies belong together.
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
        self.over.store(true, Ordering::SeqCst);
        // Wakes it up.
        let _ = TcpStream::connect(self.address);
    }
}

/// Meets one request, and closes the connection.
fn meet(stream: &mut (impl Read + Write), state: &Mutex<State>) {
    // A client that was killed in the middle sends half a request, which is none.
    let Some((head, body)) = read(stream) else { return };
    let (manner, answer) = {
        let mut state = state.lock().unwrap();
        let manner = state.first.pop_front().or(state.then.clone()).unwrap_or(Manner::Store);
        state.see(&head, &body);
        let stores = match manner {
            Manner::Store | Manner::StoreAndHangUp | Manner::StoreAndAnswerLate => true,
            Manner::Answer(..) | Manner::Hang | Manner::HangUp => false,
        };
        if stores {
            state.store(&head, &body);
        }
        (
            manner.clone(),
            if let Manner::Answer(status, headers) = manner { (status, headers) } else { (200, "") },
        )
    };
    let wait_for_the_end = |stream: &mut dyn Read| while matches!(stream.read(&mut [0; 64]), Ok(1..)) {};
    match manner {
        Manner::Store | Manner::Answer(..) => {}
        Manner::Hang | Manner::StoreAndAnswerLate => wait_for_the_end(stream),
        Manner::HangUp | Manner::StoreAndHangUp => return,
    }
    let (status, headers) = answer;
    let answer = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n");
    let _who_is_gone_hears_nothing = stream.write_all(answer.as_bytes()).and_then(|()| stream.flush());
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
    fn see(&mut self, head: &str, body: &[u8]) {
        let key = header(head, "idempotency-key");
        self.seen.push(Seen { head: head.to_owned(), key, events: events(body).len() });
    }

    fn store(&mut self, head: &str, body: &[u8]) {
        let key = header(head, "idempotency-key");
        let new = match self.bodies.get(&key) {
            None => true,
            Some(before) => {
                if before != body {
                    self.faults.push(format!("{key} came with two different bodies"));
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
