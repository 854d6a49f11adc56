//! A branch of a Git repository as a source: a shallow bare clone of its newest commit, updated by `git fetch`.
//!
//! Invariants: the clone folder is complete or absent; the URL and git's arguments contain no secret; only the holder
//! of the lock file next to the clone changes it.

mod address;
mod clone_dir;
mod file_commit;
mod lock;
mod origin;
mod tree;

use std::{
    ffi::OsStr,
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use lyceum_net::Secret;

use crate::{
    Error, Fault, ReadError, Snapshot,
    git::{self, Invocation},
    github::App,
    source::blocking,
};
pub(crate) use address::Login;
use address::{Access, Address};
use clone_dir::{CloneDir, State};
pub use file_commit::{FileCommit, Pushed};
use lock::Lock;
pub(crate) use origin::Origin;
use tree::Head;
pub(crate) use tree::TreeFiles;

/// Maximum size of a file to read into memory when checking a clone for corruption.
const MAX_CHECKED_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// A branch of a Git repository. Cheap to clone.
#[derive(Clone)]
pub struct Repository(Arc<Inner>);

/// Settings of a [`Repository`].
///
/// No `Debug`: the URL may contain a password.
pub struct Settings {
    /// The URL: https, http, ssh, git or file, or a path. Credentials are removed from it.
    pub url: String,
    /// The branch.
    pub branch: String,
    /// Token for https; without it, git uses the machine's credential helpers.
    pub token: Option<Secret>,
    /// GitHub App whose installation tokens are used instead.
    pub app: Option<App>,
    /// The clone folder. Sibling names that start with its name and a dot are reserved too.
    pub folder: PathBuf,
    /// This program, which `git` runs to get the token; it calls [`askpass`](crate::askpass()).
    pub askpass: PathBuf,
    /// The `git` program.
    pub git: PathBuf,
    /// Timeouts.
    pub limits: Limits,
}

/// Timeouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Timeout of a clone.
    pub clone: Duration,
    /// Timeout of a fetch.
    pub fetch: Duration,
    /// How long to wait for another process that holds the lock of the clone.
    pub turn: Duration,
}

struct Inner {
    url: String,
    branch: String,
    /// The full ref name of the branch.
    reference: String,
    access: Option<Access>,
    clone_dir: CloneDir,
    git: PathBuf,
    limits: Limits,
    /// The last snapshot, so that the same commit is not listed twice.
    last: Mutex<Option<Snapshot>>,
}

/// Which files of a clone were read successfully.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CheckedFiles {
    Everything,
    SmallFiles,
}

impl Settings {
    /// Settings for the branch `main`, with default timeouts and no token.
    pub fn new(url: impl Into<String>, folder: impl Into<PathBuf>, askpass: impl Into<PathBuf>) -> Self {
        Self {
            url: url.into(),
            branch: "main".to_owned(),
            token: None,
            app: None,
            folder: folder.into(),
            askpass: askpass.into(),
            git: PathBuf::from("git"),
            limits: Limits::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            clone: Duration::from_secs(600),
            fetch: Duration::from_secs(120),
            turn: Duration::from_secs(30),
        }
    }
}

impl Repository {
    /// Validates the URL and the branch; fetches nothing yet.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        let address = Address::parse(&settings.url)?;
        let reference = format!("refs/heads/{}", settings.branch);
        if gix::refs::FullName::try_from(reference.as_str()).is_err() || settings.branch.starts_with('-') {
            return Err(Error::Settings(format!("{:?} is not a valid branch name", settings.branch)));
        }
        let url = address.url.clone();
        if address.had_secret() {
            tracing::warn!(source.url = url, "the repository URL contains a password; use token_env instead");
        }
        let access = address.access(settings.app, settings.token, settings.askpass);
        if access.as_ref().is_some_and(|access| access.origin.is_unencrypted()) {
            return Err(Error::Settings(
                "refusing to send a token over plain http; use an https URL".to_owned(),
            ));
        }
        Ok(Self(Arc::new(Inner {
            url,
            branch: settings.branch,
            reference,
            access,
            clone_dir: CloneDir::new(settings.folder),
            git: settings.git,
            limits: settings.limits,
            last: Mutex::new(None),
        })))
    }

    /// The URL, without credentials.
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// The branch.
    pub fn branch(&self) -> &str {
        &self.0.branch
    }

    /// The last fetched commit of this URL and branch, if any. Blocks.
    pub fn local(&self) -> Result<Option<Snapshot>, Error> {
        match self.0.clone_dir.state()? {
            State::Empty => Ok(None),
            State::Clone => self.0.snapshot(),
        }
    }

    /// Fetches the newest commit.
    pub async fn refresh(&self) -> Result<Snapshot, Error> {
        let inner = self.0.clone();
        let lock = Lock::take(inner.clone_dir.lock(), inner.limits.turn).await?;
        let (lock, state) = blocking("inspect the clone", move || {
            inner.clone_dir.clean_up(&lock, inner.limits.fetch)?;
            let state = inner.clone_dir.state()?;
            Ok((lock, state))
        })
        .await?;
        match state {
            State::Empty => self.reclone(&lock).await,
            State::Clone => match self.fetch(&lock).await {
                Err(Error::Damaged(why)) => {
                    tracing::warn!(error = %why, source.url = self.url(), "the local clone is corrupt; cloning again");
                    self.reclone(&lock).await
                }
                fetched => fetched,
            },
        }
    }

    /// Fetches the newest commit with a new clone, for when the existing clone turns out to be corrupt.
    pub async fn renew(&self) -> Result<Snapshot, Error> {
        let inner = self.0.clone();
        let lock = Lock::take(inner.clone_dir.lock(), inner.limits.turn).await?;
        let lock = blocking("inspect the clone", move || {
            inner.clone_dir.clean_up(&lock, inner.limits.fetch)?;
            Ok(lock)
        })
        .await?;
        self.reclone(&lock).await
    }

    /// Commits a new file and pushes it to a branch. Repeating it pushes the same commit.
    pub async fn push_file(&self, new: FileCommit) -> Result<Pushed, Error> {
        let inner = self.0.clone();
        let lock = Lock::take(inner.clone_dir.lock(), inner.limits.turn).await?;
        let branch = new.branch.clone();
        let written = blocking("write a commit", move || new.write(&inner.clone_dir)).await?;
        if let Pushed::Commit(commit) = &written {
            let refspec = format!("{commit}:refs/heads/{branch}");
            let mut arguments = self.in_clone(&["push", "--quiet", "--no-verify", "--recurse-submodules=no"]);
            arguments.extend(["--", self.url(), &refspec].map(OsStr::new));
            self.git(&lock, &arguments, self.0.limits.fetch).await?;
        }
        Ok(written)
    }

    /// Clones into a temporary sibling and moves the complete clone into place.
    async fn reclone(&self, lock: &Lock) -> Result<Snapshot, Error> {
        let temp_clone = self.0.clone_dir.temp_clone();
        let from = format!("{}={}", tree::ORIGIN_CONFIG_KEY, self.url());
        let options =
            ["clone", "--quiet", "--bare", "--depth=1", "--single-branch", "--no-tags", "--no-local"];
        let mut arguments = options.map(OsStr::new).to_vec();
        arguments.extend(["--template=", "--config", &from, "--branch", self.branch()].map(OsStr::new));
        arguments.extend(["--", self.url()].map(OsStr::new));
        arguments.push(temp_clone.path().as_os_str());
        self.git_remote(lock, &arguments, self.0.limits.clone).await?;
        let inner = self.0.clone();
        blocking("move the clone into place", move || {
            inner.clone_dir.install(&temp_clone)?;
            // Its clone is gone.
            inner.remember(None);
            inner.snapshot()?.ok_or_else(|| Error::Damaged("the branch is not in the new clone".into()))
        })
        .await
    }

    /// Fetches the newest commit of the branch into the clone, even if the clone is of another URL.
    async fn fetch(&self, lock: &Lock) -> Result<Snapshot, Error> {
        let inner = self.0.clone();
        let before = blocking("inspect the clone", move || inner.head()).await?;
        let is_ours = before.as_ref().is_some_and(|head| head.origin_url() == Some(self.url()));

        // Without `--quiet`, which suppresses the redirect warning.
        let options =
            ["fetch", "--no-progress", "--depth=1", "--force", "--no-tags", "--no-prune", "--no-auto-gc"];
        let refspec = format!("+{0}:{0}", self.0.reference);
        let mut arguments = self.in_clone(&options);
        arguments.extend(["--no-recurse-submodules", "--", self.url(), &refspec].map(OsStr::new));
        match self.git_remote(lock, &arguments, self.0.limits.fetch).await {
            // Objects of another repository can conflict, such as another hash format.
            Err(Error::Git { fault: Fault::Other, message, .. }) if !is_ours => {
                return Err(Error::Damaged(message.into()));
            }
            Err(error @ Error::Git { fault: Fault::Other, .. }) => {
                // Return git's error unless the clone turns out to be corrupt.
                let inner = self.0.clone();
                let checked = blocking("inspect the clone", move || inner.check()).await?;
                if checked == CheckedFiles::SmallFiles {
                    self.verify_packs(lock).await?;
                }
                return Err(error);
            }
            fetched => fetched?,
        }
        if !is_ours {
            let arguments = self.in_clone(&["config", tree::ORIGIN_CONFIG_KEY, self.url()]);
            self.git(lock, &arguments, self.0.limits.fetch).await?;
        }

        let inner = self.0.clone();
        let after = blocking("read the clone", move || inner.snapshot()).await?;
        let after =
            after.ok_or_else(|| Error::Damaged("the branch is not in the clone after a fetch".into()))?;
        if before.is_none_or(|before| Some(before.commit().as_str()) != after.commit()) {
            self.gc(lock).await;
        }
        Ok(after)
    }

    /// Runs `git verify-pack`, which streams large files.
    async fn verify_packs(&self, lock: &Lock) -> Result<(), Error> {
        let inner = self.0.clone();
        let packs = blocking("list the packs", move || inner.clone_dir.packs()).await?;
        let options = ["-c", "core.bigFileThreshold=16m", "verify-pack", "--"];
        let mut arguments = self.in_clone(&options);
        arguments.extend(packs.iter().map(|pack| pack.as_os_str()));
        match self.git(lock, &arguments, self.0.limits.fetch).await {
            Err(Error::Git { message, .. }) => Err(Error::Damaged(message.into())),
            // A timeout doesn't prove corruption.
            _ => Ok(()),
        }
    }

    /// Runs `git gc --auto`. Snapshots of earlier commits stay readable for two weeks, until unreachable objects are
    /// pruned.
    async fn gc(&self, lock: &Lock) {
        let arguments = self.in_clone(&["gc", "--auto", "--quiet"]);
        if let Err(error) = self.git(lock, &arguments, self.0.limits.fetch).await {
            tracing::warn!(%error, source.url = self.url(), "could not repack a clone");
        }
    }

    fn in_clone<'a>(&'a self, arguments: &[&'a str]) -> Vec<&'a OsStr> {
        let git_dir = [OsStr::new("--git-dir"), self.0.clone_dir.folder().as_os_str()];
        git_dir.into_iter().chain(arguments.iter().map(|text| OsStr::new(*text))).collect()
    }

    /// Runs git with access to the server.
    async fn git_remote(&self, lock: &Lock, arguments: &[&OsStr], limit: Duration) -> Result<(), Error> {
        let Some(access) = &self.0.access else { return self.git(lock, arguments, limit).await };
        let login = access.login().await?;
        let done = self.git_with(lock, arguments, limit, Some(&login)).await;
        if matches!(done, Err(Error::Git { fault: Fault::Denied, .. })) {
            access.refused();
        }
        done
    }

    /// Runs git on the clone only.
    async fn git(&self, lock: &Lock, arguments: &[&OsStr], limit: Duration) -> Result<(), Error> {
        self.git_with(lock, arguments, limit, None).await
    }

    async fn git_with(
        &self,
        lock: &Lock,
        arguments: &[&OsStr],
        limit: Duration,
        login: Option<&Login>,
    ) -> Result<(), Error> {
        let Inner { git, branch, .. } = &*self.0;
        let invocation = Invocation { git, arguments, login, limit, branch };
        let message = git::run(&invocation, |group| lock.record_group(group)).await?;
        if let Some(address) = message.moved_to() {
            tracing::warn!(source.url = self.url(), address, "the repository has moved; update its URL");
        }
        Ok(())
    }
}

impl Inner {
    fn head(&self) -> Result<Option<Head>, Error> {
        Head::find(self.clone_dir.folder(), &self.reference)
    }

    /// A snapshot of the local commit, if it came from this URL.
    fn snapshot(&self) -> Result<Option<Snapshot>, Error> {
        let Some(head) = self.head()?.filter(|head| head.origin_url() == Some(&self.url)) else {
            return Ok(None);
        };
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(last) = last.as_ref().filter(|last| last.commit() == Some(&head.commit())) {
            return Ok(Some(last.clone()));
        }
        let snapshot = head.list(last.as_ref())?;
        self.remember(Some(snapshot.clone()));
        Ok(Some(snapshot))
    }

    /// Reads all files of the local commit, bypassing the cache, except files too large for memory.
    fn check(&self) -> Result<CheckedFiles, Error> {
        let Some(head) = self.head()? else { return Ok(CheckedFiles::Everything) };
        let snapshot = head.list(None)?;
        let mut checked = CheckedFiles::Everything;
        for file in snapshot.files().keys() {
            match snapshot.read(file, MAX_CHECKED_FILE_BYTES) {
                Ok(_) => {}
                Err(ReadError::TooLarge { .. }) => checked = CheckedFiles::SmallFiles,
                Err(error) => return Err(Error::Damaged(error.into())),
            }
        }
        Ok(checked)
    }

    fn remember(&self, snapshot: Option<Snapshot>) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = snapshot;
    }
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repository")
            .field("url", &self.0.url)
            .field("branch", &self.0.branch)
            .finish_non_exhaustive()
    }
}
