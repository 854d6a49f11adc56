//! The parameters of a request: each once, but for `resource`, which may come several times so that it can be refused
//! by its own name.

use std::collections::BTreeMap;

use crate::oauth::{Fault, OauthError};

/// How many parameters are read.
const MAX_PARAMS: usize = 64;

/// The parameters of a request, from a query or a form.
#[derive(Debug, Clone, Default)]
pub struct Params {
    values: BTreeMap<String, String>,
    resources: Vec<String>,
    twice: Option<String>,
}

/// The text is not a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the parameters are not percent-encoded UTF-8, or more than 64")]
pub struct BadParams;

impl Params {
    /// Reads `a=1&b=2`.
    pub fn parse(text: &str) -> Result<Self, BadParams> {
        let mut params = Self::default();
        for (count, (name, value)) in form_urlencoded::parse(text.as_bytes()).enumerate() {
            if count >= MAX_PARAMS || name.contains('\u{fffd}') || value.contains('\u{fffd}') {
                return Err(BadParams);
            }
            if name == "resource" {
                params.resources.push(value.into_owned());
            } else if params.values.insert(name.clone().into_owned(), value.into_owned()).is_some() {
                params.twice.get_or_insert(name.into_owned());
            }
        }
        Ok(params)
    }

    /// A parameter; one without a value counts as not sent.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A parameter that must be there.
    pub fn need(&self, name: &str) -> Result<&str, OauthError> {
        self.get(name).ok_or_else(|| Fault::InvalidRequest.because(format!("{name} is missing")))
    }

    /// Every `resource`.
    pub(crate) fn resources(&self) -> &[String] {
        &self.resources
    }

    /// Refuses a parameter that was sent twice.
    pub(crate) fn each_once(&self) -> Result<(), OauthError> {
        match &self.twice {
            None => Ok(()),
            Some(name) => {
                let name: String = name.chars().filter(char::is_ascii_graphic).take(40).collect();
                Err(Fault::InvalidRequest.because(format!("{name} was sent twice")))
            }
        }
    }
}
