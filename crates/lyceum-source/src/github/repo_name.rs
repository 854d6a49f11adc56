//! The name of a repository at GitHub: `acme/handbook`.

use std::fmt;

use reqwest::Url;

/// Owner and name of a repository, such as `acme/handbook`.
///
/// Invariant: two segments of letters, digits, `-`, `_` and `.`, so that it needs no encoding in a URL.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RepoName(String);

impl RepoName {
    /// Parses `owner/name`.
    pub fn parse(text: &str) -> Option<Self> {
        let is_part = |part: &str| {
            (1..=100).contains(&part.len())
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
                && !part.bytes().all(|byte| byte == b'.')
        };
        let (owner, name) = text.split_once('/')?;
        (is_part(owner) && is_part(name)).then(|| Self(text.to_owned()))
    }

    /// The repository that a clone URL names, if it is on that GitHub server (`https://github.com`).
    pub fn of_url(url: &str, server: &Url) -> Option<Self> {
        let url = url.trim();
        let (rest, has_port_of_ssh) = match url.split_once("://") {
            Some(("https" | "http", rest)) => (rest.to_owned(), false),
            Some(("ssh" | "git+ssh" | "ssh+git" | "git", rest)) => (rest.to_owned(), true),
            Some(_) => return None,
            // `git@host:owner/name`
            None => (url.replacen(':', "/", 1), true),
        };
        let rest = rest
            .split_once('@')
            .filter(|(user, _)| !user.contains('/'))
            .map_or(rest.as_str(), |(_, rest)| rest);
        let (host, path) = rest.split_once('/')?;
        let known = server.host_str()?;
        let is_here = match host.rsplit_once(':') {
            Some((host, _)) if has_port_of_ssh => host.eq_ignore_ascii_case(known),
            Some((host, port)) => {
                host.eq_ignore_ascii_case(known) && port.parse().ok() == server.port_or_known_default()
            }
            None => host.eq_ignore_ascii_case(known) && (has_port_of_ssh || server.port().is_none()),
        };
        let path = path.trim_matches('/');
        Self::parse(path.strip_suffix(".git").unwrap_or(path)).filter(|_| is_here)
    }

    /// Owner and name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RepoName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, server: &str, expected: Option<&str>) {
        let name = RepoName::of_url(url, &Url::parse(server).unwrap());
        assert_eq!(name.as_ref().map(RepoName::as_str), expected, "{url}");
    }

    #[test]
    fn a_repository_is_named_by_its_clone_url_on_that_server_only() {
        let github = "https://github.com";
        check("https://github.com/acme/kb.git", github, Some("acme/kb"));
        check("https://GitHub.com/acme/kb/", github, Some("acme/kb"));
        check("https://user:secret@github.com/acme/kb", github, Some("acme/kb"));
        check("git@github.com:acme/kb.git", github, Some("acme/kb"));
        check("ssh://git@github.com:22/acme/kb.git", github, Some("acme/kb"));
        check("https://gitlab.com/acme/kb.git", github, None);
        check("https://github.com.example.org/acme/kb", github, None);
        check("https://github.com:8443/acme/kb", github, None);
        check("https://github.com/acme", github, None);
        check("https://github.com/acme/kb/tree/main", github, None);
        check("https://github.com/acme/..", github, None);
        check("file:///srv/acme/kb", github, None);
        check("/srv/github.com/acme/kb", github, None);
        check("http://127.0.0.1:8080/acme/kb.git", "http://127.0.0.1:8080", Some("acme/kb"));
        check("http://127.0.0.1:8081/acme/kb.git", "http://127.0.0.1:8080", None);
    }
}
