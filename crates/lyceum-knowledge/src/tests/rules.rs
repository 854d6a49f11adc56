//! Changed rules hide previously published documents; a file renamed before its upload is not lost.

use std::sync::Arc;

use lyceum_store::{Key, Objects};

use super::base::{Base, document};
use crate::sync::OnProgress;

#[tokio::test]
async fn what_other_rules_chose_is_not_shown_and_what_is_here_is_chosen_anew() {
    let (open, private) = (document("Open", "", "open"), document("Private", "", "private"));
    let base = Base::of(&[("notes/open.md", &open), ("private/plan.md", &private)]).await;
    assert_eq!(base.paths(), ["notes/open.md", "private/plan.md"]);
    let base = base.leaving_out("private");
    assert!(base.paths().is_empty(), "nothing is published with these rules yet");
    let quiet: OnProgress = Arc::new(|_| ());
    base.knowledge.sync_local(&quiet).await.unwrap();
    assert_eq!(base.paths(), ["notes/open.md"]);
    base.sync().await;
    assert_eq!(base.paths(), ["notes/open.md"]);
}

#[tokio::test]
async fn a_file_that_is_renamed_before_it_is_shelved_is_shelved_under_its_new_name() {
    let objects = Objects::memory();
    let text = document("Moved", "", "moved");
    let base = Base::over(objects.clone(), &[("notes/x.md", &text)]);
    let quiet: OnProgress = Arc::new(|_| ());
    base.knowledge.sync(&quiet).await.unwrap();
    base.remove("notes/x.md");
    base.write("notes/y.md", &text);
    base.knowledge.sync(&quiet).await.unwrap();
    base.sync().await;
    let raw = |name: &str| Key::parse(&format!("raw/notes/{name}.md")).unwrap();
    assert_eq!(objects.get(&raw("y")).await.unwrap().as_deref(), Some(text.as_bytes()));
    assert_eq!(objects.get(&raw("x")).await.unwrap(), None);
    assert_eq!(base.knowledge.pending_objects().await.unwrap().0, 0);
}
