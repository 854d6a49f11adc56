//! Glob patterns over `/`-separated paths.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

/// A glob: `*` and `?` match within a path segment, `**` matches any number of segments.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Glob(String);

impl Glob {
    /// A glob of this pattern.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// Whether the whole path matches.
    pub fn matches(&self, path: &str) -> bool {
        let pattern: Vec<&str> = self.0.trim_start_matches("./").split('/').collect();
        let path: Vec<&str> = path.split('/').collect();
        segments_match(&pattern, &path)
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

fn segments_match(pattern: &[&str], path: &[&str]) -> bool {
    wildcard(pattern, path, |one| *one == "**", |one, name| segment_matches(one, name))
}

fn segment_matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    wildcard(&pattern, &name, |one| *one == '*', |one, c| *one == '?' || one == c)
}

/// Matches a sequence against a pattern in which some items stand for any number of items. Backtracks to the last such
/// item only, so the time is at most pattern × sequence.
fn wildcard<P, T>(
    mut pattern: &[P],
    mut sequence: &[T],
    is_any: impl Fn(&P) -> bool,
    is_equal: impl Fn(&P, &T) -> bool,
) -> bool {
    let mut last: Option<(&[P], &[T])> = None;
    loop {
        match (pattern.split_first(), sequence.split_first()) {
            (Some((any, after)), _) if is_any(any) => {
                last = Some((after, sequence));
                pattern = after;
            }
            (Some((one, after)), Some((item, rest))) if is_equal(one, item) => {
                (pattern, sequence) = (after, rest);
            }
            (None, None) => return true,
            _ => {
                // Let the last wildcard take one more item.
                let Some((after, from)) = last else { return false };
                let Some((_, rest)) = from.split_first() else { return false };
                last = Some((after, rest));
                (pattern, sequence) = (after, rest);
            }
        }
    }
}

#[cfg(test)]
mod tests;
