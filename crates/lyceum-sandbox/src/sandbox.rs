//! Picks a sandbox level that works on this machine, and runs scripts in it.

mod bwrap;
mod run;
mod self_test;
mod supervisor;

use std::path::PathBuf;

use crate::{
    Error, Helper, Level, LevelChoice, MemoryLimit, Script, ScriptOutcome, Setup, Unavailable,
    order::order,
    wire::{Mechanism, Rights},
};

/// A sandbox that was tested on this machine.
#[derive(Debug, Clone)]
pub struct Sandbox {
    helper: Helper,
    base: PathBuf,
    mechanism: Mechanism,
    memory: MemoryLimit,
}

/// A way to implement a level. For tests, which go through all of them; operators use [`LevelChoice`].
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// Bubblewrap.
    Strict,
    /// Kernel mechanisms, with namespaces.
    Namespaces,
    /// Kernel mechanisms without namespaces, as in most containers.
    Plain,
    /// Kernel mechanisms of the first Linux with Landlock, without namespaces.
    Oldest,
    /// No sandbox.
    None,
}

impl Sandbox {
    /// Finds the best level that works here, by running a self-test in it.
    pub async fn find(wanted: LevelChoice, setup: Setup) -> Result<Self, Unavailable> {
        let variants: &[Variant] = match wanted {
            LevelChoice::Auto => &[Variant::Strict, Variant::Namespaces, Variant::Plain],
            LevelChoice::Strict => &[Variant::Strict],
            LevelChoice::Standard => &[Variant::Namespaces, Variant::Plain],
            LevelChoice::None => &[Variant::None],
        };
        let mut reasons = Vec::new();
        for variant in variants {
            match Self::try_variant(*variant, &setup).await {
                Ok(sandbox) => {
                    tracing::info!(
                        sandbox.level = %sandbox.level(),
                        sandbox.mechanism = %sandbox.mechanism,
                        sandbox.memory_limit = %sandbox.memory,
                        "found a sandbox for scripts"
                    );
                    return Ok(sandbox);
                }
                Err(reason) => {
                    tracing::debug!(?variant, reason, "this sandbox level is not available");
                    if !reasons.contains(&reason) {
                        reasons.push(reason);
                    }
                }
            }
        }
        Err(unavailable(wanted, &reasons.join("; ")))
    }

    /// Uses one variant, if it works here.
    #[doc(hidden)]
    pub async fn find_variant(variant: Variant, setup: Setup) -> Result<Self, Unavailable> {
        let unavailable = |reason: String| unavailable(LevelChoice::Auto, &reason);
        Self::try_variant(variant, &setup).await.map_err(unavailable)
    }

    /// The sandbox level.
    pub fn level(&self) -> Level {
        self.mechanism.level()
    }

    /// How the memory of a run is limited here.
    pub fn memory_limit(&self) -> MemoryLimit {
        self.memory
    }

    /// Runs a script, and waits until all of its processes have ended. Dropping the future kills them: the
    /// supervisor does, and is itself killed with the script after a timeout.
    pub async fn run(&self, script: Script) -> Result<ScriptOutcome, Error> {
        let order = order(&script, &self.mechanism, &self.base)?;
        run::run(&self.helper, order, script.files).await
    }

    async fn try_variant(variant: Variant, setup: &Setup) -> Result<Self, String> {
        let mechanism = match variant {
            Variant::Strict => Mechanism::Strict { bwrap: bwrap::find(&setup.search)? },
            Variant::Namespaces => Mechanism::Standard { namespaces: true, rights: Rights::Best },
            Variant::Plain => Mechanism::Standard { namespaces: false, rights: Rights::Best },
            Variant::Oldest => Mechanism::Standard { namespaces: false, rights: Rights::First },
            Variant::None => Mechanism::None,
        };
        // The self-test tells how memory is actually limited.
        let memory = MemoryLimit::None;
        let mut sandbox = Self { helper: setup.helper.clone(), base: setup.base.clone(), mechanism, memory };
        sandbox.memory = self_test::pass(&sandbox).await?;
        Ok(sandbox)
    }
}

fn unavailable(wanted: LevelChoice, reason: &str) -> Unavailable {
    let advice = match wanted {
        LevelChoice::Auto | LevelChoice::Standard => {
            "; set scripts.sandbox = \"none\" to run scripts with the server's own rights (not advised)"
        }
        LevelChoice::Strict => "; set scripts.sandbox = \"auto\" to use the best level that works here",
        LevelChoice::None => "",
    };
    Unavailable { text: format!("scripts can't run: {reason}{advice}") }
}
