//! Classification and sanitizing of git's output.

use lyceum_net::Secret;

use super::{Fault, GitMessage};

#[track_caller]
fn check(written: &str, fault: Fault) {
    assert_eq!(GitMessage::new(written.as_bytes(), None).fault(), fault, "{written}");
}

#[test]
fn the_words_of_git_are_understood() {
    check("fatal: repository 'https://example.org/x/' not found", Fault::NotFound);
    check(
        "remote: Repository not found.\nfatal: repository 'https://example.org/x/' not found",
        Fault::NotFound,
    );
    check("fatal: '/nothing' does not appear to be a git repository", Fault::NotFound);
    check("ERROR: Repository not found.\nfatal: Could not read from remote repository.", Fault::NotFound);
    check("fatal: Authentication failed for 'https://example.org/x/'", Fault::Denied);
    check(
        "fatal: could not read Username for 'https://example.org': terminal prompts disabled",
        Fault::Denied,
    );
    check("git@example.org: Permission denied (publickey).", Fault::Denied);
    check("fatal: unable to access 'https://e/': The requested URL returned error: 403", Fault::Denied);
    check("fatal: unable to access 'https://e/': The requested URL returned error: 502", Fault::Server);
    check("fatal: unable to access 'https://e/': Could not resolve host: e", Fault::UnknownHost);
    check("ssh: Could not resolve hostname e: Name or service not known", Fault::UnknownHost);
    check(
        "fatal: unable to access 'http://e/': Failed to connect to e port 80 after 0 ms",
        Fault::Unreachable,
    );
    check("error: RPC failed; curl 18 transfer closed\nfatal: early EOF", Fault::Unreachable);
    check(
        "fatal: unable to access 'https://e/': SSL certificate problem: self-signed certificate",
        Fault::Certificate,
    );
    check("Host key verification failed.\nfatal: Could not read from remote repository.", Fault::HostKey);
    check(
        "warning: Could not find remote branch x to clone.\nfatal: Remote branch x not found in upstream origin",
        Fault::Branch,
    );
    check("fatal: couldn't find remote ref refs/heads/x", Fault::Branch);
    check("fatal: detected dubious ownership in repository at '/srv/x'", Fault::Ownership);
    check("fatal: transport 'ext' not allowed", Fault::Protocol);
    check("fatal: write error: No space left on device", Fault::DiskFull);
    check("fatal: something new", Fault::Other);
}

#[test]
fn no_secret_and_no_escape_sequence_is_kept() {
    let token = Secret::new("s3cret").unwrap();
    let check = |written: &str, expected: &str| {
        assert_eq!(GitMessage::new(written.as_bytes(), Some(&token)).to_string(), expected);
    };
    check("fatal: 'https://user:pass@example.org/x' is bad", "fatal: 'https://example.org/x' is bad");
    check("at https://a:b@c@example.org\nnext ftp://d:e@f", "at https://example.org\nnext ftp://f");
    check("sent s3cret to me@example.org", "sent … to me@example.org");
    check("red \u{1b}[31mtext\rmore", "red [31mtext\nmore");
}
