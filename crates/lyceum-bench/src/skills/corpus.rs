//! A generated corpus of skills: half are documents with keywords that inherit from their folders, three levels deep;
//! half are Agent Skills folders in packs. Deterministic.

mod text;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub(super) use words::{Random, Words};

/// Size of the vocabulary.
const VOCABULARY_SIZE: usize = 3000;

/// Documents per folder, subfolders per folder, and Agent Skills per pack.
const PER_FOLDER: usize = 9;
const FOLDERS: usize = 5;
const PER_PACK: usize = 25;

/// A corpus on disk.
pub(super) struct Corpus {
    /// Root folder.
    pub(super) root: PathBuf,
    /// Folders of Agent Skills.
    pub(super) packs: Vec<PathBuf>,
    /// A document that no other inherits from.
    pub(super) document: PathBuf,
    /// Number of skills.
    pub(super) skills: usize,
    words: Words,
    /// Keywords of each skill.
    keywords: Vec<Vec<String>>,
}

impl Corpus {
    /// Writes a corpus into an empty folder.
    pub(super) fn write(root: PathBuf, skills: usize) -> Result<Self> {
        let (words, document) = (Words::new(VOCABULARY_SIZE), PathBuf::new());
        let mut corpus = Self { root, packs: Vec::new(), document, skills: 0, words, keywords: Vec::new() };
        let mut random = Random::new(2);
        corpus.write_documents(skills / 2, &mut random)?;
        corpus.write_packs(skills, &mut random)?;
        Ok(corpus)
    }

    /// Writes documents up to `until` skills in total: `_root.md`, then folder by folder, each with its `_index.md`.
    fn write_documents(&mut self, until: usize, random: &mut Random) -> Result<()> {
        self.write_document("_root", random)?;
        let mut number = 0;
        while self.skills < until {
            let (leaf, middle) = (number % FOLDERS, number / FOLDERS);
            let (middle, top) = (middle % FOLDERS, middle / FOLDERS);
            let folders = [format!("area{top}"), format!("topic{middle}"), format!("case{leaf}")];
            let (first_in_top, first_in_middle) = (leaf == 0 && middle == 0, leaf == 0);
            for (depth, is_new) in [first_in_top, first_in_middle, true].into_iter().enumerate() {
                if is_new && self.skills < until {
                    let folder = folders.iter().take(depth + 1).cloned().collect::<Vec<_>>().join("/");
                    self.write_document(&format!("{folder}/_index"), random)?;
                }
            }
            for document in 0..PER_FOLDER {
                if self.skills < until {
                    let name = self.words.any(random).to_owned();
                    self.write_document(&format!("{}/{name}-{document}", folders.join("/")), random)?;
                }
            }
            number += 1;
        }
        Ok(())
    }

    /// Writes Agent Skills up to `until` skills in total.
    fn write_packs(&mut self, until: usize, random: &mut Random) -> Result<()> {
        let mut number = 0;
        while self.skills < until {
            let pack = format!("packs/pack{}/skills", number / PER_PACK);
            if number % PER_PACK == 0 {
                self.packs.push(self.root.join(&pack));
            }
            let name = format!("{}-{}-{number}", self.words.any(random), self.words.any(random));
            let (text, keywords) = text::standard_skill(&name, &self.words, random);
            self.put(&format!("{pack}/{name}/SKILL.md"), &text)?;
            self.put(&format!("{pack}/{name}/scripts/run.py"), &text::script(&self.words, random))?;
            self.put(&format!("{pack}/{name}/references/guide.md"), &text::prose(&self.words, random))?;
            self.add(keywords);
            number += 1;
        }
        Ok(())
    }

    /// Writes a document; every tenth with a template and a script.
    fn write_document(&mut self, path: &str, random: &mut Random) -> Result<()> {
        let files = if self.skills % 10 == 9 { text::Files::Some } else { text::Files::None };
        let (text, keywords) = text::document(&self.words, random, files);
        self.put(&format!("{path}.md"), &text)?;
        match files {
            text::Files::Some => {
                self.put(&format!("{path}/template.md"), &text::prose(&self.words, random))?;
                self.put(&format!("{path}/check.sh"), &text::script(&self.words, random))?;
            }
            text::Files::None => self.document = self.root.join(format!("{path}.md")),
        }
        self.add(keywords);
        Ok(())
    }

    fn add(&mut self, keywords: Vec<String>) {
        self.keywords.push(keywords);
        self.skills += 1;
    }

    fn put(&self, file: &str, text: &str) -> Result<()> {
        let path = self.root.join(file);
        path.parent().map_or(Ok(()), fs::create_dir_all).with_context(|| format!("no folder for {file}"))?;
        fs::write(&path, text).with_context(|| format!("could not write {}", path.display()))
    }

    /// Number of Agent Skills.
    pub(super) fn standard_skills(&self) -> usize {
        self.skills - self.skills / 2
    }

    /// Task descriptions as clients send them, from two words to a page. Most match one or several skills.
    pub(super) fn tasks(&self, count: usize) -> Vec<String> {
        let mut random = Random::new(3);
        (0..count).map(|number| self.task(number, &mut random)).collect()
    }

    fn task(&self, number: usize, random: &mut Random) -> String {
        let skill =
            self.keywords.get(random.below(self.keywords.len())).map_or(&[] as &[String], Vec::as_slice);
        let of_skill = skill.iter().take(random.between(2, 5)).cloned().collect::<Vec<_>>().join(" and the ");
        match number % 10 {
            0..=4 => format!("I need to write a {of_skill} for our project"),
            5 => format!("Crée un composant pour {of_skill} avec l'{}", self.words.any(random)),
            6 => of_skill,
            7 => format!("{} {}", self.words.common(random), self.words.common(random)),
            // Without digits, because skill names end with a number, which would match.
            8 => format!("xyzzy {}", "qzx".repeat(random.between(1, 3))),
            _ => format!("{of_skill}. {}", text::sentences(&self.words, random, 1500)),
        }
    }
}

/// Replaces the keywords of a document.
pub(super) fn with_keyword(keyword: &str, document: &str) -> Option<String> {
    let (before, after) = document.split_once("keywords: [")?;
    let (_, after) = after.split_once(']')?;
    Some(format!("{before}keywords: [{keyword}]{after}"))
}

/// Number of files below a folder.
pub(super) fn count_files(folder: &Path) -> Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        count += if entry.file_type()?.is_dir() { count_files(&entry.path())? } else { 1 };
    }
    Ok(count)
}

#[cfg(test)]
mod tests;
