//! Paths, parents, inheritance and files, as in the tables and diagrams of the specification.

use super::{super::Inherited, document, findings, index, path};

/// The example repository of the specification.
fn example() -> Vec<(&'static str, String)> {
    let with = |keywords: &str, files: &[&str], body: &str| {
        let assets: String = files
            .iter()
            .map(|file| format!("  - file: {file}\n    description: d\n    type: template\n"))
            .collect();
        format!("---\nkeywords: [{keywords}]\ndescription: {keywords}\nassets:\n{assets}---\n\n{body}\n")
    };
    vec![
        ("_root.md", with("global", &["global.css"], "Global rules")),
        ("_root/global.css", String::new()),
        ("ui/_index.md", with("ui", &["design-tokens.json"], "UI rules")),
        ("ui/_index/design-tokens.json", String::new()),
        ("ui/react/_index.md", with("react", &["component-base.tsx"], "React rules")),
        ("ui/react/_index/component-base.tsx", String::new()),
        ("ui/react/auth.md", with("auth", &["AuthProvider.tsx", "component-base.tsx"], "Auth rules")),
        ("ui/react/auth/AuthProvider.tsx", String::new()),
        ("ui/react/auth/component-base.tsx", String::new()),
        (
            "no-inherit.md",
            "---\nkeywords: [alone]\ndescription: alone\ninherit: false\n---\nAlone.\n".to_owned(),
        ),
    ]
}

fn example_index() -> super::SkillIndex {
    let files = example();
    index(&files.iter().map(|(name, text)| (*name, text.as_str())).collect::<Vec<_>>())
}

#[test]
fn a_path_is_the_file_without_its_extension() {
    let index = example_index();
    let paths: Vec<_> =
        index.skills().iter().map(|skill| (skill.file.as_str(), skill.path.as_str())).collect();
    assert_eq!(
        paths,
        [
            ("_root.md", "_root"),
            ("no-inherit.md", "no-inherit"),
            ("ui/_index.md", "ui/_index"),
            ("ui/react/_index.md", "ui/react/_index"),
            ("ui/react/auth.md", "ui/react/auth"),
        ]
    );
    assert!(findings(&index).is_empty(), "{:?}", findings(&index));
}

#[track_caller]
fn check_parent(index: &super::SkillIndex, skill: &str, parent: Option<&str>) {
    let found = index.get(skill).unwrap().parent.map(|at| index.skills()[at].path.as_str());
    assert_eq!(found, parent, "{skill}");
}

#[test]
fn parents_are_those_of_the_table() {
    let index = example_index();
    check_parent(&index, "_root", None);
    check_parent(&index, "ui/_index", Some("_root"));
    check_parent(&index, "ui/react/_index", Some("ui/_index"));
    check_parent(&index, "ui/react/auth", Some("ui/react/_index"));
    check_parent(&index, "no-inherit", Some("_root"));
}

#[test]
fn parents_that_are_missing_are_passed_over() {
    let index = index(&[
        ("_root.md", &document("root")),
        ("a/b/c/d.md", &document("deep")),
        ("a/_index.md", &document("a")),
        ("x/y/z.md", &document("z")),
    ]);
    check_parent(&index, "a/b/c/d", Some("a/_index"));
    check_parent(&index, "x/y/z", Some("_root"));
    let rootless = super::index(&[("x/y/z.md", &document("z"))]);
    check_parent(&rootless, "x/y/z", None);
}

#[test]
fn content_is_gathered_from_the_root_on() {
    let index = example_index();
    let content = index.content(index.get("ui/react/auth").unwrap(), 1000).unwrap();
    assert_eq!(
        content,
        "=== GLOBAL RULES (from _root.md) ===\n\nGlobal rules\n\n\
         === UI (from ui/_index.md) ===\n\nUI rules\n\n\
         === UI > REACT (from ui/react/_index.md) ===\n\nReact rules\n\n\
         === UI > REACT > AUTH (from ui/react/auth.md) ===\n\nAuth rules"
    );
}

#[test]
fn what_does_not_inherit_stands_alone_without_headers() {
    let index = example_index();
    let alone = index.get("no-inherit").unwrap();
    assert_eq!(index.content(alone, 1000).as_deref(), Some("Alone."));
    assert_eq!(index.content(alone, 5), None);
    assert!(index.inherited_assets(alone).is_empty());
    assert!(index.find_file(alone, &path("global.css")).is_none());
}

#[test]
fn the_more_specific_file_of_one_name_wins() {
    let index = example_index();
    let auth = index.get("ui/react/auth").unwrap();
    let own: Vec<_> = auth.assets.iter().map(|asset| asset.file.as_str()).collect();
    assert_eq!(own, ["AuthProvider.tsx", "component-base.tsx"]);
    let from = |entry: &Inherited<super::super::Asset>| (entry.item.file.to_string(), entry.from.clone());
    let inherited: Vec<_> = index.inherited_assets(auth).iter().map(from).collect();
    assert_eq!(
        inherited,
        [
            ("design-tokens.json".to_owned(), "ui/_index".to_owned()),
            ("global.css".to_owned(), "_root".to_owned())
        ]
    );
}

#[test]
fn a_file_is_looked_for_in_the_skill_then_up_the_chain() {
    let index = example_index();
    let auth = index.get("ui/react/auth").unwrap();
    let found = |file| {
        index
            .find_file(auth, &path(file))
            .map(|found| (found.path.to_string(), found.from.map(|from| from.to_string())))
    };
    assert_eq!(found("component-base.tsx"), Some(("ui/react/auth/component-base.tsx".to_owned(), None)));
    assert_eq!(found("global.css"), Some(("_root/global.css".to_owned(), Some("_root".to_owned()))));
    assert_eq!(found("nothing.css"), None);
}

#[test]
fn without_a_folder_there_are_no_files() {
    let text =
        "---\nkeywords: [a]\ndescription: a\nassets: [{ file: x.txt }]\nscripts: [{ file: y.sh }]\n---\n";
    let index = index(&[("a.md", text)]);
    let skill = index.get("a").unwrap();
    assert_eq!((skill.assets.len(), skill.scripts.len(), &skill.folder), (0, 0, &None));
}

#[test]
fn the_tree_has_every_skill_once() {
    let index = example_index();
    let leaf = |name: &str, path: &str, keyword: &str, assets: usize, children: serde_json::Value| {
        serde_json::json!({
            "name": name, "path": path, "description": keyword, "keywords": [keyword],
            "assetCount": assets, "scriptCount": 0, "children": children
        })
    };
    let auth = leaf("auth", "ui/react/auth", "auth", 2, serde_json::json!([]));
    let react = leaf("react", "ui/react/_index", "react", 1, serde_json::json!([auth]));
    let ui = leaf("ui", "ui/_index", "ui", 1, serde_json::json!([react]));
    assert_eq!(serde_json::to_value(index.subtree_at("ui").unwrap()).unwrap(), ui);
    let names = |node: &super::super::SkillNode| {
        node.children.iter().map(|child| child.path.clone()).collect::<Vec<_>>()
    };
    let tree = index.tree();
    assert_eq!(
        (tree.path.as_str(), names(&tree)),
        ("_root", vec!["no-inherit".to_owned(), "ui/_index".to_owned()])
    );
    assert_eq!(index.subtree_at("ui/_index"), index.subtree_at("ui"));
    assert_eq!(index.subtree_at("nowhere"), None);
}

#[test]
fn a_folder_without_a_skill_of_its_own_can_be_browsed() {
    let index = index(&[("api/auth.md", &document("auth")), ("api/v2/users.md", &document("users"))]);
    let node = index.subtree_at("api").unwrap();
    let children: Vec<_> = node.children.iter().map(|child| child.path.as_str()).collect();
    assert_eq!((node.name.as_str(), children), ("api", vec!["api/auth", "api/v2/users"]));
    assert_eq!(index.tree().children.len(), 2);
}

#[test]
fn a_tree_that_is_too_large_keeps_what_is_nearest_to_the_top() {
    let index = example_index();
    let cut = |max_nodes| {
        let node = index.tree().page(0, max_nodes);
        let names: Vec<String> = node.children.iter().map(|child| child.path.clone()).collect();
        (names, node.omitted, node.children.last().and_then(|child| child.omitted))
    };
    assert_eq!(cut(100), (vec!["no-inherit".to_owned(), "ui/_index".to_owned()], None, None));
    assert_eq!(cut(3), (vec!["no-inherit".to_owned(), "ui/_index".to_owned()], None, Some(2)));
    assert_eq!(cut(2), (vec!["no-inherit".to_owned()], Some(3), None));
    assert_eq!(cut(1), (vec![], Some(4), None));
}

/// Every skill is reachable, however many there are: by path, and page by page.
#[test]
fn what_a_large_tree_leaves_out_can_be_seen_with_the_call_that_it_names() {
    let files: Vec<String> = (10..35).map(|at| format!("s{at}.md")).collect();
    let text = document("word");
    let index = index(&files.iter().map(|file| (file.as_str(), text.as_str())).collect::<Vec<_>>());
    let (mut seen, mut offset) = (Vec::new(), 0);
    loop {
        let page = index.tree().page(offset, 11);
        assert_eq!(page.omitted.unwrap_or_default(), 25 - offset - page.children.len());
        seen.extend(page.children.iter().map(|child| format!("{}.md", child.path)));
        let Some(more) = page.more else { break };
        assert_eq!(more, format!("call list_skills with offset {}", seen.len()));
        offset = seen.len();
    }
    assert_eq!(seen, files);
    let nested = example_index().tree().page(0, 3);
    let more = nested.children.last().and_then(|child| child.more.clone());
    assert_eq!(more.as_deref(), Some("call list_skills with path \"ui/_index\" and offset 0"));
}
