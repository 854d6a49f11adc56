//! The bundled example: a small knowledge base that is served if nothing is configured.
//!
//! The files are in `example/` of this crate and embedded at build time, in debug builds too: nothing is read from
//! disk.

use std::borrow::Cow;

use lyceum_source::Bundled;
use rust_embed::Embed;

/// The folder. A new file is only embedded when this file is compiled again; a test checks that.
#[derive(Embed)]
#[folder = "example"]
struct Example;

/// All files with their paths, sorted by path.
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
