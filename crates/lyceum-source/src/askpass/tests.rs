//! Askpass prompts, and which servers get the token.

use std::path::PathBuf;

use lyceum_net::Secret;

use super::{answer, prepare};
use crate::repository::{Login, Origin};

#[track_caller]
fn check(url: &str, prompt: &str, expected: Result<&str, &str>) {
    let login = Login {
        user: "x-access-token".to_owned(),
        token: Secret::new("s3cret").unwrap(),
        origin: Origin::parse(url).unwrap(),
        askpass: PathBuf::new(),
    };
    let (_file, token_ref) = prepare(&login).unwrap();
    assert!(!token_ref.contains("s3cret"));
    // Git may prompt several times.
    for _ in 0..2 {
        let answered = answer(&token_ref, prompt).map_err(|error| error.to_string());
        assert_eq!(answered, expected.map(str::to_owned).map_err(str::to_owned), "{prompt}");
    }
}

#[test]
fn the_server_of_the_address_is_told_and_no_other() {
    let ours = "https://example.org";
    check(ours, "Username for 'https://example.org': ", Ok("x-access-token"));
    check(ours, "Password for 'https://x-access-token@example.org': ", Ok("s3cret"));
    check(ours, "Password for 'https://it''s@EXAMPLE.org': ", Ok("s3cret"));
    check(ours, "Password for 'https://example.org/some/repository.git': ", Ok("s3cret"));
    let refused = |server: &str| format!("the token is not for {server}");
    check(ours, "Password for 'https://evil.org': ", Err(&refused("https://evil.org")));
    check(
        ours,
        "Username for 'https://example.org.evil.org': ",
        Err(&refused("https://example.org.evil.org")),
    );
    check(ours, "Password for 'https://example.org@evil.org': ", Err(&refused("https://evil.org")));
    check(ours, "Password for 'https://example.org:8443': ", Err(&refused("https://example.org:8443")));
    check(ours, "Password for 'http://example.org': ", Err(&refused("http://example.org")));
    check("http://example.org", "Password for 'https://example.org': ", Ok("s3cret"));
    check(ours, "Enter passphrase for key '/home/me/.ssh/id': ", Err("unknown prompt"));
}
