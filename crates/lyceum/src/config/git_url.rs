//! URLs of Git repositories.

/// The schemes that Git fetches from.
const SCHEMES: [&str; 7] = ["https", "http", "ssh", "git", "file", "git+ssh", "ssh+git"];

/// Whether Git certainly can't fetch from there: an unknown scheme, no host, or a slash too few. `host:path` and local paths are fine.
pub(crate) fn is_mistyped(url: &str) -> bool {
    let url = url.trim();
    let Some((scheme, rest)) = url.split_once(':') else { return url.is_empty() };
    match rest.strip_prefix("//") {
        Some(place) => place.is_empty() || !SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme)),
        // An absolute path on a host, unless the host looks like a scheme.
        None => rest.is_empty() || (rest.starts_with('/') && is_near_scheme(scheme)),
    }
}

/// Whether a text is a scheme, or nearly so.
fn is_near_scheme(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    !text.contains(['@', '.']) && SCHEMES.iter().any(|known| strsim::jaro(&text, known) > 0.85)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_that_git_can_not_fetch_from_are_known() {
        for (url, expected) in [
            ("https://github.com/team/kb.git", false),
            ("HTTPS://example.org/kb", false),
            ("git@github.com:team/kb.git", false),
            ("git@example.org:/srv/kb.git", false),
            ("build-host:/srv/kb.git", false),
            ("../kb", false),
            ("htps://github.com/team/kb", true),
            ("htps:/github.com/team/kb", true),
            ("https:/github.com/team/kb", true),
            ("hhttps:/github.com/team/kb", true),
            ("https://", true),
            ("https:", true),
            ("", true),
        ] {
            assert_eq!(is_mistyped(url), expected, "{url}");
        }
    }
}
