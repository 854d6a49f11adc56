//! `.gitignore` patterns and precedence.

use std::{fs, path::Path, sync::Arc};

use tempfile::TempDir;

use super::{Kind, Rules};

fn write(root: &Path, file: &str, text: &str) {
    fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
    fs::write(root.join(file), text).unwrap();
}

fn rules(root: &Path, real: &str, above: Option<Arc<Rules>>) -> Option<Arc<Rules>> {
    Rules::of_folder(fs::File::open(root.join(real)).unwrap(), real, above).unwrap()
}

#[track_caller]
fn check(rules: &Option<Arc<Rules>>, path: &str, expected: Option<&str>) {
    let (path, kind) = match path.strip_suffix('/') {
        Some(folder) => (folder, Kind::Folder),
        None => (path, Kind::File),
    };
    let line = rules.as_ref().and_then(|rules| rules.matching_pattern(path, kind));
    assert_eq!(line.as_deref(), expected, "{path}");
}

#[test]
fn lines_are_read_as_git_reads_them() {
    let folder = TempDir::new().unwrap();
    let text = "\u{FEFF}# keys\n*.pem\r\n!public.pem\nbuild/\n/only-here.txt\ndocs/*.tmp\n**/cache/**\n\\#x\nspace \\ \ntrail   \n\n";
    write(folder.path(), ".gitignore", text);
    let rules = rules(folder.path(), "", None);
    check(&rules, "a.pem", Some("*.pem in .gitignore"));
    check(&rules, "deep/er/a.pem", Some("*.pem in .gitignore"));
    check(&rules, "deep/public.pem", None);
    check(&rules, "x/build/", Some("build/ in .gitignore"));
    check(&rules, "x/build", None);
    check(&rules, "only-here.txt", Some("/only-here.txt in .gitignore"));
    check(&rules, "x/only-here.txt", None);
    check(&rules, "docs/a.tmp", Some("docs/*.tmp in .gitignore"));
    check(&rules, "docs/x/a.tmp", None);
    check(&rules, "a/cache/b", Some("**/cache/** in .gitignore"));
    check(&rules, "#x", Some("#x in .gitignore"));
    check(&rules, "trail", Some("trail in .gitignore"));
    check(&rules, "a.md", None);
}

#[test]
fn the_nearest_file_decides() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), ".gitignore", "*.log\n");
    write(folder.path(), "a/.gitignore", "!keep.log\n/x.md\n");
    let top = rules(folder.path(), "", None);
    let nested = rules(folder.path(), "a", top.clone());
    check(&nested, "a/keep.log", None);
    check(&nested, "a/b/other.log", Some("*.log in .gitignore"));
    check(&nested, "a/x.md", Some("/x.md in a/.gitignore"));
    check(&nested, "a/b/x.md", None);
    check(&top, "keep.log", Some("*.log in .gitignore"));
}

#[test]
fn files_above_the_root_count_in_a_working_copy_unless_they_name_the_root() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), ".gitignore", "*.pem\nteam/skills/local/\n");
    write(folder.path(), "team/.gitignore", "*\n");
    write(folder.path(), "team/skills/a.md", "x");
    let root = folder.path().join("team/skills");
    check(&Rules::above_root(&root), "a.pem", None);
    write(folder.path(), ".git/HEAD", "x");
    let rules = Rules::above_root(&root);
    check(&rules, "a.pem", Some("*.pem in ../../.gitignore"));
    check(&rules, "local/", Some("team/skills/local/ in ../../.gitignore"));
    check(&rules, "a.md", None);
}
