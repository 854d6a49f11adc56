//! The environment allowlist.

use super::is_inherited;

#[track_caller]
fn check(names: &[&str], expected: bool) {
    for name in names {
        assert_eq!(is_inherited(name), expected, "{name}");
    }
}

#[test]
fn what_reaches_a_server_is_inherited() {
    check(&["PATH", "HOME", "LANG", "LC_CTYPE", "TMPDIR"], true);
    check(&["https_proxy", "HTTPS_PROXY", "no_proxy", "ALL_PROXY", "GIT_PROXY_COMMAND"], true);
    check(&["SSH_AUTH_SOCK", "SSH_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT"], true);
    check(&["SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "GIT_SSL_NO_VERIFY"], true);
    check(&["XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "KRB5CCNAME"], true);
    check(&["GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"], true);
}

#[test]
fn secrets_and_what_points_git_elsewhere_are_not_inherited() {
    check(&["GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "KB_TOKEN", "OPENAI_API_KEY"], false);
    check(&["AWS_SECRET_ACCESS_KEY", "LYCEUM_AUTH_SECRET", "WEBHOOK_SECRET", "DATABASE_URL"], false);
    check(&["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG", "GIT_TEMPLATE_DIR"], false);
    check(&["GIT_TRACE", "GIT_TRACE2_EVENT", "GIT_TRACE_CURL", "GIT_CURL_VERBOSE", "LD_PRELOAD"], false);
}
