//! Which form of a document a client wants, by its `Accept`.

use http::{HeaderMap, header};

/// A form of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentFormat {
    /// As it is kept.
    Json,
    /// Markdown with its origin above.
    Markdown,
    /// The same, for who takes nothing but plain text.
    Plain,
}

impl DocumentFormat {
    /// All of them, the one that is sent where nothing else is asked for first.
    const ALL: [Self; 3] = [Self::Json, Self::Markdown, Self::Plain];

    /// The media type.
    pub(super) const fn kind(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Markdown => "text/markdown; charset=utf-8",
            Self::Plain => "text/plain; charset=utf-8",
        }
    }

    /// What sets its tag apart from those of the other forms; the number counts the ways it was written.
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::Json => "",
            Self::Markdown => "-md1",
            Self::Plain => "-txt1",
        }
    }

    /// How near a range is to this form: by name, by the first half of it, as anything; or not at all.
    fn nearness(self, range: &str) -> Option<u8> {
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

/// The form that is wanted most; what is asked for by its name stands over what is taken as well, and JSON over equals.
pub(super) fn wanted(headers: &HeaderMap) -> DocumentFormat {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges: Vec<(&str, f32)> = values.flat_map(|value| value.split(',')).map(range).collect();
    let mut best = (DocumentFormat::Json, (0.0, 0));
    for form in DocumentFormat::ALL {
        // The nearest range decides, whatever the others say.
        let near = ranges.iter().filter_map(|(range, quality)| Some((form.nearness(range)?, *quality)));
        let Some((nearness, quality)) = near.max_by_key(|(nearness, _)| *nearness) else { continue };
        if quality > 0.0 && (quality, nearness) > best.1 {
            best = (form, (quality, nearness));
        }
    }
    best.0
}

/// A media range and its quality.
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
