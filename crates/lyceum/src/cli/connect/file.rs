//! A client's file: read with care, backed up, and replaced whole.

use std::{
    ffi::OsString,
    fs::{self, File, Permissions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};

/// Maximum size of a file: the largest seen hold the history of a client, of some megabytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A client's file, as it was read.
#[derive(Debug)]
pub(super) struct ClientFile {
    /// Where the client looks for it.
    path: PathBuf,
    /// The file itself: links are followed.
    target: PathBuf,
    /// Its text, if it exists.
    text: Option<String>,
}

impl ClientFile {
    /// Reads a file of the user.
    pub(super) fn of_user(path: PathBuf) -> anyhow::Result<Self> {
        let target = match path.canonicalize() {
            Ok(target) => target,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let Ok(target) = fs::read_link(&path) {
                    bail!(
                        "{} is a link to {}, which does not exist; create that file or remove the link",
                        path.display(),
                        target.display()
                    );
                }
                return Ok(Self { target: path.clone(), path, text: None });
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let cannot = || format!("cannot read {}", path.display());
        let metadata = fs::metadata(&target).with_context(cannot)?;
        if !metadata.is_file() {
            bail!("{} is not a file", path.display());
        }
        if metadata.len() > MAX_BYTES {
            bail!("{} is larger than {} MiB", path.display(), MAX_BYTES >> 20);
        }
        let bytes = fs::read(&target).with_context(cannot)?;
        let text = String::from_utf8(bytes).with_context(|| format!("{} is not UTF-8", path.display()))?;
        Ok(Self { path, target, text: Some(text) })
    }

    /// Reads a file of a project. A link in somebody's checkout must not lead to other files of the user.
    pub(super) fn of_project(path: PathBuf, project: &Path) -> anyhow::Result<Self> {
        let file = Self::of_user(path)?;
        let folder = file.target.ancestors().skip(1).find_map(|folder| folder.canonicalize().ok());
        let project = project.canonicalize().context("cannot read the working directory")?;
        if folder.is_none_or(|folder| !folder.starts_with(&project)) {
            bail!("{} is a link that leads out of the project; edit that file yourself", file.path.display());
        }
        Ok(file)
    }

    /// Where the client looks for it.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Its text; empty if it does not exist.
    pub(super) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Whether it exists.
    pub(super) fn exists(&self) -> bool {
        self.text.is_some()
    }

    /// The backup: the file before `lyceum connect` changed it.
    pub(super) fn backup_path(&self) -> PathBuf {
        with_suffix(&self.path, ".lyceum-backup")
    }

    /// The text of the backup, if there is one.
    pub(super) fn backup(&self) -> Option<String> {
        fs::read_to_string(self.backup_path()).ok()
    }

    /// Writes the backup, with the permissions of the file.
    pub(super) fn back_up(&self) -> anyhow::Result<()> {
        let path = self.backup_path();
        let cannot = || format!("cannot write the backup {}", path.display());
        replace(&path, self.text(), self.permissions()?, None).with_context(cannot)
    }

    /// Deletes the backup.
    pub(super) fn forget_backup(&self) -> anyhow::Result<()> {
        let path = self.backup_path();
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot delete the backup {}", path.display()))
            }
            _ => Ok(()),
        }
    }

    /// Replaces the file whole, with its permissions and owner; creates it if it does not exist.
    pub(super) fn write(&self, text: &str) -> anyhow::Result<()> {
        let cannot = || format!("cannot write {}", self.path.display());
        let permissions = self.permissions()?;
        if permissions.as_ref().is_some_and(Permissions::readonly) {
            bail!(
                "{} is read-only; make it writable, or see what to write with --print",
                self.path.display()
            );
        }
        self.is_unchanged()?;
        if let Some(folder) = self.target.parent() {
            fs::create_dir_all(folder).with_context(cannot)?;
        }
        replace(&self.target, text, permissions, self.exists().then_some(&self.target)).with_context(cannot)
    }

    /// Deletes the file.
    pub(super) fn delete(&self) -> anyhow::Result<()> {
        self.is_unchanged()?;
        fs::remove_file(&self.target).with_context(|| format!("cannot delete {}", self.path.display()))
    }

    /// The permissions, which must allow to write: replacing a file needs only those of its folder.
    fn permissions(&self) -> anyhow::Result<Option<Permissions>> {
        if !self.exists() {
            return Ok(None);
        }
        let metadata = fs::metadata(&self.target);
        let metadata = metadata.with_context(|| format!("cannot read {}", self.path.display()))?;
        if metadata.permissions().readonly() {
            bail!(
                "{} is read-only; make it writable, or see what to write with --print",
                self.path.display()
            );
        }
        Ok(Some(metadata.permissions()))
    }

    /// Clients write their files while they run: fails if this one is not what was read.
    fn is_unchanged(&self) -> anyhow::Result<()> {
        let now = match fs::read(&self.target) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", self.path.display())),
        };
        if now.as_deref() != self.text.as_deref().map(str::as_bytes) {
            bail!("{} was changed by another program at the same time; try again", self.path.display());
        }
        Ok(())
    }
}

/// Writes a file beside this one, then moves it there, so that no reader sees half of it. A new file is for the user only,
/// because clients keep secrets in theirs.
fn replace(
    path: &Path,
    text: &str,
    permissions: Option<Permissions>,
    owner: Option<&Path>,
) -> io::Result<()> {
    let unfinished = with_suffix(path, &format!(".{}.new", std::process::id()));
    let written = (|| {
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&unfinished)?;
        file.write_all(text.as_bytes())?;
        if let Some(owner) = owner {
            keep_owner(&file, owner)?;
        }
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        file.sync_all()?;
        fs::rename(&unfinished, path)
    })();
    if written.is_err() {
        let _removed = fs::remove_file(&unfinished);
    }
    written
}

/// Gives a file the owner of another, for `sudo lyceum connect`.
#[cfg(unix)]
fn keep_owner(file: &File, other: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let (new, old) = (file.metadata()?, fs::metadata(other)?);
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    fchown(file, Some(old.uid()), Some(old.gid()))
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = path.into();
    name.push(suffix);
    name.into()
}
