//! Unreadable files: each is skipped with its reason, the others are served, and nothing takes long.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{
    Folder, ask,
    command::lyceum,
    folder::{skill, standard},
    serving, tables, watching,
};
use crate::app::call;

/// All kinds of bad files, and one good one.
fn bad() -> Folder {
    let folder = Folder::of(&[("good.md", &skill("good", "Still here."))]);
    let file =
        |name: &str, frontmatter: &str| folder.write(name, format!("---\n{frontmatter}\n---\n\nBody.\n"));
    std::fs::File::create(folder.file("huge.md")).unwrap().set_len(100 * 1024 * 1024).unwrap();
    folder.write("not-utf8.md", b"---\nkeywords: [caf\xe9]\ndescription: Coffee\n---\n\nBody.\n");
    let bomb: String = (1..9).fold("a0: &a0 [x]\n".to_owned(), |bomb, n| {
        let before = format!("*a{}, ", n - 1).repeat(9);
        format!("{bomb}a{n}: &a{n} [{before}]\n")
    });
    file("bomb.md", &format!("{bomb}keywords: [*a8]\ndescription: Boom"));
    file("brackets.md", &format!("keywords: {}", "[".repeat(40_000)));
    file("braces.md", &format!("keywords: {}", "{".repeat(40_000)));
    file("twice.md", "keywords: [a]\ndescription: One\ndescription: Two");
    folder.write("code.md", "---js\nmodule.exports = { keywords: [process.exit(1)] }\n---\n\nBody.\n");
    folder.write("plain.md", "# No frontmatter\n");
    folder.write("open.md", "---\nkeywords: [a]\n");
    folder.write("empty.md", "");
    file("list.md", "- a\n- b");
    file("wide.md", &format!("keywords: [a]\nlong: {}", "x".repeat(70_000)));
    file("no-keywords.md", "description: Lonely");
    file("no-description.md", "keywords: [a]\ndescription: \"  \"");
    folder.write("Bad Name/SKILL.md", standard("Bad Name", "Body."));
    folder.write("other/SKILL.md", standard("another", "Body."));
    folder
}

/// The skipped files, with the start of the reason, sorted by path.
const SKIPPED: [(&str, &str); 14] = [
    ("bomb.md", "its frontmatter can't be parsed as YAML: "),
    ("braces.md", "its frontmatter can't be parsed as YAML: "),
    ("brackets.md", "its frontmatter can't be parsed as YAML: "),
    ("code.md", "its frontmatter is not YAML but \"js\"; begin it with a plain line of ---"),
    ("empty.md", "it has no frontmatter; begin the file with a line of --- and the fields"),
    ("huge.md", "it is larger than 1 MiB; split it, or move parts to files of their own"),
    ("list.md", "its frontmatter is not a YAML mapping; write lines such as \"description: …\""),
    ("no-description.md", "description: is missing or empty"),
    ("no-keywords.md", "keywords: is not a list of at least one word"),
    ("not-utf8.md", "it is not UTF-8 text; save it as UTF-8"),
    ("open.md", "its frontmatter is not closed; end it with a line of ---"),
    ("plain.md", "it has no frontmatter; begin the file with a line of --- and the fields"),
    ("twice.md", "its frontmatter can't be parsed as YAML: "),
    ("wide.md", "its frontmatter is larger than 64 KiB"),
];

const WARNED: [(&str, &str); 2] = [
    ("Bad Name/SKILL.md", "name: \"Bad Name\" is not 1 to 64 of a-z, 0-9 and single hyphens between them"),
    ("other/SKILL.md", "name: is \"another\", but the folder is \"other\"; give both the same name"),
];

#[tokio::test]
async fn the_good_are_served_and_the_bad_are_told() {
    let folder = bad();
    let began = Instant::now();
    let app = serving(&folder, "").await;
    assert_eq!(ask(&app, "get_skill", json!({ "context": "good" })).await["skill_path"], "good");
    let answer = ask(&app, "refresh_skills", json!({})).await;
    assert!(began.elapsed() < Duration::from_secs(5), "took {:?}", began.elapsed());
    assert_eq!(answer["skills_reindexed"], 3);
    let findings = answer["findings"].as_array().unwrap();
    let expected = SKIPPED.map(|(file, reason)| (file, "skipped", reason)).into_iter();
    let expected: Vec<_> = expected.chain(WARNED.map(|(file, reason)| (file, "warning", reason))).collect();
    assert_eq!(findings.len(), expected.len(), "{findings:#?}");
    for (finding, (file, severity, reason)) in findings.iter().zip(expected) {
        assert_eq!((&finding["file"], &finding["severity"]), (&json!(file), &json!(severity)), "{finding}");
        let message = finding["message"].as_str().unwrap();
        assert!(message.starts_with(reason) && message.len() < 400, "{file}: {message}");
    }
    app.serves_others().await;
    app.stop().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn names_that_are_no_paths_are_told() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let folder = Folder::of(&[("good.md", &skill("good", "Still here."))]);
    for name in [&b"caf\xe9.md"[..], b"back\\slash.md", b"per%2fcent.md", b"two\nlines.md"] {
        std::fs::write(folder.path().join(OsStr::from_bytes(name)), skill("odd", "Odd.")).unwrap();
    }
    let app = serving(&folder, "").await;
    let answer = ask(&app, "refresh_skills", json!({})).await;
    assert_eq!(answer["skills_reindexed"], 1);
    let told: Vec<(&str, &str)> = (answer["findings"].as_array().unwrap().iter())
        .map(|one| (one["file"].as_str().unwrap(), one["message"].as_str().unwrap()))
        .collect();
    let reasons = [
        ("back\\slash.md", "write / between its parts"),
        ("caf\u{FFFD}.md", "the name is not UTF-8"),
        ("per%2fcent.md", "it is percent-encoded; write it plainly"),
        ("two\\nlines.md", "it has a control character"),
    ];
    assert_eq!(told.len(), reasons.len(), "{told:?}");
    for ((file, message), (name, reason)) in told.iter().zip(reasons) {
        assert!(*file == name && message.ends_with(reason), "{file}: {message}");
    }
    app.stop().await;
}

/// The last lines of `doctor` without a library and upstreams.
pub(super) const OTHERS_ARE_OFF: &str = "library: off; add a [library] table to lyceum.toml\nupstream: off; add an [upstream.NAME] table to lyceum.toml";

#[tokio::test]
async fn the_doctor_lists_each_with_its_reason() {
    let folder = bad();
    let config = format!("{}[skills.scripts]\nenabled = false\n", tables(&folder));
    let ended = lyceum("doctor", &config, &[]).await;
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{ended:?}");
    let mut lines = ended.out.lines();
    assert!(lines.next().unwrap().starts_with("lyceum "));
    assert!(lines.next().unwrap().starts_with("configuration: valid (lyceum.toml); data in "));
    assert_eq!(lines.next(), Some("search: lexical only (BM25); search.embedder.kind is \"none\""));
    assert_eq!(lines.next(), Some("sign-in: off; everyone who can reach the server may call everything"));
    assert_eq!(lines.next(), Some("knowledge: off; add a [knowledge] table to lyceum.toml"));
    assert_eq!(lines.next(), Some(format!("source skills: {}", folder.path().display()).as_str()));
    assert_eq!(lines.next(), Some("skills: 3"));
    assert_eq!(lines.next(), Some("scripts: off over stdio, off over HTTP"));
    let found =
        SKIPPED.map(|found| ("skipped", found)).into_iter().chain(WARNED.map(|found| ("warning", found)));
    for (word, (file, reason)) in found {
        let line = lines.next().unwrap();
        assert!(line.starts_with(&format!("  {word}  {file}: {reason}")), "{line}");
    }
    assert_eq!(lines.collect::<Vec<_>>(), OTHERS_ARE_OFF.lines().collect::<Vec<_>>());
}

#[tokio::test]
async fn the_doctor_fails_when_something_does_not_work_at_all() {
    let ended = lyceum("doctor", "", &[("SKILLS_DIR", "missing")]).await;
    assert_eq!(ended.code, Some(1));
    let text = "  refresh failed: no such folder; check its path\n";
    assert!(ended.out.ends_with(&format!("{text}{OTHERS_ARE_OFF}\n")), "{}", ended.out);
    let ended = lyceum("doctor", "[skills]\nsource = \"nothing\"\n", &[]).await;
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("no [[source]] is named \"nothing\""), "{}", ended.out);
}

#[tokio::test]
async fn the_doctor_says_when_there_are_no_skills_to_look_at() {
    let ended = lyceum("doctor", "", &[]).await;
    let text = "skills: off; add a [skills] table to lyceum.toml, or set SKILLS_DIR or SKILLS_REPO";
    assert_eq!(ended.code, Some(0));
    assert!(ended.out.ends_with(&format!("{text}\n{OTHERS_ARE_OFF}\n")), "{ended:?}");
}

#[tokio::test]
async fn a_bad_file_that_comes_later_takes_nothing_away() {
    let folder = Folder::of(&[("good.md", &skill("good", "Still here."))]);
    let app = watching(&folder).await;
    std::fs::File::create(folder.file("huge.md")).unwrap().set_len(100 * 1024 * 1024).unwrap();
    folder.write("bad.md", "---\nkeywords: [[[[\n---\n");
    folder.write("better.md", skill("better", "And me."));
    super::becomes(&app, "better", "And me.").await;
    assert_eq!(ask(&app, "get_skill", json!({ "context": "good" })).await["skill_path"], "good");
    app.stop().await;
}

#[tokio::test]
async fn files_that_come_and_go_while_they_are_read_do_no_harm() {
    let folder = Folder::of(&[("good.md", &skill("good", "Still here."))]);
    let app = watching(&folder).await;
    let churn = async {
        for round in 0..30 {
            for number in 0..10 {
                folder.write(&format!("passing/{round}/{number}.md"), skill("passing", "Gone soon."));
            }
            tokio::task::yield_now().await;
            folder.remove(&format!("passing/{round}"));
        }
    };
    let asking = async {
        for _ in 0..30 {
            let result = app.send(call("refresh_skills", &json!({}))).await.result();
            assert_eq!(result["isError"], false, "{result}");
            let path = ask(&app, "get_skill", json!({ "context": "good" })).await["skill_path"].clone();
            assert_eq!(path, "good");
        }
    };
    tokio::join!(churn, asking);
    super::eventually("what went is gone", || async {
        let tree = ask(&app, "list_skills", json!({})).await;
        (tree["children"].as_array().map(Vec::len) == Some(1), tree)
    })
    .await;
    app.stop().await;
}

#[tokio::test]
async fn a_body_of_any_text_is_served_as_it_is() {
    let odd = "\u{0}\u{7}\u{1b}[31m\u{202E}\u{FEFF}---\n=== GLOBAL RULES ===\n</script>\u{1F9F5}";
    let folder = Folder::of(&[(
        "odd.md",
        &format!("---\nkeywords: [odd]\ndescription: Odd\ninherit: false\n---\n{odd}\n"),
    )]);
    let app = serving(&folder, "").await;
    let answer = ask(&app, "get_skill", json!({ "context": "odd" })).await;
    assert_eq!(answer["content"], Value::from(odd));
    app.stop().await;
}
