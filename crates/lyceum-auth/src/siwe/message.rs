//! Sign-in messages by EIP-4361: read strictly, and written.
//!
//! Invariant: what was read is written again byte for byte, so what was checked is what was signed.

use std::fmt;

use alloy_primitives::Address;
use jiff::Timestamp;

const FIRST_LINE_END: &str = " wants you to sign in with your Ethereum account:";

/// The longest message that is read.
const MAX_MESSAGE_BYTES: usize = 8 * 1024;

/// A sign-in message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The scheme of the page, where it is named.
    pub scheme: Option<String>,
    /// The host of the page, with its port where there is one.
    pub domain: String,
    /// The account.
    pub address: Address,
    /// What the person agrees to.
    pub statement: Option<String>,
    /// What the sign-in is for.
    pub uri: String,
    /// The chain that the account is on.
    pub chain_id: u64,
    /// What makes the message one of its kind.
    pub nonce: String,
    /// When it was written.
    pub issued_at: Moment,
    /// When it is over.
    pub expiration_time: Option<Moment>,
    /// When it begins to count.
    pub not_before: Option<Moment>,
    /// What the server knows it by.
    pub request_id: Option<String>,
    /// What else is meant.
    pub resources: Option<Vec<String>>,
}

/// A moment, as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    text: String,
    at: Timestamp,
}

/// What is wrong with a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an EIP-4361 message: {0}")]
pub struct BadMessage(&'static str);

impl Moment {
    /// A moment, written in whole seconds.
    pub fn new(at: Timestamp) -> Self {
        let at = Timestamp::from_second(at.as_second()).unwrap_or(at);
        Self { text: at.to_string(), at }
    }

    /// When it is.
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// Reads a date and time of RFC 3339.
    fn parse(text: &str) -> Option<Self> {
        let at = text.parse().ok().filter(|_| has_shape_of_rfc3339(text))?;
        Some(Self { text: text.to_owned(), at })
    }
}

/// Whether a text is `2026-09-30T16:25:24`, maybe a part of a second, and `Z` or `+02:00`: what reads it takes more.
fn has_shape_of_rfc3339(text: &str) -> bool {
    let fits = |text: &str, shape: &str| {
        text.len() == shape.len()
            && text.bytes().zip(shape.bytes()).all(|(byte, shape)| match shape {
                b'0' => byte.is_ascii_digit(),
                sign => byte == sign,
            })
    };
    let Some((moment, rest)) = text.split_at_checked(19) else { return false };
    let zone = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
    let (part, zone) = rest.split_at(zone);
    let is_part = part.is_empty()
        || part
            .strip_prefix('.')
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()));
    let is_zone = zone == "Z"
        || ((fits(zone, "+00:00") || fits(zone, "-00:00"))
            && zone.get(1..3) < Some("24")
            && zone.get(4..6) < Some("60"));
    fits(moment, "0000-00-00T00:00:00") && moment.get(17..) < Some("60") && is_part && is_zone
}

impl Message {
    /// Reads a message.
    pub fn parse(text: &str) -> Result<Self, BadMessage> {
        if text.len() > MAX_MESSAGE_BYTES {
            return Err(BadMessage("it is too long"));
        }
        let mut lines = Lines(text.split('\n').collect::<Vec<_>>().into_iter().peekable());
        let first = lines.next("its first line")?;
        let origin = first.strip_suffix(FIRST_LINE_END).ok_or(BadMessage("its first line"))?;
        let (scheme, domain) = match origin.split_once("://") {
            Some((scheme, domain)) => (Some(scheme), domain),
            None => (None, origin),
        };
        let address = lines.next("the address")?;
        let address = Address::parse_checksummed(address, None)
            .map_err(|_| BadMessage("the address, which has its letters as EIP-55 says"))?;
        lines.empty()?;
        let statement = match lines.next("the statement")? {
            "" => None,
            statement => {
                lines.empty()?;
                Some(statement)
            }
        };
        let uri = lines.field("URI: ", "URI")?;
        if lines.field("Version: ", "Version")? != "1" {
            return Err(BadMessage("Version, which is 1"));
        }
        let chain_id = lines.field("Chain ID: ", "Chain ID")?;
        let nonce = lines.field("Nonce: ", "Nonce")?;
        let issued_at = lines.field("Issued At: ", "Issued At")?;
        let message = Self {
            scheme: scheme.map(str::to_owned),
            domain: domain.to_owned(),
            address,
            statement: statement.map(str::to_owned),
            uri: uri.to_owned(),
            chain_id: chain_id.parse().map_err(|_| BadMessage("Chain ID"))?,
            nonce: nonce.to_owned(),
            issued_at: Moment::parse(issued_at).ok_or(BadMessage("Issued At"))?,
            expiration_time: lines.moment("Expiration Time: ", "Expiration Time")?,
            not_before: lines.moment("Not Before: ", "Not Before")?,
            request_id: lines.maybe("Request ID: ").map(str::to_owned),
            resources: lines.resources(),
        };
        message.check()?;
        // Nothing is left over, and nothing was read that is written otherwise.
        if lines.0.next().is_some() || message.to_string() != text {
            return Err(BadMessage("something in it is not where it belongs"));
        }
        Ok(message)
    }

    fn check(&self) -> Result<(), BadMessage> {
        let is_name = |text: &str| !text.is_empty() && text.bytes().all(is_uri_byte);
        let is_authority = is_name(&self.domain) && !self.domain.contains(['/', '?', '#', '@']);
        let is_scheme = |scheme: &String| {
            scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        };
        let is_said = |byte: u8| byte == b' ' || (is_uri_byte(byte) && byte != b'%');
        let checks = [
            (is_authority && self.scheme.as_ref().is_none_or(is_scheme), "the host"),
            (self.statement.as_ref().is_none_or(|text| text.bytes().all(is_said)), "the statement"),
            (is_name(&self.uri) && self.uri.contains(':'), "URI"),
            (self.nonce.len() >= 8 && self.nonce.bytes().all(|byte| byte.is_ascii_alphanumeric()), "Nonce"),
            (self.request_id.as_ref().is_none_or(|id| id.bytes().all(is_uri_byte)), "Request ID"),
            (self.resources.iter().flatten().all(|uri| is_name(uri) && uri.contains(':')), "Resources"),
        ];
        match checks.into_iter().find(|(is_good, _)| !is_good) {
            None => Ok(()),
            Some((_, what)) => Err(BadMessage(what)),
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(scheme) = &self.scheme {
            write!(f, "{scheme}://")?;
        }
        write!(f, "{}{FIRST_LINE_END}\n{}\n\n", self.domain, self.address)?;
        if let Some(statement) = &self.statement {
            writeln!(f, "{statement}")?;
        }
        write!(f, "\nURI: {}\nVersion: 1\nChain ID: {}", self.uri, self.chain_id)?;
        write!(f, "\nNonce: {}\nIssued At: {}", self.nonce, self.issued_at.text)?;
        if let Some(moment) = &self.expiration_time {
            write!(f, "\nExpiration Time: {}", moment.text)?;
        }
        if let Some(moment) = &self.not_before {
            write!(f, "\nNot Before: {}", moment.text)?;
        }
        if let Some(id) = &self.request_id {
            write!(f, "\nRequest ID: {id}")?;
        }
        if let Some(resources) = &self.resources {
            write!(f, "\nResources:")?;
            for resource in resources {
                write!(f, "\n- {resource}")?;
            }
        }
        Ok(())
    }
}

/// What may stand in a URI: RFC 3986, reserved or not, and the percent sign.
fn is_uri_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte)
}

/// What may stand in a statement, of a text that comes from elsewhere.
pub(crate) fn printable_statement(text: &str) -> String {
    let is_said =
        |letter: &char| letter.is_ascii() && (*letter == ' ' || is_uri_byte(*letter as u8)) && *letter != '%';
    text.chars().filter(is_said).collect()
}

struct Lines<'a>(std::iter::Peekable<std::vec::IntoIter<&'a str>>);

impl<'a> Lines<'a> {
    fn next(&mut self, what: &'static str) -> Result<&'a str, BadMessage> {
        self.0.next().ok_or(BadMessage(what))
    }

    fn empty(&mut self) -> Result<(), BadMessage> {
        if self.0.next() == Some("") { Ok(()) } else { Err(BadMessage("an empty line is missing")) }
    }

    fn field(&mut self, name: &str, what: &'static str) -> Result<&'a str, BadMessage> {
        self.maybe(name).ok_or(BadMessage(what))
    }

    fn maybe(&mut self, name: &str) -> Option<&'a str> {
        self.0.next_if(|line| line.starts_with(name))?.strip_prefix(name)
    }

    fn moment(&mut self, name: &str, what: &'static str) -> Result<Option<Moment>, BadMessage> {
        let text = self.maybe(name);
        text.map(|text| Moment::parse(text).ok_or(BadMessage(what))).transpose()
    }

    fn resources(&mut self) -> Option<Vec<String>> {
        self.0.next_if(|line| *line == "Resources:")?;
        let mut all = Vec::new();
        while let Some(resource) = self.maybe("- ") {
            all.push(resource.to_owned());
        }
        Some(all)
    }
}
