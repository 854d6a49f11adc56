//! A branch of a Git repository as a source: a bare clone of its newest commit, brought up to date by `git`.
//!
//! Invariants: the clone's folder is whole or not there; the address and what is handed to `git` hold no secret;
//! and only who holds the lock beside the folder changes it.

mod address;
mod clone_dir;
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
    git::{self, Order},
    source::blocking,
};
use address::Address;
pub(crate) use address::Login;
use clone_dir::{CloneDir, State};
use lock::Lock;
pub(crate) use origin::Origin;
use tree::Head;
pub(crate) use tree::TreeFiles;

/// The largest file that is read into memory to find out whether a clone is damaged.
const MAX_CHECKED_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// A branch of a Git repository. Cheap to clone.
#[derive(Clone)]
pub struct Repository(Arc<Inner>);

/// What a repository is made of.
///
/// It has no `Debug`: the address may hold a password.
pub struct Settings {
    /// The address: https, http, ssh, git or file, or a path. Credentials in it are taken out.
    pub url: String,
    /// The branch.
    pub branch: String,
    /// What opens the repository over https; without it the credential helpers of the machine are asked.
    pub token: Option<Secret>,
    /// Where the clone is kept. The names that begin with its name and a dot beside it are ours too.
    pub folder: PathBuf,
    /// Our own program, which `git` asks for the token; it calls [`askpass`](crate::askpass()).
    pub askpass: PathBuf,
    /// The `git` program.
    pub git: PathBuf,
    /// How long things may take.
    pub limits: Limits,
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The first time.
    pub clone: Duration,
    /// Every other time.
    pub fetch: Duration,
    /// Waiting for another process that works on the same clone.
    pub turn: Duration,
}

struct Inner {
    url: String,
    branch: String,
    /// The full name of the branch.
    reference: String,
    login: Option<Login>,
    place: CloneDir,
    git: PathBuf,
    limits: Limits,
    /// The last snapshot: the same commit is not listed twice.
    last: Mutex<Option<Snapshot>>,
}

/// What of a clone was read and is not damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CheckedFiles {
    Everything,
    SmallFiles,
}

impl Settings {
    /// The branch `main` of a repository, with the usual limits and without a token.
    pub fn new(url: impl Into<String>, folder: impl Into<PathBuf>, askpass: impl Into<PathBuf>) -> Self {
        Self {
            url: url.into(),
            branch: "main".to_owned(),
            token: None,
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
    /// Checks the address and the branch; nothing is fetched yet.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        let address = Address::parse(&settings.url)?;
        let reference = format!("refs/heads/{}", settings.branch);
        if gix::refs::FullName::try_from(reference.as_str()).is_err() || settings.branch.starts_with('-') {
            return Err(Error::Settings(format!("{:?} can't be the name of a branch", settings.branch)));
        }
        let url = address.url.clone();
        if address.had_secret() {
            tracing::warn!(source.url = url, "the repository URL contains a password; use token_env instead");
        }
        let login = address.login(settings.token, settings.askpass);
        if login.as_ref().is_some_and(|login| login.origin.is_open()) {
            return Err(Error::Settings(
                "a token is not sent over plain http, where it can be read on the way; write the address with https"
                    .to_owned(),
            ));
        }
        Ok(Self(Arc::new(Inner {
            url,
            branch: settings.branch,
            reference,
            login,
            place: CloneDir::new(settings.folder),
            git: settings.git,
            limits: settings.limits,
            last: Mutex::new(None),
        })))
    }

    /// The address, without credentials.
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// The branch.
    pub fn branch(&self) -> &str {
        &self.0.branch
    }

    /// The last fetched commit, if there is one of this address and branch. Blocks.
    pub fn local(&self) -> Result<Option<Snapshot>, Error> {
        match self.0.place.state()? {
            State::Empty => Ok(None),
            State::Clone => self.0.snapshot(),
        }
    }

    /// Brings the newest commit in.
    pub async fn refresh(&self) -> Result<Snapshot, Error> {
        let inner = self.0.clone();
        let lock = Lock::take(inner.place.lock(), inner.limits.turn).await?;
        let (lock, state) = blocking("look at the clone", move || {
            inner.place.sweep(&lock, inner.limits.fetch)?;
            let state = inner.place.state()?;
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

    /// Brings the newest commit in with a new clone, where the one that is here turned out to be damaged.
    pub async fn renew(&self) -> Result<Snapshot, Error> {
        let inner = self.0.clone();
        let lock = Lock::take(inner.place.lock(), inner.limits.turn).await?;
        let lock = blocking("look at the clone", move || {
            inner.place.sweep(&lock, inner.limits.fetch)?;
            Ok(lock)
        })
        .await?;
        self.reclone(&lock).await
    }

    /// Clones beside the folder and puts the whole clone in its place.
    async fn reclone(&self, lock: &Lock) -> Result<Snapshot, Error> {
        let unfinished = self.0.place.unfinished();
        let from = format!("{}={}", tree::ORIGIN_CONFIG_KEY, self.url());
        let options =
            ["clone", "--quiet", "--bare", "--depth=1", "--single-branch", "--no-tags", "--no-local"];
        let mut arguments = options.map(OsStr::new).to_vec();
        arguments.extend(["--template=", "--config", &from, "--branch", self.branch()].map(OsStr::new));
        arguments.extend(["--", self.url()].map(OsStr::new));
        arguments.push(unfinished.path().as_os_str());
        self.git(lock, &arguments, self.0.limits.clone).await?;
        let inner = self.0.clone();
        blocking("put the clone in its place", move || {
            inner.place.put(&unfinished)?;
            // What it read from is gone.
            inner.remember(None);
            inner.snapshot()?.ok_or_else(|| Error::Damaged("the branch is not in the new clone".into()))
        })
        .await
    }

    /// Fetches the newest commit of the branch into the clone, wherever the clone came from.
    async fn fetch(&self, lock: &Lock) -> Result<Snapshot, Error> {
        let inner = self.0.clone();
        let before = blocking("look at the clone", move || inner.head()).await?;
        let is_ours = before.as_ref().is_some_and(|head| head.came_from() == Some(self.url()));

        // Not quiet: then it does not say that the repository moved.
        let options =
            ["fetch", "--no-progress", "--depth=1", "--force", "--no-tags", "--no-prune", "--no-auto-gc"];
        let refspec = format!("+{0}:{0}", self.0.reference);
        let mut arguments = self.in_clone(&options);
        arguments.extend(["--no-recurse-submodules", "--", self.url(), &refspec].map(OsStr::new));
        match self.git(lock, &arguments, self.0.limits.fetch).await {
            // Objects of another repository can stand in the way, down to another kind of hash.
            Err(Error::Git { fault: Fault::Other, message, .. }) if !is_ours => {
                return Err(Error::Damaged(message.into()));
            }
            Err(error @ Error::Git { fault: Fault::Other, .. }) => {
                // Either git says why, or the clone can't be read at all.
                let inner = self.0.clone();
                let checked = blocking("look at the clone", move || inner.check()).await?;
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
            self.tidy(lock).await;
        }
        Ok(after)
    }

    /// Has git read the packs, large files piece by piece.
    async fn verify_packs(&self, lock: &Lock) -> Result<(), Error> {
        let inner = self.0.clone();
        let packs = blocking("look at the packs", move || inner.place.packs()).await?;
        let options = ["-c", "core.bigFileThreshold=16m", "verify-pack", "--"];
        let mut arguments = self.in_clone(&options);
        arguments.extend(packs.iter().map(|pack| pack.as_os_str()));
        match self.git(lock, &arguments, self.0.limits.fetch).await {
            Err(Error::Git { message, .. }) => Err(Error::Damaged(message.into())),
            // What took too long is not known to be damaged.
            _ => Ok(()),
        }
    }

    /// Packs what many fetches left, where there is much of it. A snapshot of an earlier commit stays readable for
    /// the two weeks that git keeps what nothing points at.
    async fn tidy(&self, lock: &Lock) {
        let arguments = self.in_clone(&["gc", "--auto", "--quiet"]);
        if let Err(error) = self.git(lock, &arguments, self.0.limits.fetch).await {
            tracing::warn!(%error, source.url = self.url(), "could not repack a clone");
        }
    }

    fn in_clone<'a>(&'a self, arguments: &[&'a str]) -> Vec<&'a OsStr> {
        let place = [OsStr::new("--git-dir"), self.0.place.folder().as_os_str()];
        place.into_iter().chain(arguments.iter().map(|text| OsStr::new(*text))).collect()
    }

    async fn git(&self, lock: &Lock, arguments: &[&OsStr], limit: Duration) -> Result<(), Error> {
        let Inner { git, branch, login, .. } = &*self.0;
        let order = Order { git, arguments, login: login.as_ref(), limit, branch };
        let message = git::run(&order, |group| lock.note(group)).await?;
        if let Some(address) = message.moved_to() {
            tracing::warn!(source.url = self.url(), address, "the repository has moved; update its URL");
        }
        Ok(())
    }
}

impl Inner {
    fn head(&self) -> Result<Option<Head>, Error> {
        Head::find(self.place.folder(), &self.reference)
    }

    /// The files of the commit that is here, if it came from this address.
    fn snapshot(&self) -> Result<Option<Snapshot>, Error> {
        let Some(head) = self.head()?.filter(|head| head.came_from() == Some(&self.url)) else {
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

    /// Reads all of the commit that is here, whatever is known of it, but for files that are too large for memory.
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
