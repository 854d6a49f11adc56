//! Request parameters: each at most once. `resource` may be repeated, so that it is rejected with its own error
//! code.

use std::collections::BTreeMap;

use crate::oauth::{Fault, OauthError};

/// Maximum number of parameters.
const MAX_PARAMS: usize = 64;

/// Parameters of a request, from a query or a form.
#[derive(Debug, Clone, Default)]
pub struct Params {
    values: BTreeMap<String, String>,
    resources: Vec<String>,
    repeated: Option<String>,
}

/// The text is not a valid form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the parameters must be percent-encoded UTF-8, at most 64")]
pub struct BadParams;

impl Params {
    /// Parses `a=1&b=2`.
    pub fn parse(text: &str) -> Result<Self, BadParams> {
        let mut params = Self::default();
        for (count, (name, value)) in form_urlencoded::parse(text.as_bytes()).enumerate() {
            if count >= MAX_PARAMS || name.contains('\u{fffd}') || value.contains('\u{fffd}') {
                return Err(BadParams);
            }
            if name == "resource" {
                params.resources.push(value.into_owned());
            } else if params.values.insert(name.clone().into_owned(), value.into_owned()).is_some() {
                params.repeated.get_or_insert(name.into_owned());
            }
        }
        Ok(params)
    }

    /// Returns a parameter; an empty one counts as omitted.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns a required parameter.
    pub fn need(&self, name: &str) -> Result<&str, OauthError> {
        self.get(name).ok_or_else(|| Fault::InvalidRequest.because(format!("{name} is missing")))
    }

    /// All `resource` parameters.
    pub(crate) fn resources(&self) -> &[String] {
        &self.resources
    }

    /// Rejects repeated parameters.
    pub(crate) fn reject_repeated(&self) -> Result<(), OauthError> {
        match &self.repeated {
            None => Ok(()),
            Some(name) => {
                let name: String = name.chars().filter(char::is_ascii_graphic).take(40).collect();
                Err(Fault::InvalidRequest.because(format!("{name} was sent twice")))
            }
        }
    }
}
