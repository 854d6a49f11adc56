//! Tests of parsing an HTTP response.

use super::parse;

#[track_caller]
fn check(raw: &str, status: u16, body: &str) {
    let response = parse(raw.as_bytes()).expect(raw);
    assert_eq!((response.status, response.body.as_str()), (status, body));
}

#[test]
fn a_body_is_read_whole_or_joined_from_chunks() {
    check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok");
    check("HTTP/1.1 204 No Content\r\n\r\n", 204, "");
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\na;x=1\r\n0123456789\r\n0\r\n\r\n",
        200,
        "ab0123456789",
    );
}

#[test]
fn headers_are_found_whatever_their_case() {
    let response = parse(b"HTTP/1.1 200 OK\r\nMcp-Session-Id:  abc \r\n\r\n").unwrap();
    assert_eq!(response.header("mcp-session-id"), Some("abc"));
}

#[test]
fn half_an_answer_is_no_answer() {
    assert!(parse(b"HTTP/1.1 200 OK\r\n").is_none());
    assert!(parse(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab").is_none());
}
