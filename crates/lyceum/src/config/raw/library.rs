//! The table `[library]`.

use schemars::JsonSchema;
use serde::Deserialize;

/// The table `[library]`: skills, agent profiles and docs, read live from GitHub.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the checker reads the document instead, so that it can report all errors")]
pub(crate) struct Library {
    /// Where the skills are. Default: none; then there are no tools for skills.
    #[serde(default)]
    #[schemars(with = "LibraryPart")]
    pub skills: Option<LibraryPart>,
    /// Where the agent profiles are. Default: none; then there are no tools for agents.
    #[serde(default)]
    #[schemars(with = "LibraryPart")]
    pub agents: Option<LibraryPart>,
    /// Where the docs are. Default: none; then there are no tools for docs.
    #[serde(default)]
    #[schemars(with = "LibraryPart")]
    pub docs: Option<LibraryPart>,
    /// Whose access decides what is read. Default: "caller".
    #[serde(default)]
    #[schemars(with = "LibraryRead", example = &"caller")]
    pub read: Option<LibraryRead>,
    /// Prefix of the tool names of this service, which keeps them unique. Default: none for `[library]`; the name and
    /// `_` for a named table such as `[library.team]`.
    #[schemars(example = &"library_")]
    pub prefix: Option<String>,
}

/// Where a part of a library is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the checker reads the document instead, so that it can report all errors")]
pub(crate) struct LibraryPart {
    /// Name of the `[[source]]`.
    #[schemars(example = &"team-skills")]
    pub source: String,
    /// Folder in the source. Default: where skills, agent profiles or docs usually are, such as `skills`,
    /// `.claude/agents` or `docs`.
    #[schemars(example = &"skills")]
    pub path: Option<String>,
}

/// Whose access decides what is read from a library.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LibraryRead {
    /// The caller's: contents are read from GitHub with the token of each caller. Needs `auth.mode` "github-pat".
    #[default]
    Caller,
    /// The server's: contents are read from its own copy of the sources, the same for every caller. Works with folders
    /// and any Git host.
    Server,
}
