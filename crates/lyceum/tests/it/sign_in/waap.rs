//! The WaaP wallet: a third-party script on the sign-in page, only if configured.

use lyceum::config::{Waap, WaapSettings};

use super::Stage;
use crate::app::get;

fn waap() -> Waap {
    Waap {
        script: "https://static.example.org/waap.js".to_owned(),
        script_origin: "https://static.example.org".to_owned(),
        integrity: "sha384-AAAA".to_owned(),
        frame_origin: "https://waap.xyz".to_owned(),
        settings: WaapSettings::of("Super \"Benefit\""),
    }
}

#[tokio::test]
async fn the_script_and_its_frame_are_in_the_page_and_in_its_policy() {
    let stage = Stage::with(|oauth| oauth.waap = Some(waap())).await;
    let page = stage.visit().await.page;
    assert!(
        page.text()
            .contains("data-waap=\"https://static.example.org/waap.js\" data-integrity=\"sha384-AAAA\"")
    );
    let script = stage.app.send(get("/authorize/waap.js")).await;
    assert_eq!((script.status, script.header("content-type")), (200, "text/javascript; charset=utf-8"));
    let policy = page.header("content-security-policy");
    assert!(policy.contains("script-src 'self' https://static.example.org;"), "{policy}");
    assert!(policy.contains("frame-src https://waap.xyz;"), "{policy}");
}

#[tokio::test]
async fn elsewhere_nothing_of_others_may_run() {
    let stage = Stage::with(|oauth| oauth.waap = Some(waap())).await;
    let fault = stage.app.send(get("/authorize?client_id=nobody")).await;
    let plain = Stage::start().await.visit().await.page;
    for page in [&fault, &plain] {
        let policy = page.header("content-security-policy");
        assert!(policy.contains("script-src 'self' ;") && policy.contains("frame-src 'none';"), "{policy}");
        assert!(!page.text().contains("waap"));
    }
}

/// The specification, 2.3: "initWaaP({ config: { authenticationMethods: ['wallet', 'email', 'social'], allowedSocials:
/// ['github', 'discord', 'google'], styles: { darkMode: true } }, project: { name, entryTitle } })".
#[tokio::test]
async fn k23_it_is_started_with_the_settings_of_the_document() {
    let stage = Stage::with(|oauth| oauth.waap = Some(waap())).await;
    let page = stage.visit().await.page.text().to_owned();
    let settings = page.split("data-settings=\"").nth(1).unwrap().split('"').next().unwrap();
    let settings = settings.replace("&#34;", "\"").replace("&quot;", "\"");
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    let expected = serde_json::json!({
        "config": {
            "authenticationMethods": ["wallet", "email", "social"],
            "allowedSocials": ["github", "discord", "google"],
            "styles": { "darkMode": true },
        },
        "project": { "name": "Super \"Benefit\"", "entryTitle": "Sign in to Super \"Benefit\"" },
    });
    assert_eq!(settings, expected);
    let script = stage.app.send(get("/authorize/waap.js")).await;
    assert!(script.text().contains("initWaaP?.(JSON.parse(settings))"));
}
