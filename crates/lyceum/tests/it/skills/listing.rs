//! `list_skills`: the whole tree, a subtree, and invalid paths.

use serde_json::{Value, json};

use super::{Folder, ask, check_refused, folder::skill, refusal, serving};

/// A node of the tree.
fn node(
    name: &str,
    path: &str,
    description: &str,
    keywords: &[&str],
    files: [u32; 2],
    children: &[Value],
) -> Value {
    json!({
        "name": name,
        "path": path,
        "description": description,
        "keywords": keywords,
        "assetCount": files[0],
        "scriptCount": files[1],
        "children": children,
    })
}

fn react() -> Value {
    let auth = "React authentication components and patterns";
    let auth = node("auth", "ui/react/auth", auth, &["react", "auth", "component", "login"], [3, 1], &[]);
    node("react", "ui/react/_index", "React", &["react", "hooks", "jsx", "frontend"], [1, 1], &[auth])
}

fn ui() -> Value {
    node("ui", "ui/_index", "User interface", &["ui", "screens"], [0, 0], &[react()])
}

fn api_auth() -> Value {
    let description = "API authentication with JWT middleware";
    node("auth", "api/auth", description, &["api", "auth", "jwt", "middleware"], [0, 0], &[])
}

#[tokio::test]
async fn the_whole_tree_has_every_skill_once() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let alone = node("no-inherit", "no-inherit", "Stands alone", &["alone"], [0, 0], &[]);
    let tree = node("_root", "_root", "Global rules", &["global"], [2, 0], &[api_auth(), alone, ui()]);
    for arguments in [json!({}), json!({ "path": "" }), json!({ "path": "/" }), json!({ "path": "_root" })] {
        assert_eq!(ask(&app, "list_skills", arguments.clone()).await, tree, "{arguments}");
    }
    app.stop().await;
}

#[tokio::test]
async fn a_part_of_the_tree_is_named_by_its_folder_or_its_skill() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let api = node("api", "api", "", &[], [0, 0], &[api_auth()]);
    for (path, expected) in [
        ("ui", ui()),
        ("ui/_index", ui()),
        ("/ui/", ui()),
        ("ui/react", react()),
        ("api/auth", api_auth()),
        ("api", api),
    ] {
        assert_eq!(ask(&app, "list_skills", json!({ "path": path })).await, expected, "{path}");
    }
    app.stop().await;
}

#[tokio::test]
async fn where_no_skill_is_there_is_nothing_to_list() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    for path in ["nothing", "ui/react/nothing", "notes", "u", "broken"] {
        let text = format!("no skill is at or below {path:?}; leave path out to see the whole tree");
        check_refused(&app, "list_skills", json!({ "path": path }), "NOT_FOUND", &text).await;
    }
    let (code, text) = refusal(&app, "list_skills", json!({ "path": "ui/../.." })).await;
    assert_eq!(code, "INVALID_PATH");
    assert!(text.starts_with("path: path traversal is not allowed"), "{text}");
    app.stop().await;
}

#[tokio::test]
async fn an_empty_folder_is_an_empty_tree() {
    let folder = Folder::empty();
    let app = serving(&folder, "").await;
    let tree = ask(&app, "list_skills", json!({})).await;
    assert_eq!(tree, node("", "", "", &[], [0, 0], &[]));
    app.stop().await;
}

#[tokio::test]
async fn without_a_root_the_topmost_skills_are_below_it() {
    let folder = Folder::of(&[("a/one.md", &skill("one", "1")), ("b/_index.md", &skill("two", "2"))]);
    let app = serving(&folder, "").await;
    let tree = ask(&app, "list_skills", json!({})).await;
    let children = [
        node("one", "a/one", "About one", &["one"], [0, 0], &[]),
        node("b", "b/_index", "About two", &["two"], [0, 0], &[]),
    ];
    assert_eq!(tree, node("", "", "", &[], [0, 0], &children));
    app.stop().await;
}
