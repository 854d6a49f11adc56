//! A folder is watched: changes are served without a restart.

use serde_json::{Value, json};

use super::{
    Folder, ask, becomes, eventually,
    folder::{skill, standard},
    watching,
};
use crate::app::{Older, TestApp, call, modern, within};

/// Waits until a skill is gone.
async fn vanishes(app: &TestApp, skill: &str) {
    eventually(&format!("{skill} is gone"), || async {
        let result = app.send(call("get_skill", &json!({ "skill_path": skill }))).await.result();
        (result["_meta"]["lyceum/error_code"] == "NOT_FOUND", result)
    })
    .await;
}

#[tokio::test]
async fn an_edit_is_served() {
    let folder = Folder::example();
    let app = watching(&folder).await;
    folder.write("ui/_index.md", skill("ui", "Keep it very simple."));
    becomes(&app, "ui/_index", "Keep it very simple.").await;
    becomes(&app, "ui/react/auth", "Keep it very simple.").await;
    // In place, without a rename, and of the same length.
    std::fs::write(folder.file("ui/_index.md"), skill("ui", "Keep it very SIMPLE.")).unwrap();
    becomes(&app, "ui/_index", "Keep it very SIMPLE.").await;
    app.stop().await;
}

#[tokio::test]
async fn a_new_file_is_served() {
    let folder = Folder::empty();
    let app = watching(&folder).await;
    folder.write("first.md", skill("first", "The first."));
    becomes(&app, "first", "The first.").await;
    folder.write("deep/er/still/second.md", skill("second", "The second."));
    becomes(&app, "deep/er/still/second", "The second.").await;
    folder.write("deep/er/still/third.md", skill("third", "The third."));
    becomes(&app, "deep/er/still/third", "The third.").await;
    app.stop().await;
}

#[tokio::test]
async fn a_deleted_file_is_served_no_more() {
    let folder = Folder::example();
    let app = watching(&folder).await;
    folder.remove("api/auth.md");
    vanishes(&app, "api/auth").await;
    folder.remove("ui");
    vanishes(&app, "ui/react/auth").await;
    assert_eq!(ask(&app, "list_skills", json!({})).await["children"].as_array().unwrap().len(), 1);
    app.stop().await;
}

#[tokio::test]
async fn a_renamed_folder_is_served_under_its_new_name() {
    let folder = Folder::example();
    let app = watching(&folder).await;
    folder.rename("ui", "web");
    becomes(&app, "web/react/auth", "=== WEB > REACT > AUTH (from web/react/auth.md) ===").await;
    vanishes(&app, "ui/react/auth").await;
    folder.write("web/react/auth.md", skill("auth", "Changed after the move."));
    becomes(&app, "web/react/auth", "Changed after the move.").await;
    app.stop().await;
}

#[tokio::test]
async fn a_changed_asset_is_served_at_once() {
    let folder = Folder::example();
    let app = watching(&folder).await;
    folder.write("ui/react/auth/assets/AuthProvider.tsx.template", "new");
    let asked = json!({ "skill_path": "ui/react/auth", "file": "assets/AuthProvider.tsx.template" });
    assert_eq!(ask(&app, "get_asset", asked).await["content"], "new");
    app.stop().await;
}

#[tokio::test]
async fn a_changed_config_yaml_counts() {
    let folder = Folder::of(&[("half.md", &skill("one, two", "A half."))]);
    let app = watching(&folder).await;
    assert_eq!(ask(&app, "get_skill", json!({ "context": "one" })).await["skill_path"], "half");
    folder.write("config.yaml", "matching: { min_score: 0.9 }");
    eventually("the new setting counts", || async {
        let answer = ask(&app, "get_skill", json!({ "context": "one" })).await;
        (answer["no_match"] == true, answer)
    })
    .await;
    app.stop().await;
}

#[tokio::test]
async fn a_file_that_breaks_is_skipped_and_comes_back_when_it_is_mended() {
    let folder = Folder::example();
    let app = watching(&folder).await;
    folder.write("api/auth.md", "---\nkeywords: [api\n---\n");
    vanishes(&app, "api/auth").await;
    becomes(&app, "ui/react/auth", "Use the provider.").await;
    folder.write("api/auth.md", skill("api", "Mended."));
    becomes(&app, "api/auth", "Mended.").await;
    app.stop().await;
}

#[tokio::test]
async fn many_changes_at_once_end_with_the_last() {
    let folder = Folder::example();
    let app = watching(&folder).await;
    for number in 0..200 {
        folder.write("busy.md", skill("busy", &format!("Version {number}.")));
        folder.write(&format!("many/{number}.md"), skill("many", &format!("Number {number}.")));
    }
    becomes(&app, "busy", "Version 199.").await;
    becomes(&app, "many/199", "Number 199.").await;
    assert_eq!(
        ask(&app, "list_skills", json!({ "path": "many" })).await["children"].as_array().unwrap().len(),
        200
    );
    app.stop().await;
}

fn uris(list: &Value) -> Vec<&str> {
    list["resources"].as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_client_that_listens_is_told_when_skills_come_and_go() {
    let folder = Folder::of(&[("pdf/SKILL.md", &standard("pdf", "Read it."))]);
    let app = watching(&folder).await;
    let wanted = json!({ "notifications": { "resourcesListChanged": true } });
    let mut stream = app.open(modern("subscriptions/listen", &wanted)).await;
    assert_eq!(stream.event().await.unwrap()["method"], "notifications/subscriptions/acknowledged");
    let session = Older::open(&app, "2025-11-25").await;
    let mut older = app.open(session.stream()).await;

    folder.write("docx/SKILL.md", standard("docx", "Write it."));
    let told = "notifications/resources/list_changed";
    assert_eq!(within("the client is told", stream.event()).await.unwrap()["method"], told);
    // The description of get_skill names the skills, so the tools change too.
    for method in ["notifications/tools/list_changed", told] {
        assert_eq!(within("the older client is told", older.event()).await.unwrap()["method"], method);
    }
    let listed = app.send(modern("resources/list", &json!({}))).await.result();
    assert_eq!(uris(&listed), ["skill://docx/SKILL.md", "skill://pdf/SKILL.md"]);

    folder.remove("pdf");
    assert_eq!(within("the client is told", stream.event()).await.unwrap()["method"], told);
    let listed = app.send(modern("resources/list", &json!({}))).await.result();
    assert_eq!(uris(&listed), ["skill://docx/SKILL.md"]);
    app.stop().await;
}

#[tokio::test]
async fn a_client_that_follows_a_skill_is_told_when_it_changes() {
    let folder = Folder::of(&[("pdf/SKILL.md", &standard("pdf", "Read it."))]);
    let app = watching(&folder).await;
    let uri = "skill://pdf/SKILL.md";
    let mut stream = app
        .open(modern("subscriptions/listen", &json!({ "notifications": { "resourceSubscriptions": [uri] } })))
        .await;
    let accepted = stream.event().await.unwrap()["params"]["notifications"].take();
    assert_eq!(accepted, json!({ "resourceSubscriptions": [uri] }));
    folder.write("pdf/SKILL.md", standard("pdf", "Read IT."));
    // Keep-alive comments keep the stream active, so waiting for the next event is not enough.
    let told = within("the client is told", stream.event()).await.unwrap();
    assert_eq!(
        (&told["method"], &told["params"]["uri"]),
        (&json!("notifications/resources/updated"), &json!(uri))
    );
    app.stop().await;
}
