//! Signatures, and matching of pushes to repositories.

use lyceum_net::Secret;

use super::{Push, SignatureCheck};

fn secret(text: &str) -> Secret {
    Secret::for_signature(text).expect("not empty")
}

/// Checks a signature, with the body arriving byte by byte.
fn is_signed(secret: &Secret, body: &[u8], signature: &str) -> bool {
    let Some(mut check) = SignatureCheck::new(secret, signature) else { return false };
    body.chunks(1).for_each(|part| check.update(part));
    check.is_signed()
}

#[test]
fn the_known_vector_is_signed() {
    // The example of the server's own documentation.
    let signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    let secret = secret("It's a Secret to Everybody");
    assert!(is_signed(&secret, b"Hello, World!", signature));
    assert!(is_signed(&secret, b"Hello, World!", &signature.to_uppercase().replace("SHA256", "sha256")));
}

#[test]
fn anything_else_is_not() {
    let good = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    let known = secret("It's a Secret to Everybody");
    let check = |secret: &Secret, body: &[u8], signature: &str| {
        assert!(!is_signed(secret, body, signature), "{signature:?}");
    };
    check(&known, b"Hello, World?", &format!("sha256={good}"));
    check(&secret("another"), b"Hello, World!", &format!("sha256={good}"));
    check(&known, b"Hello, World!", good);
    check(&known, b"Hello, World!", &format!("sha1={good}"));
    check(&known, b"Hello, World!", &format!("sha256={}", &good[..62]));
    check(&known, b"Hello, World!", &format!("sha256={}zz", &good[..62]));
    check(&known, b"Hello, World!", &format!("sha256={}é", &good[..62]));
    check(&known, b"Hello, World!", "");
}

#[test]
fn an_empty_secret_is_none() {
    assert_eq!(Secret::for_signature(" "), None);
    assert_eq!(format!("{:?}", secret("canary")), "Secret(…)");
}

#[track_caller]
fn check(url: &str, is_about: bool) {
    let body = br#"{"ref":"refs/heads/main","after":"0","repository":{"full_name":"Team/kb",
        "clone_url":"https://github.com/Team/kb.git","ssh_url":"git@github.com:Team/kb.git"},"commits":[]}"#;
    let push = Push::parse(body).expect("a push");
    assert_eq!(push.branch(), Some("main"));
    assert_eq!(push.is_about(url), is_about, "{url:?}");
}

#[test]
fn a_push_is_about_the_repository_that_it_names() {
    check("https://github.com/team/kb.git", true);
    check("https://github.com/Team/kb", true);
    check("git@github.com:Team/kb.git", true);
    check("ssh://git@github.com/Team/kb.git", true);
    // A mirror or a proxy of it.
    check("http://127.0.0.1:8080/git/team/kb.git", true);
    check("https://github.com/team/other.git", false);
    check("https://github.com/steam/kb.git", false);
}

#[test]
fn what_is_no_push_is_told() {
    assert!(Push::parse(b"{}").is_err());
    assert!(Push::parse(b"\xff").is_err());
    assert!(Push::parse(&b"[".repeat(100_000)).is_err());
}
