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
    config::{self, Config, ConfigFile, Faults, Overrides, Purpose},
    skills::SANDBOX_HELPER,
    telemetry,
};

pub use serve::{Listening, listen, serve_until, until_stopped};

/// Turns Git repositories of knowledge into what AI assistants can use.
#[derive(Parser)]
#[command(name = "lyceum", version, about, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// The configuration file [default: lyceum.toml of the working folder (not for stdio), else of ~/.config/lyceum]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The folder for what must survive a restart
    #[arg(long, global = true, value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Serve MCP and REST over HTTP
    Serve {
        /// A folder or a Git repository of markdown to serve; without it, and without a configuration, an example
        #[arg(value_name = "PATH|GIT-URL")]
        place: Option<String>,
        /// The address and port to listen on; port 0 picks a free one [default: 127.0.0.1:8787]
        #[arg(long, value_name = "ADDRESS")]
        listen: Option<String>,
    },
    /// Serve MCP on standard input and output
    Stdio,
    /// Bring the knowledge base up to date, and say what changed
    Sync,
    /// Search the knowledge base
    Search(search::Question),
    /// Make the search index anew
    Reindex,
    /// The models that find by meaning
    #[command(subcommand)]
    Model(model::Command),
    /// Check the configuration, and say everything that is wrong with it
    Check,
    /// Look at everything that is configured: sources, each file that is not served as meant, the sandbox
    Doctor,
    /// Check the documents of a knowledge base: each fault with file, line and what to write
    Lint {
        /// The folder of the documents
        #[arg(default_value = ".")]
        folder: PathBuf,
        /// The types of documents, where they are not the usual ones
        #[arg(long, value_name = "FILE")]
        ontology: Option<PathBuf>,
    },
    /// Make a key for a program, or for a person without a wallet
    Key,
    /// Print the record of sign-ins, grants and refusals, a JSON object on each line
    Audit {
        /// Only what came after the line of this number
        #[arg(long, value_name = "NUMBER", default_value_t = 0)]
        after: i64,
    },
    /// Print what people allowed programs, a JSON object on each line; or end it
    Grants {
        /// Only those of this person, as the record names them
        #[arg(long, value_name = "SUBJECT")]
        subject: Option<String>,
        /// End the grant of this id, or with "all" every one that would be printed
        #[arg(long, value_name = "ID|all")]
        end: Option<String>,
    },
    /// Measure how well search finds what should be found
    Eval(eval::Options),
    /// Turn texts into vectors, and say how long it took
    #[command(hide = true)]
    Embed {
        /// Read JSON strings from standard input, one on each line
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

/// Runs the program. Git and the sandbox start it too, for errands of their own.
pub fn run() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    if let Some(errand) = config::askpass_errand() {
        return lyceum_source::askpass(&errand, &first.unwrap_or_default());
    }
    if first.as_deref() == Some(SANDBOX_HELPER) {
        return lyceum_sandbox::helper_main();
    }
    if let Some(step) = config::end_at() {
        lyceum_knowledge::trial::end_at(&step);
    }
    match execute(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            // Not a log line: whoever typed the command reads this.
            eprintln!("lyceum: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn execute(cli: Cli) -> anyhow::Result<ExitCode> {
    let mut overrides = Overrides { config: cli.config, data_dir: cli.data_dir, ..Overrides::default() };
    if let Command::Serve { place, listen } = &cli.command {
        overrides.listen.clone_from(listen);
        overrides.serve.clone_from(place);
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
        Command::Search(question) => search::search(&load_once(&overrides)?.or_example()?, &question),
        Command::Model(command) => model::model(&load_once(&overrides)?, command),
        Command::Reindex => reindex::reindex(&load_once(&overrides)?.or_example()?),
        Command::Openapi => check::openapi(),
        Command::Serve { .. } => {
            let mut config = Config::load(&overrides, Purpose::Serve)?.or_example()?;
            config.search.fetch = true;
            let _logging = telemetry::init(&config::log_filter())?;
            serve::serve(config)
        }
        Command::Stdio => {
            let config = Config::load(&overrides, Purpose::Stdio)?;
            let _logging = telemetry::init(&config::log_filter())?;
            serve::stdio(config)
        }
    }
}

/// The configuration of a command that works once. Whoever typed it is told where a file was found that nobody named.
fn load_once(overrides: &Overrides) -> Result<Config, Faults> {
    let config = Config::load(overrides, Purpose::Once)?;
    if let Some(file @ (ConfigFile::WorkingFolder | ConfigFile::User(_))) = &config.file {
        eprintln!("lyceum: the configuration is {file}");
    }
    Ok(config)
}
