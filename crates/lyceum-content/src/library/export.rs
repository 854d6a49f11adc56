//! Agent profiles in the forms that coding assistants read.

use serde::Serialize;

use super::AgentEntry;

/// Claude Code's short names of models.
const CLAUDE_ALIASES: [&str; 4] = ["opus", "sonnet", "haiku", "inherit"];

/// A form of agent profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentFormat {
    /// Claude Code: `.claude/agents/NAME.md`.
    Claude,
    /// GitHub Copilot: `.github/agents/NAME.agent.md`.
    Copilot,
    /// Codex: `.codex/agents/NAME.toml`.
    Codex,
}

/// Codex's form.
#[derive(Serialize)]
struct CodexAgent<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    developer_instructions: &'a str,
}

impl AgentFormat {
    /// The folder that the assistant reads in a project.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Claude => ".claude/agents",
            Self::Copilot => ".github/agents",
            Self::Codex => ".codex/agents",
        }
    }

    /// The file of an agent.
    pub fn file_name(self, id: &str) -> String {
        match self {
            Self::Claude => format!("{id}.md"),
            Self::Copilot => format!("{id}.agent.md"),
            Self::Codex => format!("{id}.toml"),
        }
    }

    /// The profile in this form. `id` is its name there, `body` its instructions. A model is only named to the assistant
    /// whose it is.
    pub fn write(self, id: &str, entry: &AgentEntry, body: &str) -> String {
        let description = entry.description.as_deref().unwrap_or(&entry.name);
        let model = entry.model.as_deref();
        let is_claude = |model: &&str| CLAUDE_ALIASES.contains(model) || model.starts_with("claude");
        let tools = entry.allowed_tools.as_ref();
        match self {
            Self::Claude => markdown(
                &[
                    ("name", Some(quoted(id))),
                    ("description", Some(quoted(description))),
                    ("tools", tools.map(|tools| quoted(&tools.join(", ")))),
                    ("model", model.filter(is_claude).map(quoted)),
                ],
                body,
            ),
            Self::Copilot => markdown(
                &[
                    ("name", Some(quoted(id))),
                    ("description", Some(quoted(description))),
                    ("tools", tools.map(|tools| serde_json::json!(tools).to_string())),
                    ("model", model.filter(|model| !CLAUDE_ALIASES.contains(model)).map(quoted)),
                ],
                body,
            ),
            Self::Codex => {
                let model = model.filter(|model| model.starts_with("gpt-") || model.starts_with("codex"));
                let agent = CodexAgent { name: id, description, model, developer_instructions: body.trim() };
                // A struct of strings can always be written.
                toml::to_string(&agent).unwrap_or_default()
            }
        }
    }
}

/// A name for a file, and for assistants that allow letters, digits and hyphens only.
pub fn agent_id(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let id = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    if id.is_empty() { "agent".to_owned() } else { id }
}

fn markdown(fields: &[(&str, Option<String>)], body: &str) -> String {
    let fields = fields.iter().filter_map(|(key, value)| Some(format!("{key}: {}\n", value.as_ref()?)));
    format!("---\n{}---\n\n{}\n", fields.collect::<String>(), body.trim())
}

/// A text as YAML: JSON is part of it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
