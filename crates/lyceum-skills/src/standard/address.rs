//! `skill://` URIs: the path of a file of an Agent Skill, in one canonical spelling.

use std::fmt::Write;

use lyceum_model::RelPath;

/// The URI of a file or folder of an Agent Skill. Everything that could be read in two ways is percent-encoded.
pub(crate) fn of(path: &RelPath) -> String {
    let mut uri = "skill://".to_owned();
    for byte in path.as_str().bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/') {
            uri.push(char::from(byte));
        } else {
            // Writing to a string can't fail.
            let _written = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

/// Parses the path of a `skill://` URI in any spelling; `None` for other URIs.
pub(crate) fn path_of(uri: &str) -> Option<RelPath> {
    let mut rest = uri.strip_prefix("skill://")?.as_bytes();
    let mut bytes = Vec::with_capacity(rest.len());
    while let [first, tail @ ..] = rest {
        let encoded = if *first == b'%' { Some(tail.get(..2)?) } else { None };
        match encoded {
            Some(hex) => {
                bytes.push(u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?);
                rest = tail.get(2..)?;
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    RelPath::parse(&String::from_utf8(bytes).ok()?).ok()
}
