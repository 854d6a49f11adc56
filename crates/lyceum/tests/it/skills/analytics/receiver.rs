//! The receiver of usage events, over HTTP; it can reject them for a while.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU16, Ordering},
    },
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};
use tokio_util::task::AbortOnDropHandle;

/// A receiver of events; stops on drop.
pub(in crate::skills) struct Receiver {
    addr: SocketAddr,
    heard: Arc<Heard>,
    _serving: AbortOnDropHandle<()>,
}

/// A received request.
#[derive(Debug, Clone)]
pub(in crate::skills) struct Request {
    pub(in crate::skills) line: String,
    headers: Vec<(String, String)>,
    body: Value,
    taken: bool,
}

struct Heard {
    status: AtomicU16,
    requests: Mutex<Vec<Request>>,
}

impl Receiver {
    pub(in crate::skills) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let heard = Arc::new(Heard { status: AtomicU16::new(200), requests: Mutex::default() });
        let hearing = heard.clone();
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, hearing.clone()));
            }
        });
        Self { addr, heard, _serving: AbortOnDropHandle::new(serving) }
    }

    pub(in crate::skills) fn url(&self) -> String {
        format!("http://{}/events", self.addr)
    }

    /// Responds to all requests with that status from now on.
    pub(in crate::skills) fn refuse_with(&self, status: u16) {
        self.heard.status.store(status, Ordering::SeqCst);
    }

    /// Accepts all requests from now on.
    pub(in crate::skills) fn accept(&self) {
        self.refuse_with(200);
    }

    /// All requests so far.
    pub(in crate::skills) fn requests(&self) -> Vec<Request> {
        self.heard.requests.lock().unwrap().clone()
    }

    /// All accepted events, in the order in which they happened.
    pub(in crate::skills) fn events(&self) -> Vec<Value> {
        let taken = self.requests().into_iter().filter(|request| request.taken);
        taken.flat_map(|request| request.body["events"].as_array().unwrap().clone()).collect()
    }
}

impl Request {
    pub(in crate::skills) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

/// Serves one connection until it is closed.
async fn serve(stream: TcpStream, heard: Arc<Heard>) {
    let mut stream = BufReader::new(stream);
    while let Some(mut request) = read(&mut stream).await {
        let status = heard.status.load(Ordering::SeqCst);
        request.taken = status == 200;
        heard.requests.lock().unwrap().push(request);
        let answer = format!("HTTP/1.1 {status} Said\r\nContent-Length: 0\r\n\r\n");
        stream.get_mut().write_all(answer.as_bytes()).await.unwrap();
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let mut lines = lines.into_iter();
    let line = lines.next()?;
    let header = |line: String| {
        line.split_once(':').map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
    };
    let headers: Vec<_> = lines.filter_map(header).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Request { line, headers, body: serde_json::from_slice(&body).unwrap(), taken: false })
}
