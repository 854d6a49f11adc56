//! What is written for each client, and where.

use std::path::Path;

use clap::ValueEnum;
use lyceum_net::Secret;

use super::{Client, ClientFolders, Key, Server};

fn http(key: Option<Key>) -> Server {
    Server::Http { url: "https://mcp.example.org/mcp".to_owned(), key }
}

/// What is written for each client into an empty file, or why not.
fn written(server: &Server) -> String {
    let text = |client: &Client| match client.edits("lyceum", server) {
        Ok(edits) => {
            let text = client.format().apply("", &edits).unwrap();
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        }
        Err(error) => error.to_string(),
    };
    let line = |client: &Client| format!("{}: {}\n", client.id(), text(client));
    Client::value_variants().iter().map(line).collect()
}

#[test]
fn every_client_signs_in_over_http() {
    insta::assert_snapshot!(written(&http(None)), @r#"
    claude: { "mcpServers": { "lyceum": { "type": "http", "url": "https://mcp.example.org/mcp" } } }
    claude-desktop: { "mcpServers": { "lyceum": { "command": "npx", "args": ["-y", "mcp-remote", "https://mcp.example.org/mcp"] } } }
    cursor: { "mcpServers": { "lyceum": { "url": "https://mcp.example.org/mcp" } } }
    vscode: { "servers": { "lyceum": { "type": "http", "url": "https://mcp.example.org/mcp" } } }
    codex: [mcp_servers.lyceum] url = "https://mcp.example.org/mcp"
    gemini: { "mcpServers": { "lyceum": { "httpUrl": "https://mcp.example.org/mcp" } } }
    opencode: { "mcp": { "lyceum": { "type": "remote", "url": "https://mcp.example.org/mcp" } } }
    zed: { "context_servers": { "lyceum": { "url": "https://mcp.example.org/mcp" } } }
    windsurf: { "mcpServers": { "lyceum": { "serverUrl": "https://mcp.example.org/mcp" } } }
    "#);
}

#[test]
fn a_key_is_a_reference_where_the_client_has_them() {
    insta::assert_snapshot!(written(&http(Some(Key::Variable("LYCEUM_KEY".to_owned())))), @r#"
    claude: { "mcpServers": { "lyceum": { "type": "http", "url": "https://mcp.example.org/mcp", "headers": { "Authorization": "Bearer ${LYCEUM_KEY}" } } } }
    claude-desktop: Claude Desktop passes no variables on; sign in without --key-env, or write the key itself into its file with --write-key
    cursor: { "mcpServers": { "lyceum": { "url": "https://mcp.example.org/mcp", "headers": { "Authorization": "Bearer ${env:LYCEUM_KEY}" } } } }
    vscode: { "inputs": [ { "type": "promptString", "id": "lyceum-key", "description": "API key of lyceum, such as the value of LYCEUM_KEY", "password": true } ], "servers": { "lyceum": { "type": "http", "url": "https://mcp.example.org/mcp", "headers": { "Authorization": "Bearer ${input:lyceum-key}" } } } }
    codex: [mcp_servers.lyceum] url = "https://mcp.example.org/mcp" bearer_token_env_var = "LYCEUM_KEY"
    gemini: { "mcpServers": { "lyceum": { "httpUrl": "https://mcp.example.org/mcp", "headers": { "Authorization": "Bearer ${LYCEUM_KEY}" } } } }
    opencode: { "mcp": { "lyceum": { "type": "remote", "url": "https://mcp.example.org/mcp", "headers": { "Authorization": "Bearer {env:LYCEUM_KEY}" }, "oauth": false } } }
    zed: Zed reads no variables in headers; sign in without --key-env, or write the key itself into its file with --write-key
    windsurf: { "mcpServers": { "lyceum": { "serverUrl": "https://mcp.example.org/mcp", "headers": { "Authorization": "Bearer ${env:LYCEUM_KEY}" } } } }
    "#);
}

#[test]
fn a_key_is_written_where_that_is_asked_for() {
    let key = Key::Value(Secret::for_header("lyc_key_x").unwrap());
    insta::assert_snapshot!(written(&http(Some(key))), @r#"
    claude: { "mcpServers": { "lyceum": { "type": "http", "url": "https://mcp.example.org/mcp", "headers": { "Authorization": "Bearer lyc_key_x" } } } }
    claude-desktop: { "mcpServers": { "lyceum": { "command": "npx", "args": ["-y", "mcp-remote", "https://mcp.example.org/mcp", "--header", "Authorization:${LYCEUM_AUTHORIZATION}"], "env": { "LYCEUM_AUTHORIZATION": "Bearer lyc_key_x" } } } }
    cursor: { "mcpServers": { "lyceum": { "url": "https://mcp.example.org/mcp", "headers": { "Authorization": "Bearer lyc_key_x" } } } }
    vscode: { "servers": { "lyceum": { "type": "http", "url": "https://mcp.example.org/mcp", "headers": { "Authorization": "Bearer lyc_key_x" } } } }
    codex: [mcp_servers.lyceum] url = "https://mcp.example.org/mcp" http_headers = { Authorization = "Bearer lyc_key_x" }
    gemini: { "mcpServers": { "lyceum": { "httpUrl": "https://mcp.example.org/mcp", "headers": { "Authorization": "Bearer lyc_key_x" } } } }
    opencode: { "mcp": { "lyceum": { "type": "remote", "url": "https://mcp.example.org/mcp", "headers": { "Authorization": "Bearer lyc_key_x" }, "oauth": false } } }
    zed: { "context_servers": { "lyceum": { "url": "https://mcp.example.org/mcp", "headers": { "Authorization": "Bearer lyc_key_x" } } } }
    windsurf: { "mcpServers": { "lyceum": { "serverUrl": "https://mcp.example.org/mcp", "headers": { "Authorization": "Bearer lyc_key_x" } } } }
    "#);
}

#[test]
fn every_client_starts_the_program() {
    let args = vec!["stdio".to_owned(), "/docs".to_owned()];
    insta::assert_snapshot!(written(&Server::Stdio { command: "/bin/lyceum".to_owned(), args }), @r#"
    claude: { "mcpServers": { "lyceum": { "type": "stdio", "command": "/bin/lyceum", "args": ["stdio", "/docs"] } } }
    claude-desktop: { "mcpServers": { "lyceum": { "command": "/bin/lyceum", "args": ["stdio", "/docs"] } } }
    cursor: { "mcpServers": { "lyceum": { "type": "stdio", "command": "/bin/lyceum", "args": ["stdio", "/docs"] } } }
    vscode: { "servers": { "lyceum": { "type": "stdio", "command": "/bin/lyceum", "args": ["stdio", "/docs"] } } }
    codex: [mcp_servers.lyceum] command = "/bin/lyceum" args = ["stdio", "/docs"]
    gemini: { "mcpServers": { "lyceum": { "command": "/bin/lyceum", "args": ["stdio", "/docs"] } } }
    opencode: { "mcp": { "lyceum": { "type": "local", "command": ["/bin/lyceum", "stdio", "/docs"] } } }
    zed: { "context_servers": { "lyceum": { "command": "/bin/lyceum", "args": ["stdio", "/docs"] } } }
    windsurf: { "mcpServers": { "lyceum": { "command": "/bin/lyceum", "args": ["stdio", "/docs"] } } }
    "#);
}

#[test]
fn each_client_has_its_file() {
    let folders = ClientFolders {
        home: "/home/u".into(),
        applications: "/home/u/.config".into(),
        xdg: "/xdg".into(),
        claude: None,
        codex: None,
        gemini: None,
        opencode: None,
    };
    let line = |client: &Client| {
        let project = client.project_file(Path::new("/p"));
        let project = project.map_or_else(|| "-".to_owned(), |file| file.display().to_string());
        format!("{}: {} {project}\n", client.id(), client.user_file(&folders).display())
    };
    let all: String = Client::value_variants().iter().map(line).collect();
    if cfg!(target_os = "linux") {
        insta::assert_snapshot!(all, @r#"
        claude: /home/u/.claude.json /p/.mcp.json
        claude-desktop: /home/u/.config/Claude/claude_desktop_config.json -
        cursor: /home/u/.cursor/mcp.json /p/.cursor/mcp.json
        vscode: /home/u/.config/Code/User/mcp.json /p/.vscode/mcp.json
        codex: /home/u/.codex/config.toml /p/.codex/config.toml
        gemini: /home/u/.gemini/settings.json /p/.gemini/settings.json
        opencode: /xdg/opencode/opencode.json /p/opencode.json
        zed: /xdg/zed/settings.json /p/.zed/settings.json
        windsurf: /home/u/.codeium/windsurf/mcp_config.json -
        "#);
    }
    let named = ClientFolders {
        claude: Some("/c".into()),
        codex: Some("/x".into()),
        gemini: Some("/g".into()),
        opencode: Some("/o.json".into()),
        ..folders
    };
    for (client, expected) in [
        (Client::Claude, "/c/.claude.json"),
        (Client::Codex, "/x/config.toml"),
        (Client::Gemini, "/g/.gemini/settings.json"),
        (Client::Opencode, "/o.json"),
    ] {
        assert_eq!(client.user_file(&named), Path::new(expected));
    }
}
