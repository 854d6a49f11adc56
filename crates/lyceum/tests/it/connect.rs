//! `lyceum connect`: the files of clients, in an empty home folder.

#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A port that nobody listens on.
const URL: &str = "http://127.0.0.1:9/mcp";

/// A home folder with a project in it.
struct Home(TempDir);

/// What the program said: exit code, standard output and standard error.
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Home {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("project")).unwrap();
        Self(home)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    /// Every file in the home folder.
    fn files(&self) -> Vec<String> {
        fn collect(folder: &Path, root: &Path, files: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    collect(&path, root, files);
                } else {
                    files.push(path.strip_prefix(root).unwrap().display().to_string());
                }
            }
        }
        let mut files = Vec::new();
        collect(self.0.path(), self.0.path(), &mut files);
        files.sort();
        files
    }

    fn run(&self, arguments: &[&str]) -> Said {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lyceum"));
        command.arg("connect").args(arguments).current_dir(self.path("project")).env_clear();
        command
            .env("HOME", self.0.path())
            .env("LYCEUM_KEY", "lyc_key_swordfish")
            .env("LYCEUM_EMBEDDER", "none");
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Runs it, and expects success.
    #[track_caller]
    fn connect(&self, arguments: &[&str]) -> String {
        let said = self.run(arguments);
        assert_eq!(said.code, Some(0), "{arguments:?}: {}{}", said.out, said.err);
        said.out
    }

    /// Runs it, and expects this error and no change to any file.
    #[track_caller]
    fn refused(&self, arguments: &[&str], expected: &str) {
        let before: Vec<_> =
            self.files().iter().map(|file| (file.clone(), fs::read(self.path(file)).ok())).collect();
        let said = self.run(arguments);
        assert_ne!(said.code, Some(0), "{arguments:?}: {}", said.out);
        assert!(said.err.contains(expected), "{expected:?} is not in {}", said.err);
        assert!(!said.err.contains("swordfish"), "{}", said.err);
        let after: Vec<_> =
            self.files().iter().map(|file| (file.clone(), fs::read(self.path(file)).ok())).collect();
        assert!(before == after, "files were changed: {after:?}");
    }
}

#[test]
fn every_client_is_connected_and_disconnected() {
    for client in
        ["claude", "claude-desktop", "cursor", "vscode", "codex", "gemini", "opencode", "zed", "windsurf"]
    {
        let home = Home::new();
        let said = home.connect(&[client, "--url", URL]);
        assert!(said.contains("added lyceum to"), "{said}");
        assert!(
            said.contains("does not answer yet (could not connect); start it with lyceum serve"),
            "{said}"
        );
        let [file] = home.files().try_into().unwrap();
        assert!(home.read(&file).contains(URL), "{}", home.read(&file));
        let mode = fs::metadata(home.path(&file)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "a new file is for the user only");

        assert!(home.connect(&[client, "--url", URL]).contains("already"), "the second run changes nothing");
        assert_eq!(home.files(), [file]);
        assert!(home.connect(&[client, "--undo"]).contains("as it was before"));
        assert_eq!(home.files(), [""; 0], "the file was ours, so it is gone");
        assert!(home.connect(&[client, "--undo"]).contains("there is no lyceum in"));
    }
}

#[test]
fn undo_restores_every_byte_of_a_file_with_comments() {
    for (client, file, text) in [
        ("zed", ".config/zed/settings.json", "// Zed\n{\n  /* big */ \"ui_font_size\": 17,\n}\n"),
        (
            "vscode",
            ".config/Code/User/mcp.json",
            "{\n\t\"servers\": {\n\t\t// mine\n\t\t\"a\": {\"url\": \"http://a\"}\n\t}\n}",
        ),
        (
            "codex",
            ".codex/config.toml",
            "# Codex\nmodel = \"x\"   # fast\n\n[mcp_servers.a]\ncommand = 'a'\n",
        ),
        ("gemini", ".gemini/settings.json", "{\r\n  \"ui\": {\"theme\": \"Ayu\"}\r\n}\r\n"),
    ] {
        let home = Home::new();
        home.write(file, text);
        fs::set_permissions(home.path(file), fs::Permissions::from_mode(0o640)).unwrap();
        home.connect(&[client, "--url", URL, "--key-env", "LYCEUM_KEY", "--write-key"]);
        let edited = home.read(file);
        assert!(edited.contains("swordfish"), "{edited}");
        for line in
            text.lines().filter(|line| line.contains("//") || line.contains('#') || line.contains("/*"))
        {
            assert!(edited.contains(line.trim_end_matches(',')), "{line:?} is not in {edited}");
        }
        let backup = format!("{file}.lyceum-backup");
        assert_eq!(home.read(&backup), text);
        for file in [file, &backup] {
            assert_eq!(fs::metadata(home.path(file)).unwrap().permissions().mode() & 0o777, 0o640, "{file}");
        }
        // Replaced twice: undo goes back to the file before the first.
        home.connect(&[client, "--url", "http://127.0.0.1:10/mcp", "--force"]);
        home.connect(&[client, "--undo"]);
        assert_eq!(home.read(file), text);
        assert_eq!(home.files(), [file], "the backup is gone");
    }
}

#[test]
fn undo_keeps_what_was_changed_since() {
    let home = Home::new();
    home.write(".cursor/mcp.json", "{\n  \"mcpServers\": {}\n}\n");
    home.connect(&["cursor", "--url", URL]);
    let edited =
        home.read(".cursor/mcp.json").replace("\"mcpServers\": {", "\"mcpServers\": {\n    \"new\": {},");
    home.write(".cursor/mcp.json", &edited);
    assert!(home.connect(&["cursor", "--undo"]).contains("removed lyceum from"));
    assert_eq!(home.read(".cursor/mcp.json"), "{\n  \"mcpServers\": {\n    \"new\": {}\n  }\n}\n");
}

#[test]
fn another_entry_of_that_name_is_replaced_only_by_force() {
    let home = Home::new();
    let text =
        "{\"mcpServers\": {\"lyceum\": {\"type\": \"http\", \"url\": \"https://other.example/mcp\"}}}\n";
    home.write(".claude.json", text);
    home.refused(
        &["claude", "--url", URL],
        "has a server \"lyceum\" already: https://other.example/mcp; replace it with --force",
    );
    assert!(home.connect(&["claude", "--url", URL, "--name", "docs"]).contains("added docs"));
    home.connect(&["claude", "--name", "docs", "--undo"]);
    assert!(home.connect(&["claude", "--url", URL, "--force"]).contains("replaced lyceum"));
    home.connect(&["claude", "--undo"]);
    assert_eq!(home.read(".claude.json"), text);
}

#[test]
fn a_file_that_can_not_be_edited_is_left_alone() {
    let home = Home::new();
    home.write(".claude.json", "{\n  \"a\": 1\n  \"b\": 2\n}\n");
    home.refused(&["claude", "--url", URL], ".claude.json:3: expected a comma or }; the file is unchanged");
    home.refused(&["claude", "--undo"], ".claude.json:3: expected a comma");
    home.write(".codex/config.toml", "model = \"x\"\n[mcp_servers\n");
    home.refused(&["codex", "--url", URL], ".codex/config.toml:2: ");
    home.write(".gemini/settings.json", "{}");
    fs::set_permissions(home.path(".gemini/settings.json"), fs::Permissions::from_mode(0o444)).unwrap();
    home.refused(&["gemini", "--url", URL], ".gemini/settings.json is read-only");
    fs::create_dir_all(home.path(".cursor/mcp.json")).unwrap();
    home.refused(&["cursor", "--url", URL], "is not a file");
    fs::create_dir_all(home.path(".config/zed")).unwrap();
    symlink("missing.json", home.path(".config/zed/settings.json")).unwrap();
    home.refused(&["zed", "--url", URL], "is a link to missing.json, which does not exist");
    fs::create_dir_all(home.path(".codeium/windsurf")).unwrap();
    fs::write(home.path(".codeium/windsurf/mcp_config.json"), b"{\xff}").unwrap();
    home.refused(&["windsurf", "--url", URL], "is not UTF-8");
}

#[test]
fn a_link_to_a_file_stays_a_link() {
    let home = Home::new();
    home.write("dotfiles/settings.json", "{}\n");
    fs::create_dir_all(home.path(".config/zed")).unwrap();
    symlink("../../dotfiles/settings.json", home.path(".config/zed/settings.json")).unwrap();
    home.connect(&["zed", "--url", URL]);
    assert!(home.path(".config/zed/settings.json").is_symlink());
    assert!(home.read("dotfiles/settings.json").contains(URL));
    home.connect(&["zed", "--undo"]);
    assert_eq!(home.read("dotfiles/settings.json"), "{}\n");
    assert!(home.path(".config/zed/settings.json").is_symlink());
}

#[test]
fn a_project_has_its_own_file_and_no_link_leads_out_of_it() {
    let home = Home::new();
    home.connect(&["claude", "--url", URL, "--project"]);
    assert_eq!(home.files(), ["project/.mcp.json"]);
    home.connect(&["claude", "--undo", "--project"]);
    home.write(".claude.json", "{}");
    symlink("../.claude.json", home.path("project/.mcp.json")).unwrap();
    home.refused(&["claude", "--url", URL, "--project"], "leads out of the project");
    symlink("..", home.path("project/.cursor")).unwrap();
    home.refused(&["cursor", "--url", URL, "--project"], "leads out of the project");
    home.refused(&["windsurf", "--url", URL, "--project"], "Windsurf has no configuration of projects");
    home.refused(&["claude", "--key-env", "LYCEUM_KEY", "--write-key", "--project"], "cannot be used with");
}

#[test]
fn a_key_is_never_written_unless_asked() {
    let home = Home::new();
    for client in ["claude", "cursor", "vscode", "codex", "gemini", "opencode", "windsurf"] {
        home.connect(&[client, "--url", URL, "--key-env", "LYCEUM_KEY"]);
    }
    for file in home.files() {
        let text = home.read(&file);
        assert!(text.contains("LYCEUM_KEY") && !text.contains("swordfish"), "{file}: {text}");
    }
    home.refused(&["zed", "--url", URL, "--key-env", "LYCEUM_KEY"], "--write-key");
    home.refused(
        &["claude", "--url", URL, "--key-env", "lyc_key_swordfish-1"],
        "takes the name of an environment variable",
    );
    home.refused(&["zed", "--url", URL, "--key-env", "UNSET", "--write-key"], "UNSET is not set");
    let warned =
        home.run(&["cursor", "--url", "http://example.invalid/mcp", "--key-env", "LYCEUM_KEY", "--print"]);
    assert!(warned.err.contains("the key will be sent in clear"), "{}", warned.err);
}

#[test]
fn stdio_names_absolute_paths() {
    let home = Home::new();
    home.refused(&["claude", "--stdio"], "nothing is configured; name what to serve");
    home.refused(&["claude", "--stdio", "./dosc"], "no such folder: ./dosc");
    home.refused(&["claude", "./docs"], "--stdio");
    fs::create_dir(home.path("project/docs")).unwrap();
    home.connect(&["claude", "--stdio", "../project/docs", "https://example.org/kb.git"]);
    let entry: Value = serde_json::from_str(&home.read(".claude.json")).unwrap();
    let entry = &entry["mcpServers"]["lyceum"];
    let docs = fs::canonicalize(home.path("project")).unwrap().join("docs").display().to_string();
    assert_eq!(entry["args"], json!(["stdio", docs, "https://example.org/kb.git"]));
    assert!(Path::new(entry["command"].as_str().unwrap()).is_absolute(), "{entry}");

    home.write(
        "project/lyceum.toml",
        "[[source]]\nname = \"docs\"\npath = \"docs\"\n[knowledge]\nsource = \"docs\"\n",
    );
    home.refused(&["codex", "--stdio"], "write --config lyceum.toml");
    home.connect(&["codex", "--stdio", "--config", "lyceum.toml"]);
    assert!(
        home.read(".codex/config.toml").contains("project/lyceum.toml\""),
        "{}",
        home.read(".codex/config.toml")
    );
}

#[test]
fn the_url_comes_from_the_configuration() {
    let home = Home::new();
    home.write("project/lyceum.toml", "[server]\npublic_url = \"https://mcp.example.invalid\"\n");
    let printed = home.run(&["gemini", "--print"]);
    assert!(printed.out.contains("\"httpUrl\": \"https://mcp.example.invalid/mcp\""), "{}", printed.out);
    assert!(printed.err.contains("Add this to "), "{}", printed.err);
    assert_eq!(home.files(), ["project/lyceum.toml"], "nothing is written");
    serde_json::from_str::<Value>(&printed.out).unwrap();
    home.refused(&["gemini", "--url", "127.0.0.1:8787"], "is not a URL");
    home.refused(&["gemini", "--url", URL, "--name", "a b"], "--name");
}

#[test]
fn json_says_what_was_done() {
    let home = Home::new();
    home.write(".claude.json", "{}");
    let said = |arguments: &[&str]| serde_json::from_str::<Value>(&home.connect(arguments)).unwrap();
    let file = home.path(".claude.json").display().to_string();
    assert_eq!(
        said(&["claude", "--url", URL, "--json"]),
        json!({ "client": "claude", "file": file, "name": "lyceum", "action": "added",
            "backup": format!("{file}.lyceum-backup"), "server": "unreachable" })
    );
    assert_eq!(said(&["claude", "--url", URL, "--json"])["action"], "unchanged");
    assert_eq!(
        said(&["claude", "--undo", "--json"]),
        json!({ "client": "claude", "file": file, "name": "lyceum", "action": "restored", "backup": null, "server": null })
    );
    let printed = said(&["codex", "--url", URL, "--print", "--json"]);
    assert_eq!(
        (&printed["action"], &printed["text"]),
        (&json!("printed"), &json!(format!("[mcp_servers.lyceum]\nurl = \"{URL}\"\n")))
    );
}
