//! How to log, by the environment: `LYCEUM_LOG`, `LYCEUM_LOG_FORMAT`, `NO_COLOR` and OpenTelemetry's variables.

use std::{
    ffi::OsString,
    io::{self, IsTerminal},
};

use anyhow::bail;

use super::{OtlpEndpoint, environment, otlp};

/// Where log lines and traces go, and which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// The log filter: `info`, or `lyceum=debug,info`.
    pub filter: String,
    /// The format of log lines.
    pub format: LogFormat,
    /// The endpoint for traces, if they are exported.
    pub otlp: Option<OtlpEndpoint>,
}

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object per line, for programs.
    Json,
    /// Text, for people.
    Text(Color),
}

/// Whether output is colored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// Colored.
    Always,
    /// Plain.
    Never,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { filter: "info".to_owned(), format: LogFormat::Json, otlp: None }
    }
}

impl LogSettings {
    /// Reads the environment. Standard error decides the format if no variable does.
    pub fn load() -> anyhow::Result<Self> {
        Self::of(environment::variable, io::stderr().is_terminal())
    }

    fn of(variable: impl Fn(&str) -> Option<OsString>, is_terminal: bool) -> anyhow::Result<Self> {
        let text = |name| variable(name).map(|value| value.to_string_lossy().into_owned());
        let filter = text("LYCEUM_LOG").unwrap_or_else(|| Self::default().filter);
        let color = color(&variable, is_terminal);
        let format = match text("LYCEUM_LOG_FORMAT").as_deref() {
            Some("json") => LogFormat::Json,
            Some("text") => LogFormat::Text(color),
            None if is_terminal => LogFormat::Text(color),
            None => LogFormat::Json,
            Some(other) => bail!(
                "LYCEUM_LOG_FORMAT is {other:?}; write json or text, or unset it: then it is text on a terminal and json elsewhere"
            ),
        };
        Ok(Self { filter, format, otlp: otlp::endpoint(variable)? })
    }
}

/// Whether to write colors to this output.
pub fn has_color(output: &impl IsTerminal) -> bool {
    color(environment::variable, output.is_terminal()) == Color::Always
}

fn color(variable: impl Fn(&str) -> Option<OsString>, is_terminal: bool) -> Color {
    let is_dumb = variable("TERM").is_some_and(|terminal| terminal == "dumb");
    if is_terminal && variable("NO_COLOR").is_none() && !is_dumb { Color::Always } else { Color::Never }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(variables: &[(&str, &str)], is_terminal: bool, expected: LogFormat) {
        assert_eq!(settings(variables, is_terminal).unwrap().format, expected, "{variables:?}");
    }

    fn settings(variables: &[(&str, &str)], is_terminal: bool) -> anyhow::Result<LogSettings> {
        let of =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        LogSettings::of(of, is_terminal)
    }

    #[test]
    fn a_terminal_gets_text_and_everything_else_json() {
        check(&[], true, LogFormat::Text(Color::Always));
        check(&[], false, LogFormat::Json);
    }

    #[test]
    fn the_variable_decides() {
        check(&[("LYCEUM_LOG_FORMAT", "json")], true, LogFormat::Json);
        check(&[("LYCEUM_LOG_FORMAT", "text")], false, LogFormat::Text(Color::Never));
        let error = settings(&[("LYCEUM_LOG_FORMAT", "xml")], false).unwrap_err().to_string();
        assert!(error.contains("\"xml\"; write json or text"), "{error}");
    }

    #[test]
    fn colors_can_be_turned_off() {
        check(&[("NO_COLOR", "1")], true, LogFormat::Text(Color::Never));
        check(&[("TERM", "dumb")], true, LogFormat::Text(Color::Never));
    }
}
