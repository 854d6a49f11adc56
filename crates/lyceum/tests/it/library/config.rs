//! REQ-CFG-*: repositories, branches and paths are set at deploy time.

use std::path::Path;

use lyceum::config::Config;
use serde_json::json;

use super::{ALICE, Stage, answer, failure};

#[tokio::test]
async fn req_cfg_001_no_client_chooses_a_repository_branch_or_path() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    for key in ["repo", "branch", "ref", "skillsPath", "owner"] {
        let error = failure(&app, ALICE, "get_skill", json!({ "name": "pdf", key: "other" })).await;
        assert_eq!(error["code"], "VALIDATION_ERROR", "{error}");
    }
    assert_eq!(stage.reads(), 0);
}

#[tokio::test]
async fn req_cfg_002_each_part_has_its_own_repository_branch_and_path() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    answer(&app, "get_skill", json!({ "name": "pdf" })).await;
    answer(&app, "get_agent", json!({ "name": "reviewer" })).await;
    answer(&app, "get_doc", json!({ "path": ["guides"] })).await;
    let asked = stage.github.contents_requests();
    let asked: Vec<_> = asked.iter().map(|one| (one.path.as_str(), one.branch.as_str())).collect();
    assert_eq!(
        asked,
        [
            ("/repos/acme/skills/contents/skills/pdf/SKILL.md", "main"),
            ("/repos/acme/skills/contents/agents/reviewer.md", "main"),
            ("/repos/acme/site/contents/src/content/docs/guides/index.md", "site"),
        ]
    );
}

#[track_caller]
fn check(tables: &str, expected: &str) {
    let source = "[[source]]\nname = \"s\"\nurl = \"https://github.com/acme/skills.git\"\n\
         [[source]]\nname = \"elsewhere\"\nurl = \"https://gitlab.com/acme/skills.git\"\n\
         [[source]]\nname = \"folder\"\npath = \".\"\n";
    let config = Config::from_text(Path::new("lyceum.toml"), &format!("{source}{tables}"));
    match (config, expected) {
        (Ok(_), "") => {}
        (Err(faults), expected) if !expected.is_empty() => {
            assert!(faults.to_string().contains(expected), "{faults}");
        }
        (Ok(_), expected) => panic!("accepted, but: {expected}"),
        (Err(faults), _) => panic!("{faults}"),
    }
}

#[test]
fn a_library_that_could_not_work_is_refused_with_what_to_write() {
    let pat = "[auth]\nmode = \"github-pat\"\n";
    check(&format!("{pat}[library]\nskills = {{ source = \"s\" }}\n"), "");
    check(
        "[library]\nskills = { source = \"s\" }\n",
        "write mode = \"github-pat\" in [auth]; or read = \"server\"",
    );
    check("[library]\nread = \"server\"\nskills = { source = \"s\" }\n", "");
    check("[library]\nread = \"server\"\nskills = { source = \"folder\" }\n", "");
    check(
        &format!("{pat}[library]\nskills = {{ source = \"folder\" }}\n"),
        "is not a repository at https://github.com",
    );
    check(&format!("{pat}[library]\ndocs = {{ source = \"elsewhere\" }}\n"), "library.docs.source");
    check(&format!("{pat}[library]\ndocs = {{ source = \"nope\" }}\n"), "no [[source]] is named \"nope\"");
    check(&format!("{pat}[library]\ndocs = {{ source = \"s\", path = \"../x\" }}\n"), "library.docs.path");
    check(&format!("{pat}[library]\nread = \"caller\"\n"), "names no skills, agents or docs");
    check(&format!("{pat}[library]\nskils = {{ source = \"s\" }}\n"), "skils");
}
