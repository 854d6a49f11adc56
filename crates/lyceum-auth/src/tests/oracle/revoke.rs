//! Revocation.

use super::{BOTH_SCOPES, REFRESH, Step, check, open, revoke, signed_in, token};

async fn check_after_sign_in(steps: &[Step]) {
    let mut all = signed_in().to_vec();
    all.extend_from_slice(steps);
    check(&all).await;
}

fn revocation(token: &str) -> String {
    format!("client_id={{client}}&token={token}")
}

#[tokio::test]
async fn a_token_that_nobody_knows_is_taken_back_all_the_same() {
    let hint = format!("{}&token_type_hint=unheard_of", revocation("unknown"));
    check_after_sign_in(&[
        revoke(&revocation("unknown"), "done"),
        revoke(&hint, "done"),
        revoke("client_id={client}", "invalid_request"),
        revoke("token={access1}", "invalid_client"),
        revoke("client_id=nobody&token={access1}", "invalid_client"),
        open("{access1}", "open"),
    ])
    .await;
}

#[tokio::test]
async fn no_client_takes_back_what_is_another_ones() {
    check_after_sign_in(&[
        revoke("client_id={other}&token={access1}", "done"),
        revoke("client_id={other}&token={refresh1}", "done"),
        open("{access1}", "open"),
        token(REFRESH, BOTH_SCOPES),
    ])
    .await;
}

#[tokio::test]
async fn with_a_refresh_token_goes_the_whole_grant() {
    for hint in ["", "&token_type_hint=refresh_token", "&token_type_hint=access_token"] {
        check_after_sign_in(&[
            revoke(&format!("{}{hint}", revocation("{refresh1}")), "done"),
            open("{access1}", "closed"),
            token(REFRESH, "invalid_grant"),
            revoke(&revocation("{refresh1}"), "done"),
        ])
        .await;
    }
}

#[tokio::test]
async fn an_access_token_goes_alone() {
    for hint in ["", "&token_type_hint=access_token", "&token_type_hint=refresh_token"] {
        check_after_sign_in(&[
            revoke(&format!("{}{hint}", revocation("{access1}")), "done"),
            open("{access1}", "closed"),
            token(REFRESH, BOTH_SCOPES),
            open("{access2}", "open"),
        ])
        .await;
    }
}

#[tokio::test]
async fn a_refresh_token_that_was_used_still_takes_its_grant_back() {
    check_after_sign_in(&[
        token(REFRESH, BOTH_SCOPES),
        revoke(&revocation("{refresh1}"), "done"),
        open("{access2}", "closed"),
        token(&REFRESH.replace("{refresh1}", "{refresh2}"), "invalid_grant"),
    ])
    .await;
}
