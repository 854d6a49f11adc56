//! What a valid configuration means.

use std::{path::Path, time::Duration};

use super::load;
use crate::{
    config::{Location, Repository},
    http::Origin,
};

#[test]
fn an_empty_file_is_good_for_ones_own_machine() {
    let config = load("");
    assert_eq!(config.listen.to_string(), "127.0.0.1:8787");
    assert_eq!(config.public_url, None);
    assert_eq!(config.allowed_origins, []);
    assert!(config.auth.is_open());
    assert!(config.sources.is_empty() && config.services.is_empty());
    assert!(config.hosts.allows("localhost:8787"));
    insta::assert_debug_snapshot!(config.limits, @r"
    Limits {
        body_bytes: 4194304,
        read: 10s,
        write: 30s,
        call: 120s,
        connections: 4096,
        connections_per_address: 256,
        buffer_bytes: 268435456,
        anonymous_body_bytes: 262144,
        anonymous_per_second: 50,
        anonymous_total_per_second: 1000,
        sessions: 1000,
        session_idle: 300s,
        shutdown: 10s,
    }
    ");
}

#[test]
fn what_is_written_is_meant() {
    let config = load(
        r#"
        [server]
        listen = "localhost:9000"
        public_url = "https://mcp.example.org/"
        data_dir = "/var/lib/lyceum"
        allowed_origins = ["https://app.example.org"]
        allowed_hosts = ["Lyceum.internal"]
        [limits]
        body_bytes = 1_024
        read_seconds = 0x10
        shutdown_seconds = 0
        [auth]
        mode = "open"
        "#,
    );
    assert_eq!(config.listen.to_string(), "127.0.0.1:9000");
    assert_eq!(config.public_url.as_deref(), Some("https://mcp.example.org"));
    assert_eq!(config.data_dir, Path::new("/var/lib/lyceum"));
    assert_eq!(config.allowed_origins, [Origin::parse("https://app.example.org").unwrap()]);
    assert!(config.hosts.allows("mcp.example.org") && config.hosts.allows("lyceum.internal:9000"));
    assert!(!config.hosts.allows("app.example.org"));
    assert_eq!(config.limits.body_bytes, 1024);
    assert_eq!(config.limits.read, Duration::from_secs(16));
    assert_eq!(config.limits.shutdown, Duration::ZERO);
}

#[track_caller]
fn check_listen(text: &str, address: &str) {
    assert_eq!(load(&format!("server.listen = {text:?}")).listen.to_string(), address);
}

#[test]
fn localhost_is_an_address_too() {
    check_listen("9124", "127.0.0.1:9124");
    check_listen("localhost:80", "127.0.0.1:80");
    check_listen("0.0.0.0:0", "0.0.0.0:0");
    check_listen("[::1]:8787", "[::1]:8787");
}

#[test]
fn a_relative_path_starts_at_the_folder_of_the_file() {
    let config = load("server.data_dir = \"data\"\n[[source]]\nname = \"kb\"\npath = \"../kb\"");
    assert_eq!(config.data_dir, Path::new("/etc/lyceum/data"));
    assert_eq!(config.sources[0].location, Location::Folder("/etc/lyceum/../kb".into()));
}

#[test]
fn sources_keep_their_order() {
    let config = load(
        r#"
        [[source]]
        name = "wiki"
        url = "https://example.org/wiki.git"
        [[source]]
        name = "kb"
        path = "/srv/kb"
        "#,
    );
    let sources: Vec<_> =
        config.sources.iter().map(|source| (source.name.as_str(), source.location.clone())).collect();
    let wiki = Location::Repository(Repository {
        app: None,
        url: "https://example.org/wiki.git".to_owned(),
        branch: "main".to_owned(),
        token: None,
        webhook_secret: None,
        web_url: None,
        poll_minutes: None,
    });
    assert_eq!(sources, [("wiki", wiki), ("kb", Location::Folder("/srv/kb".into()))]);
}

#[test]
fn a_proxy_before_the_server_is_named_or_missed() {
    let behind = "[server]\npublic_url = \"https://mcp.example.org\"";
    assert!(load(behind).has_unnamed_proxy());
    assert!(!load(&format!("{behind}\ntrusted_proxies = [\"127.0.0.1\"]")).has_unnamed_proxy());
    assert!(!load("").has_unnamed_proxy());
}

#[test]
fn a_service_may_stand_several_times() {
    let config = load(
        r#"
        [[source]]
        name = "kb"
        path = "/kb"
        [[source]]
        name = "docs"
        path = "/docs"
        [knowledge]
        source = "kb"
        [knowledge.team-docs]
        source = "docs"
        [knowledge.plain]
        source = "docs"
        prefix = ""
        title = "Plain"
        "#,
    );
    let services: Vec<(&str, String)> =
        config.services.iter().map(|one| (one.name.as_str(), one.prefix.of("search"))).collect();
    let expected = [("knowledge", "search"), ("plain", "search"), ("team-docs", "team_docs_search")];
    assert_eq!(services, expected.map(|(name, tool)| (name, tool.to_owned())));
}

#[test]
fn only_named_services_need_no_first_one() {
    let source = "[[source]]\nname = \"kb\"\npath = \"/kb\"\n";
    let config = load(&format!("{source}[skills.team]\nsource = \"kb\"\n"));
    assert_eq!(config.services.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["team"]);
}
