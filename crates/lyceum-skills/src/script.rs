//! Running a script of a skill: finding its runner, handing it its files and arguments, a few at a time.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use lyceum_content::skill::{self, Script};
use lyceum_model::{ErrorCode, RelPath};
use lyceum_sandbox::{
    Cwd, Helper, Level, LevelChoice, Limits, MemoryLimit, Network, Sandbox, ScriptOutcome, Workspace,
    WorkspaceAccess,
};
use lyceum_tools::Error;
use tokio::sync::{Mutex, Semaphore};

use crate::{SkillSet, runner, service::invalid_path};

/// How many scripts run at once.
const MAX_RUNNING: usize = 4;

/// How many may wait for their turn.
const MAX_QUEUED: usize = 16;

/// How long one waits for its turn.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a call may take beside its script: until its turn, for the first test of the sandbox, and for its end.
const OVERHEAD_TIMEOUT: Duration = Duration::from_secs(120);

/// The largest folder that is handed to a script, in bytes.
const MAX_SCRIPT_BYTES: u64 = 64 * 1024 * 1024;

/// How many files it may have.
const MAX_SCRIPT_FILES: usize = 2_000;

/// Where a script finds programs, beside the folder of its runner.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// How long after it was found that scripts can't be kept here that is tried again.
const SELF_TEST_INTERVAL: Duration = Duration::from_secs(60);

/// Runs scripts.
#[derive(Debug)]
pub struct Scripts {
    setup: Setup,
    sandbox: Mutex<Option<SandboxProbe>>,
    turns: Semaphore,
    places: Semaphore,
}

/// What running scripts needs to know of the machine.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The level that was asked for.
    pub wanted: LevelChoice,
    /// The program that sets the sandbox up: this one, under another name.
    pub helper: Helper,
    /// Where programs are looked for: the folders of `PATH`.
    pub search_path: Vec<PathBuf>,
    /// The folder for scratch folders.
    pub temporary: PathBuf,
}

/// What came of looking for a sandbox.
#[derive(Debug)]
struct SandboxProbe {
    found: Result<Sandbox, String>,
    at: Instant,
}

/// One script to run.
pub(crate) struct Request {
    pub file: RelPath,
    /// The folder of the skill that the script is of.
    pub folder: Option<RelPath>,
    pub args: BTreeMap<String, String>,
    pub runner: String,
    pub network: Network,
    pub cwd: Option<String>,
}

impl Scripts {
    /// Makes ready; nothing is tried before the first script, or before the level is asked for.
    pub fn new(setup: Setup) -> Self {
        Self {
            setup,
            sandbox: Mutex::new(None),
            turns: Semaphore::new(MAX_RUNNING),
            places: Semaphore::new(MAX_RUNNING + MAX_QUEUED),
        }
    }

    /// What scripts are kept in here, or why they can't be run.
    pub async fn level(&self) -> Result<Level, String> {
        self.sandbox().await.map(|sandbox| sandbox.level())
    }

    /// How the memory of a script is limited here, or why none can be run.
    pub async fn memory_limit(&self) -> Result<MemoryLimit, String> {
        self.sandbox().await.map(|sandbox| sandbox.memory_limit())
    }

    /// Runs a script and waits for its end. Dropping the future ends the script.
    pub(crate) async fn run(
        &self,
        skill_set: &Arc<SkillSet>,
        request: Request,
    ) -> Result<ScriptOutcome, Error> {
        let unavailable = |message: String| Error::Failed { code: ErrorCode::Unavailable, message };
        let busy = || unavailable("too many scripts are running; try again in a moment".to_owned());
        let _place = self.places.try_acquire().map_err(|_| busy())?;
        let turn = tokio::time::timeout(QUEUE_TIMEOUT, self.turns.acquire()).await;
        let _turn = turn.ok().and_then(Result::ok).ok_or_else(busy)?;
        let sandbox = self.sandbox().await.map_err(unavailable)?;
        let script = self.script(skill_set, request, sandbox.level()).await?;
        sandbox.run(script).await.map_err(public_error)
    }

    /// The sandbox of this machine. What works is kept; what does not is tried again after a while, for it may have
    /// been a bad moment.
    async fn sandbox(&self) -> Result<Sandbox, String> {
        let mut tried = self.sandbox.lock().await;
        if let Some(SandboxProbe { found, at }) = &*tried
            && (found.is_ok() || at.elapsed() < SELF_TEST_INTERVAL)
        {
            return found.clone();
        }
        let Setup { wanted, helper, search_path, temporary } = self.setup.clone();
        let setup = lyceum_sandbox::Setup { helper, base: temporary, search: search_path };
        let found = Sandbox::find(wanted, setup).await.map_err(|unavailable| unavailable.to_string());
        *tried = Some(SandboxProbe { found: found.clone(), at: Instant::now() });
        found
    }

    async fn script(
        &self,
        skill_set: &Arc<SkillSet>,
        request: Request,
        level: Level,
    ) -> Result<lyceum_sandbox::Script, Error> {
        let settings = &skill_set.settings.scripts;
        let runner = runner::command(&request, &self.setup.search_path)?;
        let limits = Limits {
            timeout: Duration::from_secs(settings.timeout_seconds),
            output_bytes: settings.max_output_bytes,
            address_bytes: address_bytes(&runner),
            ..Limits::default()
        };
        let own =
            runner.first().map(Path::new).and_then(Path::parent).map(|folder| folder.display().to_string());
        let path = own.into_iter().chain([SYSTEM_PATH.to_owned()]).collect::<Vec<_>>().join(":");
        let workspace = settings.workspace.as_ref().map(workspace).transpose()?;
        let cwd = cwd(request.cwd, level, workspace.as_ref())?;
        let readable =
            runner.first().map(|program| runner::libraries_of(Path::new(program))).unwrap_or_default();
        let (skill_set, folder) = (skill_set.clone(), request.folder);
        let files = tokio::task::spawn_blocking(move || files(&skill_set, folder.as_ref())).await;
        Ok(lyceum_sandbox::Script {
            files: files.map_err(Error::internal)??,
            file: request.file,
            runner,
            cwd,
            args: request.args,
            path,
            network: request.network,
            limits,
            readable,
            workspace,
        })
    }
}

/// How much address space each process of a runner may reserve. Node reserves far more than it uses, and can't start a
/// thread otherwise; what is really used has a limit of its own.
fn address_bytes(runner: &[String]) -> u64 {
    const RESERVING: [&str; 5] = ["node", "npx", "tsx", "deno", "bun"];
    let program =
        runner.first().map(Path::new).and_then(Path::file_name).and_then(OsStr::to_str).unwrap_or_default();
    if RESERVING.contains(&program) { 16 * 1024 * 1024 * 1024 } else { Limits::default().address_bytes }
}

/// What a caller is told of a run that failed; what names files of ours stays in the log.
fn public_error(error: lyceum_sandbox::Error) -> Error {
    use lyceum_sandbox::Error as Fault;
    let unavailable =
        |message: &str| Error::Failed { code: ErrorCode::Unavailable, message: message.to_owned() };
    match error {
        Fault::Invalid(message) => Error::Failed { code: ErrorCode::ValidationError, message },
        Fault::NotStarted(cause) => {
            tracing::warn!(error.cause = cause, "could not start the runner of a script");
            unavailable(
                "could not start the runner in the sandbox; install it where every user of the machine can read it",
            )
        }
        Fault::NoNetwork(cause) => Error::Failed {
            code: ErrorCode::Unavailable,
            message: format!(
                "the script declares network: true, and its network can't be limited to public addresses here: {cause}; the \
                 one who runs this server can set skills.scripts.network to \"any\" or \"none\""
            ),
        },
        Fault::Refused(cause) => {
            tracing::warn!(error.cause = cause, "could not create the sandbox of a script");
            unavailable("could not create the sandbox, so the script was not run; see lyceum doctor")
        }
        other @ (Fault::Helper(_) | Fault::Lost) => Error::internal(other),
    }
}

/// How long a call may take whose script may take so long.
pub(crate) fn deadline(timeout_seconds: u64) -> Duration {
    Duration::from_secs(timeout_seconds).saturating_add(OVERHEAD_TIMEOUT)
}

/// The required arguments that are not given.
pub(crate) fn missing<'a>(script: &'a Script, given: &BTreeMap<String, String>) -> Vec<&'a str> {
    let required = script.args.iter().filter(|arg| arg.required).map(|arg| arg.name.as_str());
    required.filter(|name| !given.contains_key(*name)).collect()
}

/// The workspace as the sandbox takes it: without links, so that none can lead it elsewhere.
fn workspace(chosen: &skill::Workspace) -> Result<Workspace, Error> {
    let path = chosen.path.canonicalize().ok().filter(|path| path.is_dir()).ok_or_else(|| Error::Failed {
        code: ErrorCode::Unavailable,
        message: format!("scripts.workspace: there is no folder {}", chosen.path.display()),
    })?;
    let access = match chosen.access {
        skill::WorkspaceAccess::Read => WorkspaceAccess::Read,
        skill::WorkspaceAccess::Write => WorkspaceAccess::Write,
    };
    Ok(Workspace { path, access })
}

/// A folder of the skill or of the workspace; anywhere only where nothing is held back anyway.
fn cwd(requested: Option<String>, level: Level, workspace: Option<&Workspace>) -> Result<Cwd, Error> {
    let Some(requested) = requested.filter(|requested| requested != ".") else { return Ok(Cwd::Skill) };
    if level == Level::None && Path::new(&requested).is_absolute() {
        return Ok(Cwd::Absolute(requested.into()));
    }
    if let Some(folder) = in_workspace(&requested, workspace) {
        return Ok(Cwd::Absolute(folder));
    }
    RelPath::parse(&requested).map(Cwd::Below).map_err(|error| invalid_path("cwd", &error))
}

/// An absolute path that leads to a folder of the workspace, wherever its links lead.
fn in_workspace(folder: &str, workspace: Option<&Workspace>) -> Option<PathBuf> {
    let folder = Path::new(folder).is_absolute().then(|| Path::new(folder).canonicalize().ok()).flatten()?;
    (folder.starts_with(&workspace?.path) && folder.is_dir()).then_some(folder)
}

/// All files of a skill's folder.
fn files(skill_set: &SkillSet, folder: Option<&RelPath>) -> Result<Vec<(RelPath, Vec<u8>)>, Error> {
    let listed = skill_set.files_below(folder);
    let size: u64 = listed.iter().map(|(_, size)| size).sum();
    if listed.len() > MAX_SCRIPT_FILES || size > MAX_SCRIPT_BYTES {
        let message = format!(
            "the skill's folder has more than {MAX_SCRIPT_FILES} files or 64 MiB; scripts of it can't be run"
        );
        return Err(Error::Failed { code: ErrorCode::PayloadTooLarge, message });
    }
    let place = |file: &RelPath| folder.map_or_else(|| Some(file.clone()), |folder| folder.join(file));
    // A file that went away since is not there for the script either.
    let read = listed.into_iter().filter_map(|(file, _)| {
        let bytes = skill_set.read(&place(&file)?, MAX_SCRIPT_BYTES).ok()?;
        Some((file, bytes))
    });
    Ok(read.collect())
}
