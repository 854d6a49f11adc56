//! Back-off.

use super::*;

#[test]
fn pauses_grow_up_to_a_limit_and_begin_anew_when_it_goes_well() {
    let now = Instant::now();
    let mut retry = RetryState::default();
    assert!(retry.is_due(now));
    for (number, ms) in [400, 800, 1_600, 3_200, 6_400, 10_000, 10_000].into_iter().enumerate() {
        assert_eq!(retry.failed(now), number == 0);
        assert!(!retry.is_due(now + Duration::from_millis(ms - 1)), "{number}");
        assert!(retry.is_due(now + Duration::from_millis(ms)), "{number}");
    }
    retry.succeeded();
    assert!(retry.is_due(now) && retry.failed(now));
}
