//! The Inspector and the skills extension: reads every file and compares its digest.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::super::sample::{Sample, files};
use super::super::scene::Scene;
use super::Inspector;

/// The fields that we need of the report that `--verify` writes for each skill.
#[derive(Deserialize)]
struct Report {
    uri: String,
    outcome: String,
    files: Vec<Value>,
}

/// Verifies the sample over HTTP, as a repository or a folder, at one of the endpoints.
pub(in super::super) fn verifies_over_http(
    scene: &Scene<'_>,
    era: &'static str,
    form: fn(&Sample) -> Result<String>,
    endpoint: &str,
) -> Result<String> {
    let server = scene.serve_skills(&form(&Sample::make(scene)?)?)?;
    server.explain(verifies(&Inspector::at(scene, era, format!("http://{}{endpoint}", server.addr))))
}

/// Verifies the sample as a folder, served over stdio.
pub(in super::super) fn verifies_over_stdio(scene: &Scene<'_>, era: &'static str) -> Result<String> {
    let skills = Sample::make(scene)?.skills_dir()?;
    verifies(&Inspector::starting(scene, era, scene.stdio(&[("SKILLS_DIR", &skills)])?))
}

fn verifies(inspector: &Inspector<'_>) -> Result<String> {
    let remark = all_are_verified(inspector)?;
    one_is_got(inspector)?;
    a_folder_is_read(inspector)?;
    a_tool_finds_one(inspector)?;
    Ok(remark)
}

/// Every skill is listed once and verified, on all pages; and no others.
fn all_are_verified(inspector: &Inspector<'_>) -> Result<String> {
    let output = inspector.output(&["--method", "skills/list", "--verify", "--require-digests"])?;
    let lines = output.lines().map(serde_json::from_str);
    let reports: Vec<Report> =
        lines.collect::<Result<_, _>>().with_context(|| format!("not a report in each line: {output}"))?;
    for report in &reports {
        ensure!(report.outcome == "verified", "{} is {}: {output}", report.uri, report.outcome);
    }
    let mut listed: Vec<_> = reports.iter().map(|report| report.uri.clone()).collect();
    listed.sort();
    let expected = files::addresses();
    let missing: Vec<_> = expected.iter().filter(|uri| !listed.contains(uri)).collect();
    let surplus: Vec<_> = listed.iter().filter(|uri| !expected.contains(uri)).collect();
    ensure!(listed == expected, "missing: {missing:?}; not expected, or twice: {surplus:?}");
    let files: usize = reports.iter().map(|report| report.files.len()).sum();
    Ok(format!("{} skills with {files} files verified", reports.len()))
}

/// A single skill has all its files, including those whose names must be encoded.
fn one_is_got(inspector: &Inspector<'_>) -> Result<()> {
    let uri = format!("skill://{}/SKILL.md", files::RICH);
    let answer = inspector.ask(&["--method", "skills/get", "--uri", &uri])?;
    let files = answer.pointer("/skill/resources").and_then(Value::as_array);
    let files = files.with_context(|| format!("skills/get has no files: {answer}"))?;
    let has_odd = files.iter().any(|file| file.get("uri") == Some(&files::ODD_ADDRESS.into()));
    ensure!(has_odd, "{} is not among the files: {answer}", files::ODD_ADDRESS);
    inspector.output(&["--method", "skills/get", "--verify", "--require-digests", "--uri", &uri]).map(drop)
}

/// A folder contains files and folders.
fn a_folder_is_read(inspector: &Inspector<'_>) -> Result<()> {
    let uri = format!("skill://{}", files::RICH);
    let answer = inspector.ask(&["--method", "resources/directory/read", "--uri", &uri])?;
    let children = answer.get("resources").and_then(Value::as_array);
    let children =
        children.with_context(|| format!("resources/directory/read has no `resources`: {answer}"))?;
    let names: Vec<_> = children.iter().filter_map(|child| child.get("uri")?.as_str()).collect();
    let expected = ["LICENSE.txt", "SKILL.md", "assets", "references", "scripts"];
    ensure!(names == expected.map(|name| format!("{uri}/{name}")), "{uri} holds {names:?}");
    Ok(())
}

/// The tools find Agent Skills too.
fn a_tool_finds_one(inspector: &Inspector<'_>) -> Result<()> {
    let arguments = r#"{"context": "fill in a PDF form"}"#;
    let call = ["--method", "tools/call", "--tool-name", "get_skill", "--tool-args-json", arguments];
    let answer = inspector.ask(&call)?;
    let found = answer.pointer("/structuredContent/skill_path");
    ensure!(found == Some(&files::RICH.into()), "get_skill did not find {}: {answer}", files::RICH);
    Ok(())
}
