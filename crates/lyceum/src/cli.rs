//! The command line.

mod agents;
mod audit;
mod check;
mod client;
mod connect;
mod doctor;
mod embed;
mod embedding;
mod eval;
mod generate;
mod grants;
mod index_library;
mod init;
mod key;
mod lint;
mod locations;
mod migrate;
mod model;
mod reindex;
mod search;
mod serve;
mod summary;
mod sync;

use std::{
    io::{self, IsTerminal},
    path::PathBuf,
    process::ExitCode,
};

use clap::{Parser, Subcommand};

use crate::{
    config::{self, Config, ConfigFile, LogSettings, Overrides, Purpose},
    data_dir,
    skills::SANDBOX_HELPER,
    telemetry,
};

pub use serve::{Listening, listen, serve_until, until_stopped};

/// Serve Git repositories (docs, skills, a knowledge base) to AI assistants over MCP and REST, with hybrid search.
#[derive(Parser)]
#[command(name = "lyceum", version, about, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Configuration file [default: ./lyceum.toml (not for stdio), then ~/.config/lyceum/lyceum.toml]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder for databases, clones and indexes [default: the platform's user data folder]
    #[arg(long, global = true, value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Serve MCP and REST over HTTP
    Serve {
        /// Folders and Git repositories to serve; skills, docs and knowledge bases are recognised [default: what the
        /// configuration names, else an example]
        #[arg(value_name = "PATH|GIT-URL")]
        locations: Vec<String>,
        /// Address and port to listen on, or a port of 127.0.0.1; port 0 picks a free one [default: 127.0.0.1:8787]
        #[arg(long, value_name = "ADDRESS")]
        listen: Option<String>,
    },
    /// Serve MCP on standard input and output
    Stdio {
        /// Folders and Git repositories to serve [default: what the configuration or the environment names]
        #[arg(value_name = "PATH|GIT-URL")]
        locations: Vec<String>,
    },
    /// Write a commented lyceum.toml for folders and Git repositories
    Init {
        /// Folders and Git repositories to serve
        #[arg(value_name = "PATH|GIT-URL", required = true)]
        locations: Vec<String>,
        /// File to write
        #[arg(long, value_name = "FILE", default_value = "lyceum.toml")]
        output: PathBuf,
    },
    /// Connect an MCP client: write the server into its configuration, or take it out again
    Connect(connect::ConnectArgs),
    /// Sync the knowledge base and report what changed
    Sync(sync::SyncArgs),
    /// Search the knowledge base
    Search(search::SearchArgs),
    /// Rebuild the search index
    Reindex(reindex::ReindexArgs),
    /// Write the indexes of the library as JSON files
    IndexLibrary(index_library::IndexLibraryArgs),
    /// Use the agent profiles of the library in coding assistants
    #[command(subcommand)]
    Agents(agents::Command),
    /// Manage embedding models
    #[command(subcommand)]
    Model(model::Command),
    /// Validate the configuration and report every error
    Check(check::CheckArgs),
    /// Diagnose the deployment: sources, skipped files, sign-in, the script sandbox
    Doctor(doctor::DoctorArgs),
    /// Validate the documents of a knowledge base; print file, line and fix for each error
    Lint(lint::LintArgs),
    /// Create an API key
    Key {
        /// Print JSON: key
        #[arg(long)]
        json: bool,
    },
    /// Print the audit log: sign-ins, grants, refusals, writes
    Audit {
        /// Print JSON lines, as is the default if the output is not a terminal
        #[arg(long)]
        json: bool,
        /// Only entries after this sequence number
        #[arg(long, value_name = "NUMBER", default_value_t = 0)]
        after: i64,
    },
    /// List OAuth grants, or revoke them
    Grants {
        /// Print JSON lines, as is the default if the output is not a terminal
        #[arg(long)]
        json: bool,
        /// Only grants of this subject, as named in the audit log
        #[arg(long, value_name = "SUBJECT")]
        subject: Option<String>,
        /// Revoke the grant with this id, or with "all" every grant that would be listed
        #[arg(long, value_name = "ID|all")]
        end: Option<String>,
    },
    /// Move sign-in between the data folder and the database of several machines
    Migrate(migrate::MigrateArgs),
    /// Measure search quality on queries with known answers
    Eval(eval::Options),
    /// Print the completion script of a shell
    ///
    /// For bash: lyceum completions bash > ~/.local/share/bash-completion/completions/lyceum
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages of all commands to a folder, or print the main page
    Man {
        /// Folder for the pages, such as ~/.local/share/man/man1
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
    /// Embed texts and print the time taken
    #[command(hide = true)]
    Embed {
        /// Read JSON strings from standard input, one per line
        #[arg(long, required = true)]
        stdin: bool,
    },
    /// Print the JSON schema of lyceum.toml
    #[command(hide = true)]
    Schema,
    /// Print the OpenAPI description of the REST API
    #[command(hide = true)]
    Openapi,
}

/// Runs the program. Git (as askpass) and the sandbox (as helper) start it too.
pub fn run() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    if let Some(prompt_request) = config::askpass_prompt_request() {
        return lyceum_source::askpass(&prompt_request, &first.unwrap_or_default());
    }
    if first.as_deref() == Some(SANDBOX_HELPER) {
        return lyceum_sandbox::helper_main();
    }
    if let Some(step) = config::end_at() {
        lyceum_knowledge::failpoint::end_at(&step);
    }
    match execute(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            // On standard error and not in the log: the user at the terminal reads this.
            eprintln!("lyceum: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn execute(cli: Cli) -> anyhow::Result<ExitCode> {
    let mut overrides = Overrides { config: cli.config, data_dir: cli.data_dir, ..Overrides::default() };
    match cli.command {
        Command::Check(args) => check::check(&overrides, &args),
        Command::Doctor(args) => {
            locations::add(&mut overrides, &args.locations, Purpose::Once)?;
            doctor::doctor(&overrides, &args)
        }
        Command::Init { locations, output } => init::init(overrides, &locations, &output),
        Command::Connect(args) => connect::connect(&overrides, &args),
        Command::Lint(args) => lint::lint(&args),
        Command::Key { json } => key::key(Format::of(json)),
        Command::Audit { after, json } => {
            audit::audit(&ready(Config::load(&overrides, Purpose::Serve)?)?, after, Format::of_lines(json))
        }
        Command::Grants { subject, end, json } => {
            let config = ready(Config::load(&overrides, Purpose::Serve)?)?;
            grants::grants(&config, subject.as_deref(), end.as_deref(), Format::of_lines(json))
        }
        Command::Migrate(args) => migrate::migrate(&ready(Config::load(&overrides, Purpose::Serve)?)?, &args),
        Command::Completions { shell } => generate::completions(shell),
        Command::Man { folder } => generate::man(folder.as_deref()),
        Command::Eval(options) => {
            locations::add(&mut overrides, &options.sources, Purpose::Once)?;
            eval::eval(&or_example(load_once(&overrides)?)?, &options)
        }
        Command::Embed { .. } => embed::embed(&load_once(&overrides)?),
        Command::Schema => check::schema(),
        Command::Sync(args) => {
            locations::add(&mut overrides, &args.locations, Purpose::Once)?;
            sync::sync(&load_once(&overrides)?, &args)
        }
        Command::Search(args) => {
            locations::add(&mut overrides, &args.sources, Purpose::Once)?;
            search::search(&or_example(load_once(&overrides)?)?, &args)
        }
        Command::IndexLibrary(args) => index_library::index_library(&load_once(&overrides)?, &args),
        Command::Agents(command) => agents::agents(&load_once(&overrides)?, &command),
        Command::Model(command) => model::model(&load_once(&overrides)?, command),
        Command::Reindex(args) => reindex::reindex(&or_example(load_once(&overrides)?)?, &args),
        Command::Openapi => check::openapi(),
        Command::Serve { locations, listen } => {
            overrides.listen = listen;
            let recognised = locations::add(&mut overrides, &locations, Purpose::Serve)?;
            let config = ready(serve::load(&overrides)?)?;
            let _logging = telemetry::init(&LogSettings::load()?)?;
            serve::serve(config, overrides, recognised)
        }
        Command::Stdio { locations } => {
            locations::add(&mut overrides, &locations, Purpose::Stdio)?;
            let config = ready(Config::load(&overrides, Purpose::Stdio)?)?;
            let _logging = telemetry::init(&LogSettings::load()?)?;
            serve::stdio(config)
        }
    }
}

/// The format of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

impl Format {
    /// The format that the flag `--json` asks for.
    fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }

    /// The same for commands that always print JSON unless a person reads it on a terminal.
    fn of_lines(json: bool) -> Self {
        Self::of(json || !io::stdout().is_terminal())
    }
}

/// Makes sure that the data folder can be used.
fn ready(config: Config) -> anyhow::Result<Config> {
    data_dir::prepare(&config.data_dir)?;
    Ok(config)
}

/// Falls back to the bundled example if nothing is configured, and says so.
fn or_example(config: Config) -> anyhow::Result<Config> {
    if !config.is_written {
        eprintln!(
            "lyceum: nothing is configured, so this is the bundled example; search a folder with lyceum search --source FOLDER, or write a lyceum.toml with lyceum init FOLDER"
        );
    }
    Ok(config.or_example()?)
}

/// Loads the configuration of a one-off command. Prints the path of a file that the user did not name.
fn load_once(overrides: &Overrides) -> anyhow::Result<Config> {
    let config = ready(Config::load(overrides, Purpose::Once)?)?;
    if let Some(file @ (ConfigFile::WorkingFolder | ConfigFile::User(_))) = &config.file {
        eprintln!("lyceum: using the configuration {file}");
    }
    Ok(config)
}
