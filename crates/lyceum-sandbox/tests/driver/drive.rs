//! Runs a script given as JSON on standard input, and prints its outcome as JSON.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use lyceum_model::RelPath;
use lyceum_sandbox::{Cwd, Helper, LevelChoice, Limits, Network, Sandbox, Script, Setup, Variant, Workspace};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Request {
    variant: String,
    base: PathBuf,
    runner: Vec<String>,
    script: String,
    args: BTreeMap<String, String>,
    timeout: Duration,
    #[serde(default)]
    network: Network,
    workspace: Option<Workspace>,
}

pub(crate) fn main() -> ExitCode {
    match drive() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stdout(), "{}", json!({ "error": error.to_string() }));
            ExitCode::FAILURE
        }
    }
}

fn drive() -> Result<(), Box<dyn std::error::Error>> {
    let request: Request = serde_json::from_reader(io::stdin())?;
    let setup = Setup {
        helper: Helper::this_program(vec!["helper".to_owned()]),
        base: request.base,
        search: std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect(),
    };
    let file = RelPath::parse("script")?;
    let script = Script {
        files: vec![(file.clone(), request.script.into_bytes())],
        file,
        runner: request.runner,
        cwd: Cwd::Skill,
        args: request.args,
        path: "/usr/bin:/bin".to_owned(),
        network: request.network,
        limits: Limits { timeout: request.timeout, ..Limits::default() },
        readable: Vec::new(),
        workspace: request.workspace,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let finished = runtime.block_on(async {
        let sandbox = match request.variant.as_str() {
            "auto" => Sandbox::find(LevelChoice::Auto, setup).await?,
            "auto-standard" => Sandbox::find(LevelChoice::Standard, setup).await?,
            "strict" => Sandbox::find_variant(Variant::Strict, setup).await?,
            "namespaces" => Sandbox::find_variant(Variant::Namespaces, setup).await?,
            "plain" => Sandbox::find_variant(Variant::Plain, setup).await?,
            "oldest" => Sandbox::find_variant(Variant::Oldest, setup).await?,
            _ => Sandbox::find_variant(Variant::None, setup).await?,
        };
        Ok::<_, Box<dyn std::error::Error>>(sandbox.run(script).await?)
    })?;
    writeln!(io::stdout(), "{}", serde_json::to_string(&finished)?)?;
    Ok(())
}
