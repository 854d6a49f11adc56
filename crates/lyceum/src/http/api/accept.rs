//! Content negotiation: the format of a document by the `Accept` header.

use http::{HeaderMap, header};

/// A format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentFormat {
    /// JSON, as stored.
    Json,
    /// Markdown, with provenance as frontmatter.
    Markdown,
    /// The same markdown as `text/plain`, for clients that accept only that.
    Plain,
}

impl DocumentFormat {
    /// All formats; the first is the default.
    const ALL: [Self; 3] = [Self::Json, Self::Markdown, Self::Plain];

    /// The media type.
    pub(super) const fn kind(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Markdown => "text/markdown; charset=utf-8",
            Self::Plain => "text/plain; charset=utf-8",
        }
    }

    /// Suffix that distinguishes the ETags of the formats. The number is the version of the format.
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::Json => "",
            Self::Markdown => "-md1",
            Self::Plain => "-txt1",
        }
    }

    /// How specific a media range is for this format: exact match, subtype wildcard, `*/*`; `None` if it does not
    /// match.
    fn specificity(self, range: &str) -> Option<u8> {
        let (kind, _) = self.kind().split_once(';').unwrap_or((self.kind(), ""));
        let family = kind.split_once('/').map_or(kind, |(family, _)| family);
        let of_family = range.strip_suffix("/*").is_some_and(|name| name.eq_ignore_ascii_case(family));
        match range {
            _ if range.eq_ignore_ascii_case(kind) => Some(2),
            _ if of_family => Some(1),
            "*/*" => Some(0),
            _ => None,
        }
    }
}

/// Negotiates the format: highest quality first, then the most specific range, then JSON.
pub(super) fn negotiate(headers: &HeaderMap) -> DocumentFormat {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges: Vec<(&str, f32)> = values.flat_map(|value| value.split(',')).map(range).collect();
    let mut best = (DocumentFormat::Json, (0.0, 0));
    for format in DocumentFormat::ALL {
        // The most specific range decides, whatever its quality.
        let near = ranges.iter().filter_map(|(range, quality)| Some((format.specificity(range)?, *quality)));
        let Some((specificity, quality)) = near.max_by_key(|(specificity, _)| *specificity) else { continue };
        if quality > 0.0 && (quality, specificity) > best.1 {
            best = (format, (quality, specificity));
        }
    }
    best.0
}

/// Parses a media range and its quality.
fn range(text: &str) -> (&str, f32) {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let quality = parts.find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.trim().eq_ignore_ascii_case("q").then(|| value.trim().parse::<f32>().unwrap_or(1.0))
    });
    (name, quality.unwrap_or(1.0).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests;
