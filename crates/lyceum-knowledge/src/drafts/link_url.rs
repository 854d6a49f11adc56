//! The URL of a link, so that one page is saved once.

use reqwest::Url;

/// Maximum length of a URL.
const MAX_BYTES: usize = 2000;

/// Query parameters that say where a visitor came from, not which page it is.
const TRACKING: [&str; 9] =
    ["fbclid", "gclid", "dclid", "msclkid", "igshid", "mc_cid", "mc_eid", "ref_src", "yclid"];

/// A URL of a page, without fragment and tracking parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LinkUrl(Url);

impl LinkUrl {
    /// Parses a URL; the error says what is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.len() > MAX_BYTES {
            return Err("is longer than 2000 bytes");
        }
        let mut url = Url::parse(text.trim()).map_err(|_| "is not a URL")?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err("is not the URL of a web page; it must begin with https:// or http://");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("contains a user name or a password; remove it");
        }
        url.set_fragment(None);
        let is_tracking = |name: &str| name.starts_with("utm_") || TRACKING.contains(&name);
        // Pairs are copied as written: encoding them again could change them.
        let kept: Vec<&str> = url
            .query()
            .unwrap_or_default()
            .split('&')
            .filter(|pair| !pair.is_empty() && !is_tracking(pair.split('=').next().unwrap_or_default()))
            .collect();
        let query = kept.join("&");
        url.set_query(Some(query.as_str()).filter(|query| !query.is_empty()));
        Ok(Self(url))
    }

    /// The URL.
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Equal for URLs of the same page: neither the scheme nor a trailing slash tells pages apart.
    pub(crate) fn key(&self) -> String {
        let url = self.as_str();
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        format!("{}?{query}", path.trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(LinkUrl::parse(text).unwrap().as_str(), expected);
    }

    #[test]
    fn a_url_loses_what_does_not_name_the_page() {
        check("HTTPS://Example.ORG:443/a/../B?utm_source=x&q=1&fbclid=2#top", "https://example.org/B?q=1");
        check(" https://example.org?utm_campaign=x ", "https://example.org/");
        check("https://example.org/?b=2&a=%2F", "https://example.org/?b=2&a=%2F");
    }

    #[test]
    fn one_page_has_one_key() {
        let key = |text| LinkUrl::parse(text).unwrap().key();
        assert_eq!(key("http://example.org/a/"), key("https://example.org/a#b"));
        assert_ne!(key("https://example.org/a?x=1"), key("https://example.org/a?x=2"));
        assert_ne!(key("https://example.org/a"), key("https://example.org/A"));
    }

    #[test]
    fn only_web_pages_without_credentials_are_links() {
        let long = format!("https://example.org/{}", "a".repeat(2000));
        for bad in [
            "",
            "example.org",
            "javascript:alert(1)",
            "ftp://a.b/c",
            "https://user:pw@a.b/",
            "https://",
            &long,
        ] {
            assert!(LinkUrl::parse(bad).is_err(), "{bad:?}");
        }
    }
}
