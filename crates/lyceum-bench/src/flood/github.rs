//! A fake GitHub API that knows the members and takes a second to reject an invalid token.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::json;

/// The token that may read organisation memberships.
pub(super) const READER: &str = "ghp_reader0000000000000000000000000000000";

/// Delay before rejecting an invalid token.
const REJECTION_DELAY: Duration = Duration::from_secs(1);

/// Starts the server, which runs until this program ends.
pub(super) fn start(members: usize) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port on 127.0.0.1")?;
    let addr = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // The client notices a broken connection.
            thread::spawn(move || serve_connection(stream, members));
        }
    });
    Ok(addr)
}

/// The `Authorization` header of a member.
pub(super) fn authorization(member: usize) -> String {
    format!("Bearer {}", base64url(token(member).as_bytes()))
}

/// An `Authorization` header with an invalid token.
pub(super) fn invalid_authorization(number: u64) -> String {
    format!("Bearer {}", base64url(format!("ghp_{number:036}").as_bytes()))
}

fn token(member: usize) -> String {
    format!("ghp_member{member:030}")
}

fn serve_connection(stream: TcpStream, members: usize) -> Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let mut stream = stream;
    loop {
        let Some(first) = lines.next() else { return Ok(()) };
        let path = first?.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut received_token = String::new();
        for line in lines.by_ref() {
            let line = line?;
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("authorization")
            {
                received_token = value.trim().trim_start_matches("Bearer ").to_owned();
            }
        }
        let member = (0..members).find(|member| token(*member) == received_token);
        let (status, body) = match (path.as_str(), member) {
            ("/user", Some(id)) => (200, json!({ "id": id + 1, "login": format!("member-{id}") })),
            (path, _) if received_token == READER && path.starts_with("/user/") => {
                let id: usize = path.trim_start_matches("/user/").parse().unwrap_or_default();
                (200, json!({ "id": id, "login": format!("member-{}", id.saturating_sub(1)) }))
            }
            (path, _) if received_token == READER && path.contains("/memberships/member-") => {
                (200, json!({ "state": "active", "role": "member" }))
            }
            _ => {
                thread::sleep(REJECTION_DELAY);
                (401, json!({ "message": "Bad credentials" }))
            }
        };
        let body = body.to_string();
        let length = body.len();
        write!(
            stream,
            "HTTP/1.1 {status} OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )?;
    }
}

/// RFC 4648 section 5, without `=`.
fn base64url(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let letter = |sextet: u32| LETTERS.get(sextet as usize & 63).map_or('A', |letter| char::from(*letter));
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        text.extend((0..=chunk.len()).map(|index| letter(bits >> (18 - 6 * index))));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64url;

    #[test]
    fn text_is_encoded_as_others_do() {
        for (plain, encoded) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg")] {
            assert_eq!(base64url(plain.as_bytes()), encoded);
        }
    }
}
