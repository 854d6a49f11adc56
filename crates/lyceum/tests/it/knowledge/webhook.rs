//! Pushes are heard at `/webhooks/github`, and only from who knows the secret.

use super::stage::Stage;

#[tokio::test]
async fn a_push_changes_what_is_served() {
    let stage = Stage::new().await;
    let program = stage.started().await;
    stage.kb.write("notes/second.md", super::stage::published("Second", "two")).unwrap();
    stage.brings_in(&program).await;
    let shelf = stage.check_equal_to_scratch(&program).await;
    assert_eq!(shelf.text("notes/second.md"), "two\n");
}
