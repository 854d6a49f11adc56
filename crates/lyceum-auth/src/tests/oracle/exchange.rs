//! Redemption of codes.

use super::{
    Action, BOTH_SCOPES, GOOD, REDEEM, REFRESH, Step, authorize, check, later, open, signed_in, together,
    token,
};

/// A code, an invalid token request, then a valid one: the mistake doesn't consume the code.
async fn check_mistake(mistake: Step) {
    check(&[authorize(GOOD, "code"), mistake, token(REDEEM, BOTH_SCOPES), open("{access1}", "open")]).await;
}

#[tokio::test]
async fn a_code_gives_tokens_for_its_resource() {
    let elsewhere = Step::new(Action::Open("{access1}".to_owned(), "/skills/mcp"), "closed");
    check(&[authorize(GOOD, "code"), token(REDEEM, BOTH_SCOPES), open("{access1}", "open"), elsewhere]).await;
    let named = format!("{REDEEM}&resource={{issuer}}/mcp");
    check(&[authorize(GOOD, "code"), token(&named, BOTH_SCOPES), open("{access1}", "open")]).await;
}

#[tokio::test]
async fn where_no_resource_is_named_it_is_the_first() {
    let why = "An unbound token would be accepted by every resource.";
    let elsewhere = Step::new(Action::Open("{access1}".to_owned(), "/skills/mcp"), "closed");
    check(&[
        authorize(&GOOD.replace("&resource={issuer}/mcp", ""), "code"),
        token(REDEEM, BOTH_SCOPES),
        open("{access1}", "open"),
        elsewhere.theirs("open", why),
    ])
    .await;
}

#[tokio::test]
async fn s17_where_no_scope_is_named_it_is_the_least() {
    let why = "RFC 6749 section 3.3 leaves it to the server; a client gets the scopes it requests.";
    let all = "tokens for knowledge:read mcp:read skills:run sources:refresh";
    let asked = authorize(&GOOD.replace("&scope=knowledge:read%20mcp:read", ""), "code");
    check(&[asked, token(REDEEM, "tokens for mcp:read").theirs(all, why)]).await;
}

#[tokio::test]
async fn a_wrong_verifier_leaves_the_code_to_the_right_one() {
    let with = |verifier: &str| REDEEM.replace("{verifier}", verifier);
    let missing = REDEEM.replace("&code_verifier={verifier}", "");
    check_mistake(token(&with("{wrong}"), "invalid_grant")).await;
    check_mistake(token(&with("{challenge}"), "invalid_grant")).await;
    check_mistake(token(&with("short"), "invalid_grant")).await;
    check_mistake(token(&with(&"v".repeat(129)), "invalid_grant")).await;
    let why = "A parameter is missing; the code may be valid.";
    check_mistake(token(&missing, "invalid_request").theirs("invalid_grant", why)).await;
}

#[tokio::test]
async fn a_code_is_for_the_client_and_the_address_that_it_was_sent_to() {
    let at = |callback: &str| REDEEM.replace("{callback}", callback);
    check_mistake(token(&at("http://127.0.0.1:4001/callback"), "invalid_grant")).await;
    check_mistake(token(&at("http://127.0.0.1:4000/other"), "invalid_grant")).await;
    check_mistake(token(&REDEEM.replace("{client}", "{other}"), "invalid_grant")).await;
    check_mistake(token(&REDEEM.replace("{client}", "nobody"), "invalid_client")).await;
    check_mistake(token(&REDEEM.replace("client_id={client}&", ""), "invalid_client")).await;
    let secret = format!("{REDEEM}&client_secret=x");
    check_mistake(token(&secret, "invalid_client")).await;
}

#[tokio::test]
async fn an_address_that_is_left_out_at_the_exchange_is_not_missed() {
    let why = "OAuth 2.1 has no redirect_uri at the token endpoint: PKCE replaces it.";
    let form = REDEEM.replace("redirect_uri={callback}&", "");
    let steps = [authorize(GOOD, "code"), token(&form, BOTH_SCOPES).theirs("invalid_grant", why)];
    check(&steps).await;
}

#[tokio::test]
async fn a_code_gives_nothing_for_another_resource_or_by_another_grant() {
    let other = format!("{REDEEM}&resource={{issuer}}/skills/mcp");
    check_mistake(token(&other, "invalid_target")).await;
    check_mistake(token(&format!("{REDEEM}&resource=https://evil.com/mcp"), "invalid_target")).await;
    check_mistake(token(&REDEEM.replace("authorization_code", "password"), "unsupported_grant_type")).await;
    check_mistake(token(&REDEEM.replace("authorization_code", "implicit"), "unsupported_grant_type")).await;
    check_mistake(token(&REDEEM.replace("grant_type=authorization_code&", ""), "invalid_request")).await;
    check_mistake(token(&REDEEM.replace("code={code1}&", ""), "invalid_request")).await;
    check_mistake(token(&REDEEM.replace("{code1}", "{code1}x"), "invalid_grant")).await;
    let as_refresh = "grant_type=refresh_token&client_id={client}&refresh_token={code1}";
    check_mistake(token(as_refresh, "invalid_grant")).await;
    let machine = "They support the grant, for confidential clients; we don't.";
    let alone = "grant_type=client_credentials&client_id={client}";
    check_mistake(token(alone, "unsupported_grant_type").theirs("invalid_client", machine)).await;
}

#[tokio::test]
async fn what_is_sent_twice_at_the_exchange_is_refused() {
    let why = "RFC 6749 section 3.2: no repeated parameters; they silently take the first.";
    let twice = token(&format!("{REDEEM}&code=x"), "invalid_request").theirs(BOTH_SCOPES, why);
    check(&[authorize(GOOD, "code"), twice]).await;
}

#[tokio::test]
async fn a_code_that_comes_twice_ends_what_it_gave() {
    let mut steps = signed_in().to_vec();
    steps.extend([
        open("{access1}", "open"),
        token(REDEEM, "invalid_grant"),
        open("{access1}", "closed"),
        token(REFRESH, "invalid_grant"),
    ]);
    check(&steps).await;
}

#[tokio::test]
async fn who_has_the_code_alone_can_not_end_what_it_gave() {
    let why =
        "Without the verifier a code is useless; otherwise whoever sees one could revoke the user's grant.";
    let still_open = || open("{access1}", "open");
    let replays = [
        (REDEEM.replace("{client}", "{other}"), still_open()),
        (REDEEM.replace("{verifier}", "{wrong}"), still_open().theirs("closed", why)),
        (REDEEM.replace("{callback}", "{callback}/other"), still_open().theirs("closed", why)),
    ];
    for (replay, after) in replays {
        let mut steps = signed_in().to_vec();
        steps.extend([token(&replay, "invalid_grant"), after]);
        check(&steps).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_twenty_exchanges_at_once_one_counts_and_the_grant_ends() {
    let one = format!("19 invalid_grant, 1 {BOTH_SCOPES}");
    for _ in 0..5 {
        check(&[
            authorize(GOOD, "code"),
            together(REDEEM, 20, &one).or_none_of_theirs("20 invalid_grant"),
            open("{access1}", "closed"),
            token(REFRESH, "invalid_grant"),
        ])
        .await;
    }
}

#[tokio::test]
async fn codes_and_tokens_end_in_the_same_time() {
    check(&[authorize(GOOD, "code"), later(59), token(REDEEM, BOTH_SCOPES)]).await;
    check(&[authorize(GOOD, "code"), later(60), token(REDEEM, "invalid_grant")]).await;
    let mut steps = signed_in().to_vec();
    steps.extend([
        later(3599),
        open("{access1}", "open"),
        later(1),
        open("{access1}", "closed"),
        token(REFRESH, BOTH_SCOPES),
    ]);
    check(&steps).await;
}
