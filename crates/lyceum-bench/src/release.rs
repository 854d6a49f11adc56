//! The measured programs: built with --release, or given by path.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Result, ensure};

use lyceum_harness::programs::{self, Programs};
use lyceum_harness::repo::Repo;

/// A helper program, built as a cargo example.
pub(super) struct Example {
    pub(super) package: &'static str,
    pub(super) name: &'static str,
}

/// Builds `lyceum` and these examples. If a program is given, expects the examples in the folder `examples` next to it,
/// as cargo builds them.
pub(super) fn programs(repo: &Repo, given: Option<&Path>, examples: &[Example]) -> Result<Programs> {
    match given {
        Some(program) => locate_next_to(program, examples),
        None => {
            println!("building with --release");
            let mut args = vec!["--release", "-p", "lyceum", "--bin", "lyceum"];
            for Example { package, name } in examples {
                args.extend(["-p", package, "--example", name]);
            }
            programs::build(repo, &args)
        }
    }
}

fn locate_next_to(program: &Path, examples: &[Example]) -> Result<Programs> {
    let lyceum = std::path::absolute(program)?;
    ensure!(lyceum.is_file(), "no such file: {}", lyceum.display());
    let folder = lyceum.with_file_name("examples");
    let mut programs = HashMap::from([("lyceum".to_owned(), lyceum)]);
    for Example { package, name } in examples {
        let example = folder.join(name);
        ensure!(
            example.is_file(),
            "{} is missing; build it as the program was built, with `cargo build -p {package} --example {name}`",
            example.display()
        );
        programs.insert((*name).to_owned(), example);
    }
    Ok(Programs::of(programs))
}
