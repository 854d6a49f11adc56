//! The Python client calls every tool of the skills service. It rejects results that don't match their schemas.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::super::sample::Sample;
use super::super::scene::Scene;
use super::{Mode, call, refresh, run_steps};

/// A call, and the expected values at JSON pointers of its result.
type Call = (Value, &'static [(&'static str, &'static str)]);

/// Calls every tool over stdio, with the skills of a folder.
pub(in super::super) fn every_tool(scene: &Scene<'_>, mode: Mode) -> Result<String> {
    let skills = Sample::make(scene)?.skills_dir()?;
    let (steps, expected): (Vec<_>, Vec<_>) = calls().into_iter().unzip();
    let report = run_steps(scene, mode, &scene.stdio(&[("SKILLS_DIR", &skills)])?, steps)?;
    for (number, pointers) in expected.iter().enumerate() {
        let result = report.result(number)?;
        for (pointer, expected) in *pointers {
            let found =
                result.pointer(pointer).map(|found| found.as_str().map_or(found.to_string(), str::to_owned));
            ensure!(found.as_deref() == Some(expected), "{pointer} is not {expected} in {result}");
        }
    }
    Ok(format!("{}, {} tools, {} calls", report.protocol, report.tools.len(), expected.len()))
}

fn calls() -> Vec<Call> {
    let asset = |file: &str| call("get_asset", &json!({ "skill_path": "ui/react/auth", "file": file }));
    let run = json!({ "skill_path": "ui/react/auth", "file": "scripts/check-session.sh", "args": { "length": "30" } });
    let mut calls: Vec<Call> = vec![
        (call("server_info", &json!({})), &[("/name", "lyceum")]),
        (call("list_skills", &json!({})), &[]),
        (
            call("get_skill", &json!({ "context": "login session" })),
            &[("/skill_path", "ui/react/auth"), ("/inherited_assets/0/from", "ui/react/_index")],
        ),
        (call("get_skill", &json!({ "context": "zebra" })), &[("/no_match", "true")]),
        (call("get_skill", &json!({ "context": "cooks dish number" })), &[("/ambiguous", "true")]),
        (
            call("get_skill", &json!({ "skill_path": "office/sheets/pivot" })),
            &[("/skill_path", "office/sheets/pivot")],
        ),
        (asset("assets/door.svg"), &[("/mime_type", "image/svg+xml")]),
        (asset("assets/component.tsx.template"), &[("/resolved_from", "ui/react/_index")]),
        (call("report_usage", &json!({ "skill_path": "pdf", "useful": true })), &[("/recorded", "true")]),
        (refresh(), &[("/success", "true"), ("/mode", "local")]),
    ];
    // Scripts run on Linux only.
    if cfg!(target_os = "linux") {
        calls.push((
            call("run_script", &run),
            &[("/success", "true"), ("/stdout", "a session of 30 minutes\n")],
        ));
    }
    calls
}
