//! CORS: pages of other sites may read public content, and nothing else.

use super::base::{Base, Served, by, refused, with};
use crate::app::{Response, TestApp, get, post};

const READS: [&str; 5] = [
    "/api/v1/entries?limit=1",
    "/api/v1/entries/tag/dao",
    "/api/v1/openapi.json",
    "/llms.txt",
    "/api/v1/entries/tag/nothing",
];

const FOREIGN: [&str; 4] = ["https://evil.example", "null", "http://localhost.evil.example", "file://"];

/// A public server.
async fn public() -> Served {
    Base::example().served_with("public_url = \"https://kb.example.org\"").await
}

#[tokio::test]
async fn what_only_this_machine_reaches_is_read_by_its_own_pages_only() {
    let app = Base::example().served().await;
    for path in READS {
        for origin in FOREIGN {
            let answer = app.send(with(get(path), "origin", origin)).await;
            refused(&answer, 403, "FORBIDDEN");
            assert_eq!(answer.header("access-control-allow-origin"), "", "{answer:?}");
            assert_eq!(preflight(&app, origin, path, "GET").await.status, 403);
        }
        let ours = "http://localhost:3000";
        let answer = app.send(with(get(path), "origin", ours)).await;
        assert_eq!(answer.header("access-control-allow-origin"), ours);
        // Programs send no origin.
        assert!(matches!(app.send(get(path)).await.status, 200 | 404));
    }
    app.stop().await;
}

fn check_open(answer: &Response) {
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert_eq!(answer.header("access-control-allow-credentials"), "", "never with credentials");
    assert!(!answer.header("vary").contains("Origin"), "the answer is the same for every page");
}

async fn preflight(app: &TestApp, origin: &str, path: &str, method: &str) -> Response {
    let asking = with(by("OPTIONS", get(path)), "origin", origin);
    app.send(with(asking, "access-control-request-method", method)).await
}

#[tokio::test]
async fn any_page_may_read() {
    let app = public().await;
    for path in READS {
        for origin in FOREIGN.iter().chain(&["http://localhost:3000"]) {
            for method in ["GET", "HEAD"] {
                let answer = app.send(by(method, with(get(path), "origin", origin))).await;
                assert!(matches!(answer.status, 200 | 404), "{path} {origin}: {answer:?}");
                check_open(&answer);
                assert!(answer.header("access-control-expose-headers").contains("ETag"));
            }
        }
        // The same without an origin, because a cache may serve one response to both.
        check_open(&app.send(get(path)).await);
    }
    app.stop().await;
}

#[tokio::test]
async fn any_page_may_ask_before_it_reads() {
    let app = public().await;
    for path in READS {
        for origin in FOREIGN {
            let answer = preflight(&app, origin, path, "GET").await;
            assert_eq!((answer.status, answer.text()), (204, ""), "{path} {origin}");
            check_open(&answer);
            assert_eq!(answer.header("access-control-allow-methods"), "GET, HEAD, OPTIONS");
            assert_eq!(answer.header("access-control-max-age"), "86400");
            assert_eq!(answer.header("access-control-allow-headers"), "*");
        }
    }
    app.stop().await;
}

#[tokio::test]
async fn no_page_of_another_site_may_do_anything() {
    let app = public().await;
    let sync = "/api/v1/sources/kb/sync";
    for origin in FOREIGN {
        let answers = [
            app.send(with(post(sync, ""), "origin", origin)).await,
            app.send(with(post("/api/v1/entries", "{}"), "origin", origin)).await,
            app.send(with(by("DELETE", get("/api/v1/entries/tag/dao")), "origin", origin)).await,
            app.send(with(get("/tools"), "origin", origin)).await,
            app.send(with(get("/health"), "origin", origin)).await,
            preflight(&app, origin, sync, "POST").await,
            preflight(&app, origin, "/tools/refresh_sources/call", "POST").await,
        ];
        for answer in answers {
            refused(&answer, 403, "FORBIDDEN");
            assert_eq!(answer.header("access-control-allow-origin"), "", "{answer:?}");
        }
    }
    // An allowed origin may.
    let ours = "http://localhost:3000";
    let asked = preflight(&app, ours, sync, "POST").await;
    assert_eq!((asked.status, asked.header("access-control-allow-origin")), (204, ours));
    assert!(asked.header("access-control-allow-methods").contains("POST"));
    assert_eq!(app.send(with(post(sync, ""), "origin", ours)).await.status, 200);
    app.stop().await;
}

#[tokio::test]
async fn a_name_that_is_not_ours_reads_nothing() {
    let app = public().await;
    for path in READS {
        let answer = app.send(with(get(path), "host", "evil.example")).await;
        refused(&answer, 403, "FORBIDDEN");
        assert_eq!(answer.header("cache-control"), "no-store");
    }
    app.stop().await;
}
