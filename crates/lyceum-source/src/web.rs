//! Where the web shows a file of a repository, for the servers that are known.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// What can't stand in the path of an address as it is; `/` can.
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

/// How well-known servers show a file at a commit.
const SHAPES: [(&str, &str); 5] = [
    ("github.com", "/blob/{commit}/{path}"),
    ("gitlab.com", "/-/blob/{commit}/{path}"),
    ("bitbucket.org", "/src/{commit}/{path}"),
    ("codeberg.org", "/src/commit/{commit}/{path}"),
    ("gitea.com", "/src/commit/{commit}/{path}"),
];

/// The address of a file as a text with `{commit}` and `{path}` in it, if the server of the repository is known.
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
    let (_, shape) = SHAPES.iter().find(|(known, _)| *known == host)?;
    let path = path.trim_matches('/').strip_suffix(".git").unwrap_or(path.trim_matches('/'));
    (path.contains('/')).then(|| format!("https://{host}/{path}{shape}"))
}

/// A path as it stands in an address.
pub fn in_address(path: &str) -> String {
    utf8_percent_encode(path, IN_PATH).to_string()
}

#[cfg(test)]
mod tests;
