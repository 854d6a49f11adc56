//! Parsing the log.

use super::served_at;

#[test]
fn the_time_stands_in_the_line() {
    let log = "not JSON\n\
        {\"timestamp\":\"2026-11-15T23:59:59.000001Z\",\"message\":\"listening\"}\n\
        {\"timestamp\":\"2026-11-16T00:00:01.250000Z\",\"message\":\"skills are served\",\"skills\":5}\n";
    assert_eq!(served_at(log), "2026-11-16T00:00:01.25Z".parse().ok());
    assert_eq!(served_at("{}"), None);
}
