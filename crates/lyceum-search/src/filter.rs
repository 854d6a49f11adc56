//! What may be found: the same conditions for words and for vectors, applied inside each search.

use jiff::Timestamp;

use crate::page::Facts;

/// Conditions. What is not given is not asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Any of these types; who asks has already put children in the place of a parent.
    pub content_types: Vec<String>,
    /// A group.
    pub group: Option<String>,
    /// Any of these tags.
    pub tags: Vec<String>,
    /// A release.
    pub release: Option<String>,
    /// A status.
    pub status: Option<String>,
    /// Not before this day.
    pub since: Option<Timestamp>,
    /// Not after this moment.
    pub until: Option<Timestamp>,
    /// A source.
    pub source: Option<String>,
    /// What the path begins with.
    pub path: Option<String>,
}

impl Filter {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a page may be found.
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
            && self.path.as_ref().is_none_or(|begin| facts.path.starts_with(begin.as_str()))
            && self.since.is_none_or(|since| facts.date.is_some_and(|date| date >= since))
            && self.until.is_none_or(|until| facts.date.is_some_and(|date| date <= until))
    }
}
