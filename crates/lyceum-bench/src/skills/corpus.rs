//! Thousands of skills as people lay them out: half are documents with keywords that inherit from their folders,
//! three levels deep, half are folders of the Agent Skills standard in packs. The same files in every run.

mod text;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub(super) use words::{Dice, Words};

/// How many words all skills share.
const WORDS: usize = 3000;

/// How many documents are in one folder, folders in one folder, and standard skills in one pack.
const PER_FOLDER: usize = 9;
const FOLDERS: usize = 5;
const PER_PACK: usize = 25;

/// A folder of skills.
pub(super) struct Corpus {
    /// Where it is.
    pub(super) root: PathBuf,
    /// The folders of standard skills, each with skills in it.
    pub(super) packs: Vec<PathBuf>,
    /// A document that can be edited without a change to others.
    pub(super) document: PathBuf,
    /// How many skills there are.
    pub(super) skills: usize,
    words: Words,
    /// What each skill is found by.
    keywords: Vec<Vec<String>>,
}

impl Corpus {
    /// Writes so many skills into an empty folder.
    pub(super) fn write(root: PathBuf, skills: usize) -> Result<Self> {
        let (words, document) = (Words::new(WORDS), PathBuf::new());
        let mut corpus = Self { root, packs: Vec::new(), document, skills: 0, words, keywords: Vec::new() };
        let mut dice = Dice::new(2);
        corpus.write_documents(skills / 2, &mut dice)?;
        corpus.write_packs(skills, &mut dice)?;
        Ok(corpus)
    }

    /// Documents until there are so many skills: `_root.md`, then folder by folder, each with its `_index.md`.
    fn write_documents(&mut self, until: usize, dice: &mut Dice) -> Result<()> {
        self.write_document("_root", dice)?;
        let mut number = 0;
        while self.skills < until {
            let (leaf, middle) = (number % FOLDERS, number / FOLDERS);
            let (middle, top) = (middle % FOLDERS, middle / FOLDERS);
            let folders = [format!("area{top}"), format!("topic{middle}"), format!("case{leaf}")];
            let (first_in_top, first_in_middle) = (leaf == 0 && middle == 0, leaf == 0);
            for (depth, is_new) in [first_in_top, first_in_middle, true].into_iter().enumerate() {
                if is_new && self.skills < until {
                    let folder = folders.iter().take(depth + 1).cloned().collect::<Vec<_>>().join("/");
                    self.write_document(&format!("{folder}/_index"), dice)?;
                }
            }
            for document in 0..PER_FOLDER {
                if self.skills < until {
                    let name = self.words.any(dice).to_owned();
                    self.write_document(&format!("{}/{name}-{document}", folders.join("/")), dice)?;
                }
            }
            number += 1;
        }
        Ok(())
    }

    /// Standard skills until there are so many skills.
    fn write_packs(&mut self, until: usize, dice: &mut Dice) -> Result<()> {
        let mut number = 0;
        while self.skills < until {
            let pack = format!("packs/pack{}/skills", number / PER_PACK);
            if number % PER_PACK == 0 {
                self.packs.push(self.root.join(&pack));
            }
            let name = format!("{}-{}-{number}", self.words.any(dice), self.words.any(dice));
            let (text, keywords) = text::standard_skill(&name, &self.words, dice);
            self.put(&format!("{pack}/{name}/SKILL.md"), &text)?;
            self.put(&format!("{pack}/{name}/scripts/run.py"), &text::script(&self.words, dice))?;
            self.put(&format!("{pack}/{name}/references/guide.md"), &text::prose(&self.words, dice))?;
            self.add(keywords);
            number += 1;
        }
        Ok(())
    }

    /// A document; every tenth with a template and a script of its own.
    fn write_document(&mut self, path: &str, dice: &mut Dice) -> Result<()> {
        let files = if self.skills % 10 == 9 { text::Files::Some } else { text::Files::None };
        let (text, keywords) = text::document(&self.words, dice, files);
        self.put(&format!("{path}.md"), &text)?;
        match files {
            text::Files::Some => {
                self.put(&format!("{path}/template.md"), &text::prose(&self.words, dice))?;
                self.put(&format!("{path}/check.sh"), &text::script(&self.words, dice))?;
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

    /// How many of the skills are of the standard.
    pub(super) fn standard_skills(&self) -> usize {
        self.skills - self.skills / 2
    }

    /// Descriptions of tasks as a client sends them, from two words to a page. Most fit a skill or several.
    pub(super) fn tasks(&self, count: usize) -> Vec<String> {
        let mut dice = Dice::new(3);
        (0..count).map(|number| self.task(number, &mut dice)).collect()
    }

    fn task(&self, number: usize, dice: &mut Dice) -> String {
        let skill =
            self.keywords.get(dice.below(self.keywords.len())).map_or(&[] as &[String], Vec::as_slice);
        let of_skill = skill.iter().take(dice.between(2, 5)).cloned().collect::<Vec<_>>().join(" and the ");
        match number % 10 {
            0..=4 => format!("I need to write a {of_skill} for our project"),
            5 => format!("Crée un composant pour {of_skill} avec l'{}", self.words.any(dice)),
            6 => of_skill,
            7 => format!("{} {}", self.words.common(dice), self.words.common(dice)),
            // Without digits: names of skills end with a number, which would fit.
            8 => format!("xyzzy {}", "qzx".repeat(dice.between(1, 3))),
            _ => format!("{of_skill}. {}", text::sentences(&self.words, dice, 1500)),
        }
    }
}

/// The same document, found by nothing but that keyword.
pub(super) fn found_by(keyword: &str, document: &str) -> Option<String> {
    let (before, after) = document.split_once("keywords: [")?;
    let (_, after) = after.split_once(']')?;
    Some(format!("{before}keywords: [{keyword}]{after}"))
}

/// How many files are below a folder.
pub(super) fn files_below(folder: &Path) -> Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        count += if entry.file_type()?.is_dir() { files_below(&entry.path())? } else { 1 };
    }
    Ok(count)
}

#[cfg(test)]
mod tests;
