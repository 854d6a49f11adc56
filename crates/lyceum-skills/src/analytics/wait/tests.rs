//! Back-off delays.

use std::time::Duration;

use super::{after_failures, after_retry_after};

#[test]
fn each_failure_doubles_the_wait_up_to_ten_minutes() {
    #[track_caller]
    fn check(failures: u32, jitter: u8, seconds: f64) {
        let wait = after_failures(Duration::from_secs(30), failures, jitter);
        assert_eq!(wait, Duration::from_secs_f64(seconds), "{failures} {jitter}");
    }
    check(0, 0, 30.0);
    check(1, 0, 60.0);
    check(1, 255, 75.0);
    check(3, 0, 240.0);
    check(5, 0, 600.0);
    check(u32::MAX, 255, 750.0);
}

#[test]
fn an_endpoint_can_ask_for_an_hour_but_not_for_haste() {
    #[track_caller]
    fn check(asked: u64, seconds: u64) {
        let wait = after_retry_after(Duration::from_secs(30), Duration::from_secs(asked));
        assert_eq!(wait, Duration::from_secs(seconds), "{asked}");
    }
    check(0, 30);
    check(120, 120);
    check(3600, 3600);
    check(u64::MAX, 3600);
}
