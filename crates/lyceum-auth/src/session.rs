//! Whose a session is: its id goes out with a code that only its owner's requests fit.
//!
//! A session is no proof of who somebody is, and so it must not be of use to anybody else. One that was opened before
//! signing in belongs to whoever holds its id, for a client goes on with it after the person has signed in.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{
    auth::Auth,
    seal::{Key, Purpose},
};

impl Auth {
    /// The id of a session, as its owner gets it.
    pub fn own_session(&self, id: &str, owner: Option<&str>) -> String {
        own(self.key(), id, owner)
    }

    /// The id of a session that somebody sends, if it is theirs.
    pub fn session_of<'s>(&self, sent: &'s str, sender: Option<&str>) -> Option<&'s str> {
        opened(self.key(), sent, sender)
    }
}

fn own(key: &Key, id: &str, owner: Option<&str>) -> String {
    let code = key.code(Purpose::Session, &bytes(id, owner));
    format!("{id}.{}", URL_SAFE_NO_PAD.encode(code))
}

fn opened<'s>(key: &Key, sent: &'s str, sender: Option<&str>) -> Option<&'s str> {
    let (id, code) = sent.rsplit_once('.')?;
    let code = URL_SAFE_NO_PAD.decode(code).ok()?;
    let fits = |owner: Option<&str>| key.is_code(Purpose::Session, &bytes(id, owner), &code);
    (fits(None) || sender.is_some_and(|sender| fits(Some(sender)))).then_some(id)
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
        let sent = own(&key, "s-1", owner);
        assert_eq!(opened(&key, &sent, sender), is_theirs.then_some("s-1"), "{owner:?} {sender:?}");
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
        let sent = own(&key, "s-1", Some("key:a"));
        for changed in ["s-1".to_owned(), "s-1.".to_owned(), sent.replace("s-1", "s-2"), format!("{sent}A")] {
            assert_eq!(opened(&key, &changed, Some("key:a")), None, "{changed}");
        }
    }
}
