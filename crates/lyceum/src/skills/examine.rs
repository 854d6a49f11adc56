//! `lyceum doctor` for skills.

use std::fmt::{self, Write};

use lyceum_content::skill::{NetworkChoice, Severity, Workspace};
use lyceum_skills::{SkillSet, Skills};

use crate::{
    config::SkillsService,
    service::{Examination, Finding},
    sources,
};

/// Loads the skills as the server would, and reports findings.
pub(super) async fn examine(declared: &SkillsService, skills: &Skills) -> Result<Examination, fmt::Error> {
    skills.refresh_in_turn().await;
    let state = skills.current_state();
    let mut out = String::new();
    writeln!(out, "source {}: {}", skills.source_name(), sources::location(skills.source()))?;
    if let Some(error) = &state.error {
        writeln!(out, "  refresh failed: {error}")?;
    }
    let mut is_well = state.error.is_none();
    if let Some(skill_set) = &state.skill_set {
        describe(&mut out, skill_set)?;
        is_well &= scripts(&mut out, declared, skill_set, skills).await?;
    }
    let findings = state.skill_set.as_deref().map(findings).unwrap_or_default();
    Ok(Examination { text: out, findings, is_well })
}

fn describe(out: &mut String, skill_set: &SkillSet) -> fmt::Result {
    let commit = skill_set.commit().map(|commit| format!(" at commit {commit}")).unwrap_or_default();
    writeln!(out, "skills: {}{commit}", skill_set.index.skills().len())
}

fn findings(skill_set: &SkillSet) -> Vec<Finding> {
    let findings = skill_set.findings().iter().map(|finding| Finding {
        severity: match finding.severity {
            Severity::Warning => "warning",
            Severity::Skipped => "skipped",
            Severity::Ignored => "ignored",
        },
        path: finding.file.to_string(),
        line: None,
        field: None,
        message: finding.message.clone(),
    });
    findings.collect()
}

async fn scripts(
    out: &mut String,
    declared: &SkillsService,
    skill_set: &SkillSet,
    skills: &Skills,
) -> Result<bool, fmt::Error> {
    // Over HTTP only the configuration can enable scripts; the settings of the skill set apply to stdio.
    let over_http = declared.overlay.scripts.enabled == Some(true);
    let on = |on: bool| if on { "on" } else { "off" };
    let over_stdio = skill_set.settings.scripts.enabled;
    write!(out, "scripts: {} over stdio, {} over HTTP", on(over_stdio), on(over_http))?;
    if !over_stdio && !over_http {
        writeln!(out)?;
        return Ok(true);
    }
    let scripts = skills.scripts();
    let (level, memory) = match (scripts.level().await, scripts.memory_limit().await) {
        (Ok(level), Ok(memory)) => (level, memory),
        (Err(reason), _) | (_, Err(reason)) => {
            writeln!(out, "; scripts can't run: {reason}")?;
            return Ok(false);
        }
    };
    writeln!(out, "; sandbox {level}; memory limited {memory}")?;
    writeln!(
        out,
        "  network access of scripts that declare it: {} over stdio, {} over HTTP (skills.scripts.network)",
        skill_set.settings.scripts.network.as_str(),
        declared.overlay.scripts.network.unwrap_or(NetworkChoice::None).as_str()
    )?;
    if let Some(Workspace { path, access }) = &skill_set.settings.scripts.workspace {
        let (path, access) = (path.display(), access.as_str());
        writeln!(
            out,
            "  workspace of scripts: {path}, to {access}, over stdio only (skills.scripts.workspace)"
        )?;
    }
    Ok(true)
}
