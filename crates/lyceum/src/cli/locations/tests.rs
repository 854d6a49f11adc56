//! Which services locations become.

use lyceum_content::recognise::{DocumentsFound, DocumentsKind, Recognition, SkillsForm, SkillsFound};

use super::{RecognisedLocation, check, services_of};

fn documents() -> Recognition {
    let found = DocumentsFound { count: 3, kind: DocumentsKind::Docs, exclude: Vec::new() };
    Recognition { skills: None, documents: Some(found) }
}

fn skills() -> Recognition {
    Recognition {
        skills: Some(SkillsFound { count: 1, form: SkillsForm::Folders, root: None }),
        documents: None,
    }
}

#[track_caller]
fn check_services(locations: &[(&str, Recognition)], expected: &[&[&str]]) {
    let recognised: Vec<RecognisedLocation> = locations
        .iter()
        .map(|(name, recognition)| RecognisedLocation {
            location: (*name).to_owned(),
            recognition: recognition.clone(),
        })
        .collect();
    let names: Vec<&str> = locations.iter().map(|(name, _)| *name).collect();
    let services: Vec<Vec<String>> = services_of(&recognised, &names)
        .into_iter()
        .map(|services| {
            services
                .into_iter()
                .map(|one| one.name.map_or(one.table.to_owned(), |name| format!("{}.{name}", one.table)))
                .collect()
        })
        .collect();
    assert_eq!(services, expected);
}

#[test]
fn one_of_a_kind_keeps_the_name_of_its_kind() {
    check_services(&[("docs", documents())], &[&["knowledge"]]);
    check_services(&[("team", skills())], &[&["skills"]]);
    check_services(&[("docs", documents()), ("team", skills())], &[&["knowledge"], &["skills"]]);
    let both = Recognition { documents: documents().documents, ..skills() };
    check_services(&[("repo", both)], &[&["knowledge", "skills"]]);
    check_services(&[("empty", Recognition::default())], &[&["knowledge"]]);
}

#[test]
fn several_of_a_kind_have_names_of_their_own() {
    check_services(&[("a", documents()), ("b", documents())], &[&["knowledge.a"], &["knowledge.b"]]);
    let taken = [("skills", documents()), ("server", documents())];
    check_services(&taken, &[&["knowledge.skills-docs"], &["knowledge.server-docs"]]);
}

#[track_caller]
fn check_refused(location: &str, message: &str) {
    assert_eq!(check(location).unwrap_err().to_string(), message);
}

#[test]
fn a_path_that_can_not_be_served_is_named() {
    check_refused("./missing", "no such folder: ./missing");
    let advice = "no such folder: example.org/team/kb; for a repository, write https://example.org/team/kb";
    check_refused("example.org/team/kb", advice);
    let advice = "htps:/example.org/kb is neither a folder nor a URL that Git can fetch from; write for example https://github.com/team/kb.git";
    check_refused("htps:/example.org/kb", advice);
    check_refused("Cargo.toml", "Cargo.toml is a file; name the folder that it is in");
    assert!(check("https://example.org/team/kb.git").is_ok() && check(".").is_ok());
}

#[test]
fn what_was_recognised_is_said_in_a_line() {
    let line = |recognition| RecognisedLocation { location: "./x".to_owned(), recognition }.to_string();
    assert_eq!(line(documents()), "./x: docs, 3 markdown files");
    assert_eq!(line(skills()), "./x: 1 skill (folders with SKILL.md)");
    assert_eq!(line(Recognition::default()), "./x: no markdown files yet; watched for new ones");
}
