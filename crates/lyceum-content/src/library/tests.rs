//! Indexes of small repositories.

use std::collections::BTreeMap;

use lyceum_model::RelPath;
use serde_json::{Value, json};

use super::{AgentFormat, AgentsIndex, DocsIndex, Files, SkillsIndex, agent_id, parse_parameter};

struct Repository(BTreeMap<RelPath, String>);

impl Repository {
    fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| (RelPath::parse(path).unwrap(), (*text).to_owned()));
        Self(files.collect())
    }

    fn with<T>(&self, build: impl Fn(&Files<'_>) -> T) -> T {
        let read = |path: &RelPath| self.0.get(path).cloned();
        build(&Files { paths: self.0.keys().collect(), read: &read, link: &|_| None })
    }

    fn skills(&self, folder: Option<&str>) -> Value {
        let folder = folder.map(|folder| RelPath::parse(folder).unwrap());
        json!(self.with(|files| SkillsIndex::build(files, folder.as_ref())).entries)
    }

    fn agents(&self, folder: Option<&str>) -> Value {
        let folder = folder.map(|folder| RelPath::parse(folder).unwrap());
        json!(self.with(|files| AgentsIndex::build(files, folder.as_ref())).entries)
    }

    fn docs(&self, folder: Option<&str>) -> DocsIndex {
        let folder = folder.map(|folder| RelPath::parse(folder).unwrap());
        self.with(|files| DocsIndex::build(files, folder.as_ref()))
    }
}

fn names(entries: &Value) -> Vec<&str> {
    entries.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect()
}

#[test]
fn a_skill_has_its_fields_and_its_other_files() {
    let repository = Repository::of(&[
        (
            "skills/pdf/SKILL.md",
            "---\nname: pdf\ndescription: Fill in forms\nargument-hint: [file] \nuser-invocable: false\n---\n",
        ),
        ("skills/pdf/scripts/fill.py", ""),
        ("skills/pdf/reference.md", ""),
        ("skills/pdf-old.md", ""),
        ("skills/bare/SKILL.md", "# Bare\n"),
        ("docs/x/SKILL.md", "---\nname: elsewhere\n---\n"),
    ]);
    let pdf = json!({
        "name": "pdf", "description": "Fill in forms", "argumentHint": "[file]", "userInvocable": false,
        "files": ["reference.md", "scripts/fill.py"], "path": "skills/pdf/SKILL.md"
    });
    let bare = json!({
        "name": "bare", "description": null, "argumentHint": null, "userInvocable": true, "files": [],
        "path": "skills/bare/SKILL.md"
    });
    assert_eq!(repository.skills(None), json!([bare, pdf]));
    assert_eq!(repository.skills(Some("skills")), json!([bare, pdf]));
    assert_eq!(names(&repository.skills(Some("docs"))), ["elsewhere"]);
    assert_eq!(names(&repository.skills(Some("none"))), Vec::<&str>::new());
}

#[test]
fn a_listed_name_means_one_entry_only() {
    let skill = |name: &str| format!("---\nname: {name}\n---\n");
    let repository = Repository::of(&[
        ("plugins/a/skills/review/SKILL.md", &skill("review")),
        ("plugins/b/skills/review/SKILL.md", &skill("review")),
        ("plugins/c/skills/odd/SKILL.md", &skill("../odd")),
    ]);
    assert_eq!(names(&repository.skills(None)), ["review", "plugins/b/skills/review", "odd"]);
    // A folder keeps its name, whoever else declares it.
    let repository =
        Repository::of(&[("skills/a/SKILL.md", &skill("b")), ("skills/b/SKILL.md", &skill("a"))]);
    assert_eq!(names(&repository.skills(None)), ["a", "b"]);
}

#[test]
fn broken_frontmatter_is_a_finding_and_the_file_is_listed() {
    let repository = Repository::of(&[
        ("skills/a/SKILL.md", "---\nname: [\n---\n"),
        ("skills/b/SKILL.md", "---\ndescription: 5\n"),
    ]);
    let index = repository.with(|files| SkillsIndex::build(files, None));
    let found: Vec<_> =
        index.entries.iter().map(|entry| (entry.name.as_str(), entry.description.as_deref())).collect();
    assert_eq!(found, [("a", None), ("b", None)]);
    assert_eq!(index.findings.len(), 2, "{:?}", index.findings);
}

#[test]
fn agents_are_found_as_people_have_them() {
    let repository = Repository::of(&[
        (
            ".claude/agents/reviewer.md",
            "---\nname: reviewer\ndescription: Reviews\nmodel: opus\ntools: Read, Bash(git log, git diff)\n---\n",
        ),
        (".github/agents/planner.agent.md", "---\ndescription: Plans\ntools: ['read', 'search']\n---\n"),
        ("plugins/x/agents/helper.md", "no frontmatter"),
        ("nested/.claude-plugin/plugin.json", "{}"),
        ("nested/agents/deep/one.md", "---\ntools:\n  write: false\n  read: true\n---\n"),
        ("skills/creator/SKILL.md", ""),
        ("skills/creator/agents/grader.md", ""),
        ("agents/README.md", "# About"),
    ]);
    let listed = repository.agents(None);
    assert_eq!(names(&listed), ["reviewer", "planner", "one", "helper"]);
    assert_eq!(
        listed[0],
        json!({
            "name": "reviewer", "description": "Reviews", "model": "opus",
            "allowedTools": ["Read", "Bash(git log, git diff)"], "path": ".claude/agents/reviewer.md"
        })
    );
    assert_eq!(listed[1]["allowedTools"], json!(["read", "search"]));
    assert_eq!(listed[2]["allowedTools"], json!(["read"]));
    let fallback = json!({
        "name": "helper", "description": null, "model": null, "allowedTools": null, "path": "plugins/x/agents/helper.md"
    });
    assert_eq!(listed[3], fallback);
    assert_eq!(names(&repository.agents(Some("skills/creator/agents"))), ["grader"]);
}

#[test]
fn docs_are_a_tree_of_descriptions() {
    let repository = Repository::of(&[
        ("docs/index.md", "---\ntitle: Home\n---\n"),
        ("docs/guide/index.mdx", "---\ndescription: The guide\n---\n"),
        ("docs/guide/setup.md", "---\ndescription: Set up\n---\n"),
        ("docs/api.md", "---\ndescription: The API\n---\n"),
        ("docs/api/v1.mdx", "no frontmatter"),
        ("docs/same.md", "---\ndescription: read\n---\n"),
        ("docs/same.mdx", "---\ndescription: not read\n---\n"),
        ("docs/.hidden/x.md", ""),
        ("docs/image.png", ""),
        ("README.md", ""),
    ]);
    let index = repository.docs(None);
    let tree = json!({
        "index": "Home",
        "api": { "index": "The API", "v1": null },
        "guide": { "index": "The guide", "setup": "Set up" },
        "same": "read",
    });
    assert_eq!(json!(index.tree), tree);
    let page = |keys: &str| index.page(keys).map(RelPath::as_str);
    assert_eq!(page("guide/setup"), Some("docs/guide/setup.md"));
    assert_eq!(page("guide"), Some("docs/guide/index.mdx"));
    assert_eq!(page("api"), Some("docs/api.md"));
    assert_eq!(page("api/index"), Some("docs/api.md"));
    assert_eq!(page("api/v1"), Some("docs/api/v1.mdx"));
    assert_eq!(page(""), Some("docs/index.md"));
    assert_eq!(page("nope"), None);
    assert_eq!(json!(index.tree.at(&["guide".to_owned()])), tree["guide"]);
    assert_eq!(index.tree.pages(), 6);
}

#[test]
fn a_large_tree_is_cut_where_it_fits() {
    let files: Vec<String> = (0..100).map(|n| format!("docs/s{}/t{}/p{n}.md", n % 3, n % 2)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|path| (path.as_str(), "")).collect();
    let tree = Repository::of(&files).docs(None).tree;
    let summary = |keys: &[String], pages: usize| format!("{}: {pages}", keys.join("/"));
    assert_eq!(tree.within(1000, &summary), tree);
    let cut = json!(tree.within(20, &summary));
    assert_eq!(cut["s0"]["t0"], "s0/t0: 17", "{cut}");
    assert_eq!(json!(tree.within(2, &summary))["s0"], "s0: 34");
}

#[test]
fn a_parameter_never_leaves_its_folder() {
    for good in ["pdf", "group/pdf", "scripts/fill.py", "é", "a.b"] {
        assert!(parse_parameter(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        "..",
        "../x",
        "a/../b",
        "a..b",
        "x..",
        "/etc/passwd",
        "a\\b",
        "\\",
        "a//b",
        "%2e%2e/x",
        "a\0b",
        "C:x",
    ] {
        assert!(parse_parameter(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn an_agent_is_written_for_each_assistant_and_read_back_the_same() {
    let text = "---\nname: Code Reviewer\ndescription: \"Reviews: all \\\"changes\\\"\"\nmodel: opus\ntools: Read, Grep\n---\nBody.\n";
    let repository = Repository::of(&[("agents/x.md", text)]);
    let entry = repository.with(|files| AgentsIndex::build(files, None)).entries.remove(0);
    let id = agent_id(&entry.name);
    assert_eq!(id, "code-reviewer");
    for (format, folder) in
        [(AgentFormat::Claude, ".claude/agents"), (AgentFormat::Copilot, ".github/agents")]
    {
        let path = format!("{folder}/{}", format.file_name(&id));
        let read = Repository::of(&[(&path, &format.write(&id, &entry, "Body.\n"))]).agents(None);
        assert_eq!(read[0]["name"], "code-reviewer");
        assert_eq!(read[0]["description"], "Reviews: all \"changes\"");
        assert_eq!(read[0]["allowedTools"], json!(["Read", "Grep"]));
        let model = if format == AgentFormat::Claude { json!("opus") } else { Value::Null };
        assert_eq!(read[0]["model"], model, "opus is a name of Claude Code's only");
    }
    let codex: toml::Table =
        AgentFormat::Codex.write(&id, &entry, "Body \"\"\" with \\ quotes.\n").parse().unwrap();
    assert_eq!(codex["developer_instructions"].as_str(), Some("Body \"\"\" with \\ quotes."));
    assert_eq!((codex["name"].as_str(), codex.get("model")), (Some("code-reviewer"), None));
    assert_eq!(agent_id("../é"), "agent");
}
