//! Maps keys to paths on disk, and back.
//!
//! On disk a name is a file or a folder, never both, while an object store may have `a.md` next to `a.md/b.md`. So
//! on disk file names always contain a dot and folder names never do: the folder `a.md` becomes `a%2Emd`, the file
//! `a` becomes `a.%`. Otherwise names equal the key, except that `%` and `#` become `%25` and `%23`. No two keys
//! have the same path.

/// Suffix of file names without a dot.
const NO_DOT_SUFFIX: &str = ".%";

/// Path of a key, relative to the root of the store.
pub(super) fn encode(key: &str) -> String {
    let (folder, name) = key.rsplit_once('/').map_or(("", key), |(folder, name)| (folder, name));
    let mut path = encode_folder(folder);
    if !path.is_empty() {
        path.push('/');
    }
    path.push_str(&encode_marks(name));
    if !name.contains('.') {
        path.push_str(NO_DOT_SUFFIX);
    }
    path
}

/// Path of a folder of keys.
pub(super) fn encode_folder(folder: &str) -> String {
    encode_marks(folder).replace('.', "%2E")
}

/// Key of a path; `None` if it is not a path of this encoding.
pub(super) fn decode(path: &str) -> Option<String> {
    let key = path.strip_suffix(NO_DOT_SUFFIX).unwrap_or(path);
    let key = key.replace("%2E", ".").replace("%23", "#").replace("%25", "%");
    // Rejects paths that don't round-trip: each key has exactly one path.
    (encode(&key) == path).then_some(key)
}

/// Escapes `%`, our escape character, and `#`, which `object_store` uses in names of temporary files.
fn encode_marks(text: &str) -> String {
    text.replace('%', "%25").replace('#', "%23")
}
