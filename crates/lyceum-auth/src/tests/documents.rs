//! Clients that are known by a document.

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::{Bench, CALLBACK};
use crate::{
    Guard,
    oauth::{Fault, Params, request::Refused},
};

/// A server of one document, which can be changed.
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
                let length = body.len();
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

    fn says(&self, kind: &str, body: &str) {
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

async fn asked(bench: &Bench, id: &str) -> Result<Option<String>, Fault> {
    let query = bench.query("").replace(&bench.client, id);
    match bench.auth.ask(&Params::parse(&query).unwrap(), None, bench.now).await {
        Ok(begun) => Ok(begun.sign_in.asked.client_name),
        Err(Refused::Shown(error)) => Err(error.error),
        Err(Refused::Sent(sent)) => panic!("sent back: {sent:?}"),
    }
}

#[tokio::test]
async fn a_client_is_what_its_document_says() {
    let site = Site::start().await;
    let bench = site.bench();
    site.says("application/json; charset=utf-8", &site.good());
    assert_eq!(asked(&bench, &site.id).await, Ok(Some("By document".to_owned())));
}

#[tokio::test]
async fn a_document_that_is_not_one_is_refused_and_asked_for_again() {
    let site = Site::start().await;
    let bench = site.bench();
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
        site.says(kind, &body);
        assert_eq!(asked(&bench, &site.id).await, Err(Fault::InvalidClient), "{kind} {body}");
    }
    site.says("application/json", &good);
    assert!(asked(&bench, &site.id).await.is_ok());
}

#[tokio::test]
async fn a_document_is_taken_as_it_was_for_an_hour() {
    let site = Site::start().await;
    let mut bench = site.bench();
    site.says("application/json", &site.good());
    assert!(asked(&bench, &site.id).await.is_ok());
    site.says("application/json", &site.good().replace(CALLBACK, "https://app.example.org/"));
    assert!(asked(&bench, &site.id).await.is_ok());
    bench.later(3601);
    assert_eq!(asked(&bench, &site.id).await, Err(Fault::InvalidRequest));
}

#[tokio::test]
async fn an_id_that_is_no_address_of_a_document_is_not_fetched() {
    let site = Site::start().await;
    let bench = site.bench();
    site.says("application/json", &site.good());
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
        assert_eq!(asked(&bench, &id).await, Err(Fault::InvalidClient), "{id}");
    }
}

#[tokio::test]
async fn who_is_known_goes_on_while_the_site_of_their_document_is_down() {
    let site = Site::start().await;
    let mut bench = site.bench();
    assert_eq!(asked(&bench, &site.id.replace("client.json", "other.json")).await, Err(Fault::InvalidClient));
    site.says("application/json", &site.good());
    assert!(asked(&bench, &site.id).await.is_ok());
    bench.later(3601);
    site.says("down", "");
    assert!(asked(&bench, &site.id).await.is_ok());
    // At the exchange the document is not even asked for.
    let form = format!("grant_type=refresh_token&client_id={}&refresh_token=x", site.id);
    assert_eq!(bench.exchange(&form).await.unwrap_err().error, Fault::InvalidGrant);
    site.says("application/json", "[]");
    assert_eq!(asked(&bench, &site.id).await, Err(Fault::InvalidClient));
}
