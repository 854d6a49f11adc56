//! Agent Skills as served by the skills extension, with a digest of every file.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use lyceum_content::{
    files_below,
    skill::{Finding, MAX_SKILL_BYTES, MAX_SKILL_FILES, Severity, Skill, SkillIndex, Standard},
};
use lyceum_model::RelPath;
use lyceum_source::{FileMeta, ReadError, Stamp};
use sha2::{Digest, Sha256};

/// Cached digests: equal stamps mean equal bytes.
pub(crate) type Digests = HashMap<RelPath, (Stamp, Arc<str>)>;

/// The skills served by the extension, and their files.
#[derive(Debug, Default)]
pub(crate) struct AgentSkills {
    /// Skills by the path of their URI, such as `acme/pdf`.
    pub skills: BTreeMap<RelPath, Entry>,
    /// All files of all skills, by the path of their URI, such as `acme/pdf/SKILL.md`.
    pub files: BTreeMap<RelPath, AgentSkillFile>,
}

/// An Agent Skill.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its validated frontmatter.
    pub standard: Arc<Standard>,
    /// Its files, as paths of their URIs.
    pub files: Vec<RelPath>,
}

/// A file of an Agent Skill.
#[derive(Debug, Clone)]
pub(crate) struct AgentSkillFile {
    /// Its path in the skills folder.
    pub place: RelPath,
    /// Its size, in bytes.
    pub size: u64,
    /// `sha256:` and 64 hex digits.
    pub digest: Arc<str>,
}

impl AgentSkills {
    /// Moves all URIs below a folder, so that several sets can be served side by side.
    pub(crate) fn below(self, folder: &RelPath) -> Self {
        let moved = |path: RelPath| folder.join(&path).unwrap_or(path);
        let entry = |entry: Entry| Entry { files: entry.files.into_iter().map(moved).collect(), ..entry };
        Self {
            skills: self.skills.into_iter().map(|(path, one)| (moved(path), entry(one))).collect(),
            files: self.files.into_iter().map(|(path, file)| (moved(path), file)).collect(),
        }
    }

    /// Collects the skills that conform to the standard, with findings about those that are too large.
    pub(crate) fn new(
        index: &SkillIndex,
        files: &BTreeMap<RelPath, FileMeta>,
        digests: &mut Digests,
        read: &impl Fn(&RelPath, u64) -> Result<Vec<u8>, ReadError>,
    ) -> (Self, Vec<Finding>) {
        let mut agent_skills = Self::default();
        let mut all_files = Vec::with_capacity(digests.len());
        let mut findings = Vec::new();
        for skill in index.skills() {
            let Some(standard) = skill.standard.as_ref().filter(|standard| standard.faults.is_empty()) else {
                continue;
            };
            let Some(name) = standard.name.clone() else { continue };
            match gather(skill, &name, files, digests, read) {
                Ok(gathered) => {
                    let entry = Entry {
                        name,
                        description: skill.description.clone(),
                        standard: standard.clone(),
                        files: gathered.iter().map(|(address, _)| address.clone()).collect(),
                    };
                    if let Some(folder) = address_of(skill, &entry.name) {
                        all_files.extend(gathered);
                        agent_skills.skills.insert(folder, entry);
                    }
                }
                Err(message) => {
                    findings.push(Finding {
                        file: skill.file.to_string(),
                        severity: Severity::Warning,
                        message,
                    });
                }
            }
        }
        // Collecting is faster than inserting one by one: the files are nearly sorted.
        agent_skills.files = all_files.into_iter().collect();
        // More digests than files: drop those of deleted files.
        if digests.len() > agent_skills.files.len() {
            digests.retain(|place, _| files.contains_key(place));
        }
        (agent_skills, findings)
    }

    /// The `SKILL.md` of each skill.
    pub(crate) fn skill_files(&self) -> impl Iterator<Item = (&RelPath, &AgentSkillFile)> {
        let file = RelPath::parse("SKILL.md").ok();
        self.skills.keys().filter_map(move |folder| self.files.get_key_value(&folder.join(file.as_ref()?)?))
    }
}

/// Path of a skill's URI: its folder, or its name if it is the whole source.
fn address_of(skill: &Skill, name: &str) -> Option<RelPath> {
    skill.file.parent().or_else(|| RelPath::parse(name).ok())
}

/// Collects all files of a skill with their digests, unless there are too many.
fn gather(
    skill: &Skill,
    name: &str,
    files: &BTreeMap<RelPath, FileMeta>,
    digests: &mut Digests,
    read: &impl Fn(&RelPath, u64) -> Result<Vec<u8>, ReadError>,
) -> Result<Vec<(RelPath, AgentSkillFile)>, String> {
    let folder = skill.file.parent();
    let inside: Vec<_> = files_below(files, folder.as_ref()).take(MAX_SKILL_FILES + 1).collect();
    let size: u64 = inside.iter().map(|(_, meta)| meta.size).sum();
    if inside.len() > MAX_SKILL_FILES || size > MAX_SKILL_BYTES {
        return Err(format!(
            "it has more than {MAX_SKILL_FILES} files or {} MiB, too large for the skills extension; only the tools serve it",
            MAX_SKILL_BYTES / 1024 / 1024
        ));
    }
    let mut gathered = Vec::with_capacity(inside.len());
    for (place, meta) in inside {
        let digest = match digests.get(place).filter(|(stamp, _)| *stamp == meta.stamp) {
            Some((_, digest)) => digest.clone(),
            None => {
                let bytes = read(place, MAX_SKILL_BYTES).map_err(|error| format!("{place}: {error}"))?;
                let digest = digest(&bytes);
                digests.insert(place.clone(), (meta.stamp.clone(), digest.clone()));
                digest
            }
        };
        let address = if folder.is_some() {
            Some(place.clone())
        } else {
            RelPath::parse(name).ok().and_then(|name| name.join(place))
        };
        let address = address.ok_or_else(|| format!("{place}: the path is too long"))?;
        gathered.push((address, AgentSkillFile { place: place.clone(), size: meta.size, digest }));
    }
    Ok(gathered)
}

fn digest(bytes: &[u8]) -> Arc<str> {
    format!("sha256:{}", const_hex::encode(Sha256::digest(bytes))).into()
}
