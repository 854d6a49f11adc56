//! The folder of a run: the read-only skill and the writable scratch folder. Removed after the run.

use std::{
    ffi::OsString,
    fs::{self, OpenOptions, Permissions},
    io::{self, Read},
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::fs::{OpenOptionsExt as _, PermissionsExt as _, chown},
    },
    path::{Path, PathBuf},
};

use lyceum_model::RelPath;
use rustix::{
    fs::{Mode, OFlags, open},
    mount::{UnmountFlags, unmount},
};

use super::{Fault, context};
use crate::wire::User;

/// The folder of a run.
pub(super) struct RunFolder {
    pub skill: PathBuf,
    pub scratch: PathBuf,
    /// Whether the scratch folder is a mount in this process's namespace.
    pub has_mount: bool,
    path: PathBuf,
    name: OsString,
    /// The base folder, opened before entering any namespace: still writable when all mounts are read-only.
    base: OwnedFd,
}

impl RunFolder {
    /// Creates the folder, accessible to the server and the script's user only.
    pub(super) fn create(base: &Path, user: User) -> Result<Self, Fault> {
        let failed = "could not create the folder of the run";
        let base = base.canonicalize().map_err(context(failed))?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let base_fd = open(&base, flags, Mode::empty()).map_err(context(failed))?;
        let path =
            tempfile::Builder::new().prefix("lyceum-run-").tempdir_in(&base).map_err(context(failed))?.keep();
        let name = path.file_name().unwrap_or_default().to_owned();
        let (skill, scratch) = (path.join("skill"), path.join("scratch"));
        let folder = Self { skill, scratch, has_mount: false, path, name, base: base_fd };
        folder.create_subfolders(user).map_err(context(failed))?;
        Ok(folder)
    }

    fn create_subfolders(&self, user: User) -> io::Result<()> {
        for (folder, mode) in [(&self.skill, 0o755), (&self.scratch, 0o700)] {
            fs::create_dir(folder)?;
            fs::set_permissions(folder, Permissions::from_mode(mode))?;
        }
        if let User::Other(id) = user {
            chown(&self.scratch, Some(id), Some(id))?;
            chown(&self.path, None, Some(id))?;
            fs::set_permissions(&self.path, Permissions::from_mode(0o710))?;
        }
        Ok(())
    }

    /// Skips the removal.
    pub(super) fn keep(self) {
        std::mem::forget(self);
    }

    /// Writes the files of the skill; their bytes are concatenated.
    pub(super) fn write(&self, files: &[(String, u64)], bytes: &mut impl Read) -> Result<(), Fault> {
        for (path, length) in files {
            let path = RelPath::parse(path).map_err(|error| error.to_string())?;
            self.write_file(&path, &mut bytes.take(*length))
                .map_err(context(&format!("could not write the skill file {path}")))?;
        }
        Ok(())
    }

    fn write_file(&self, path: &RelPath, bytes: &mut io::Take<&mut impl Read>) -> io::Result<()> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(self.skill.join(parent.as_str()))?;
        }
        let mut options = OpenOptions::new();
        let mut file =
            options.write(true).create_new(true).mode(0o755).open(self.skill.join(path.as_str()))?;
        io::copy(bytes, &mut file)?;
        if bytes.limit() > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // The server's umask must not take a permission from the script's user.
        file.set_permissions(Permissions::from_mode(0o755))
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if self.has_mount {
            let _busy = unmount(&self.scratch, UnmountFlags::DETACH);
        }
        // A path through the descriptor leads to the original mount, whatever was mounted over it since.
        let base = PathBuf::from(format!("/proc/self/fd/{}", self.base.as_raw_fd()));
        let _left_behind = remove(&base.join(&self.name));
    }
}

/// Removes a folder recursively, however deeply nested and whatever its permissions: moves subfolders up first, so
/// that paths stay short. Nobody else may be writing to it.
fn remove(top: &Path) -> io::Result<()> {
    let mut moved: u64 = 0;
    while let Some(entry) = fs::read_dir(top)?.next().transpose()? {
        if !entry.file_type()?.is_dir() {
            fs::remove_file(entry.path())?;
            continue;
        }
        let folder = entry.path();
        fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
        for inner in fs::read_dir(&folder)? {
            let inner = inner?;
            if inner.file_type()?.is_dir() {
                fs::set_permissions(inner.path(), Permissions::from_mode(0o700))?;
                fs::rename(inner.path(), top.join(format!(".moved-{moved}")))?;
                moved += 1;
            } else {
                fs::remove_file(inner.path())?;
            }
        }
        fs::remove_dir(&folder)?;
    }
    fs::remove_dir(top)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

    use super::remove;

    #[test]
    fn a_folder_is_removed_however_deep_and_whatever_its_rights() {
        let base = tempfile::tempdir().unwrap();
        let top = base.path().join("top");
        fs::create_dir_all(top.join("a/b")).unwrap();
        fs::write(top.join("a/b/file"), "text").unwrap();
        fs::create_dir(top.join(".moved-0x")).unwrap();
        std::os::unix::fs::symlink("/", top.join("a/link")).unwrap();
        // Deeper than the maximum path length.
        let nest = "import os, sys\nos.chdir(sys.argv[1])\nfor _ in range(100): os.mkdir('d' * 99); os.chdir('d' * 99)";
        let nested = Command::new("/usr/bin/python3").args(["-c", nest]).arg(top.join("a")).status().unwrap();
        assert!(nested.success());
        fs::set_permissions(top.join("a/b"), fs::Permissions::from_mode(0o000)).unwrap();
        fs::set_permissions(top.join("a"), fs::Permissions::from_mode(0o000)).unwrap();

        remove(&top).unwrap();
        assert!(fs::read_dir(base.path()).unwrap().next().is_none());
    }
}
