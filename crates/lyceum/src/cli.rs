//! The command line.

mod audit;
mod check;
mod doctor;
mod embed;
mod eval;
mod grants;
mod key;
mod lint;
mod model;
mod reindex;
mod search;
mod serve;
mod sync;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

use crate::{
    config::{self, Config, ConfigFile, Faults, LogSettings, Overrides, Purpose},
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
        /// Folder or Git repository of markdown to serve [default: what the configuration names, else an example]
        #[arg(value_name = "PATH|GIT-URL")]
        location: Option<String>,
        /// Address and port to listen on; port 0 picks a free one [default: 127.0.0.1:8787]
        #[arg(long, value_name = "ADDRESS")]
        listen: Option<String>,
    },
    /// Serve MCP on standard input and output
    Stdio,
    /// Sync the knowledge base and report what changed
    Sync,
    /// Search the knowledge base
    Search(search::SearchArgs),
    /// Rebuild the search index
    Reindex,
    /// Manage embedding models
    #[command(subcommand)]
    Model(model::Command),
    /// Validate the configuration and report every error
    Check,
    /// Diagnose the deployment: sources, skipped files, sign-in, the script sandbox
    Doctor,
    /// Validate the documents of a knowledge base; print file, line and fix for each error
    Lint {
        /// Folder of the documents
        #[arg(default_value = ".")]
        folder: PathBuf,
        /// Ontology file with the document types [default: the built-in ontology]
        #[arg(long, value_name = "FILE")]
        ontology: Option<PathBuf>,
    },
    /// Create an API key
    Key,
    /// Print the audit log as JSON lines: sign-ins, grants, refusals, writes
    Audit {
        /// Only entries after this sequence number
        #[arg(long, value_name = "NUMBER", default_value_t = 0)]
        after: i64,
    },
    /// List OAuth grants as JSON lines, or revoke them
    Grants {
        /// Only grants of this subject, as named in the audit log
        #[arg(long, value_name = "SUBJECT")]
        subject: Option<String>,
        /// Revoke the grant with this id, or with "all" every grant that would be listed
        #[arg(long, value_name = "ID|all")]
        end: Option<String>,
    },
    /// Measure search quality on queries with known answers
    Eval(eval::Options),
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
    if let Command::Serve { location, listen } = &cli.command {
        overrides.listen.clone_from(listen);
        overrides.serve.clone_from(location);
    }
    match cli.command {
        Command::Check => check::check(&overrides),
        Command::Doctor => doctor::doctor(&overrides),
        Command::Lint { folder, ontology } => lint::lint(&folder, ontology.as_deref()),
        Command::Key => key::key(),
        Command::Audit { after } => audit::audit(&Config::load(&overrides, Purpose::Serve)?, after),
        Command::Grants { subject, end } => {
            grants::grants(&Config::load(&overrides, Purpose::Serve)?, subject.as_deref(), end.as_deref())
        }
        Command::Eval(options) => eval::eval(&load_once(&overrides)?.or_example()?, &options),
        Command::Embed { .. } => embed::embed(&load_once(&overrides)?),
        Command::Schema => check::schema(),
        Command::Sync => sync::sync(&load_once(&overrides)?),
        Command::Search(args) => search::search(&load_once(&overrides)?.or_example()?, &args),
        Command::Model(command) => model::model(&load_once(&overrides)?, command),
        Command::Reindex => reindex::reindex(&load_once(&overrides)?.or_example()?),
        Command::Openapi => check::openapi(),
        Command::Serve { .. } => {
            let config = serve::load(&overrides)?;
            let _logging = telemetry::init(&LogSettings::load()?)?;
            serve::serve(config, overrides)
        }
        Command::Stdio => {
            let config = Config::load(&overrides, Purpose::Stdio)?;
            let _logging = telemetry::init(&LogSettings::load()?)?;
            serve::stdio(config)
        }
    }
}

/// Loads the configuration of a one-off command. Prints the path of a file that the user did not name.
fn load_once(overrides: &Overrides) -> Result<Config, Faults> {
    let config = Config::load(overrides, Purpose::Once)?;
    if let Some(file @ (ConfigFile::WorkingFolder | ConfigFile::User(_))) = &config.file {
        eprintln!("lyceum: using the configuration {file}");
    }
    Ok(config)
}
