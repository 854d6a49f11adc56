//! Filters, applied inside lexical and vector search alike (pre-filtering).

use jiff::Timestamp;
use lyceum_content::language;

use crate::page::Facts;

/// Filters of a query; an unset field admits everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Any of these types; the caller has expanded parent types to their subtypes.
    pub content_types: Vec<String>,
    /// A group.
    pub group: Option<String>,
    /// Any of these tags.
    pub tags: Vec<String>,
    /// A release.
    pub release: Option<String>,
    /// A status.
    pub status: Option<String>,
    /// Earliest date.
    pub since: Option<Timestamp>,
    /// Latest date.
    pub until: Option<Timestamp>,
    /// A source.
    pub source: Option<String>,
    /// Path prefix.
    pub path: Option<String>,
    /// A language, including its regional variants.
    pub language: Option<String>,
}

impl Filter {
    /// Whether no filter is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a page passes the filter.
    pub fn admits(&self, source: &str, facts: &Facts) -> bool {
        let same = |wanted: &Option<String>, is: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| is == Some(wanted))
        };
        let any = |wanted: &[String], is: &mut dyn FnMut(&String) -> bool| {
            wanted.is_empty() || wanted.iter().any(is)
        };
        any(&self.content_types, &mut |wanted| *wanted == facts.content_type)
            && same(&self.group, facts.group.as_deref())
            && same(&self.release, facts.release.as_deref())
            && same(&self.status, facts.status.as_deref())
            && same(&self.source, Some(source))
            && any(&self.tags, &mut |wanted| facts.tags.contains(wanted))
            && self.path.as_ref().is_none_or(|prefix| facts.path.starts_with(prefix.as_str()))
            && self
                .language
                .as_ref()
                .is_none_or(|wanted| facts.language.as_ref().is_some_and(|is| language::matches(wanted, is)))
            && self.since.is_none_or(|since| facts.date.is_some_and(|date| date >= since))
            && self.until.is_none_or(|until| facts.date.is_some_and(|date| date <= until))
    }
}
