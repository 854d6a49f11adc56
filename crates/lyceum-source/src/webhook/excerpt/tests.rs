//! Excerpts of pushes that arrive in parts.

use super::{Excerpt, MAX_EXCERPT_BYTES};
use crate::Push;

fn in_parts(body: &[u8], size: usize) -> Excerpt {
    let mut excerpt = Excerpt::default();
    body.chunks(size).for_each(|part| excerpt.update(part));
    excerpt
}

const SMALL: &str = r#" {"ref" : "refs/heads/ma\u0069n\"", "commits":[{"message":"a \"}] b","added":["x"]}, []],
    "head_commit":{"id":"1","author":{"name":"\\"}},
    "repository": {"full_name":"team/kb","owner":{"login":"team"},"clone_url":"https://example.org/team/kb.git",
    "ssh_url":null,"topics":["a","b"],"size":1e3} , "forced":false}
"#;

#[test]
fn an_excerpt_says_what_the_whole_says_however_it_arrives() {
    let whole = Push::parse(SMALL.as_bytes()).unwrap();
    assert_eq!(whole.branch(), Some("main\""));
    for size in [1, 2, 3, 7, SMALL.len()] {
        assert_eq!(in_parts(SMALL.as_bytes(), size).finish(), Ok(whole.clone()), "{size}");
    }
}

#[test]
fn s17_a_large_push_takes_little_memory() {
    let commit = format!(r#"{{"message":"{}","added":["{}"]}},"#, "m".repeat(6_000), "é".repeat(6_000));
    let message = "\\u00e9".repeat(1024 * 1024);
    let body = format!(
        r#"{{"commits":[{}null],"head_commit":{{"message":"{message}"}},"ref":"refs/heads/main","repository":{{"full_name":"team/kb"}}}}"#,
        commit.repeat(1_000)
    );
    assert!(body.len() > 20 * 1024 * 1024);
    let excerpt = in_parts(body.as_bytes(), 16 * 1024);
    assert!(excerpt.buffer.capacity() <= 2 * MAX_EXCERPT_BYTES, "{}", excerpt.buffer.capacity());
    assert_eq!(excerpt.finish().unwrap().branch(), Some("main"));
}

#[test]
fn what_is_no_push_is_told_and_takes_little_memory_too() {
    let bodies = [
        b"".to_vec(),
        b"[1,2".to_vec(),
        b"{}".to_vec(),
        b"payload=%7B%7D".repeat(100_000),
        b"[".repeat(1_000_000),
        b"\"".repeat(1_000_000),
        br#"{"a":1,"#.repeat(100_000),
        vec![0; 1_000_000],
    ];
    for body in bodies {
        let excerpt = in_parts(&body, 999);
        assert!(excerpt.buffer.capacity() <= 2 * MAX_EXCERPT_BYTES);
        assert!(excerpt.finish().is_err(), "{:?}", &body[..body.len().min(20)]);
    }
}
