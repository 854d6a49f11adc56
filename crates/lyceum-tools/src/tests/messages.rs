//! Invalid messages are rejected with the code of JSON-RPC, and with the id if there is one.

use serde_json::{Value, json};

use crate::mcp::Incoming;

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const INVALID_PARAMS: i32 = -32602;

#[track_caller]
fn check(bytes: impl AsRef<[u8]>, code: i32, begins: &str, id: &Value) {
    let bytes = bytes.as_ref();
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(100)]).into_owned();
    let refusal = Incoming::parse(bytes).expect_err(&shown);
    assert_eq!(refusal.error.code.0, code, "{shown}");
    assert!(refusal.error.message.starts_with(begins), "{shown}: {}", refusal.error.message);
    assert!(refusal.error.message.len() < 500, "{shown}: {}", refusal.error.message);
    assert_eq!(json!(refusal.id), *id, "{shown}");
}

#[test]
fn what_is_not_json_is_a_parse_error_without_an_id() {
    let not_json = |bytes: &[u8]| check(bytes, PARSE_ERROR, "the body is not JSON", &Value::Null);
    not_json(b"");
    not_json(b"hello");
    not_json(br#"{"jsonrpc":"2.0","id":1,"method":"x""#);
    not_json(br#"{"jsonrpc":"2.0","id":1,"method":"x"} {}"#);
    not_json(br#"{'jsonrpc':'2.0'}"#);
    not_json(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}");
    not_json("[".repeat(100_000).as_bytes());
    not_json(format!(r#"{{"a":{}"#, "[".repeat(100_000)).as_bytes());
}

#[test]
fn what_is_no_single_object_is_an_invalid_request() {
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#;
    check(format!("[{message}]"), INVALID_REQUEST, "batches are not supported", &Value::Null);
    check("[]", INVALID_REQUEST, "batches are not supported", &Value::Null);
    let fields = r#"["2.0", 1, "tools/list", {}, null, null]"#;
    check(fields, INVALID_REQUEST, "batches are not supported", &Value::Null);
    check("5", INVALID_REQUEST, "a message must be a JSON object", &Value::Null);
    check("null", INVALID_REQUEST, "a message must be a JSON object", &Value::Null);
    check(r#""text""#, INVALID_REQUEST, "a message must be a JSON object", &Value::Null);
}

#[test]
fn an_envelope_that_is_not_good_is_refused_under_its_id() {
    check("{}", INVALID_REQUEST, "jsonrpc: must be", &Value::Null);
    check(r#"{"id":7,"method":"x"}"#, INVALID_REQUEST, "jsonrpc: must be", &json!(7));
    check(r#"{"jsonrpc":"1.0","id":7,"method":"x"}"#, INVALID_REQUEST, "jsonrpc: must be", &json!(7));
    check(r#"{"jsonrpc":2.0,"id":7,"method":"x"}"#, INVALID_REQUEST, "jsonrpc: must be", &json!(7));
    check(r#"{"jsonrpc":"2.0","id":"a"}"#, INVALID_REQUEST, "method: is missing", &json!("a"));
    check(r#"{"jsonrpc":"2.0"}"#, INVALID_REQUEST, "method: is missing", &Value::Null);
    check(
        r#"{"jsonrpc":"2.0","id":"a","method":5}"#,
        INVALID_REQUEST,
        "method: must be a string",
        &json!("a"),
    );
    let twice = r#"{"jsonrpc":"2.0","id":7,"method":"x","method":"y"}"#;
    check(twice, INVALID_REQUEST, "the message is not a valid JSON-RPC message", &json!(7));
}

#[test]
fn parameters_are_an_object() {
    check(r#"{"jsonrpc":"2.0","id":-1,"method":"x","params":[]}"#, INVALID_PARAMS, "params: ", &json!(-1));
    check(r#"{"jsonrpc":"2.0","id":0,"method":"x","params":"a"}"#, INVALID_PARAMS, "params: ", &json!(0));
    check(r#"{"jsonrpc":"2.0","id":"","method":"x","params":null}"#, INVALID_PARAMS, "params: ", &json!(""));
}

#[test]
fn a_fault_in_meta_is_told_with_its_place() {
    for meta in ["[]", "[null,null,null,null]", "5", r#"{"io.modelcontextprotocol/logLevel":"loud"}"#] {
        let message = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"_meta":{meta}}}}}"#);
        let refusal = Incoming::parse(message.as_bytes()).expect_err(&message);
        assert_eq!(refusal.error.code.0, INVALID_PARAMS, "{message}");
        assert!(refusal.error.message.contains("_meta"), "{message}: {}", refusal.error.message);
    }
}

#[test]
fn an_id_is_text_or_a_whole_number() {
    for id in ["null", "1.5", "true", "[]", "{}", "99999999999999999999"] {
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#);
        check(message, INVALID_REQUEST, "id: must be a string or an integer", &Value::Null);
    }
}

#[track_caller]
fn check_read(text: &str, read: &str) {
    let found = match Incoming::parse(text.as_bytes()) {
        Ok(Incoming::Request(request)) => format!("request {} {}", json!(request.id), request.method),
        Ok(Incoming::Notification { method, .. }) => format!("notification {method}"),
        Ok(Incoming::Response) => "response".to_owned(),
        Err(refusal) => panic!("{text}: {}", refusal.error.message),
    };
    assert_eq!(found, read, "{text}");
}

#[test]
fn a_good_message_is_read() {
    check_read(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, "request 1 tools/list");
    check_read(r#"{"jsonrpc":"2.0","id":"1","method":"tools/list"}"#, r#"request "1" tools/list"#);
    check_read(r#"{"jsonrpc":"2.0","id":-9007199254740993,"method":"x"}"#, "request -9007199254740993 x");
    check_read("\n{ \"method\": \"x\", \"id\": 0, \"jsonrpc\": \"2.0\", \"more\": [1] }\n", "request 0 x");
    check_read(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        "notification notifications/cancelled",
    );
    check_read(r#"{"jsonrpc":"2.0","id":1,"method":"tools\/list"}"#, "request 1 tools/list");
    check_read(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "response");
    check_read(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}"#, "response");
}

#[test]
fn an_answer_may_be_nothing() {
    check_read(r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "response");
}
