//! The endpoint for traces, from OpenTelemetry's standard variables. Its SDK reads the variables for headers, batches,
//! sampling and resource attributes itself.

use std::ffi::OsString;

use anyhow::bail;
use reqwest::Url;

/// The default OTLP endpoint of the specification.
const DEFAULT_ENDPOINT: &str = "http://localhost:4318";

/// The OTLP endpoint for traces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtlpEndpoint(pub(crate) Url);

/// The endpoint for traces; `None` if export is not enabled.
pub(super) fn endpoint(variable: impl Fn(&str) -> Option<OsString>) -> anyhow::Result<Option<OtlpEndpoint>> {
    let text = |name| variable(name).map(|value: OsString| value.to_string_lossy().trim().to_owned());
    let of_traces = |of_traces, of_all| {
        text(of_traces).map(|value| (of_traces, value)).or_else(|| text(of_all).map(|value| (of_all, value)))
    };
    let exporter = text("OTEL_TRACES_EXPORTER");
    let is_disabled = text("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    if is_disabled || exporter.as_deref() == Some("none") {
        return Ok(None);
    }
    if let Some(other) = exporter.as_deref().filter(|exporter| *exporter != "otlp") {
        bail!("cannot export traces: OTEL_TRACES_EXPORTER is {other:?}; write otlp or none");
    }
    let named = of_traces("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT");
    let Some((name, endpoint)) =
        named.or_else(|| exporter.map(|_| ("OTEL_TRACES_EXPORTER", DEFAULT_ENDPOINT.to_owned())))
    else {
        return Ok(None);
    };
    let protocol = of_traces("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL");
    if let Some((name, other)) = protocol.filter(|(_, protocol)| protocol != "http/protobuf") {
        bail!(
            "cannot export traces: {name} is {other:?}; only http/protobuf is supported, usually on port 4318"
        );
    }
    let url =
        Url::parse(&endpoint).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(url) = url else {
        bail!("cannot export traces: {name} is not an http(s) URL; write for example {DEFAULT_ENDPOINT}");
    };
    Ok(Some(OtlpEndpoint(url)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(variables: &[(&str, &str)], expected: Result<Option<&str>, &str>) {
        let of =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        let found = endpoint(of).map(|endpoint| endpoint.map(|endpoint| endpoint.0.to_string()));
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found.as_deref(), expected),
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
            (found, _) => panic!("{found:?}"),
        }
    }

    #[test]
    fn nothing_is_exported_unless_the_environment_asks_for_it() {
        check(&[], Ok(None));
        check(&[("OTEL_SERVICE_NAME", "team")], Ok(None));
    }

    #[test]
    fn an_endpoint_turns_it_on_and_that_of_traces_goes_first() {
        let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
        check(&[all], Ok(Some("http://127.0.0.1:4318/")));
        let of_traces = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://traces.example.org/v1/traces");
        check(&[all, of_traces], Ok(Some("https://traces.example.org/v1/traces")));
        check(&[("OTEL_TRACES_EXPORTER", "otlp")], Ok(Some("http://localhost:4318/")));
    }

    #[test]
    fn it_can_be_turned_off() {
        let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
        check(&[all, ("OTEL_SDK_DISABLED", "true")], Ok(None));
        check(&[all, ("OTEL_TRACES_EXPORTER", "none")], Ok(None));
    }

    #[test]
    fn what_is_not_spoken_is_an_error_that_says_what_to_write() {
        let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317");
        check(&[all, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")], Err("http/protobuf"));
        check(&[("OTEL_TRACES_EXPORTER", "zipkin")], Err("write otlp or none"));
        check(
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", "127.0.0.1:4318")],
            Err("OTEL_EXPORTER_OTLP_ENDPOINT is not an http(s) URL"),
        );
    }
}
