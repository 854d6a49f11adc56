//! The MCP clients: where each keeps its servers, and what an entry looks like there.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;
use serde_json::{Value, json};

use super::{
    edit::{Edit, Entry, Format, Slot},
    server::{Key, Server},
};
use crate::config::ClientFolders;

/// An MCP client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Client {
    /// Claude Code
    Claude,
    /// Claude Desktop
    ClaudeDesktop,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// opencode
    Opencode,
    /// Zed
    Zed,
    /// Windsurf
    Windsurf,
}

impl Client {
    /// Its name on the command line.
    pub(super) fn id(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Its name.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::Vscode => "VS Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "opencode",
            Self::Zed => "Zed",
            Self::Windsurf => "Windsurf",
        }
    }

    /// The format of its file.
    pub(super) fn format(self) -> Format {
        match self {
            Self::Codex => Format::Toml,
            _ => Format::Jsonc,
        }
    }

    /// What a new file holds besides the server.
    pub(super) fn new_file(self) -> &'static str {
        match self {
            // opencode would add it itself.
            Self::Opencode => "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n",
            _ => "",
        }
    }

    /// The file of the user.
    pub(super) fn user_file(self, folders: &ClientFolders) -> PathBuf {
        let ClientFolders { home, applications, xdg, .. } = folders;
        match self {
            Self::Claude => folders.claude.as_ref().unwrap_or(home).join(".claude.json"),
            Self::ClaudeDesktop => applications.join("Claude/claude_desktop_config.json"),
            Self::Cursor => home.join(".cursor/mcp.json"),
            Self::Vscode => applications.join("Code/User/mcp.json"),
            Self::Codex => folders.codex.clone().unwrap_or_else(|| home.join(".codex")).join("config.toml"),
            Self::Gemini => folders.gemini.as_ref().unwrap_or(home).join(".gemini/settings.json"),
            Self::Opencode => match &folders.opencode {
                Some(file) => file.clone(),
                None => json_or_jsonc(&xdg.join("opencode")),
            },
            Self::Zed if cfg!(windows) => applications.join("Zed/settings.json"),
            Self::Zed if cfg!(target_os = "macos") => home.join(".config/zed/settings.json"),
            Self::Zed => xdg.join("zed/settings.json"),
            Self::Windsurf => home.join(".codeium/windsurf/mcp_config.json"),
        }
    }

    /// The file of a project, if it has one.
    pub(super) fn project_file(self, project: &Path) -> Option<PathBuf> {
        let file = match self {
            Self::Claude => ".mcp.json",
            Self::Cursor => ".cursor/mcp.json",
            Self::Vscode => ".vscode/mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Gemini => ".gemini/settings.json",
            Self::Opencode => return Some(json_or_jsonc(project)),
            Self::Zed => ".zed/settings.json",
            Self::ClaudeDesktop | Self::Windsurf => return None,
        };
        Some(project.join(file))
    }

    /// Where in the file its servers are.
    fn servers(self) -> &'static [&'static str] {
        match self {
            Self::Claude | Self::ClaudeDesktop | Self::Cursor | Self::Gemini | Self::Windsurf => {
                &["mcpServers"]
            }
            Self::Vscode => &["servers"],
            Self::Codex => &["mcp_servers"],
            Self::Opencode => &["mcp"],
            Self::Zed => &["context_servers"],
        }
    }

    /// Where the entry of a server is.
    pub(super) fn slot(self, name: &str) -> Slot {
        Slot::Member { path: self.servers(), name: name.to_owned() }
    }

    /// Everywhere that this client has something about a server: its entry, and in VS Code the question for its key.
    pub(super) fn slots(self, name: &str) -> Vec<Slot> {
        let input = (self == Self::Vscode).then(|| Slot::Element { array: "inputs", id: input_id(name) });
        input.into_iter().chain([self.slot(name)]).collect()
    }

    /// What is to be written for this server.
    pub(super) fn edits(self, name: &str, server: &Server) -> anyhow::Result<Vec<Edit>> {
        let mut edits = Vec::new();
        if let (Self::Vscode, Server::Http { key: Some(Key::Variable(variable)), .. }) = (self, server) {
            let id = input_id(name);
            let description = format!("API key of {name}, such as the value of {variable}");
            edits.push(Edit {
                entry: vec![
                    ("type", json!("promptString")),
                    ("id", json!(id)),
                    ("description", json!(description)),
                    ("password", json!(true)),
                ],
                slot: Slot::Element { array: "inputs", id },
            });
        }
        edits.push(Edit { slot: self.slot(name), entry: self.entry(name, server)? });
        Ok(edits)
    }

    fn entry(self, name: &str, server: &Server) -> anyhow::Result<Entry> {
        Ok(match server {
            Server::Stdio { command, args } => self.stdio(command, args),
            Server::Http { url, key } if self == Self::ClaudeDesktop => bridge(url, key.as_ref())?,
            Server::Http { url, key: None } => self.http(url),
            Server::Http { url, key: Some(Key::Variable(variable)) } if self == Self::Codex => {
                vec![("url", json!(url)), ("bearer_token_env_var", json!(variable))]
            }
            Server::Http { url, key: Some(key) } => {
                let authorization = format!("Bearer {}", self.key(name, key)?);
                let headers = json!({ "Authorization": authorization });
                let header_key = if self == Self::Codex { "http_headers" } else { "headers" };
                let mut entry = self.http(url);
                entry.push((header_key, headers));
                if self == Self::Opencode {
                    // Otherwise it starts a sign-in where the server refuses the key.
                    entry.push(("oauth", json!(false)));
                }
                entry
            }
        })
    }

    fn http(self, url: &str) -> Entry {
        match self {
            Self::Claude | Self::Vscode => vec![("type", json!("http")), ("url", json!(url))],
            Self::Opencode => vec![("type", json!("remote")), ("url", json!(url))],
            Self::Gemini => vec![("httpUrl", json!(url))],
            Self::Windsurf => vec![("serverUrl", json!(url))],
            Self::Cursor | Self::Codex | Self::Zed | Self::ClaudeDesktop => vec![("url", json!(url))],
        }
    }

    fn stdio(self, command: &str, args: &[String]) -> Entry {
        let plain = [("command", json!(command)), ("args", json!(args))];
        match self {
            Self::Claude | Self::Cursor | Self::Vscode => {
                [("type", json!("stdio"))].into_iter().chain(plain).collect()
            }
            Self::Opencode => {
                let words: Vec<&str> = [command].into_iter().chain(args.iter().map(String::as_str)).collect();
                vec![("type", json!("local")), ("command", json!(words))]
            }
            Self::ClaudeDesktop | Self::Codex | Self::Gemini | Self::Zed | Self::Windsurf => plain.into(),
        }
    }

    /// The key, as this client refers to a variable, or the key itself.
    fn key(self, name: &str, key: &Key) -> anyhow::Result<String> {
        let variable = match key {
            Key::Value(secret) => return Ok(secret.reveal().to_owned()),
            Key::Variable(variable) => variable,
        };
        Ok(match self {
            Self::Claude | Self::Gemini => format!("${{{variable}}}"),
            Self::Cursor | Self::Windsurf => format!("${{env:{variable}}}"),
            Self::Opencode => format!("{{env:{variable}}}"),
            Self::Vscode => format!("${{input:{}}}", input_id(name)),
            Self::Codex | Self::Zed | Self::ClaudeDesktop => bail!(
                "{} reads no variables in headers; sign in without --key-env, or write the key itself into its file with --write-key",
                self.title()
            ),
        })
    }

    /// How to see that it is connected, and how to sign in.
    pub(super) fn next_step(self, name: &str) -> String {
        match self {
            Self::Claude => "claude mcp list; to sign in: /mcp in Claude Code".to_owned(),
            Self::ClaudeDesktop => "restart Claude Desktop; Settings, Developer lists its servers".to_owned(),
            Self::Cursor => "Cursor Settings, Tools & MCP; it asks you to sign in where needed".to_owned(),
            Self::Vscode => {
                "MCP: List Servers in the command palette; it asks you to sign in where needed".to_owned()
            }
            Self::Codex => format!("codex mcp list; to sign in: codex mcp login {name}"),
            Self::Gemini => format!("gemini mcp list; to sign in: /mcp auth {name} in Gemini CLI"),
            Self::Opencode => format!("opencode mcp list; to sign in: opencode mcp auth {name}"),
            Self::Zed => "Settings, AI, MCP Servers in Zed; it asks you to sign in where needed".to_owned(),
            Self::Windsurf => {
                "the MCP list of Cascade, then refresh; it asks you to sign in where needed".to_owned()
            }
        }
    }
}

/// The id of the question that VS Code asks for a key.
fn input_id(name: &str) -> String {
    format!("{name}-key")
}

/// Claude Desktop starts programs only, so a server over HTTP comes through `mcp-remote`, which needs Node.
fn bridge(url: &str, key: Option<&Key>) -> anyhow::Result<Entry> {
    let mut args = vec!["-y", "mcp-remote", url];
    if url.starts_with("http:") {
        args.push("--allow-http");
    }
    let mut env = Value::Null;
    match key {
        None => {}
        Some(Key::Value(secret)) => {
            // A space in an argument would be lost on Windows, so the whole value is in the variable.
            args.extend(["--header", "Authorization:${LYCEUM_AUTHORIZATION}"]);
            env = json!({ "LYCEUM_AUTHORIZATION": format!("Bearer {}", secret.reveal()) });
        }
        Some(Key::Variable(_)) => bail!(
            "Claude Desktop passes no variables on; sign in without --key-env, or write the key itself into its file with --write-key"
        ),
    }
    let mut entry = vec![("command", json!("npx")), ("args", json!(args))];
    if !env.is_null() {
        entry.push(("env", env));
    }
    Ok(entry)
}

/// `opencode.jsonc` where there is one, else `opencode.json`.
fn json_or_jsonc(folder: &Path) -> PathBuf {
    let commented = folder.join("opencode.jsonc");
    if commented.is_file() { commented } else { folder.join("opencode.json") }
}

#[cfg(test)]
mod tests;
