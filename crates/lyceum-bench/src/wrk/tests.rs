//! Scripts and output of wrk.

use super::{Measured, parse, script};
use lyceum_harness::exchange::Request;

#[test]
fn a_body_with_quotes_is_one_lua_string() {
    let headers = vec![("Accept", "text/event-stream".to_owned())];
    let request = Request { method: "POST", path: "/mcp".into(), headers, body: r#"{"a":"\\"}"#.to_owned() };
    let expected = r#"wrk.method = "POST"
wrk.body = "{\"a\":\"\\\\\"}"
wrk.headers["Accept"] = "text/event-stream"
"#;
    assert!(script(&request).starts_with(expected), "{}", script(&request));
}

#[test]
fn the_figures_are_found_among_the_other_lines() {
    let output = "Running 4s test @ http://127.0.0.1:1/mcp\n\
        measured {\"requests\":400,\"micros\":4000000,\"p50\":100,\"p99\":900,\"refused\":1,\"broken\":2}\n";
    let measured = parse(output).unwrap();
    assert_eq!(
        measured,
        Measured { requests: 400, micros: 4_000_000, p50: 100, p99: 900, refused: 1, broken: 2 }
    );
    assert!((measured.per_second() - 100.0).abs() < f64::EPSILON);
    assert!(parse("unable to connect").is_none());
}

#[test]
fn requests_of_one_session_are_counted() {
    let headers = vec![("Mcp-Session-Id", "abc".to_owned())];
    let body = r#"{"id":1,"jsonrpc":"2.0"}"#.to_owned();
    let request = Request { method: "POST", path: "/mcp".into(), headers, body };
    assert!(
        script(&request).contains(r#""{\"id\":" .. id .. ",\"jsonrpc\":\"2.0\"}""#),
        "{}",
        script(&request)
    );
}
