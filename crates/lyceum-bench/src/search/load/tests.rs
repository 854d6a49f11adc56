//! Parsing the output of wrk.

use super::{Times, parse, script};

#[test]
fn the_line_of_the_script_is_read() {
    let output = "Running 60s test\nmeasured {\"requests\":100,\"micros\":2000000,\"p50\":1500,\"p95\":2000,\"p99\":2500,\"errors\":1}\n";
    let expected = Times { count: 100, p50: 1.5, p95: 2.0, p99: 2.5, per_second: 50.0, errors: 1 };
    assert_eq!(parse(output), Some(expected));
    assert_eq!(parse("unable to connect"), None);
}

#[test]
fn every_path_is_in_the_script() {
    let script = script(["/a?q=b".to_owned(), "/c".to_owned()].into_iter());
    assert!(script.starts_with("local paths = {\n  \"/a?q=b\",\n  \"/c\",\n}\n"), "{script}");
}
