//! A part of the library: the skills, agent profiles or docs of one source, and how their contents are read.

use lyceum_model::{RelPath, SourceName};
use lyceum_source::{
    file_link,
    github::{GitHub, RepoName},
};

/// Which part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartKind {
    /// Skills.
    Skills,
    /// Agent profiles.
    Agents,
    /// Docs.
    Docs,
}

/// Settings of a part.
#[derive(Debug, Clone)]
pub struct PartOptions {
    /// Its source.
    pub source: SourceName,
    /// Its folder in the source; `None` to find it.
    pub path: Option<RelPath>,
    /// How contents are read.
    pub reader: Reader,
    /// Template of links to its files, with `{commit}` and `{path}`; `None` without links.
    pub links: Option<String>,
}

/// How contents are read.
#[derive(Debug, Clone)]
pub enum Reader {
    /// From GitHub, with the token of the caller.
    Caller {
        /// The client; it alone decides where the token is sent.
        github: GitHub,
        /// The repository.
        repo: RepoName,
        /// The branch.
        branch: String,
    },
    /// From the server's own copy of the source: every caller reads the same.
    Server {
        /// The repository or folder, as clients see it.
        repo: String,
        /// The branch, if it is a repository.
        branch: Option<String>,
    },
}

impl PartKind {
    /// All parts.
    pub const ALL: [Self; 3] = [Self::Skills, Self::Agents, Self::Docs];

    /// Its key in `[library]`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Skills => "skills",
            Self::Agents => "agents",
            Self::Docs => "docs",
        }
    }

    /// The file that its index is written to.
    pub fn file_name(self) -> String {
        format!("{}-index.json", self.as_str())
    }
}

impl PartOptions {
    /// The link to a file, at a commit or on a branch.
    pub(crate) fn link(&self, at: &str, path: &RelPath) -> Option<String> {
        self.links.as_ref().map(|template| file_link(template, at, path.as_str()))
    }
}

impl Reader {
    /// The repository, for error details.
    pub(crate) fn repo(&self) -> &str {
        match self {
            Self::Caller { repo, .. } => repo.as_str(),
            Self::Server { repo, .. } => repo,
        }
    }

    /// The branch, for error details.
    pub(crate) fn branch(&self) -> Option<&str> {
        match self {
            Self::Caller { branch, .. } => Some(branch),
            Self::Server { branch, .. } => branch.as_deref(),
        }
    }
}
