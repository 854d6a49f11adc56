//! `lyceum connect`: writes our server into the configuration of an MCP client, and takes it out again (ADR 27).

mod client;
mod edit;
mod file;
mod probe;
mod server;

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::{Context, bail};
use serde_json::{Value, json};

use self::{
    client::Client,
    edit::{Edit, SyntaxError, is_same},
    file::ClientFile,
    probe::{Probe, probe},
    server::{Key, Server},
};
use super::Format;
use crate::config::{ClientFolders, Config, Overrides, Purpose, key_variable};

/// Maximum length of the name of a server.
const MAX_NAME_CHARS: usize = 64;

/// Arguments of `lyceum connect`.
#[derive(Debug, clap::Args)]
pub(super) struct ConnectArgs {
    /// The client
    client: Client,
    /// With --stdio: folders and Git repositories to serve [default: what the configuration names]
    #[arg(value_name = "PATH|GIT-URL", requires = "stdio")]
    locations: Vec<String>,
    /// URL of the server [default: that of the configuration, else http://127.0.0.1:8787/mcp]
    #[arg(long, value_name = "URL", conflicts_with = "stdio")]
    url: Option<String>,
    /// Let the client start `lyceum stdio` itself, instead of connecting to a server
    #[arg(long)]
    stdio: bool,
    /// Environment variable with an API key, which the client reads [default: the client signs in if the server asks]
    #[arg(long, value_name = "VARIABLE", conflicts_with = "stdio")]
    key_env: Option<String>,
    /// Write the key itself into the client's file, for clients that can't read variables
    #[arg(long, requires = "key_env", conflicts_with = "project")]
    write_key: bool,
    /// Name of the server in the client
    #[arg(long, default_value = "lyceum")]
    name: String,
    /// Connect for the project in the working directory only, in a file that can be committed
    #[arg(long)]
    project: bool,
    /// Replace an entry of that name
    #[arg(long)]
    force: bool,
    /// Take the server out of the client's configuration again
    #[arg(long, conflicts_with_all = ["locations", "url", "stdio", "key_env", "force", "print"])]
    undo: bool,
    /// Print the configuration instead of writing it
    #[arg(long, conflicts_with = "force")]
    print: bool,
    /// Print JSON: client, file, name, action, and where they apply backup and server
    #[arg(long)]
    json: bool,
}

/// What was done to a client's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    /// The entry was added.
    Added,
    /// An entry of that name was replaced.
    Replaced,
    /// The entry was there already.
    Unchanged,
    /// The file is as it was before: restored, or deleted if there was none.
    Restored,
    /// The entry was removed; other programs changed the file since it was added.
    Removed,
    /// There was no such entry.
    NotConnected,
}

/// Connects a client, or disconnects it.
pub(super) fn connect(overrides: &Overrides, args: &ConnectArgs) -> anyhow::Result<ExitCode> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if args.name.is_empty() || args.name.len() > MAX_NAME_CHARS || !args.name.chars().all(is_plain) {
        bail!("--name: {:?} is not letters, digits, - and _, up to {MAX_NAME_CHARS} of them", args.name);
    }
    let format = Format::of(args.json);
    let mut out = io::stdout().lock();
    if args.undo {
        let file = open(args)?;
        let action = undo(args, &file)?;
        report(&mut out, args, &file, action, None, format)?;
        return Ok(ExitCode::SUCCESS);
    }
    let server = server(overrides, args)?;
    let edits = args.client.edits(&args.name, &server)?;
    if args.print {
        print(&mut out, args, &edits, format)?;
        return Ok(ExitCode::SUCCESS);
    }
    let file = open(args)?;
    let action = write(args, &file, &edits)?;
    report(&mut out, args, &file, action, Some(&server), format)?;
    Ok(ExitCode::SUCCESS)
}

/// What the client is to be connected to.
fn server(overrides: &Overrides, args: &ConnectArgs) -> anyhow::Result<Server> {
    if args.stdio {
        let config = Config::load(overrides, Purpose::Stdio)?;
        return server::stdio(&config, overrides, &args.locations);
    }
    let url = match &args.url {
        Some(url) => server::endpoint(url)?,
        None => server::configured_endpoint(&Config::load(overrides, Purpose::Once)?)?,
    };
    let key = args.key_env.as_deref().map(|variable| key(variable, args.write_key)).transpose()?;
    if key.is_some() && server::is_clear_text(&url) {
        eprintln!("lyceum: warning: the key will be sent in clear to {url}; use https");
    }
    Ok(Server::Http { url: url.into(), key })
}

fn key(variable: &str, is_written: bool) -> anyhow::Result<Key> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !variable.chars().all(is_name) || !variable.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    {
        // Not repeated: it may be the key itself.
        bail!("--key-env takes the name of an environment variable, for example --key-env LYCEUM_KEY");
    }
    if !is_written {
        return Ok(Key::Variable(variable.to_owned()));
    }
    let key = key_variable(variable).with_context(|| format!("--write-key: {variable} is not set"))?;
    Ok(Key::Value(key.with_context(|| format!("--write-key: {variable} is not a key"))?))
}

/// The client's file.
fn open(args: &ConnectArgs) -> anyhow::Result<ClientFile> {
    let client = args.client;
    if args.project {
        let project = std::path::absolute(".").context("cannot read the working directory")?;
        let no_file = || format!("{} has no configuration of projects; omit --project", client.title());
        return ClientFile::of_project(client.project_file(&project).with_context(no_file)?, &project);
    }
    let folders =
        ClientFolders::load().context("HOME is not set, so the client's configuration can't be found")?;
    ClientFile::of_user(client.user_file(&folders))
}

/// Writes the entry, unless it is there.
fn write(args: &ConnectArgs, file: &ClientFile, edits: &[Edit]) -> anyhow::Result<Action> {
    let format = args.client.format();
    let syntax = |error| explain(error, file.path());
    let slot = args.client.slot(&args.name);
    let text = if file.exists() { file.text() } else { args.client.new_file() };
    let present = if file.exists() { format.get(text, &slot).map_err(syntax)? } else { None };
    let is_there = |edit: &Edit| {
        let value = if file.exists() { format.get(text, &edit.slot)? } else { None };
        Ok(value.is_some_and(|value| is_same(&value, &edit.entry)))
    };
    let there = edits.iter().map(is_there).collect::<Result<Vec<bool>, SyntaxError>>().map_err(syntax)?;
    if there.into_iter().all(|is_there| is_there) {
        return Ok(Action::Unchanged);
    }
    if let (Some(present), false) = (&present, args.force) {
        bail!(
            "{} has a server {:?} already: {}; replace it with --force, or choose another --name",
            file.path().display(),
            args.name,
            address(present)
        );
    }
    let edited = format.apply(text, edits).map_err(syntax)?;
    // A mistake of ours must not cost somebody their settings.
    let is_kept = format.remove(&edited, &args.client.slots(&args.name)).is_ok()
        && edits.iter().all(
            |edit| matches!(format.get(&edited, &edit.slot), Ok(Some(value)) if is_same(&value, &edit.entry)),
        );
    if !is_kept {
        bail!("cannot edit {} without risk; add what --print shows by hand", file.path().display());
    }
    if file.exists() && !is_only_change(args, file)? {
        file.back_up()?;
    }
    file.write(&edited)?;
    Ok(if present.is_some() { Action::Replaced } else { Action::Added })
}

/// Whether the file is its backup and our entry, and nothing else.
fn is_only_change(args: &ConnectArgs, file: &ClientFile) -> anyhow::Result<bool> {
    let Some(backup) = file.backup() else { return Ok(false) };
    let slots = args.client.slots(&args.name);
    let edited = args.client.format().transplant(&backup, file.text(), &slots);
    Ok(edited.is_ok_and(|edited| edited == file.text()))
}

/// Takes the entry out. Where nothing else was changed since, the file becomes what it was, byte for byte.
fn undo(args: &ConnectArgs, file: &ClientFile) -> anyhow::Result<Action> {
    let format = args.client.format();
    let syntax = |error| explain(error, file.path());
    let slots = args.client.slots(&args.name);
    let text = file.text();
    if !file.exists() || format.get(text, &args.client.slot(&args.name)).map_err(syntax)?.is_none() {
        return Ok(Action::NotConnected);
    }
    if is_only_change(args, file)? {
        file.write(&file.backup().unwrap_or_default())?;
        file.forget_backup()?;
        return Ok(Action::Restored);
    }
    let is_ours = file.backup().is_none()
        && format.transplant(args.client.new_file(), text, &slots).is_ok_and(|ours| ours == text);
    if is_ours {
        file.delete()?;
        return Ok(Action::Restored);
    }
    file.write(&format.remove(text, &slots).map_err(syntax)?)?;
    file.forget_backup()?;
    Ok(Action::Removed)
}

/// An error in a file, with its line.
fn explain(error: SyntaxError, path: &Path) -> anyhow::Error {
    let SyntaxError { line, message } = error;
    anyhow::anyhow!("{}:{line}: {message}; the file is unchanged", path.display())
}

/// What an entry of a client connects to, without its secrets.
fn address(entry: &Value) -> String {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let url = ["url", "httpUrl", "serverUrl"].into_iter().find_map(text);
    let command = text("command").or_else(|| entry.get("command")?.get(0)?.as_str());
    match (url, command) {
        (Some(url), _) => url.to_owned(),
        (None, Some(command)) => format!("the command {command}"),
        (None, None) => "with other settings".to_owned(),
    }
}

/// Prints what would be written, and on standard error where.
fn print(out: &mut impl Write, args: &ConnectArgs, edits: &[Edit], format: Format) -> anyhow::Result<()> {
    let text = args.client.format().apply("", edits)?;
    let file = open(args).map(|file| file.path().display().to_string());
    if format == Format::Json {
        let file = file.ok();
        let printed = json!({ "client": args.client.id(), "file": file, "name": args.name, "action": "printed", "text": text });
        writeln!(out, "{printed:#}")?;
        return Ok(());
    }
    if let Ok(file) = file {
        eprintln!("Add this to {file}:");
    }
    write!(out, "{text}")?;
    Ok(())
}

/// Says what was done, and what comes next.
fn report(
    out: &mut impl Write,
    args: &ConnectArgs,
    file: &ClientFile,
    action: Action,
    server: Option<&Server>,
    format: Format,
) -> anyhow::Result<()> {
    let (client, name, path) = (args.client, &args.name, file.path().display());
    let backup = file.backup_path();
    let backup = backup.exists().then(|| backup.display().to_string());
    let probed = server.and_then(probe);
    if format == Format::Json {
        let server = probed.as_ref().map(Probe::state);
        let backup = backup.filter(|_| action.connects());
        let report = json!({ "client": client.id(), "file": path.to_string(), "name": name, "action": action.id(), "backup": backup, "server": server });
        writeln!(out, "{report:#}")?;
        return Ok(());
    }
    let title = client.title();
    match action {
        Action::Added => writeln!(out, "{title}: added {name} to {path}")?,
        Action::Replaced => writeln!(out, "{title}: replaced {name} in {path}")?,
        Action::Unchanged => writeln!(out, "{title}: {name} is in {path} already")?,
        Action::Restored => writeln!(out, "{title}: {path} is as it was before lyceum connect")?,
        Action::Removed => writeln!(out, "{title}: removed {name} from {path}")?,
        Action::NotConnected => writeln!(out, "{title}: there is no {name} in {path}")?,
    }
    let Some(server) = server else { return Ok(()) };
    writeln!(out, "  server  {}", server.address())?;
    if let Some(backup) = backup {
        writeln!(out, "  backup  {backup}")?;
    }
    writeln!(out, "  check   {}", client.next_step(name))?;
    let name = if name == "lyceum" { String::new() } else { format!(" --name {name}") };
    let project = if args.project { " --project" } else { "" };
    writeln!(out, "  undo    lyceum connect {}{name}{project} --undo", client.id())?;
    if let Some(probed) = probed {
        writeln!(out, "{probed}")?;
    }
    Ok(())
}

impl Action {
    /// As JSON names it.
    fn id(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Replaced => "replaced",
            Self::Unchanged => "unchanged",
            Self::Restored => "restored",
            Self::Removed => "removed",
            Self::NotConnected => "not-connected",
        }
    }

    /// Whether the client is connected now.
    fn connects(self) -> bool {
        matches!(self, Self::Added | Self::Replaced | Self::Unchanged)
    }
}
