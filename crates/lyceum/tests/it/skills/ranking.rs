//! `get_skill` on `SKILL.md` folders as people write them: no keywords, found by what they are for.

use serde_json::{Value, json};

use super::{Folder, ask, folder::skill, refusal, serving};
use crate::{app::TestApp, stdio::Program};

/// Skills without keywords, in a repository with other files.
fn folder() -> Folder {
    let skill = |name: &str, description: &str| {
        format!("---\nname: {name}\ndescription: {description}\n---\n# {name}\n")
    };
    Folder::of(&[
        ("README.md", "# Skills of the office\n"),
        ("skills/pptx/SKILL.md", &skill("pptx", "Create PowerPoint presentations (.pptx) and slide decks.")),
        (
            "skills/xlsx/SKILL.md",
            &skill("xlsx", "Spreadsheets with formulas and charts, in Excel files (.xlsx)."),
        ),
        (
            "skills/docx/SKILL.md",
            &skill("docx", "Word documents (.docx), with comments and tracked changes."),
        ),
        ("skills/pdf/SKILL.md", &skill("pdf", "Extract text and tables from PDF files, fill forms.")),
        ("skills/pdf/scripts/fill.py", "print('filled')\n"),
        ("skills/pdf/scripts/form.xsd", "<schema/>\n"),
    ])
}

async fn check(app: &TestApp, task: &str, path: &str) {
    let answer = ask(app, "get_skill", json!({ "context": task })).await;
    assert_eq!(answer["skill_path"], path, "{task}: {answer}");
}

#[tokio::test]
async fn a_task_gets_the_skill_whose_description_fits() {
    let folder = folder();
    let app = serving(&folder, "").await;
    check(&app, "make a powerpoint deck", "skills/pptx").await;
    check(&app, "edit an excel file", "skills/xlsx").await;
    check(&app, "track changes in a Word document", "skills/docx").await;
    let none = ask(&app, "get_skill", json!({ "context": "bake a sourdough loaf" })).await;
    assert_eq!(none["no_match"], true, "{none}");
    app.stop().await;
}

#[tokio::test]
async fn candidates_say_why_and_declared_keywords_come_first() {
    let folder = folder();
    folder.write("slides.md", skill("slides", "Our slides."));
    let app = serving(&folder, "").await;
    let answer = ask(&app, "get_skill", json!({ "context": "slides for a powerpoint" })).await;
    let candidates = answer["candidates"].as_array().unwrap();
    let paths: Vec<&Value> = candidates.iter().map(|one| &one["skill_path"]).collect();
    assert_eq!(paths, ["slides", "skills/pptx"], "{answer}");
    assert_eq!(candidates[0].get("reason"), None, "{answer}");
    assert_eq!(candidates[1]["reason"], r#""slides", "powerpoint" in its description"#, "{answer}");
    assert_eq!(candidates[1]["matched_keywords"], json!(["slides", "powerpoint"]), "{answer}");
    app.stop().await;
}

#[tokio::test]
async fn a_skill_is_found_by_the_end_of_its_path() {
    let folder = folder();
    folder.write("plugins/a/notes/SKILL.md", "---\nname: notes\ndescription: A\n---\n");
    folder.write("plugins/b/notes/SKILL.md", "---\nname: notes\ndescription: B\n---\n");
    let app = serving(&folder, "").await;
    for path in ["pdf", "skills/pdf", "skills/pdf/SKILL.md"] {
        let answer = ask(&app, "get_skill", json!({ "skill_path": path })).await;
        assert_eq!(answer["skill_path"], "skills/pdf", "{path}");
    }
    let file = json!({ "skill_path": "pdf", "file": "scripts/form.xsd" });
    assert_eq!(ask(&app, "get_asset", file).await["type"], "other");
    for (path, suggested) in
        [("notes", "plugins/a/notes, plugins/b/notes"), ("pfd", "skills/pdf"), ("docxs", "skills/docx")]
    {
        let (code, text) = refusal(&app, "get_skill", json!({ "skill_path": path })).await;
        assert!(
            code == "NOT_FOUND" && text.contains(&format!("(did you mean {suggested}")),
            "{path}: {text}"
        );
    }
    app.stop().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_operator_lets_the_server_run_scripts_of_agent_skills() {
    let folder = folder();
    folder.write("skills/pdf/scripts/hello.sh", "echo hello\n");
    let run = json!({ "skill_path": "skills/pdf", "file": "scripts/hello.sh" });
    let config = super::tables(&folder);
    let mut program = Program::of(&config, &[]);
    let refused = program.call("run_script", run.clone()).await;
    program.finish().await;
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(
        refused["isError"] == true && text.contains("adds \"skills/pdf/scripts/hello.sh\" to scripts.allow"),
        "{text}"
    );

    let mut program =
        Program::of(&format!("{config}[skills.scripts]\nallow = [\"skills/*/scripts/*.sh\"]\n"), &[]);
    let skill = program.call("get_skill", json!({ "skill_path": "pdf" })).await;
    let scripts = skill["structuredContent"]["scripts"].as_array().unwrap();
    let executions: Vec<(&Value, &Value)> =
        scripts.iter().map(|one| (&one["file"], &one["execution"])).collect();
    let expected =
        [(json!("scripts/fill.py"), json!("claude")), (json!("scripts/hello.sh"), json!("server"))];
    assert_eq!(executions, expected.iter().map(|(file, execution)| (file, execution)).collect::<Vec<_>>());
    let result = program.call("run_script", run).await;
    program.finish().await;
    assert_eq!(
        (&result["isError"], &result["structuredContent"]["stdout"]),
        (&json!(false), &json!("hello\n")),
        "{result}"
    );
}

#[tokio::test]
async fn a_repository_can_not_allow_its_own_scripts() {
    let folder = folder();
    folder.write("config.yaml", "scripts: { allow: [\"**\"] }\n");
    let mut program = Program::of(&super::tables(&folder), &[]);
    let skill = program.call("get_skill", json!({ "skill_path": "pdf" })).await;
    program.finish().await;
    assert_eq!(skill["structuredContent"]["scripts"][0]["execution"], "claude", "{skill}");
}

#[tokio::test]
async fn with_the_model_a_task_is_found_by_meaning() {
    let folder = folder();
    let models = lyceum_testkit::model_folder().parent().unwrap().display().to_string();
    let mut program =
        Program::of(&super::tables(&folder), &[("LYCEUM_EMBEDDER", "local"), ("LYCEUM_MODELS", &models)]);
    let task = json!({ "context": "csv and google sheets" });
    let found = async {
        loop {
            let answer = program.call("get_skill", task.clone()).await["structuredContent"].take();
            let first = answer.pointer("/candidates/0/skill_path").or_else(|| answer.get("skill_path"));
            if first.is_some_and(|path| path == "skills/xlsx") {
                return;
            }
        }
    };
    crate::app::within("the skills are embedded", found).await;
    program.finish().await;
}
