//! Strict parser and serializer of EIP-4361 messages.
//!
//! Invariant: a parsed message serializes to the same bytes, so what was checked is what was signed.

use std::fmt;

use alloy_primitives::Address;
use jiff::Timestamp;

const FIRST_LINE_SUFFIX: &str = " wants you to sign in with your Ethereum account:";

/// Maximum length of a message.
const MAX_MESSAGE_BYTES: usize = 8 * 1024;

/// An EIP-4361 message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Scheme of the page, if present.
    pub scheme: Option<String>,
    /// Host of the page, with its port if any.
    pub domain: String,
    /// The account.
    pub address: Address,
    /// Statement that the user agrees to.
    pub statement: Option<String>,
    /// URI that the sign-in is for.
    pub uri: String,
    /// Chain id.
    pub chain_id: u64,
    /// Nonce.
    pub nonce: String,
    /// Issue time.
    pub issued_at: Moment,
    /// Expiry.
    pub expiration_time: Option<Moment>,
    /// Start of validity.
    pub not_before: Option<Moment>,
    /// Id of the sign-in.
    pub request_id: Option<String>,
    /// Referenced resources.
    pub resources: Option<Vec<String>>,
}

/// A timestamp with its original text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    text: String,
    at: Timestamp,
}

/// Why a message can't be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an EIP-4361 message: {0}")]
pub struct BadMessage(&'static str);

impl Moment {
    /// A timestamp in whole seconds.
    pub fn new(at: Timestamp) -> Self {
        let at = Timestamp::from_second(at.as_second()).unwrap_or(at);
        Self { text: at.to_string(), at }
    }

    /// The time.
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// Parses an RFC 3339 date-time.
    fn parse(text: &str) -> Option<Self> {
        let at = text.parse().ok().filter(|_| has_shape_of_rfc3339(text))?;
        Some(Self { text: text.to_owned(), at })
    }
}

/// Whether a text is `2026-09-30T16:25:24`, optionally with a fraction, and `Z` or `+02:00`: the timestamp parser
/// accepts more than that.
fn has_shape_of_rfc3339(text: &str) -> bool {
    let matches = |text: &str, shape: &str| {
        text.len() == shape.len()
            && text.bytes().zip(shape.bytes()).all(|(byte, shape)| match shape {
                b'0' => byte.is_ascii_digit(),
                literal => byte == literal,
            })
    };
    let Some((moment, rest)) = text.split_at_checked(19) else { return false };
    let zone = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
    let (fraction, zone) = rest.split_at(zone);
    let is_fraction = fraction.is_empty()
        || fraction
            .strip_prefix('.')
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()));
    let is_zone = zone == "Z"
        || ((matches(zone, "+00:00") || matches(zone, "-00:00"))
            && zone.get(1..3) < Some("24")
            && zone.get(4..6) < Some("60"));
    matches(moment, "0000-00-00T00:00:00") && moment.get(17..) < Some("60") && is_fraction && is_zone
}

impl Message {
    /// Parses a message.
    pub fn parse(text: &str) -> Result<Self, BadMessage> {
        if text.len() > MAX_MESSAGE_BYTES {
            return Err(BadMessage("too long"));
        }
        let mut lines = Lines(text.split('\n').collect::<Vec<_>>().into_iter().peekable());
        let first = lines.next("invalid first line")?;
        let origin = first.strip_suffix(FIRST_LINE_SUFFIX).ok_or(BadMessage("invalid first line"))?;
        let (scheme, domain) = match origin.split_once("://") {
            Some((scheme, domain)) => (Some(scheme), domain),
            None => (None, origin),
        };
        let address = lines.next("missing address")?;
        let address = Address::parse_checksummed(address, None)
            .map_err(|_| BadMessage("the address lacks a valid EIP-55 checksum"))?;
        lines.empty()?;
        let statement = match lines.next("missing statement")? {
            "" => None,
            statement => {
                lines.empty()?;
                Some(statement)
            }
        };
        let uri = lines.field("URI: ", "missing URI")?;
        if lines.field("Version: ", "missing Version")? != "1" {
            return Err(BadMessage("Version must be 1"));
        }
        let chain_id = lines.field("Chain ID: ", "missing Chain ID")?;
        let nonce = lines.field("Nonce: ", "missing Nonce")?;
        let issued_at = lines.field("Issued At: ", "missing Issued At")?;
        let message = Self {
            scheme: scheme.map(str::to_owned),
            domain: domain.to_owned(),
            address,
            statement: statement.map(str::to_owned),
            uri: uri.to_owned(),
            chain_id: chain_id.parse().map_err(|_| BadMessage("invalid Chain ID"))?,
            nonce: nonce.to_owned(),
            issued_at: Moment::parse(issued_at).ok_or(BadMessage("invalid Issued At"))?,
            expiration_time: lines.moment("Expiration Time: ", "invalid Expiration Time")?,
            not_before: lines.moment("Not Before: ", "invalid Not Before")?,
            request_id: lines.maybe("Request ID: ").map(str::to_owned),
            resources: lines.resources(),
        };
        message.check()?;
        // Nothing is left over, and the message serializes to the same text.
        if lines.0.next().is_some() || message.to_string() != text {
            return Err(BadMessage("unexpected or misplaced text"));
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
        let is_statement_char = |byte: u8| byte == b' ' || (is_uri_byte(byte) && byte != b'%');
        let checks = [
            (is_authority && self.scheme.as_ref().is_none_or(is_scheme), "invalid domain"),
            (
                self.statement.as_ref().is_none_or(|text| text.bytes().all(is_statement_char)),
                "invalid statement",
            ),
            (is_name(&self.uri) && self.uri.contains(':'), "invalid URI"),
            (
                self.nonce.len() >= 8 && self.nonce.bytes().all(|byte| byte.is_ascii_alphanumeric()),
                "invalid Nonce",
            ),
            (self.request_id.as_ref().is_none_or(|id| id.bytes().all(is_uri_byte)), "invalid Request ID"),
            (
                self.resources.iter().flatten().all(|uri| is_name(uri) && uri.contains(':')),
                "invalid Resources",
            ),
        ];
        match checks.into_iter().find(|(is_valid, _)| !is_valid) {
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
        write!(f, "{}{FIRST_LINE_SUFFIX}\n{}\n\n", self.domain, self.address)?;
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

/// Whether a byte may occur in a URI (RFC 3986: reserved, unreserved, and `%`).
fn is_uri_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte)
}

/// Removes characters that a statement must not contain.
pub(crate) fn printable_statement(text: &str) -> String {
    let is_statement_char =
        |letter: &char| letter.is_ascii() && (*letter == ' ' || is_uri_byte(*letter as u8)) && *letter != '%';
    text.chars().filter(is_statement_char).collect()
}

struct Lines<'a>(std::iter::Peekable<std::vec::IntoIter<&'a str>>);

impl<'a> Lines<'a> {
    fn next(&mut self, what: &'static str) -> Result<&'a str, BadMessage> {
        self.0.next().ok_or(BadMessage(what))
    }

    fn empty(&mut self) -> Result<(), BadMessage> {
        if self.0.next() == Some("") { Ok(()) } else { Err(BadMessage("missing empty line")) }
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
