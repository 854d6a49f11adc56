//! `report_usage`: feedback is accepted, logged, and rejected if it is invalid.

use serde_json::{Value, json};

use super::{Folder, ask, check_refused, refusal, serving};
use crate::stdio::Program;

#[tokio::test]
async fn feedback_is_recorded() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let recorded = json!({ "recorded": true, "message": "Feedback recorded for ui/react/auth" });
    for arguments in [
        json!({ "skill_path": "ui/react/auth", "useful": true }),
        json!({ "skill_path": "ui/react/auth", "useful": false, "comment": "The provider is out of date." }),
        json!({ "skill_path": "ui/react/auth", "useful": true, "comment": null }),
        json!({ "skill_path": "ui/react/auth", "useful": true, "comment": "é".repeat(2048) }),
    ] {
        assert_eq!(ask(&app, "report_usage", arguments).await, recorded);
    }
    app.stop().await;
}

#[tokio::test]
async fn feedback_on_nothing_is_refused() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let text = "skill not found: \"ui/nothing\"; list_skills lists all skills";
    let arguments = json!({ "skill_path": "ui/nothing", "useful": true });
    check_refused(&app, "report_usage", arguments, "NOT_FOUND", text).await;
    let arguments = json!({ "skill_path": "ui/react/auth", "useful": true, "comment": "x".repeat(4097) });
    let text = "comment: is longer than 4 KiB; say it shorter";
    check_refused(&app, "report_usage", arguments, "VALIDATION_ERROR", text).await;
    for (useful, field) in [
        (json!("yes"), "arguments.useful"),
        (json!(1), "arguments.useful"),
        (Value::Null, "arguments.useful"),
    ] {
        let (code, text) =
            refusal(&app, "report_usage", json!({ "skill_path": "ui/react/auth", "useful": useful })).await;
        assert_eq!(code, "VALIDATION_ERROR");
        assert!(text.starts_with(field), "{text}");
    }
    app.stop().await;
}

#[tokio::test]
async fn feedback_is_told_in_the_log() {
    let folder = Folder::example();
    let mut program = Program::with(&[("SKILLS_DIR", folder.path().to_str().unwrap())]);
    let arguments = json!({ "skill_path": "ui/react/auth", "useful": false, "comment": "out of\ndate" });
    assert_eq!(program.call("report_usage", arguments).await["structuredContent"]["recorded"], true);
    let (log, _) = program.finish().await;
    let line = log.iter().find(|line| line["message"] == "feedback on a skill").unwrap();
    let told = [&line["skill.path"], &line["useful"], &line["comment"]];
    assert_eq!(told, [&json!("ui/react/auth"), &json!(false), &json!("out of\ndate")], "{line}");
}
