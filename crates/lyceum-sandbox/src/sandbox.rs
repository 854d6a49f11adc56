//! A level that was found to work here, and runs by it.

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

/// A level that was found to work here.
#[derive(Debug, Clone)]
pub struct Sandbox {
    helper: Helper,
    base: PathBuf,
    means: Mechanism,
    memory: MemoryLimit,
}

/// One way to reach a level. For tests, which go through all of them; operators write [`LevelChoice`].
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// Bubblewrap.
    Strict,
    /// The kernel's own means, with namespaces.
    Namespaces,
    /// The same without, as in most containers.
    Plain,
    /// The same, by what the first kernel with Landlock can do.
    Oldest,
    /// Nothing.
    None,
}

impl Sandbox {
    /// Finds the best level that works here, by trying what is forbidden inside of it.
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
                    tracing::info!(level = %sandbox.level(), means = ?sandbox.means, memory = %sandbox.memory, "scripts run in a sandbox");
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

    /// Takes one variant, if it works here.
    #[doc(hidden)]
    pub async fn find_variant(variant: Variant, setup: Setup) -> Result<Self, Unavailable> {
        let unavailable = |reason: String| unavailable(LevelChoice::Auto, &reason);
        Self::try_variant(variant, &setup).await.map_err(unavailable)
    }

    /// The level.
    pub fn level(&self) -> Level {
        self.means.level()
    }

    /// How the memory of a run is limited here.
    pub fn memory_limit(&self) -> MemoryLimit {
        self.memory
    }

    /// Runs a script and every process that it starts, to their end. Dropping the future ends them too: the supervisor does, and
    /// is killed with the script if it has not done so in time.
    pub async fn run(&self, script: Script) -> Result<ScriptOutcome, Error> {
        let order = order(&script, &self.means, &self.base)?;
        run::run(&self.helper, order, script.files).await
    }

    async fn try_variant(variant: Variant, setup: &Setup) -> Result<Self, String> {
        let means = match variant {
            Variant::Strict => Mechanism::Strict { bwrap: bwrap::find(&setup.search)? },
            Variant::Namespaces => Mechanism::Standard { namespaces: true, rights: Rights::Best },
            Variant::Plain => Mechanism::Standard { namespaces: false, rights: Rights::Best },
            Variant::Oldest => Mechanism::Standard { namespaces: false, rights: Rights::First },
            Variant::None => Mechanism::None,
        };
        // The test run says how memory is really limited.
        let memory = MemoryLimit::None;
        let mut sandbox = Self { helper: setup.helper.clone(), base: setup.base.clone(), means, memory };
        sandbox.memory = self_test::pass(&sandbox).await?;
        Ok(sandbox)
    }
}

fn unavailable(wanted: LevelChoice, reason: &str) -> Unavailable {
    let advice = match wanted {
        LevelChoice::Auto | LevelChoice::Standard => {
            "; set scripts.sandbox = \"none\" to run scripts with the server's own rights (not advised)"
        }
        LevelChoice::Strict => "; set scripts.sandbox = \"auto\" to take the best that works here",
        LevelChoice::None => "",
    };
    Unavailable { text: format!("scripts can't run: {reason}{advice}") }
}
