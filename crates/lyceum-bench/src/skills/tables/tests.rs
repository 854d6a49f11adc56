//! The tables.

use super::super::calls::Times;
use super::{Results, precise, report};
use crate::skills::rival::{ListTimes, SideBySide};

#[test]
fn a_goal_is_reached_or_missed() {
    let results = Results {
        cold: vec![900.0, 1000.0, 1100.0],
        cold_without_skills: vec![20.0],
        watched: vec![170.0],
        refreshed: vec![120.0],
        in_server: Times { get_skill: vec![0.25, 0.5, 3.0], server_info: Vec::new() },
        resident_kib: 100 * 1024,
        ..Results::default()
    };
    let shown = report(&results).to_string();
    for line in [
        "| start until 5000 skills are served | 1000 | 1100 |  |",
        "| of which reading and indexing them | 980 | 1080 | < 1500 ✓ |",
        "| one edit until it is served, by file watch | 170 | 170 |  |",
        "| of which the rebuild: without the 50 ms of debounce | 120 | 120 | < 100 ✗ MISSED |",
        "| one edit, then `refresh_skills`, which scans every file | 120 | 120 |  |",
        "| `get_skill` in the server, by its own log | 0.50 | 3.00 | < 1 ✓ |",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
    assert!(!shown.contains("FastMCP"), "{shown}");
}

#[test]
fn another_server_is_shown_by_its_ratio() {
    let both = SideBySide {
        lyceum: vec![ListTimes { ready: 20.0, listed: 25.0 }],
        rival: vec![ListTimes { ready: 1000.0, listed: 1500.0 }],
    };
    let results = Results { rival: Some(both), ..Results::default() };
    let shown = report(&results).to_string();
    assert!(shown.contains("| until `server/discover` is answered | 20.0 | 1000 | 50.0 |"), "{shown}");
}

#[test]
fn three_digits_count() {
    assert_eq!([0.123, 12.34, 123.4].map(precise), ["0.12", "12.3", "123"]);
}
