//! The programs that are measured: built with --release, or given.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Result, ensure};

use lyceum_harness::programs::{self, Programs};
use lyceum_harness::repo::Repo;

/// A program that is only there to measure with.
pub(super) struct Example {
    pub(super) package: &'static str,
    pub(super) name: &'static str,
}

/// `lyceum` and these examples. Where a program is given they are expected in the folder `examples` beside it, where cargo
/// puts them.
pub(super) fn programs(repo: &Repo, given: Option<&Path>, examples: &[Example]) -> Result<Programs> {
    match given {
        Some(program) => beside(program, examples),
        None => {
            println!("building with --release");
            let mut words = vec!["--release", "-p", "lyceum", "--bin", "lyceum"];
            for Example { package, name } in examples {
                words.extend(["-p", package, "--example", name]);
            }
            programs::build(repo, &words)
        }
    }
}

fn beside(program: &Path, examples: &[Example]) -> Result<Programs> {
    let lyceum = std::path::absolute(program)?;
    ensure!(lyceum.is_file(), "there is no {}", lyceum.display());
    let folder = lyceum.with_file_name("examples");
    let mut found = HashMap::from([("lyceum".to_owned(), lyceum)]);
    for Example { package, name } in examples {
        let example = folder.join(name);
        ensure!(
            example.is_file(),
            "{} is missing; build it as the program was built, with `cargo build -p {package} --example {name}`",
            example.display()
        );
        found.insert((*name).to_owned(), example);
    }
    Ok(Programs::of(found))
}
