//! The fake chain.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Busy, RESOLVER, response};

#[track_caller]
fn check(path: &str, method: &str, params: &Value, pointer: &str, expected: &str) {
    let answer = response(path, &json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
    assert_eq!(answer.pointer(pointer).and_then(Value::as_str), Some(expected), "{answer}");
}

#[test]
fn it_answers_what_a_sign_in_asks() {
    let (zeros, one) = ("0".repeat(56), format!("{}1", "0".repeat(63)));
    check("/10", "eth_chainId", &json!([]), "/result", "0xa");
    check("/1", "eth_call", &json!([{ "data": "0x00" }, "safe"]), "/result", &format!("0x1626ba7e{zeros}"));
    check("/10", "eth_call", &json!([{ "to": "0x3bc1" }, "latest"]), "/result", &format!("0x{one}"));
    check("/1", "eth_call", &json!([{ "to": RESOLVER }, "latest"]), "/error/message", "execution reverted");
}

#[test]
fn time_in_which_two_are_answered_counts_once() {
    let mut busy = Busy::default();
    busy.begin();
    busy.begin();
    thread::sleep(Duration::from_millis(2));
    busy.end();
    assert_eq!(busy.total, Duration::ZERO);
    busy.end();
    let total = busy.total;
    assert!(total >= Duration::from_millis(2));
    thread::sleep(Duration::from_millis(2));
    assert_eq!((busy.total, busy.requests), (total, 2));
}
