//! Web links to files of a repository, for well-known Git hosts.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// Characters to percent-encode in the path of a URL; `/` stays.
const IN_PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// URL templates of well-known hosts for a file at a commit.
const URL_TEMPLATES: [(&str, &str); 5] = [
    ("github.com", "/blob/{commit}/{path}"),
    ("gitlab.com", "/-/blob/{commit}/{path}"),
    ("bitbucket.org", "/src/{commit}/{path}"),
    ("codeberg.org", "/src/commit/{commit}/{path}"),
    ("gitea.com", "/src/commit/{commit}/{path}"),
];

/// URL template of a repository's files, with `{commit}` and `{path}`; `None` if the host is unknown.
pub fn file_links(repository: &str) -> Option<String> {
    let rest = match repository.split_once("://") {
        Some(("https" | "http" | "ssh" | "git", rest)) => rest.to_owned(),
        Some(_) => return None,
        // `git@host:owner/name`
        None => repository.replacen(':', "/", 1),
    };
    let rest = rest.split_once('@').map_or(rest.as_str(), |(_, rest)| rest);
    let (host, path) = rest.split_once('/')?;
    let host = host.split(':').next().unwrap_or(host).to_ascii_lowercase();
    let (_, template) = URL_TEMPLATES.iter().find(|(known, _)| *known == host)?;
    let path = path.trim_matches('/').strip_suffix(".git").unwrap_or(path.trim_matches('/'));
    (path.contains('/')).then(|| format!("https://{host}/{path}{template}"))
}

/// The link to a file by a template of [`file_links`], at a commit or on a branch.
pub fn file_link(template: &str, at: &str, path: &str) -> String {
    template.replace("{commit}", &encode_path(at)).replace("{path}", &encode_path(path))
}

/// Percent-encodes a path for a URL.
pub fn encode_path(path: &str) -> String {
    utf8_percent_encode(path, IN_PATH).to_string()
}

#[cfg(test)]
mod tests;
