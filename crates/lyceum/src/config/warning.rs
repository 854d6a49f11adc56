//! Warnings about a valid configuration: what is unused, missing or readable by strangers.

use std::path::Path;

use super::{
    AuthService, Config, KnowledgeApi, KnowledgeService, LibraryRead, LibraryService, Location,
    SkillsService, Source,
};

/// The schemes of URLs that Git fetches from.
const GIT_SCHEMES: [&str; 7] = ["https", "http", "ssh", "git", "file", "git+ssh", "ssh+git"];

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
            + self.services_of::<LibraryService>().count();
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
                return (!is_git_url(&repository.url)).then(|| {
                    format!(
                        "the url of the source {name:?} is not a URL that Git knows; write for example \"https://github.com/team/kb.git\""
                    )
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
            readable.push(match knowledge.api {
                KnowledgeApi::Public => format!("every document of {} (REST API)", declared.name),
                KnowledgeApi::Member => format!("search results of {}", declared.name),
                KnowledgeApi::Off => format!("search results of {} (tools only)", declared.name),
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
            "without signing in, everyone can read: {}; write anonymous = false in [auth] to require sign-in, or api = \"member\" in [knowledge] to keep whole documents to members",
            readable.join(", ")
        ))
    }
}

/// Whether Git could fetch from there: a URL with a known scheme, `user@host:path`, or a path.
fn is_git_url(url: &str) -> bool {
    let url = url.trim();
    match url.split_once(':') {
        None => Path::new(url).exists(),
        Some((scheme, rest)) if rest.starts_with("//") => {
            GIT_SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) && rest.len() > 2
        }
        // `host:path`, but not a scheme with a slash too few.
        Some((host, rest)) => !host.contains('/') && !rest.starts_with('/') && !rest.is_empty(),
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

    #[test]
    fn a_mistyped_url_is_named() {
        for (url, is_known) in [
            ("https://github.com/team/kb.git", true),
            ("git@github.com:team/kb.git", true),
            ("HTTPS://example.org/kb", true),
            ("htps://github.com/team/kb", false),
            ("htps:/github.com/team/kb", false),
            ("https://", false),
        ] {
            assert_eq!(is_git_url(url), is_known, "{url}");
        }
    }
}
