//! Clients identified by a metadata document.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::FutureExt;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

use super::{Bench, CALLBACK};
use crate::{
    Guard, Visitor,
    oauth::{Fault, Params, request::AuthorizationError},
};

/// A content type whose body ends before its length.
const CUT_OFF: &str = "application/cut-off+json";

/// A server with one document, which can be changed.
struct Site {
    id: String,
    host: String,
    answer: Arc<Mutex<(String, String)>>,
}

impl Site {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let answer = Arc::new(Mutex::new(("application/json".to_owned(), String::new())));
        let given = answer.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (kind, body) = given.lock().unwrap().clone();
                let mut head = [0; 4096];
                let _read = stream.read(&mut head).await;
                let length = body.len() + if kind == CUT_OFF { 100 } else { 0 };
                let status = match kind.as_str() {
                    "redirect" => "302 Found\r\nLocation: /elsewhere",
                    "down" => "503 Service Unavailable",
                    _ => "200 OK",
                };
                let text = format!(
                    "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
                let _written = stream.write_all(text.as_bytes()).await;
            }
        });
        Self { id: format!("http://{host}/client.json"), host, answer }
    }

    fn serve(&self, kind: &str, body: &str) {
        *self.answer.lock().unwrap() = (kind.to_owned(), body.to_owned());
    }

    fn good(&self) -> String {
        format!(
            "{{\"client_id\":\"{}\",\"client_name\":\"By document\",\"redirect_uris\":[\"{CALLBACK}\"]}}",
            self.id
        )
    }

    fn bench(&self) -> Bench {
        let trusted = vec![self.host.clone()];
        Bench::with(|settings| settings.guard = Guard { trusted })
    }
}

async fn authorize(bench: &Bench, id: &str) -> Result<Option<String>, Fault> {
    authorize_from(bench, id, None).await
}

async fn authorize_from(bench: &Bench, id: &str, from: Option<u8>) -> Result<Option<String>, Fault> {
    let query = bench.query("").replace(&bench.client, id);
    let visitor = Visitor { address: from.map(|last| IpAddr::from([10, 0, 0, last])), browser: None };
    match bench.auth.start_authorization(&Params::parse(&query).unwrap(), visitor, bench.now).await {
        Ok(started) => Ok(started.sign_in.request.client_name),
        Err(AuthorizationError::Shown(error)) => Err(error.error),
        Err(AuthorizationError::Sent(sent)) => panic!("sent back: {sent:?}"),
    }
}

#[tokio::test]
async fn a_client_is_what_its_document_says() {
    let site = Site::start().await;
    let bench = site.bench();
    site.serve("application/json; charset=utf-8", &site.good());
    assert_eq!(authorize(&bench, &site.id).await, Ok(Some("By document".to_owned())));
}

#[tokio::test]
async fn a_document_that_is_not_one_is_refused_and_asked_for_again() {
    let site = Site::start().await;
    let mut bench = site.bench();
    let good = site.good();
    let table = [
        ("application/json", good.replace("/client.json", "/other.json")),
        ("application/json", good.replacen('{', "{\"client_secret\":\"x\",", 1)),
        ("application/json", good.replacen('{', "{\"client_name\":\"twice\",", 1)),
        (
            "application/json",
            good.replacen('{', "{\"token_endpoint_auth_method\":\"client_secret_post\",", 1),
        ),
        ("application/json", good.replace(CALLBACK, "javascript:alert(1)")),
        ("application/json", format!("{good}{}", " ".repeat(6000))),
        ("application/json", "[]".to_owned()),
        ("application/json", String::new()),
        ("text/html", good.clone()),
        ("redirect", good.clone()),
    ];
    for (kind, body) in table {
        site.serve(kind, &body);
        assert_eq!(authorize(&bench, &site.id).await, Err(Fault::InvalidClient), "{kind} {body}");
        bench.later(60);
    }
    site.serve("application/json", &good);
    assert!(authorize(&bench, &site.id).await.is_ok());
}

#[tokio::test]
async fn a_document_is_taken_as_it_was_for_an_hour() {
    let site = Site::start().await;
    let mut bench = site.bench();
    site.serve("application/json", &site.good());
    assert!(authorize(&bench, &site.id).await.is_ok());
    site.serve("application/json", &site.good().replace(CALLBACK, "https://app.example.org/"));
    assert!(authorize(&bench, &site.id).await.is_ok());
    bench.later(3601);
    assert_eq!(authorize(&bench, &site.id).await, Err(Fault::InvalidRequest));
}

#[tokio::test]
async fn an_id_that_is_no_address_of_a_document_is_not_fetched() {
    let site = Site::start().await;
    let bench = site.bench();
    site.serve("application/json", &site.good());
    let host = &site.host;
    for id in [
        format!("http://{host}"),
        format!("http://{host}/"),
        format!("http://{host}/a/../client.json"),
        format!("http://{host}/%2e/client.json"),
        format!("http://user@{host}/client.json"),
        format!("http://{host}/client.json%23x"),
        format!("http://{host}/client.json%3Fx"),
        "http://clients.example.org/client.json".to_owned(),
        "https://127.0.0.1/client.json".to_owned(),
        "https://localhost/client.json".to_owned(),
        "https://169.254.169.254/latest".to_owned(),
    ] {
        assert_eq!(authorize(&bench, &id).await, Err(Fault::InvalidClient), "{id}");
    }
}

#[tokio::test]
async fn who_is_known_goes_on_while_the_site_of_their_document_is_down() {
    let site = Site::start().await;
    let mut bench = site.bench();
    assert_eq!(
        authorize(&bench, &site.id.replace("client.json", "other.json")).await,
        Err(Fault::InvalidClient)
    );
    site.serve("application/json", &site.good());
    assert!(authorize(&bench, &site.id).await.is_ok());
    bench.later(3601);
    site.serve("down", "");
    assert!(authorize(&bench, &site.id).await.is_ok());
    // The token endpoint doesn't fetch the document.
    let form = format!("grant_type=refresh_token&client_id={}&refresh_token=x", site.id);
    assert_eq!(bench.exchange(&form).await.unwrap_err().error, Fault::InvalidGrant);
    site.serve("application/json", "[]");
    assert_eq!(authorize(&bench, &site.id).await, Err(Fault::InvalidClient));
}

/// A host that accepts connections and sends nothing by itself.
struct SilentHost {
    listener: TcpListener,
    host: String,
}

impl SilentHost {
    async fn at(last: u8) -> Self {
        let listener = TcpListener::bind((IpAddr::from([127, 0, 0, last]), 0)).await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        Self { listener, host }
    }

    fn id(&self, number: usize) -> String {
        format!("http://{}/{number}.json", self.host)
    }

    /// Waits for a connection.
    async fn accept(&self) -> TcpStream {
        let accepted = tokio::time::timeout(Duration::from_secs(20), self.listener.accept()).await;
        accepted.unwrap().unwrap().0
    }
}

fn bench_with<'h>(hosts: impl Iterator<Item = &'h String>) -> Bench {
    let trusted = hosts.cloned().collect();
    Bench::with(|settings| settings.guard = Guard { trusted })
}

/// HTTP response with the metadata document of a client.
fn document_response(id: &str) -> String {
    let body = format!("{{\"client_id\":\"{id}\",\"redirect_uris\":[\"{CALLBACK}\"]}}");
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
}

/// Starts an authorization request in the background, from an address.
fn spawn_authorize(
    bench: &Arc<Bench>,
    id: String,
    from: Option<u8>,
) -> JoinHandle<Result<Option<String>, Fault>> {
    let bench = bench.clone();
    tokio::spawn(async move { authorize_from(&bench, &id, from).await })
}

#[tokio::test]
async fn s11_who_is_known_goes_on_while_slow_hosts_have_every_turn() {
    let site = Site::start().await;
    let mut silent = Vec::new();
    for last in 2..18 {
        silent.push(SilentHost::at(last).await);
    }
    let mut bench = bench_with(silent.iter().map(|host| &host.host).chain([&site.host]));
    site.serve("application/json", &site.good());
    assert!(authorize(&bench, &site.id).await.is_ok());
    bench.later(61 * 60);
    let bench = Arc::new(bench);
    let mut held = Vec::new();
    for host in &silent {
        for number in 0..2 {
            let task = spawn_authorize(&bench, host.id(number), None);
            held.push((task, host.accept().await));
        }
    }
    assert_eq!(held.len(), 32);
    assert_eq!(authorize(&bench, &site.id).await, Ok(Some("By document".to_owned())));
    let unknown = site.id.replace("client.json", "other.json");
    assert_eq!(authorize(&bench, &unknown).await, Err(Fault::TemporarilyUnavailable));
    held.iter().for_each(|(task, _)| task.abort());
}

#[tokio::test]
async fn s11_one_visitor_has_four_turns() {
    let site = Site::start().await;
    site.serve("application/json", &site.good());
    let mut silent = Vec::new();
    for last in 2..6 {
        silent.push(SilentHost::at(last).await);
    }
    let bench = Arc::new(bench_with(silent.iter().map(|host| &host.host).chain([&site.host])));
    let mut held = Vec::new();
    for host in &silent {
        let task = spawn_authorize(&bench, host.id(0), Some(1));
        held.push((task, host.accept().await));
    }
    assert_eq!(authorize_from(&bench, &site.id, Some(1)).await, Err(Fault::TemporarilyUnavailable));
    assert!(authorize_from(&bench, &site.id, Some(2)).await.is_ok());
    held.iter().for_each(|(task, _)| task.abort());
}

#[tokio::test]
async fn s11_a_document_is_fetched_once_for_all_who_wait() {
    let silent = SilentHost::at(2).await;
    let bench = Arc::new(bench_with([&silent.host].into_iter()));
    let id = silent.id(0);
    let tasks: Vec<_> = (0..10).map(|_| spawn_authorize(&bench, id.clone(), None)).collect();
    let mut stream = silent.accept().await;
    stream.write_all(document_response(&id).as_bytes()).await.unwrap();
    for task in tasks {
        assert_eq!(task.await.unwrap(), Ok(None));
    }
    assert!(silent.listener.accept().now_or_never().is_none(), "the document was fetched twice");
}

#[tokio::test]
async fn a_connection_that_breaks_is_temporary_and_a_known_client_goes_on() {
    let site = Site::start().await;
    let mut bench = site.bench();
    site.serve(CUT_OFF, &site.good());
    assert_eq!(authorize(&bench, &site.id).await, Err(Fault::TemporarilyUnavailable));
    site.serve("application/json", &site.good());
    assert!(authorize(&bench, &site.id).await.is_ok(), "the failure is not cached");
    bench.later(61 * 60);
    site.serve(CUT_OFF, &site.good());
    assert_eq!(authorize(&bench, &site.id).await, Ok(Some("By document".to_owned())));
}

#[tokio::test]
async fn s11_what_was_refused_is_not_fetched_again_for_a_minute() {
    let site = Site::start().await;
    let mut bench = site.bench();
    site.serve("application/json", "[]");
    assert_eq!(authorize(&bench, &site.id).await, Err(Fault::InvalidClient));
    site.serve("application/json", &site.good());
    bench.later(59);
    assert_eq!(authorize(&bench, &site.id).await, Err(Fault::InvalidClient));
    bench.later(1);
    assert!(authorize(&bench, &site.id).await.is_ok());
}

#[tokio::test]
async fn s11_who_waits_goes_on_when_whoever_fetched_has_gone() {
    let silent = SilentHost::at(2).await;
    let bench = Arc::new(bench_with([&silent.host].into_iter()));
    let id = silent.id(0);
    let first = spawn_authorize(&bench, id.clone(), Some(1));
    let held = silent.accept().await;
    let second = spawn_authorize(&bench, id.clone(), Some(2));
    // It is waiting now: otherwise it would fetch the document itself, and the test would pass trivially.
    tokio::task::yield_now().await;
    first.abort();
    drop(held);
    let mut stream = silent.accept().await;
    stream.write_all(document_response(&id).as_bytes()).await.unwrap();
    assert_eq!(second.await.unwrap(), Ok(None));
}
