//! Which crate may depend on which. Dependencies point down only, so that a crate can be read without those above it.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;
use toml::{Spanned, Value};

use super::TextFile;

/// Which of our crates a crate may depend on.
enum MayUse {
    Only(&'static [&'static str]),
    /// Development only: it is beside the stack, and no other crate may have it as a normal dependency.
    Any,
}
use MayUse::{Any, Only};

/// The table of ARCHITECTURE.md. Add a new crate to both.
const LAYERS: &[(&str, MayUse)] = &[
    ("lyceum-model", Only(&[])),
    ("lyceum-content", Only(&["lyceum-model"])),
    ("lyceum-net", Only(&["lyceum-model"])),
    ("lyceum-models", Only(&["lyceum-model", "lyceum-net"])),
    ("lyceum-store", Only(&["lyceum-model", "lyceum-net"])),
    ("lyceum-source", Only(&["lyceum-model", "lyceum-net"])),
    (
        "lyceum-search",
        Only(&["lyceum-model", "lyceum-content", "lyceum-net", "lyceum-models", "lyceum-store"]),
    ),
    ("lyceum-auth", Only(&["lyceum-model", "lyceum-net", "lyceum-store"])),
    ("lyceum-sandbox", Only(&["lyceum-model"])),
    ("lyceum-tools", Only(&["lyceum-model", "lyceum-content"])),
    (
        "lyceum-skills",
        Only(&[
            "lyceum-model",
            "lyceum-content",
            "lyceum-net",
            "lyceum-models",
            "lyceum-store",
            "lyceum-source",
            "lyceum-search",
            "lyceum-sandbox",
            "lyceum-tools",
        ]),
    ),
    (
        "lyceum-knowledge",
        Only(&[
            "lyceum-model",
            "lyceum-content",
            "lyceum-net",
            "lyceum-store",
            "lyceum-source",
            "lyceum-search",
            "lyceum-tools",
        ]),
    ),
    (
        "lyceum-library",
        Only(&[
            "lyceum-model",
            "lyceum-content",
            "lyceum-net",
            "lyceum-source",
            "lyceum-search",
            "lyceum-tools",
        ]),
    ),
    ("lyceum-gateway", Only(&["lyceum-model", "lyceum-net", "lyceum-tools"])),
    (
        "lyceum",
        Only(&[
            "lyceum-model",
            "lyceum-content",
            "lyceum-net",
            "lyceum-models",
            "lyceum-store",
            "lyceum-source",
            "lyceum-search",
            "lyceum-auth",
            "lyceum-sandbox",
            "lyceum-tools",
            "lyceum-skills",
            "lyceum-knowledge",
            "lyceum-library",
            "lyceum-gateway",
        ]),
    ),
    ("lyceum-testkit", Any),
    ("lyceum-harness", Only(&[])),
    ("lyceum-bench", Only(&["lyceum-harness"])),
    ("lyceum-peers", Only(&["lyceum-harness"])),
    ("xtask", Only(&["lyceum-harness"])),
];

/// The part of a `Cargo.toml` that decides layering. `dev-dependencies` are not restricted.
#[derive(Deserialize)]
struct Manifest {
    package: Package,
    #[serde(default)]
    dependencies: Dependencies,
    #[serde(default, rename = "build-dependencies")]
    build_dependencies: Dependencies,
    #[serde(default)]
    target: BTreeMap<String, Platform>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
}

#[derive(Deserialize)]
struct Platform {
    #[serde(default)]
    dependencies: Dependencies,
    #[serde(default, rename = "build-dependencies")]
    build_dependencies: Dependencies,
}

/// Keys with their positions in the text.
type Dependencies = BTreeMap<Spanned<String>, Value>;

/// All errors in these manifests, each with the line to remove or add.
pub(super) fn faults(manifests: &[TextFile]) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for file in manifests {
        let manifest: Manifest =
            toml::from_str(&file.text).with_context(|| format!("{} does not parse", file.path))?;
        let from = &manifest.package.name;
        let Some((_, may_use)) = LAYERS.iter().find(|(name, _)| name == from) else {
            faults.push(format!(
                "{}: `{from}` has no layer; add a line for it to LAYERS in xtask/src/tidy/layers.rs and to ARCHITECTURE.md",
                file.path
            ));
            continue;
        };
        for (to, at) in manifest.ours() {
            if let Only(allowed) = may_use
                && !allowed.contains(&to.as_str())
            {
                let line = file.text.get(..at).unwrap_or_default().lines().count().max(1);
                faults.push(format!("{}:{line}: {}", file.path, advice(from, &to, allowed)));
            }
        }
    }
    Ok(faults)
}

impl Manifest {
    /// The crates of ours that it depends on, with their positions in the text.
    fn ours(&self) -> impl Iterator<Item = (String, usize)> {
        let everywhere = self.dependencies.iter().chain(&self.build_dependencies);
        let platforms =
            self.target.values().flat_map(|one| one.dependencies.iter().chain(&one.build_dependencies));
        let named = everywhere.chain(platforms).map(|(key, value)| {
            let renamed = value.get("package").and_then(Value::as_str);
            (renamed.unwrap_or(key.get_ref()).to_owned(), key.span().end)
        });
        named.filter(|(name, _)| name == "xtask" || name == "lyceum" || name.starts_with("lyceum-"))
    }
}

fn advice(from: &str, to: &str, allowed: &[&str]) -> String {
    let remedy = match LAYERS.iter().find(|(name, _)| *name == to) {
        Some((_, Any)) => "move the line to [dev-dependencies]".to_owned(),
        Some(_) if to == "xtask" => {
            "nothing depends on xtask; move the code you need into a crate".to_owned()
        }
        _ => format!("remove the line and move the code that needs it to {}", above(from, to)),
    };
    let allowed = if allowed.is_empty() { "no crate of ours".to_owned() } else { allowed.join(", ") };
    format!("{from} may not use {to}: {remedy} ({from} may use {allowed})")
}

/// The crates that may use both, lowest first: where code that needs both can live.
fn above(one: &str, other: &str) -> String {
    let both = LAYERS.iter().filter(|(name, may_use)| {
        let sees = |which| matches!(may_use, Only(allowed) if *name == which || allowed.contains(&which));
        sees(one) && sees(other)
    });
    let names: Vec<_> = both.map(|(name, _)| *name).collect();
    if names.is_empty() { "lyceum".to_owned() } else { names.join(" or ") }
}

#[cfg(test)]
mod tests;
