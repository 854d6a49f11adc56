//! Precedence: flags override the environment, which overrides the file.

use std::path::Path;

use crate::config::{Config, Faults, Overrides, Purpose, document::Document};

/// The configuration of a file with those variables and flags.
fn load(variables: &[(&str, &str)], overrides: &Overrides) -> Result<Config, Faults> {
    let text = "[server]\nlisten = \"127.0.0.1:1\"\ndata_dir = \"data\"\n";
    let document = Document::parse("/etc/lyceum/lyceum.toml".as_ref(), text).unwrap();
    let variable = |name: &str| {
        let found = variables.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, value)| value.into())
    };
    Config::of(document, variable, overrides)
}

#[test]
fn the_environment_counts_over_the_file_and_a_flag_over_both() {
    let flags = Overrides { listen: Some("127.0.0.1:3".to_owned()), ..Overrides::default() };
    let listen = [("LYCEUM_LISTEN", "127.0.0.1:2")];
    assert_eq!(load(&[], &Overrides::default()).unwrap().listen.port(), 1);
    assert_eq!(load(&listen, &Overrides::default()).unwrap().listen.port(), 2);
    assert_eq!(load(&listen, &flags).unwrap().listen.port(), 3);
}

#[test]
fn a_fault_names_the_variable_or_the_flag_that_it_came_from() {
    let variables = [("LYCEUM_LISTEN", "here"), ("LYCEUM_PUBLIC_URL", "there")];
    insta::assert_snapshot!(load(&variables, &Overrides::default()).unwrap_err(), @r#"
    the configuration has 2 errors
      the environment variable LYCEUM_LISTEN: server.listen: "here" is not an IP address and port; write for example listen = "127.0.0.1:8787"
      the environment variable LYCEUM_PUBLIC_URL: server.public_url: "there" is not a base URL without a path; write for example public_url = "https://mcp.example.org"
    "#);
    let flags = Overrides { listen: Some("nowhere".to_owned()), ..Overrides::default() };
    insta::assert_snapshot!(load(&[], &flags).unwrap_err(), @r#"
    the configuration has 1 error
      the flag --listen: server.listen: "nowhere" is not an IP address and port; write for example listen = "127.0.0.1:8787"
    "#);
}

#[test]
fn a_path_starts_where_it_was_written() {
    let here = std::env::current_dir().unwrap();
    assert_eq!(load(&[], &Overrides::default()).unwrap().data_dir, Path::new("/etc/lyceum/data"));
    let variable = [("LYCEUM_DATA_DIR", "variable")];
    assert_eq!(load(&variable, &Overrides::default()).unwrap().data_dir, here.join("variable"));
    let flags = Overrides { data_dir: Some("flag".into()), ..Overrides::default() };
    assert_eq!(load(&variable, &flags).unwrap().data_dir, here.join("flag"));
}

#[test]
fn a_file_that_is_named_must_be_there() {
    let absent = Path::new("/absent/lyceum.toml");
    let overrides = Overrides { config: Some(absent.to_owned()), ..Overrides::default() };
    insta::assert_snapshot!(Config::load(&overrides, Purpose::Serve).unwrap_err(), @r"
    the configuration has 1 error
      /absent/lyceum.toml: cannot read it: No such file or directory (os error 2); name another file with --config, or omit the flag
    ");
}
