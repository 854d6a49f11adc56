//! Skills: markdown instructions for agents, with their assets and scripts.
//!
//! Two forms are supported: documents with keywords that inherit from their folders (`ui/react/auth.md`), and Agent
//! Skills (`pdf/SKILL.md`). Everything here is a pure function of the files: no I/O, no clock.

mod declared;
mod discovery;
mod draft;
mod files;
mod glob;
mod index;
mod inheritance;
mod lineage;
mod matching;
mod settings;
mod standard;
mod tokens;
mod tree;

pub use declared::{Arg, Asset, Execution, Script};
pub use discovery::{Candidate, Shape, candidates};
pub use draft::{Draft, Finding, Severity, read};
pub use files::{DeclaredFile, Inherited, ResourceKind, is_binary, mime_type};
pub use glob::Glob;
pub use index::{Skill, SkillIndex};
pub use matching::{Hit, Match, Query};
pub use settings::{
    AnalyticsOverlay, AnalyticsSettings, AssetOverlay, AssetSettings, MatchOverlay, MatchSettings,
    NetworkChoice, Overlay, RefreshOverlay, RefreshSettings, SandboxChoice, ScriptOverlay, ScriptSettings,
    Settings, Workspace, WorkspaceAccess,
};
pub use standard::{MAX_SKILL_BYTES, MAX_SKILL_FILES, Standard};
pub use tree::SkillNode;

#[cfg(test)]
mod tests;
