//! Tests of log lines.

use serde_json::Value;
use tracing_subscriber::layer::SubscriberExt;

use super::*;

/// The log lines of a function, parsed.
fn logged(work: impl FnOnce()) -> Vec<Value> {
    logged_at("info", work)
}

fn logged_at(filter: &str, work: impl FnOnce()) -> Vec<Value> {
    let writer = LogWriter::new(crate::config::LogFormat::Json);
    let filter: tracing_subscriber::filter::Targets = filter.parse().unwrap();
    let subscriber = tracing_subscriber::registry().with(filter).with(JsonLines::new(writer.clone()));
    tracing::subscriber::with_default(subscriber, work);
    let text = writer.take();
    String::from_utf8(text).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_line_below_a_request_has_its_id() {
    let lines = logged(|| {
        let request = tracing::error_span!("request", request_id = "r-1");
        request.in_scope(|| {
            tracing::info!(rows = 3, "read");
            tracing::error_span!("sync", source.name = "kb").in_scope(|| tracing::info!("synced"));
        });
        tracing::info!(parent: &request, "request");
        tracing::info!("outside");
    });
    let ids: Vec<&Value> = lines.iter().map(|line| &line["request_id"]).collect();
    assert_eq!(ids, ["r-1", "r-1", "r-1"].map(Value::from).iter().chain([&Value::Null]).collect::<Vec<_>>());
    assert_eq!((&lines[0]["message"], &lines[0]["rows"]), (&"read".into(), &3.into()));
    assert_eq!(lines[1].get("job"), None, "a request is not a job: {}", lines[1]);
}

#[test]
fn each_run_of_a_job_has_an_id_of_its_own() {
    let run = || tracing::error_span!("sync").in_scope(|| tracing::info!("synced"));
    let lines = logged(|| {
        run();
        run();
    });
    assert!(lines.iter().all(|line| line["job"] == "sync"), "{lines:?}");
    assert!(lines[0]["job_id"].is_string());
    assert_ne!(lines[0]["job_id"], lines[1]["job_id"]);
}

#[test]
fn a_filter_of_warnings_keeps_the_ids() {
    let lines = logged_at("error", || {
        let request = tracing::error_span!("request", request_id = "r-2");
        assert!(!request.is_disabled());
    });
    assert_eq!(lines, Vec::<Value>::new());
}

#[test]
fn fields_for_exporters_stay_out_of_lines() {
    let lines = logged(|| {
        let span =
            tracing::error_span!("request", request_id = "r-3", http.route = "/mcp", otel.kind = "server");
        span.in_scope(|| tracing::info!("read"));
    });
    assert_eq!(lines[0].get("http.route"), None);
    assert_eq!(lines[0].get("otel.kind"), None);
}

#[test]
fn no_key_appears_twice() {
    let writer = LogWriter::new(crate::config::LogFormat::Json);
    let subscriber = tracing_subscriber::registry().with(JsonLines::new(writer.clone()));
    tracing::subscriber::with_default(subscriber, || {
        tracing::info!(level = "standard", target = "x", "found");
    });
    let text = String::from_utf8(writer.take()).unwrap();
    assert_eq!((text.matches("\"level\":").count(), text.matches("\"target\":").count()), (1, 1), "{text}");
    let line: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&line["level"], &line["field.level"]), (&"INFO".into(), &"standard".into()));
}
