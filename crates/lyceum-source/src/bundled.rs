//! A source of files compiled into the program. It never changes.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
};

use lyceum_model::RelPath;
use sha2::{Digest, Sha256};

use crate::{FileMeta, Problem, ReadError, Reason, Snapshot, Stamp, stamp::Mark};

/// Files compiled into the program. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Bundled {
    snapshot: Snapshot,
}

/// Contents of the bundled files, for reading through a snapshot.
pub(crate) struct BundledFiles {
    bytes: HashMap<RelPath, Cow<'static, [u8]>>,
}

impl Bundled {
    /// Creates a source of files given as path and content; the last of duplicate paths wins.
    ///
    /// A file with an invalid path is excluded and listed in the snapshot's problems.
    pub fn new<P: AsRef<str>, B: Into<Cow<'static, [u8]>>>(files: impl IntoIterator<Item = (P, B)>) -> Self {
        let (mut listed, mut bytes, mut problems) = (BTreeMap::new(), HashMap::new(), Vec::new());
        for (path, content) in files {
            let path = path.as_ref();
            match RelPath::parse(path) {
                Ok(path) => {
                    let content = content.into();
                    listed.insert(path.clone(), meta(&content));
                    bytes.insert(path, content);
                }
                Err(invalid) => problems.push(Problem::of_file(path.as_bytes(), Reason::NotAPath(invalid))),
            }
        }
        Self { snapshot: Snapshot::of_bundle(listed, problems, BundledFiles { bytes }) }
    }

    /// The files.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot.clone()
    }
}

impl BundledFiles {
    pub(crate) fn read(&self, path: &RelPath) -> Result<Vec<u8>, ReadError> {
        self.bytes.get(path).map(|bytes| bytes.to_vec()).ok_or(ReadError::Missing)
    }
}

fn meta(bytes: &[u8]) -> FileMeta {
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    FileMeta { size, stamp: Stamp(Mark::Bundled(Sha256::digest(bytes).into())) }
}
