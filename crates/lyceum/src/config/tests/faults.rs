//! Errors: each with file, line, key and a fix; all at once.

use std::path::Path;

use crate::config::Config;

fn told(text: &str) -> String {
    match Config::from_text(Path::new("lyceum.toml"), text) {
        Ok(config) => panic!("{text}\nwas accepted as {config:?}"),
        Err(faults) => faults.to_string(),
    }
}

/// Checks that the text has exactly this error.
#[track_caller]
fn check(text: &str, fault: &str) {
    assert_eq!(told(text), format!("the configuration has 1 error\n  lyceum.toml:{fault}"), "{text}");
}

#[test]
fn a_key_that_does_not_exist_is_a_fault_with_the_nearest_that_does() {
    check("[server]\nlisen = \"a\"", "2: server.lisen: unknown key; did you mean listen?");
    check("\n[servr]", "2: servr: unknown key; did you mean server?");
    check(
        "[auth]\nfoo = 1",
        "2: auth.foo: unknown key; valid keys: anonymous, api_key, chain, client, github, hats, key_env, mode, roles_seconds, trusted_hosts, waap",
    );
    check("sources = 1", "1: sources: unknown key; did you mean source?");
    let keys = "auth, knowledge, library, limits, objects, search, server, skills, source, store, upstream";
    check("[database]", &format!("1: database: unknown key; valid keys: {keys}"));
    let text = "[[source]]\nname = \"kb\"\npath = \"kb\"\nbrunch = \"main\"";
    check(text, "4: source \"kb\".brunch: unknown key; did you mean branch?");
    let keys = "branch, github_app, name, path, poll_minutes, token_env, url, web_url, webhook_secret_env";
    let text = "[[source]]\nname = \"kb\"\npath = \"kb\"\nkind = \"git\"";
    check(text, &format!("4: source \"kb\".kind: unknown key; valid keys: {keys}"));
}

#[test]
fn a_key_with_a_slash_is_found_on_its_line() {
    check(
        "[auth]\n\n\"a/b\" = 1",
        "3: auth.a/b: unknown key; valid keys: anonymous, api_key, chain, client, github, hats, key_env, mode, roles_seconds, trusted_hosts, waap",
    );
}

#[test]
fn a_value_of_another_type_is_a_fault_with_an_example() {
    let listen = "must be a string; write for example listen = \"127.0.0.1:8787\"";
    check("[server]\n\nlisten = 8787", &format!("3: server.listen: {listen}"));
    check("server = { listen = true }", &format!("1: server.listen: {listen}"));
    let sessions = "must be an integer; write for example sessions = 1000";
    check("[limits]\nsessions = \"many\"", &format!("2: limits.sessions: {sessions}"));
    check("[limits]\nsessions = 1.5", &format!("2: limits.sessions: {sessions}"));
    let origins = "must be an array; write for example allowed_origins = [\"https://app.example.org\"]";
    check("[server]\nallowed_origins = \"a\"", &format!("2: server.allowed_origins: {origins}"));
    check("[server]\nallowed_origins = [\n  5,\n]", "3: server.allowed_origins.0: must be a string");
}

#[test]
fn a_table_is_called_a_table() {
    check("server = 5", "1: server: must be a table; write [server] and its keys below it");
    check("source = 5", "1: source: must be an array of tables; write [[source]] and its keys below it");
}

#[test]
fn a_number_out_of_its_range_is_a_fault_with_an_example() {
    let body = "write for example body_bytes = 4194304";
    check(
        "[limits]\nbody_bytes = 10",
        &format!("2: limits.body_bytes: 10 is less than the minimum of 1024; {body}"),
    );
    check(
        "[limits]\nbody_bytes = 1_073_741_825",
        &format!("2: limits.body_bytes: 1073741825 is greater than the maximum of 1073741824; {body}"),
    );
    check(
        "[limits]\ncall_seconds = -1",
        "2: limits.call_seconds: -1 is less than the minimum of 1; write for example call_seconds = 120",
    );
}

#[test]
fn a_number_that_no_number_can_hold_is_a_fault() {
    let sessions = "2: limits.sessions: must be an integer; write for example sessions = 1000";
    check("[limits]\nsessions = 99999999999999999999", sessions);
    check("[limits]\nsessions = nan", sessions);
}

#[test]
fn a_choice_that_there_is_not_is_a_fault_with_one_that_there_is() {
    let mode = "is not an allowed value; write one of \"oauth\", \"api-key\", \"github-pat\", \"open\"";
    check("[auth]\nmode = \"closed\"", &format!("2: auth.mode: {mode}"));
    check("[auth]\nmode = \"apikey\"", &format!("2: auth.mode: {mode} (did you mean \"api-key\"?)"));
}

#[test]
fn an_address_is_an_address_and_a_port() {
    for text in ["everywhere", "127.0.0.1", ":8787", "87870", "example.org:80", "127.0.0.1:99999", ""] {
        let fault = "is not an IP address and port; write for example listen = \"127.0.0.1:8787\"";
        check(&format!("[server]\nlisten = {text:?}"), &format!("2: server.listen: {text:?} {fault}"));
    }
}

#[track_caller]
fn check_public_url(text: &str) {
    let fault =
        "is not a base URL without a path; write for example public_url = \"https://mcp.example.org\"";
    check(&format!("[server]\npublic_url = {text:?}"), &format!("2: server.public_url: {text:?} {fault}"));
}

#[test]
fn a_public_url_is_the_root_of_a_site() {
    check_public_url("mcp.example.org");
    check_public_url("ftp://mcp.example.org");
    check_public_url("https://");
    check_public_url("https://mcp.example.org/lyceum");
    check_public_url("https://mcp.example.org/?a=b");
    check_public_url("https://mcp.example.org//");
    check_public_url("");
}

#[test]
fn a_public_url_has_no_fragment_no_password_and_a_port_that_exists() {
    check_public_url("https://mcp.example.org/#top");
    check_public_url("https://ada:secret@mcp.example.org");
    check_public_url("https://mcp.example.org:99999");
}

#[test]
fn an_origin_is_scheme_host_and_port() {
    let fault = "is not an origin; write scheme, host and port only, such as \"https://app.example.org\"";
    let text = "[server]\nallowed_origins = [\n  \"https://a.example\",\n  \"b.example\",\n]";
    check(text, &format!("4: server.allowed_origins.1: \"b.example\" {fault}"));
}

#[test]
fn a_host_is_a_name_alone() {
    let fault = "is not a host name; write it without scheme and port, such as \"lyceum.internal\"";
    for text in ["http://a", "a:80", "*.example.org", "a b", ""] {
        let fault = format!("2: server.allowed_hosts.0: {text:?} {fault}");
        check(&format!("[server]\nallowed_hosts = [{text:?}]"), &fault);
    }
}

#[test]
fn a_source_has_a_name_of_its_own_and_one_place() {
    let missing = "1: source 1: name is missing; write for example name = \"kb\"";
    check("[[source]]\npath = \"kb\"", missing);
    let place = "write either url (a Git repository) or path (a folder)";
    check("[[source]]\nname = \"kb\"", &format!("1: source \"kb\": {place}"));
    check(
        "[[source]]\nname = \"kb\"\npath = \"kb\"\nurl = \"https://example.org/kb.git\"",
        &format!("1: source \"kb\": {place}"),
    );
    check(
        "[[source]]\nname = \"kb\"\npath = \"a\"\n\n[[source]]\nname = \"kb\"\npath = \"b\"",
        "6: source \"kb\".name: duplicate source name \"kb\"; give each source its own name",
    );
    let name = "write 1 to 64 of a-z, 0-9, '-', '_', '.' or ':', beginning with a letter";
    check(
        "[[source]]\nname = \"My KB\"\npath = \"kb\"",
        &format!("2: source \"My KB\".name: \"My KB\" is not a source name: {name}"),
    );
}

#[test]
fn what_is_not_toml_is_told_with_its_line() {
    insta::assert_snapshot!(told("[server]\nlisten = 127.0.0.1\n\n[limits\nsessions = = 5\n"), @r"
    the configuration has 4 errors
      lyceum.toml:2: invalid TOML: invalid float, expected nothing
      lyceum.toml:4: invalid TOML: unclosed table, expected `]`
      lyceum.toml:5: invalid TOML: extra `=`, expected nothing
      lyceum.toml:5: invalid TOML: unexpected key or value, expected newline, `#`
    ");
    insta::assert_snapshot!(told("[server]\nlisten = \"a\"\nlisten = \"b\"\n"), @r"
    the configuration has 1 error
      lyceum.toml:3: invalid TOML: duplicate key
    ");
}

#[test]
fn every_fault_is_told_at_once() {
    let text = r#"
[server]
lisen = "127.0.0.1:8787"
listen = "everywhere"
public_url = "https://example.org/lyceum"
data_dir = 5
allowed_origins = ["https://app.example.org", "app.example.org", 7]

[limits]
body_bytes = 10

[database]
kind = "postgres"

[auth]
mode = "closed"

[[source]]
url = "https://example.org/kb.git"

[[source]]
name = "kb"
url = "https://example.org/kb.git"
path = "./kb"

[[source]]
name = "kb"
path = "./kb"
"#;
    insta::assert_snapshot!(told(text), @r#"
    the configuration has 12 errors
      lyceum.toml:3: server.lisen: unknown key; did you mean listen?
      lyceum.toml:4: server.listen: "everywhere" is not an IP address and port; write for example listen = "127.0.0.1:8787"
      lyceum.toml:5: server.public_url: "https://example.org/lyceum" is not a base URL without a path; write for example public_url = "https://mcp.example.org"
      lyceum.toml:6: server.data_dir: must be a string; write for example data_dir = "/var/lib/lyceum"
      lyceum.toml:7: server.allowed_origins.1: "app.example.org" is not an origin; write scheme, host and port only, such as "https://app.example.org"
      lyceum.toml:7: server.allowed_origins.2: must be a string
      lyceum.toml:10: limits.body_bytes: 10 is less than the minimum of 1024; write for example body_bytes = 4194304
      lyceum.toml:12: database: unknown key; valid keys: auth, knowledge, library, limits, objects, search, server, skills, source, store, upstream
      lyceum.toml:16: auth.mode: is not an allowed value; write one of "oauth", "api-key", "github-pat", "open"
      lyceum.toml:18: source 1: name is missing; write for example name = "kb"
      lyceum.toml:21: source "kb": write either url (a Git repository) or path (a folder)
      lyceum.toml:27: source "kb".name: duplicate source name "kb"; give each source its own name
    "#);
}

#[test]
fn a_table_of_sign_in_that_has_no_effect_is_a_fault() {
    check(
        "[auth]\nanonymous = false",
        "2: auth.anonymous: has no effect, because auth.mode is \"open\"; write mode = \"oauth\", \"api-key\" or \"github-pat\" in [auth], or remove it",
    );
}

#[test]
fn people_sign_in_at_an_address_that_is_known_and_safe() {
    let with =
        |server: &str, more: &str| told(&format!("[server]\n{server}\n[auth]\nmode = \"oauth\"\n{more}"));
    for (said, fault) in [
        (
            with("listen = \"0.0.0.0:8787\"", ""),
            "auth.mode: the sign-in page needs a public URL; set server.public_url",
        ),
        (
            with("public_url = \"http://mcp.example.org\"", ""),
            "server.public_url: keys and tokens are not sent over plain http; use https",
        ),
        (
            with("", "trusted_hosts = [\"clients.internal\"]"),
            "\"clients.internal\" has no port; write for example \"clients.internal:443\"",
        ),
    ] {
        assert!(said.contains(fault), "{said}");
    }
    let near = with("listen = \"127.0.0.1:0\"", "");
    assert!(!near.contains("public_url"), "{near}");
}

#[test]
fn s17_keys_and_tokens_are_taken_over_https_alone_in_every_mode() {
    let fault = "server.public_url: keys and tokens are not sent over plain http; use https";
    // Each configuration has another error, so that there is always output.
    for mode in ["oauth", "api-key", "github-pat"] {
        let with = |url: &str| {
            told(&format!("[server]\npublic_url = {url:?}\n[auth]\nmode = {mode:?}\nroles_seconds = 0\n"))
        };
        assert!(with("http://mcp.example.org").contains(fault), "{mode}");
        assert!(!with("https://mcp.example.org").contains(fault), "{mode}");
        assert!(!with("http://127.0.0.1:8787").contains(fault), "{mode}");
    }
}

#[test]
fn s17_a_script_of_others_in_the_page_has_a_digest() {
    let said =
        told("[auth]\nmode = \"oauth\"\n[auth.waap]\nscript_url = \"https://static.example.org/waap.js\"\n");
    assert!(said.contains("integrity"), "{said}");
}

#[test]
fn s8_what_is_for_members_alone_needs_sign_in() {
    let fault = "knowledge.public: has no effect, because auth.mode is \"open\"";
    for public in ["summaries", "nothing"] {
        let kb = format!(
            "[[source]]\nname = \"kb\"\npath = \".\"\n[knowledge]\nsource = \"kb\"\npublic = {public:?}\n"
        );
        assert!(told(&kb).contains(fault), "{}", told(&kb));
        assert!(!told(&format!("{kb}[auth]\nmode = \"api-key\"\n")).contains(fault));
    }
}

#[test]
fn a_key_that_was_replaced_says_what_to_write_instead() {
    let kb = "[[source]]\nname = \"kb\"\npath = \".\"\n";
    for (table, key) in [("[knowledge]", "knowledge"), ("[knowledge.docs]", "knowledge.docs")] {
        check(
            &format!("{kb}{table}\nsource = \"kb\"\napi = \"member\""),
            &format!(
                "6: {key}.api: was replaced by the key public; write public = \"all\" for api = \"public\", \
                 public = \"summaries\" (lists and search for everyone, full documents for members) or \
                 public = \"nothing\" for \"member\" and \"off\""
            ),
        );
        check(
            &format!("{kb}{table}\nsource = \"kb\"\npublish_by_default = true"),
            &format!(
                "6: {key}.publish_by_default: was replaced by the key publish; write publish = \"all\" for true, \
                 publish = \"frontmatter\" for false"
            ),
        );
    }
    // Elsewhere it is a key like any other.
    assert!(told("[server]\napi = \"member\"").contains("server.api: unknown key; "));
}

#[test]
fn what_is_public_is_nothing_or_summaries_or_all() {
    check(
        "[[source]]\nname = \"kb\"\npath = \".\"\n[knowledge]\nsource = \"kb\"\npublic = \"none\"",
        "6: knowledge.public: is not an allowed value; write one of \"nothing\", \"summaries\", \"all\"",
    );
}

#[test]
fn a_proxy_is_an_address_or_a_network() {
    check(
        "[server]\ntrusted_proxies = [\"10.0.0.0/8\", \"localhost\"]",
        "2: server.trusted_proxies.1: \"localhost\" is not an IP address or a network (CIDR); write for example \"127.0.0.1\" or \"10.0.0.0/8\"",
    );
    check(
        "[server]\noperator_listen = \"host:8788\"",
        "2: server.operator_listen: \"host:8788\" is not an IP address and port; write for example operator_listen = \"127.0.0.1:8787\"",
    );
}

/// S13: only keys grant the tier operator.
#[test]
fn no_hat_and_no_team_makes_an_operator() {
    for table in [
        "[auth.hats]\ntiers = { \"30.3.1\" = \"operator\" }",
        "[auth.github]\ntiers = { acme = \"operator\" }",
    ] {
        let text = told(&format!("[auth]\nmode = \"oauth\"\n{table}"));
        assert!(text.contains("is not an allowed value"), "{text}");
    }
}

#[test]
fn two_services_of_one_name_and_wrong_prefixes_are_faults() {
    let source = "[[source]]\nname = \"kb\"\npath = \"/kb\"\n";
    let of = |text: &str| {
        let loaded = Config::from_text(Path::new("lyceum.toml"), &format!("{source}{text}"));
        loaded.unwrap_err().to_string()
    };
    let twice = of("[skills.team]\nsource = \"kb\"\n[knowledge.team]\nsource = \"kb\"\n");
    assert!(twice.contains("skills.team: team is the name of another service"), "{twice}");
    let server = of("[knowledge.server]\nsource = \"kb\"\n");
    assert!(server.contains("server is the name of a built-in service"), "{server}");
    let name = of("[knowledge.\"My Docs\"]\nsource = \"kb\"\nprefix = \"a b\"\n");
    assert!(name.contains("My Docs") && name.contains("prefix: invalid prefix \"a b\""), "{name}");
    let unknown = of("[knowledge.docs]\nsource = \"kb\"\nsorce = 1\n");
    assert!(unknown.contains("knowledge.docs.sorce: unknown key; did you mean source?"), "{unknown}");
}

#[test]
fn one_mistake_is_one_error() {
    check(
        "[[source]]\nname = \"kb\"\n[knowledge]\nsource = \"kb\"",
        "1: source \"kb\": write either url (a Git repository) or path (a folder)",
    );
    let key = "[[auth.api_key]]\nname = \"ci\"\ntier = \"member\"\nkey_env = \"LYCEUM_KEY_CI\"";
    for mode in ["api-key", "oauth"] {
        check(
            &format!("[auth]\nmode = {mode:?}\n{key}"),
            "6: auth.api_key \"ci\".key_env: the variable LYCEUM_KEY_CI is not set; set it, or remove key_env",
        );
    }
}

#[test]
fn a_table_in_a_list_is_shown_by_its_name_or_its_position_from_1() {
    let sources = "[[source]]\nname = \"kb\"\npath = \"kb\"\n[[source]]\nurl = 5\nname = \"docs\"\n[[source]]\npath = 7\n";
    let said = told(sources);
    for fault in [
        "source \"docs\".url: must be a string",
        "source 3: name is missing",
        "source 3.path: must be a string",
    ] {
        assert!(said.contains(fault), "{said}");
    }
    // A number is also a name.
    let said = told("[knowledge.5]\nsorce = \"kb\"\n");
    assert!(said.contains("knowledge.5: unknown key"), "{said}");
}

#[test]
fn a_mistyped_url_is_a_fault() {
    let advice = "write for example url = \"https://github.com/team/kb.git\"";
    for url in
        ["htps://github.com/team/kb", "htps:/github.com/team/kb", "https:/github.com/team/kb", "https://", ""]
    {
        check(
            &format!("[[source]]\nname = \"kb\"\nurl = {url:?}\n"),
            &format!("3: source \"kb\".url: is not a URL that Git can fetch from; {advice}"),
        );
    }
}
