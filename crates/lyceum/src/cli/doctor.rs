//! `lyceum doctor`: looks at everything that is configured, as the server would, and says what it finds.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use lyceum_content::skill::Severity;
use lyceum_skills::{Audience, Library, Skills};
use lyceum_source::Source;

use crate::{
    config::{Config, Overrides},
    skills,
};

/// Says what works and what does not; fails when something does not work at all.
pub(super) fn doctor(overrides: &Overrides) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    match say(&mut out, overrides) {
        // Whoever reads has seen enough.
        Err(error)
            if error
                .downcast_ref::<io::Error>()
                .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) =>
        {
            Ok(ExitCode::SUCCESS)
        }
        said => said,
    }
}

fn say(out: &mut impl Write, overrides: &Overrides) -> anyhow::Result<ExitCode> {
    writeln!(out, "lyceum {}", env!("CARGO_PKG_VERSION"))?;
    let config = match Config::load(overrides) {
        Ok(config) => config,
        Err(faults) => {
            writeln!(out, "configuration: {faults}")?;
            return Ok(ExitCode::FAILURE);
        }
    };
    writeln!(out, "configuration: good; data in {}", config.data_dir.display())?;
    let Some(skills) = skills::service(&config, Audience::OnePerson)? else {
        writeln!(out, "skills: off; write [skills] in lyceum.toml, or set SKILLS_DIR or SKILLS_REPO")?;
        return Ok(ExitCode::SUCCESS);
    };
    let runtime = tokio::runtime::Runtime::new()?;
    let healthy = runtime.block_on(examine(out, &config, &skills))?;
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn examine(out: &mut impl Write, config: &Config, skills: &Skills) -> io::Result<bool> {
    skills.refresh_in_turn().await;
    let state = skills.state().borrow().clone();
    let place = match skills.source() {
        Source::Folder(folder) => folder.root.display().to_string(),
        // Without what may open it.
        Source::Repository(repository) => format!("{}, branch {}", repository.url(), repository.branch()),
        Source::Bundled(_) => "bundled with lyceum".to_owned(),
    };
    writeln!(out, "source {}: {place}", skills.source_name())?;
    if let Some(error) = &state.error {
        writeln!(out, "  can't be refreshed: {error}")?;
    }
    let mut healthy = state.error.is_none();
    if let Some(library) = &state.library {
        describe(out, library)?;
        healthy &= examine_scripts(out, config, library, skills).await?;
    }
    Ok(healthy)
}

fn describe(out: &mut impl Write, library: &Library) -> io::Result<()> {
    let commit = library.commit().map(|commit| format!(" at commit {commit}")).unwrap_or_default();
    writeln!(out, "skills: {}{commit}", library.index.skills().len())?;
    for finding in library.findings() {
        let word = match finding.severity {
            Severity::Warning => "warning",
            Severity::Skipped => "skipped",
        };
        writeln!(out, "  {word}  {}: {}", finding.file, finding.message)?;
    }
    Ok(())
}

async fn examine_scripts(
    out: &mut impl Write,
    config: &Config,
    library: &Library,
    skills: &Skills,
) -> io::Result<bool> {
    // Over HTTP only the configuration turns them on; the settings of the library are those of stdio.
    let over_http = config.skills.as_ref().is_some_and(|skills| skills.overlay.scripts.enabled == Some(true));
    let on = |on: bool| if on { "on" } else { "off" };
    let over_stdio = library.settings.scripts.enabled;
    write!(out, "scripts: {} over stdio, {} over HTTP", on(over_stdio), on(over_http))?;
    if !over_stdio && !over_http {
        writeln!(out)?;
        return Ok(true);
    }
    let level = skills.scripts().level().await;
    match &level {
        Ok(level) => writeln!(out, "; sandbox {level}")?,
        Err(reason) => writeln!(out, "; they can't be run: {reason}")?,
    }
    Ok(level.is_ok())
}
