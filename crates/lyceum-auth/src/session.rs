//! Session ownership: a session id carries an HMAC that binds it to its owner.
//!
//! A session id doesn't authenticate anyone, so it must be useless to others. A session opened before sign-in
//! belongs to whoever has its id, because a client continues with it after the user has signed in.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{
    auth::Auth,
    seal::{Key, Purpose},
};

impl Auth {
    /// Returns the session id with its HMAC, for the client.
    pub fn own_session(&self, id: &str, owner: Option<&str>) -> String {
        bind(self.key(), id, owner)
    }

    /// Returns the session id if it belongs to the sender.
    pub fn session_of<'s>(&self, sent: &'s str, sender: Option<&str>) -> Option<&'s str> {
        verify(self.key(), sent, sender)
    }
}

fn bind(key: &Key, id: &str, owner: Option<&str>) -> String {
    let tag = key.tag(Purpose::Session, &bytes(id, owner));
    format!("{id}.{}", URL_SAFE_NO_PAD.encode(tag))
}

fn verify<'s>(key: &Key, sent: &'s str, sender: Option<&str>) -> Option<&'s str> {
    let (id, tag) = sent.rsplit_once('.')?;
    let tag = URL_SAFE_NO_PAD.decode(tag).ok()?;
    let matches = |owner: Option<&str>| key.verify_tag(Purpose::Session, &bytes(id, owner), &tag);
    (matches(None) || sender.is_some_and(|sender| matches(Some(sender)))).then_some(id)
}

fn bytes(id: &str, owner: Option<&str>) -> Vec<u8> {
    [id, owner.unwrap_or_default()].join("\0").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(owner: Option<&str>, sender: Option<&str>, is_theirs: bool) {
        let key = Key([7; 32]);
        let sent = bind(&key, "s-1", owner);
        assert_eq!(verify(&key, &sent, sender), is_theirs.then_some("s-1"), "{owner:?} {sender:?}");
    }

    #[test]
    fn a_session_is_its_owners_alone() {
        check(Some("key:a"), Some("key:a"), true);
        check(Some("key:a"), Some("key:b"), false);
        check(Some("key:a"), None, false);
    }

    #[test]
    fn a_session_from_before_the_sign_in_goes_on_after_it() {
        check(None, None, true);
        check(None, Some("key:a"), true);
    }

    #[test]
    fn an_id_without_its_code_is_nobodys() {
        let key = Key([7; 32]);
        let sent = bind(&key, "s-1", Some("key:a"));
        for changed in ["s-1".to_owned(), "s-1.".to_owned(), sent.replace("s-1", "s-2"), format!("{sent}A")] {
            assert_eq!(verify(&key, &changed, Some("key:a")), None, "{changed}");
        }
    }
}
