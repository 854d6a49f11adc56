//! Another server, for whatever is asked over HTTP: each answer is said by the test, and what was asked is kept.

use std::{
    collections::BTreeMap,
    future::pending,
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

/// A server on a port of its own.
pub(super) struct Elsewhere {
    /// Its address, without a path.
    pub(super) url: String,
    asked: Arc<Mutex<Vec<ReceivedRequest>>>,
    says: Arc<Mutex<Says>>,
}

/// How it answers.
type Says = Box<dyn Fn(&ReceivedRequest) -> Answer + Send>;

/// What it was asked.
#[derive(Debug, Clone)]
pub(super) struct ReceivedRequest {
    /// The method and the path: `GET /user`.
    pub(super) what: String,
    /// The headers, their names in small letters.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: String,
}

/// What it says.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    /// A status and a body; with it goes what servers send beside such a status.
    Says(u16, String),
    /// Nothing at all, for as long as anybody waits.
    Silence,
    /// Nothing yet, while others go on at the usual pace.
    Waits,
}

impl Answer {
    pub(super) fn json(body: &Value) -> Self {
        Self::Says(200, body.to_string())
    }
}

impl Elsewhere {
    pub(super) async fn start(says: impl Fn(&ReceivedRequest) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (asked, says) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Box::new(says) as Says)));
        let (kept, said) = (asked.clone(), says.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, kept.clone(), said.clone()));
            }
        });
        Self { url, asked, says }
    }

    /// From now on it answers otherwise.
    pub(super) fn says(&self, says: impl Fn(&ReceivedRequest) -> Answer + Send + 'static) {
        *self.says.lock().unwrap() = Box::new(says);
    }

    /// What it was asked since the last look.
    pub(super) fn asked(&self) -> Vec<ReceivedRequest> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

async fn answer(stream: TcpStream, asked: Arc<Mutex<Vec<ReceivedRequest>>>, says: Arc<Mutex<Says>>) {
    let mut stream = BufReader::new(stream);
    let Some(read) = read(&mut stream).await else { return };
    let said = says.lock().unwrap()(&read);
    asked.lock().unwrap().push(read);
    match said {
        Answer::Says(status, body) => {
            let more = match status {
                301 | 302 => "Location: /elsewhere\r\n",
                403 | 429 | 503 => "Retry-After: 60\r\n",
                _ => "",
            };
            let length = body.len();
            let text = format!(
                "HTTP/1.1 {status} X\r\n{more}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            let _written = stream.write_all(text.as_bytes()).await;
        }
        Answer::Waits => pending::<()>().await,
        Answer::Silence => {
            // From here on time passes as fast as it can, so nobody waits for it.
            tokio::time::pause();
            pending::<()>().await;
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<ReceivedRequest> {
    let mut first = String::new();
    stream.read_line(&mut first).await.ok()?;
    let what = first.strip_suffix(" HTTP/1.1\r\n")?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.insert(name.to_ascii_lowercase(), value.to_owned()),
            None => break,
        };
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(ReceivedRequest { what, headers, body: String::from_utf8(body).ok()? })
}
