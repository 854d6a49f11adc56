//! Warnings about a valid configuration: what is unused, missing or readable by strangers.

use std::path::Path;

use lyceum_knowledge::PublicContent;

use super::{
    AuthService, Config, KnowledgeService, LibraryRead, LibraryService, Location, SkillsService, Source,
    UpstreamService,
};

impl Config {
    /// Warnings for the operator: risky or without effect, but not errors.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = match &self.auth {
            AuthService::Open => Vec::new(),
            AuthService::Gated(oauth) => oauth.warnings().into_iter().map(str::to_owned).collect(),
        };
        warnings.extend(self.readable_by_strangers());
        for source in &self.sources {
            if !self.is_used(source) {
                let name = &source.name;
                warnings.push(format!(
                    "no service uses the source {name:?}, so nothing of it is served; write source = {name:?} in [knowledge], [skills] or [library], or remove it",
                    name = name.as_str()
                ));
            }
            warnings.extend(self.missing(source));
        }
        warnings
    }

    fn is_used(&self, source: &Source) -> bool {
        let mut of_knowledge = self.services_of::<KnowledgeService>().map(|(_, one)| &one.source.name);
        let mut of_skills = self.services_of::<SkillsService>().map(|(_, one)| &one.source.name);
        let parts = self.services_of::<LibraryService>().flat_map(|(_, one)| one.parts.values());
        let mut of_libraries = parts.map(|part| &part.source.name);
        // A service of another kind may use a source in a way that is not known here.
        let known = self.services_of::<KnowledgeService>().count()
            + self.services_of::<SkillsService>().count()
            + self.services_of::<LibraryService>().count()
            + self.services_of::<UpstreamService>().count();
        known < self.services.len()
            || of_knowledge.any(|name| *name == source.name)
            || of_skills.any(|name| *name == source.name)
            || of_libraries.any(|name| *name == source.name)
    }

    /// The warning about a source that can't be there.
    fn missing(&self, source: &Source) -> Option<String> {
        let name = source.name.as_str();
        let root = match &source.location {
            Location::Example => return None,
            Location::Repository(repository) => {
                let is_path = !repository.url.contains(':');
                return (is_path && !Path::new(&repository.url).exists()).then(|| {
                    format!("the url of the source {name:?}: no such repository: {}", repository.url)
                });
            }
            Location::Folder(root) => root,
        };
        if !root.is_dir() {
            return Some(format!(
                "the path of the source {name:?}: no such folder: {}{}",
                root.display(),
                nearest(root).map(|near| format!(" (did you mean {near}?)")).unwrap_or_default()
            ));
        }
        let mut paths = self
            .services_of::<SkillsService>()
            .filter(|(_, skills)| skills.source.name == source.name)
            .filter_map(|(_, skills)| Some(root.join(skills.path.as_ref()?.as_str())));
        let folder = paths.find(|path| !path.is_dir())?;
        Some(format!("the path of [skills] in the source {name:?}: no such folder: {}", folder.display()))
    }

    /// What callers can read without signing in, in one line.
    fn readable_by_strangers(&self) -> Option<String> {
        let AuthService::Gated(oauth) = &self.auth else { return None };
        if !oauth.anonymous {
            return None;
        }
        let mut readable = Vec::new();
        for (declared, knowledge) in self.services_of::<KnowledgeService>() {
            readable.extend(match knowledge.public {
                PublicContent::All => Some(format!("every document of {}", declared.name)),
                PublicContent::Summaries => {
                    Some(format!("lists and search results of {}, without full documents", declared.name))
                }
                PublicContent::Nothing => None,
            });
        }
        readable
            .extend(self.services_of::<SkillsService>().map(|(one, _)| format!("skills of {}", one.name)));
        let libraries = self.services_of::<LibraryService>();
        let libraries = libraries.filter(|(_, library)| library.read == LibraryRead::Server);
        readable.extend(libraries.map(|(one, _)| format!("everything in {}", one.name)));
        if readable.is_empty() {
            return None;
        }
        Some(format!(
            "without signing in, everyone can read: {}; to change it, write public = \"nothing\", \"summaries\" or \"all\" in [knowledge], or anonymous = false in [auth]",
            readable.join("; ")
        ))
    }
}

/// The folder beside it with the most similar name.
fn nearest(missing: &Path) -> Option<String> {
    let name = missing.file_name()?.to_string_lossy().into_owned();
    let parent = missing.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folders = std::fs::read_dir(parent).ok()?.filter_map(|entry| {
        let entry = entry.ok()?;
        entry.file_type().ok()?.is_dir().then(|| entry.file_name().to_string_lossy().into_owned())
    });
    let near = folders.max_by(|a, b| strsim::jaro(&name, a).total_cmp(&strsim::jaro(&name, b)))?;
    (strsim::jaro(&name, &near) > 0.8).then(|| parent.join(near).display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tables: &str, expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("skills")).unwrap();
        let config = Config::from_text(&folder.path().join("lyceum.toml"), tables).unwrap();
        let warnings = config.warnings();
        assert_eq!(warnings.len(), expected.len(), "{warnings:?}");
        for (warning, expected) in warnings.iter().zip(expected) {
            assert!(warning.contains(expected), "{warning}");
        }
    }

    #[test]
    fn an_unused_source_is_named() {
        let used = "[[source]]\nname = \"kb\"\npath = \"skills\"\n[knowledge]\nsource = \"kb\"\n";
        check(used, &[]);
        let unused = format!("{used}[[source]]\nname = \"drafts\"\npath = \"skills\"\n");
        check(&unused, &["no service uses the source \"drafts\""]);
    }

    #[test]
    fn what_strangers_can_read_is_named_for_each_knowledge_base() {
        let kb = "[[source]]\nname = \"kb\"\npath = \"skills\"\n[knowledge]\nsource = \"kb\"\n";
        let auth = "[auth]\nmode = \"github-pat\"\nanonymous = true\n";
        let summaries =
            "everyone can read: lists and search results of knowledge, without full documents; to change";
        check(&format!("{kb}{auth}"), &[summaries]);
        check(&format!("{kb}public = \"summaries\"\n{auth}"), &[summaries]);
        check(
            &format!("{kb}public = \"all\"\n{auth}"),
            &["everyone can read: every document of knowledge; to change"],
        );
        check(&format!("{kb}public = \"nothing\"\n{auth}"), &[]);
        check(
            &format!(
                "{kb}[knowledge.docs]\nsource = \"kb\"\npublic = \"all\"\n[skills]\nsource = \"kb\"\n{auth}"
            ),
            &["of knowledge, without full documents; every document of docs; skills of skills; to change"],
        );
        // Without anonymous access there are no strangers; without sign-in everyone may do everything.
        check(&format!("{kb}[auth]\nmode = \"github-pat\"\n"), &[]);
        check(kb, &[]);
    }

    #[test]
    fn a_missing_folder_is_named_with_the_nearest_one() {
        let config = |path: &str| {
            format!(
                "[[source]]\nname = \"kb\"\npath = {path:?}\n[skills]\nsource = \"kb\"\npath = \"inner\"\n"
            )
        };
        check(&config("skils"), &["/skils (did you mean "]);
        check(&config("elsewhere"), &["no such folder: "]);
        check(&config("skills"), &["the path of [skills] in the source \"kb\": no such folder: "]);
    }
}
