//! Shared by the tests: a folder for runs, scripts, the driver, and a check for leftovers.

use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use lyceum_harness::skip::skipped;
use lyceum_model::RelPath;
use lyceum_sandbox::{Cwd, Error, Helper, Limits, Network, Sandbox, Script, ScriptOutcome, Setup, Variant};
use tempfile::TempDir;

/// All variants with a sandbox.
pub(crate) const CONFINED: [Variant; 4] =
    [Variant::Strict, Variant::Namespaces, Variant::Plain, Variant::Oldest];

/// All variants.
pub(crate) const ALL: [Variant; 5] =
    [Variant::None, Variant::Strict, Variant::Namespaces, Variant::Plain, Variant::Oldest];

pub(crate) fn driver() -> &'static str {
    env!("CARGO_BIN_EXE_sandbox-driver")
}

/// A base folder for runs, open to every user.
pub(crate) struct Stage {
    base: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::at(&std::env::temp_dir())
    }

    /// A stage on tmpfs, for many files.
    pub(crate) fn in_memory() -> Self {
        Self::at(Path::new("/dev/shm"))
    }

    fn at(folder: &Path) -> Self {
        let base = tempfile::Builder::new().prefix("sandbox-test-").tempdir_in(folder).unwrap();
        fs::set_permissions(base.path(), Permissions::from_mode(0o777)).unwrap();
        Self { base }
    }

    pub(crate) fn path(&self) -> &Path {
        self.base.path()
    }

    pub(crate) fn setup(&self) -> Setup {
        Setup {
            helper: Helper { program: PathBuf::from(driver()), args: vec!["helper".to_owned()] },
            base: self.path().to_owned(),
            search: search(),
        }
    }

    /// Returns the sandbox, or `None` if this machine doesn't support it, which is recorded as skipped.
    pub(crate) async fn sandbox(&self, variant: Variant) -> Option<Sandbox> {
        match Sandbox::find_variant(variant, self.setup()).await {
            Ok(sandbox) => Some(sandbox),
            Err(error) => {
                skip_sandbox(&format!("{variant:?}"), &error.to_string());
                None
            }
        }
    }

    /// Runs a script in each of these sandboxes.
    pub(crate) async fn run_in(
        &self,
        variants: &[Variant],
        script: &Script,
    ) -> Vec<(Variant, ScriptOutcome)> {
        let mut outcomes = Vec::new();
        for variant in variants {
            if let Some(sandbox) = self.sandbox(*variant).await {
                let finished = sandbox.run(script.clone()).await;
                outcomes.push((
                    *variant,
                    finished.unwrap_or_else(|error| panic!("{variant:?}: {}", chain(&error))),
                ));
            }
        }
        self.is_clean();
        outcomes
    }

    /// Asserts that no folder or process of any run is left.
    #[track_caller]
    pub(crate) fn is_clean(&self) {
        let marker = self.path().to_str().unwrap();
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let processes = processes_with(marker);
            let folders: Vec<_> =
                fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            let runs = folders.iter().filter(|name| name.to_string_lossy().starts_with("lyceum-")).count();
            if processes.is_empty() && runs == 0 {
                return;
            }
            assert!(Instant::now() < until, "left: {processes:?}, {folders:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Folders to search for `bwrap`.
pub(crate) fn search() -> Vec<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect()
}

/// Whether a sandbox is unavailable because of the machine: no bubblewrap, or no permission to create namespaces.
pub(crate) fn is_of_the_machine(reason: &str) -> bool {
    ["bwrap) is not installed", "could not create namespaces", "No permissions to create new namespace"]
        .iter()
        .any(|text| reason.contains(text))
}

/// Records a variant as skipped; fails if the reason is not the machine.
#[track_caller]
pub(crate) fn skip_sandbox(variant: &str, reason: &str) {
    assert!(is_of_the_machine(reason), "{variant}: {reason}");
    skipped(&format!("{variant}: {reason}"));
}

/// Processes with this text in their command line.
pub(crate) fn processes_with(text: &str) -> Vec<String> {
    let commands = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let command = fs::read(entry.path().join("cmdline")).ok()?;
        Some(format!(
            "{} {}",
            entry.file_name().display(),
            String::from_utf8_lossy(&command).replace('\0', " ")
        ))
    });
    commands.filter(|command| command.contains(text)).collect()
}

/// Waits until a process with this text in its command line exists, or is gone.
#[track_caller]
pub(crate) fn wait_for_process(text: &str, there: bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while processes_with(text).is_empty() == there {
        assert!(Instant::now() < until, "{text} there: {there}; {:?}", processes_with(text));
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn bash(text: &str) -> Script {
    script("/bin/bash", text)
}

pub(crate) fn python(text: &str) -> Script {
    script("/usr/bin/python3", text)
}

pub(crate) fn script(runner: &str, text: &str) -> Script {
    let file = RelPath::parse("scripts/run").unwrap();
    Script {
        files: vec![(file.clone(), text.as_bytes().to_vec())],
        file,
        runner: vec![runner.to_owned()],
        cwd: Cwd::Skill,
        args: BTreeMap::new(),
        path: "/usr/bin:/bin".to_owned(),
        network: Network::None,
        limits: Limits { timeout: Duration::from_secs(20), ..Limits::default() },
        readable: Vec::new(),
        workspace: None,
    }
}

pub(crate) fn is_root() -> bool {
    let id = Command::new("/usr/bin/id").arg("-u").output().unwrap();
    id.stdout == b"0\n"
}

/// An error with its source.
pub(crate) fn chain(error: &Error) -> String {
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}
