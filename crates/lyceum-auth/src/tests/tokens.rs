//! Token format and derivation.

use crate::{Kind, Token};

#[test]
fn a_token_is_known_by_its_prefix_and_its_check() {
    for kind in [Kind::Access, Kind::Refresh, Kind::Code, Kind::Key] {
        let token = Token::random(kind).unwrap();
        let text = token.reveal().to_owned();
        assert_eq!(Token::parse(&text).as_ref().map(Token::kind), Some(kind));
        let mut changed = text.clone().into_bytes();
        let last = changed.last_mut().unwrap();
        *last = if *last == b'0' { b'1' } else { b'0' };
        assert_eq!(Token::parse(&String::from_utf8(changed).unwrap()), None);
        assert_eq!(Token::parse(&text.to_uppercase()), None);
        assert_eq!(Token::parse(text.get(..text.len() - 1).unwrap()), None);
    }
    assert_eq!(Token::parse(""), None);
    assert_eq!(Token::parse("lyc_at_"), None);
    assert_eq!(Token::parse("lyc_at_é"), None);
}

#[test]
fn a_token_shows_nothing_of_itself() {
    let token = Token::random(Kind::Access).unwrap();
    assert_eq!(format!("{token:?}"), "lyc_at_…");
}

#[test]
fn what_follows_from_a_token_is_the_same_each_time_and_not_without_the_key() {
    let token = Token::random(Kind::Refresh).unwrap();
    let derive = |key: u8| Token::derive(Kind::Refresh, &token, &[key; 32]);
    assert_eq!(derive(1), derive(1));
    assert_ne!(derive(1), derive(2));
    assert_ne!(derive(1).reveal(), token.reveal());
}
