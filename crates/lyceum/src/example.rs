//! The example that is served where nothing is configured: a small knowledge base that is part of the program.
//!
//! The files lie in `example/` of this crate and are taken in when it is built, also for debugging: nothing is read
//! from the disk.

use std::borrow::Cow;

use lyceum_source::Bundled;
use rust_embed::Embed;

/// The folder. A new file in it is noticed when this file is built again; a test says so.
#[derive(Embed)]
#[folder = "example"]
struct Example;

/// Every file with its path, by path.
pub(crate) fn files() -> Vec<(Cow<'static, str>, Cow<'static, [u8]>)> {
    let mut files: Vec<_> =
        Example::iter().filter_map(|path| Example::get(&path).map(|file| (path, file.data))).collect();
    files.sort_by(|(one, _), (other, _)| one.cmp(other));
    files
}

/// The example as a source.
pub(crate) fn source() -> Bundled {
    Bundled::new(files())
}

#[cfg(test)]
mod tests;
