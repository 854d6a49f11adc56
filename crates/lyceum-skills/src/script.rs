//! Runs scripts of skills: runner, files, arguments and concurrency limit.

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

/// Maximum number of concurrent scripts.
const MAX_RUNNING: usize = 4;

/// Maximum number of queued scripts.
const MAX_QUEUED: usize = 16;

/// How long a script may wait in the queue.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(30);

/// Time of a call besides the script itself: queueing, the sandbox self-test, and clean-up.
const OVERHEAD_TIMEOUT: Duration = Duration::from_secs(120);

/// Maximum size of the skill's folder, in bytes.
const MAX_SCRIPT_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum number of files in it.
const MAX_SCRIPT_FILES: usize = 2_000;

/// The `PATH` of a script, after the folder of its runner.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// How long a failed sandbox self-test is cached.
const SELF_TEST_INTERVAL: Duration = Duration::from_secs(60);

/// Runs scripts.
#[derive(Debug)]
pub struct Scripts {
    setup: Setup,
    sandbox: Mutex<Option<SandboxProbe>>,
    running: Semaphore,
    admitted: Semaphore,
}

/// Machine-specific setup for running scripts.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The configured sandbox level.
    pub wanted: LevelChoice,
    /// The helper that sets up the sandbox: this program, in another mode.
    pub helper: Helper,
    /// The folders of `PATH`.
    pub search_path: Vec<PathBuf>,
    /// Parent of the scratch folders.
    pub temporary: PathBuf,
}

/// Cached result of the sandbox self-test.
#[derive(Debug)]
struct SandboxProbe {
    result: Result<Sandbox, String>,
    at: Instant,
}

/// One script to run.
pub(crate) struct Request {
    pub file: RelPath,
    /// The folder of the skill that declares the script.
    pub folder: Option<RelPath>,
    pub args: BTreeMap<String, String>,
    pub runner: String,
    pub network: Network,
    pub cwd: Option<String>,
}

impl Scripts {
    /// Creates the runner; the sandbox self-test runs on first use.
    pub fn new(setup: Setup) -> Self {
        Self {
            setup,
            sandbox: Mutex::new(None),
            running: Semaphore::new(MAX_RUNNING),
            admitted: Semaphore::new(MAX_RUNNING + MAX_QUEUED),
        }
    }

    /// The sandbox level in use, or why scripts can't run.
    pub async fn level(&self) -> Result<Level, String> {
        self.sandbox().await.map(|sandbox| sandbox.level())
    }

    /// How memory is limited, or why scripts can't run.
    pub async fn memory_limit(&self) -> Result<MemoryLimit, String> {
        self.sandbox().await.map(|sandbox| sandbox.memory_limit())
    }

    /// Runs a script to completion. Dropping the future kills it.
    pub(crate) async fn run(
        &self,
        skill_set: &Arc<SkillSet>,
        request: Request,
    ) -> Result<ScriptOutcome, Error> {
        let unavailable = |message: String| Error::Failed { code: ErrorCode::Unavailable, message };
        let busy = || unavailable("too many scripts are running; try again in a moment".to_owned());
        let _admitted = self.admitted.try_acquire().map_err(|_| busy())?;
        let permit = tokio::time::timeout(QUEUE_TIMEOUT, self.running.acquire()).await;
        let _running = permit.ok().and_then(Result::ok).ok_or_else(busy)?;
        let sandbox = self.sandbox().await.map_err(unavailable)?;
        let script = self.script(skill_set, request, sandbox.level()).await?;
        sandbox.run(script).await.map_err(public_error)
    }

    /// The sandbox of this machine. Success is cached; a failure is retried after a while, since it may be transient.
    async fn sandbox(&self) -> Result<Sandbox, String> {
        let mut probe = self.sandbox.lock().await;
        if let Some(SandboxProbe { result, at }) = &*probe
            && (result.is_ok() || at.elapsed() < SELF_TEST_INTERVAL)
        {
            return result.clone();
        }
        let Setup { wanted, helper, search_path, temporary } = self.setup.clone();
        let setup = lyceum_sandbox::Setup { helper, base: temporary, search: search_path };
        let result = Sandbox::find(wanted, setup).await.map_err(|unavailable| unavailable.to_string());
        *probe = Some(SandboxProbe { result: result.clone(), at: Instant::now() });
        result
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

/// Address space limit of a runner's processes. Node reserves far more than it uses, and can't start threads otherwise;
/// actual memory use has its own limit.
fn address_bytes(runner: &[String]) -> u64 {
    const LARGE_RESERVATIONS: [&str; 5] = ["node", "npx", "tsx", "deno", "bun"];
    let program =
        runner.first().map(Path::new).and_then(Path::file_name).and_then(OsStr::to_str).unwrap_or_default();
    if LARGE_RESERVATIONS.contains(&program) {
        16 * 1024 * 1024 * 1024
    } else {
        Limits::default().address_bytes
    }
}

/// Converts a sandbox error for the caller; details that name server paths go to the log.
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

/// Deadline of a call, from the timeout of its script.
pub(crate) fn deadline(timeout_seconds: u64) -> Duration {
    Duration::from_secs(timeout_seconds).saturating_add(OVERHEAD_TIMEOUT)
}

/// Required arguments that are missing.
pub(crate) fn missing<'a>(script: &'a Script, given: &BTreeMap<String, String>) -> Vec<&'a str> {
    let required = script.args.iter().filter(|arg| arg.required).map(|arg| arg.name.as_str());
    required.filter(|name| !given.contains_key(*name)).collect()
}

/// Converts the workspace for the sandbox, with its real path, so that no symlink can redirect it.
fn workspace(chosen: &skill::Workspace) -> Result<Workspace, Error> {
    let path = chosen.path.canonicalize().ok().filter(|path| path.is_dir()).ok_or_else(|| Error::Failed {
        code: ErrorCode::Unavailable,
        message: format!("scripts.workspace: no such folder: {}", chosen.path.display()),
    })?;
    let access = match chosen.access {
        skill::WorkspaceAccess::Read => WorkspaceAccess::Read,
        skill::WorkspaceAccess::Write => WorkspaceAccess::Write,
    };
    Ok(Workspace { path, access })
}

/// The working directory: in the skill or the workspace; any folder only without a sandbox.
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

/// The real path of a folder, if it is absolute and inside the workspace.
fn in_workspace(folder: &str, workspace: Option<&Workspace>) -> Option<PathBuf> {
    let folder = Path::new(folder).is_absolute().then(|| Path::new(folder).canonicalize().ok()).flatten()?;
    (folder.starts_with(&workspace?.path) && folder.is_dir()).then_some(folder)
}

/// Reads all files of a skill's folder.
fn files(skill_set: &SkillSet, folder: Option<&RelPath>) -> Result<Vec<(RelPath, Vec<u8>)>, Error> {
    let listed = skill_set.files_below(folder);
    let size: u64 = listed.iter().map(|(_, size)| size).sum();
    if listed.len() > MAX_SCRIPT_FILES || size > MAX_SCRIPT_BYTES {
        let message = format!(
            "the skill's folder has more than {MAX_SCRIPT_FILES} files or 64 MiB; its scripts can't be run"
        );
        return Err(Error::Failed { code: ErrorCode::PayloadTooLarge, message });
    }
    let in_skill_set = |file: &RelPath| folder.map_or_else(|| Some(file.clone()), |folder| folder.join(file));
    // Skip files that vanished meanwhile.
    let read = listed.into_iter().filter_map(|(file, _)| {
        let bytes = skill_set.read(&in_skill_set(&file)?, MAX_SCRIPT_BYTES).ok()?;
        Some((file, bytes))
    });
    Ok(read.collect())
}
