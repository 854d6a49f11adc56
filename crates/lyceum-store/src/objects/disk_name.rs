//! Keys as paths on a disk, and back.
//!
//! On a disk a name is a file or a folder, never both, while a store of objects may hold `a.md` beside `a.md/b.md`.
//! So that each key has a place, whatever else is kept, a file's name always has a dot there and a folder's never:
//! the folder `a.md` is called `a%2Emd`, the file `a` is called `a.%`. All other names are what the key says, but
//! for `%` and `#`, which are written `%25` and `%23`. No two keys have the same path.

/// The end of a file's name that has no dot by itself.
const WITHOUT_DOT: &str = ".%";

/// Where a key is kept, from the root of the store on.
pub(super) fn encode(key: &str) -> String {
    let (folder, name) = key.rsplit_once('/').map_or(("", key), |(folder, name)| (folder, name));
    let mut path = encode_folder(folder);
    if !path.is_empty() {
        path.push('/');
    }
    path.push_str(&encode_marks(name));
    if !name.contains('.') {
        path.push_str(WITHOUT_DOT);
    }
    path
}

/// Where the keys below a folder are kept.
pub(super) fn encode_folder(folder: &str) -> String {
    encode_marks(folder).replace('.', "%2E")
}

/// The key that is kept there; nothing if the path is not one of ours.
pub(super) fn decode(path: &str) -> Option<String> {
    let key = path.strip_suffix(WITHOUT_DOT).unwrap_or(path);
    let key = key.replace("%2E", ".").replace("%23", "#").replace("%25", "%");
    // What does not come back as it was is not ours: only one path stands for a key.
    (encode(&key) == path).then_some(key)
}

/// `%` because we write with it, `#` because `object_store` marks files that are being written by it.
fn encode_marks(text: &str) -> String {
    text.replace('%', "%25").replace('#', "%23")
}
