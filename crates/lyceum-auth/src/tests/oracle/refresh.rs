//! Redemption of refresh tokens.

use std::time::Duration;

use super::{BOTH_SCOPES, REFRESH, Step, check, check_with, later, open, signed_in, together, token};

const DAY: i64 = 24 * 3600;

/// A token request with the second refresh token.
fn again() -> String {
    REFRESH.replace("{refresh1}", "{refresh2}")
}

async fn check_after_sign_in(steps: &[Step]) {
    let mut all = signed_in().to_vec();
    all.extend_from_slice(steps);
    check(&all).await;
}

#[tokio::test]
async fn each_refresh_gives_a_new_pair() {
    check_after_sign_in(&[
        token(REFRESH, BOTH_SCOPES),
        open("{access2}", "open"),
        token(&again(), BOTH_SCOPES),
        open("{access3}", "open"),
    ])
    .await;
}

#[tokio::test]
async fn the_access_token_from_before_lives_out_its_hour() {
    check_after_sign_in(&[token(REFRESH, BOTH_SCOPES), open("{access1}", "open")]).await;
}

#[tokio::test]
async fn a_refresh_token_that_comes_back_ends_the_grant() {
    check_after_sign_in(&[
        token(REFRESH, BOTH_SCOPES),
        later(11),
        token(REFRESH, "invalid_grant"),
        open("{access1}", "closed"),
        open("{access2}", "closed"),
        token(&again(), "invalid_grant"),
    ])
    .await;
}

#[tokio::test]
async fn a_client_that_lost_the_answer_gets_it_again_for_ten_seconds() {
    let why = "A replay window of ten seconds; theirs is zero by default.";
    check_after_sign_in(&[
        token(REFRESH, BOTH_SCOPES),
        later(9),
        token(REFRESH, "the same tokens").theirs("invalid_grant", why),
        open("{access2}", "open").theirs("closed", why),
        token(&again(), BOTH_SCOPES).theirs("invalid_grant", why),
    ])
    .await;
}

#[tokio::test]
async fn with_the_same_ten_seconds_set_they_do_the_same() {
    let mut steps = signed_in().to_vec();
    steps.extend([
        token(REFRESH, BOTH_SCOPES),
        later(9),
        token(REFRESH, "the same tokens"),
        open("{access2}", "open"),
        later(2),
        token(REFRESH, "invalid_grant"),
        open("{access2}", "closed"),
        token(&again(), "invalid_grant"),
    ]);
    check_with(Duration::from_secs(10), &steps).await;
}

#[tokio::test]
async fn a_successor_that_was_used_ends_the_ten_seconds() {
    let early = "A new token can be redeemed at once; theirs returns itself until the window ends.";
    let stolen = "Whoever used the successor got the response, so the first token was stolen.";
    let mut steps = signed_in().to_vec();
    steps.extend([
        token(REFRESH, BOTH_SCOPES),
        later(5),
        token(&again(), BOTH_SCOPES).theirs("the same tokens", early),
        token(REFRESH, "invalid_grant").theirs("the same tokens", stolen),
        open("{access2}", "closed").theirs("open", stolen),
    ]);
    check_with(Duration::from_secs(10), &steps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_twenty_refreshes_at_once_there_is_one_pair() {
    let outcome = format!("19 the same tokens, 1 {BOTH_SCOPES}");
    for _ in 0..5 {
        let mut steps = signed_in().to_vec();
        steps.extend([
            together(REFRESH, 20, &outcome),
            open("{access2}", "open"),
            token(&again(), BOTH_SCOPES),
        ]);
        // After the window, theirs too issues new tokens for the successor.
        steps.insert(4, later(10));
        check_with(Duration::from_secs(10), &steps).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_twenty_refreshes_at_once_theirs_ends_the_grant_where_no_time_is_set() {
    let why = "Two windows of an editor often refresh concurrently; that is not theft.";
    let outcome = format!("19 the same tokens, 1 {BOTH_SCOPES}");
    check_after_sign_in(&[
        together(REFRESH, 20, &outcome)
            .theirs(&format!("19 invalid_grant, 1 {BOTH_SCOPES}"), why)
            .or_none_of_theirs("20 invalid_grant"),
        open("{access2}", "open").theirs("closed", why),
    ])
    .await;
}

#[tokio::test]
async fn less_may_be_asked_for_and_more_may_not() {
    let why = "RFC 6749 section 6: the next refresh token has the scopes of the one that was sent.";
    check_after_sign_in(&[
        token(&format!("{REFRESH}&scope=mcp:read%20skills:run"), "invalid_scope"),
        token(&format!("{REFRESH}&scope=skills:run"), "invalid_scope"),
        token(&format!("{REFRESH}&scope=everything"), "invalid_scope"),
        token(&format!("{REFRESH}&scope=mcp:read"), "tokens for mcp:read"),
        open("{access2}", "open"),
        token(&again(), BOTH_SCOPES).theirs("tokens for mcp:read", why),
    ])
    .await;
}

#[tokio::test]
async fn another_resource_is_refused_and_the_token_stays_good() {
    check_after_sign_in(&[
        token(&format!("{REFRESH}&resource={{issuer}}/skills/mcp"), "invalid_target"),
        token(&format!("{REFRESH}&resource=https://evil.com/mcp"), "invalid_target"),
        token(&format!("{REFRESH}&resource={{issuer}}/mcp"), BOTH_SCOPES),
    ])
    .await;
}

#[tokio::test]
async fn a_refresh_token_is_no_good_to_another_client() {
    check_after_sign_in(&[
        token(&REFRESH.replace("{client}", "{other}"), "invalid_grant"),
        token(&REFRESH.replace("{client}", "nobody"), "invalid_client"),
        token(&REFRESH.replace("{refresh1}", "{refresh1}x"), "invalid_grant"),
        token(&REFRESH.replace("{refresh1}", "{access1}"), "invalid_grant"),
        open("{access1}", "open"),
        token(REFRESH, BOTH_SCOPES),
    ])
    .await;
}

#[tokio::test]
async fn another_client_with_a_used_token_ends_nothing() {
    check_after_sign_in(&[
        token(REFRESH, BOTH_SCOPES),
        later(11),
        token(&REFRESH.replace("{client}", "{other}"), "invalid_grant"),
        open("{access2}", "open"),
        token(&again(), BOTH_SCOPES),
    ])
    .await;
}

#[tokio::test]
async fn what_a_person_allowed_ends_after_thirty_days_however_often_it_was_used() {
    check_after_sign_in(&[later(30 * DAY), token(REFRESH, "invalid_grant")]).await;
    check_after_sign_in(&[
        later(29 * DAY),
        token(REFRESH, BOTH_SCOPES),
        later(DAY - 1),
        token(&again(), BOTH_SCOPES),
        later(1),
        token(&REFRESH.replace("{refresh1}", "{refresh3}"), "invalid_grant"),
    ])
    .await;
}
