//! The declared sources, and the folders of their clones.

use std::path::PathBuf;

use lyceum_source::{Folder, Repository, Source, github};

use crate::{
    config::{self, Config, Location},
    example,
};

/// Opens a declared source.
pub(crate) fn source(config: &Config, declared: &config::Source) -> Result<Source, lyceum_source::Error> {
    match &declared.location {
        Location::Folder(root) => Ok(Source::Folder(Folder::new(root))),
        Location::Example => Ok(Source::Bundled(example::source())),
        Location::Repository(repository) => {
            let folder = config.data_dir.join("sources").join(folder_name(declared));
            let mut settings = lyceum_source::Settings::new(&repository.url, folder, this_program());
            settings.branch.clone_from(&repository.branch);
            settings.token.clone_from(&repository.token);
            settings.app = match &repository.app {
                Some(app) => {
                    Some(github::App::new(app.as_ref().clone()).map_err(|error| settings_error(&error))?)
                }
                None => None,
            };
            Repository::new(settings).map(Source::Repository)
        }
    }
}

fn settings_error(error: &github::AppError) -> lyceum_source::Error {
    lyceum_source::Error::Settings(format!("the key of the GitHub App {error}"))
}

/// The name of the data folder of a source. It contains a hash of the location: two servers of one user may have
/// different sources of the same name.
pub(crate) fn folder_name(declared: &config::Source) -> String {
    let key = match &declared.location {
        Location::Repository(repository) => format!("{}\n{}", repository.url, repository.branch),
        Location::Folder(root) => {
            let root = std::path::absolute(root).unwrap_or_else(|_| root.clone());
            root.display().to_string()
        }
        Location::Example => "example".to_owned(),
    };
    format!("{name}-{hash:016x}", name = declared.name, hash = hash(&key))
}

/// FNV-1a, which is stable across machines and versions, unlike the hasher of the standard library.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The path of this executable; Git starts it as askpass.
fn this_program() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("lyceum"))
}

/// The location of a source, without secrets.
pub(crate) fn location(source: &Source) -> String {
    match source {
        Source::Folder(folder) => folder.root.display().to_string(),
        Source::Repository(repository) => format!("{}, branch {}", repository.url(), repository.branch()),
        Source::Bundled(_) => "bundled with lyceum".to_owned(),
    }
}
