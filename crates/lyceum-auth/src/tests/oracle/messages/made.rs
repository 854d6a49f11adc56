//! Generates messages and mutations.

use lyceum_harness::random::Random;

const ADDRESSES: [&str; 3] = [
    "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "0xde709f2102306220921060314715629080e2fb77",
];
const DOMAINS: [&str; 5] = ["example.org", "127.0.0.1:8787", "[::1]:4361", "localhost", "a-b.c_d~e.org:1"];
const STATEMENTS: [&str; 4] = [
    "I accept the Terms: https://example.org/tos",
    "-._~:/?#[]@!$&'()*+,;=",
    " ",
    "URI: https://example.org/login",
];
const URIS: [&str; 4] =
    ["https://example.org/login", "did:key:z6Mk#z6Mk", "http://127.0.0.1:8787", "urn:x?a=%20b#%C3%A9"];
const NONCES: [&str; 3] = ["32891756", "kEWepMt9knR6lWJ6A", "0123456789abcdef0123456789abcdef"];
const TIMES: [&str; 5] = [
    "2026-09-30T16:25:24Z",
    "2026-09-30T16:25:24.123Z",
    "2026-09-30T16:25:24.123456789+02:00",
    "2026-02-28T23:59:59-12:30",
    "2024-02-29T00:00:00.1Z",
];

/// A valid message.
pub(super) fn good(random: &mut Random) -> String {
    let mut text = format!(
        "{} wants you to sign in with your Ethereum account:\n{}\n\n",
        random.one_of(&DOMAINS),
        random.one_of(&ADDRESSES)
    );
    if random.below(3) > 0 {
        text.push_str(random.one_of(&STATEMENTS));
        text.push('\n');
    }
    let (uri, chain) = (random.one_of(&URIS), random.one_of(&["1", "10", "18446744073709551615"]));
    let (nonce, issued) = (random.one_of(&NONCES), random.one_of(&TIMES));
    text.push_str(&format!(
        "\nURI: {uri}\nVersion: 1\nChain ID: {chain}\nNonce: {nonce}\nIssued At: {issued}"
    ));
    for name in ["Expiration Time", "Not Before"] {
        if random.below(2) > 0 {
            text.push_str(&format!("\n{name}: {}", random.one_of(&TIMES)));
        }
    }
    if random.below(2) > 0 {
        text.push_str(random.one_of(&["\nRequest ID: some-id", "\nRequest ID: ", "\nRequest ID: %3F/x"]));
    }
    if random.below(2) > 0 {
        text.push_str("\nResources:");
        for _ in 0..random.below(3) {
            text.push_str(&format!("\n- {}", random.one_of(&URIS)));
        }
    }
    text
}

/// A mutated message.
pub(super) fn changed(text: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let mut lines: Vec<&str> = text.split('\n').collect();
    let (place, line) = (random.below(letters.len()), random.below(lines.len()));
    match random.below(13) {
        0..=2 => letters[place] = char::from(u8::try_from(random.below(128)).unwrap()),
        3 => letters[place] = random.one_of(&['А', 'ο', 'е', 'i', '１', '：', '\u{a0}', '\u{202e}', 'é']),
        4 => letters.insert(place, random.one_of(&['\0', '\r', '\n', ' ', '\t', ':', '%', '0', '\u{feff}'])),
        5 => {
            letters.remove(place);
        }
        6 => return text.replacen('\n', "\r\n", if random.below(2) > 0 { 1 } else { usize::MAX }),
        7 => return text.replacen("\n\n", "\n", 1),
        8 => {
            return format!(
                "{text}{}",
                random.one_of(&["\n", " ", "\r\n", "\0", "\nResources:", "\n- urn:x"])
            );
        }
        9 => {
            lines.remove(line);
            return lines.join("\n");
        }
        10 => {
            lines.insert(line, lines[line]);
            return lines.join("\n");
        }
        11 => {
            lines.swap(line, random.below(text.split('\n').count()));
            return lines.join("\n");
        }
        _ => letters[place] = if random.below(2) > 0 { letters[place].to_ascii_uppercase() } else { ' ' },
    }
    letters.into_iter().collect()
}
