//! Changed rules hide previously published documents; a file renamed before its upload is not lost.

use std::sync::Arc;

use lyceum_content::document::Publishing;
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

#[tokio::test]
async fn a_source_that_does_not_use_publish_is_published_whole() {
    let base = Base::of(&[
        ("docs/a.md", "# A\n"),
        ("docs/b.md", "---\ntitle: B\n---\nB.\n"),
        ("docs/hidden.md", "---\npublish: false\n---\nNo.\n"),
        ("docs/draft.md", "---\ndraft: true\n---\nNo.\n"),
    ])
    .await;
    assert_eq!(base.paths(), ["docs/a.md", "docs/b.md"]);
    assert_eq!(base.knowledge.snapshot().publishing, Some(Publishing::All));
}

#[tokio::test]
async fn publish_in_one_document_makes_it_the_rule_for_all_for_good() {
    let base = Base::of(&[("docs/a.md", "# A\n"), ("docs/b.md", "---\ntitle: B\n---\nB.\n")]).await;
    assert_eq!(base.paths(), ["docs/a.md", "docs/b.md"]);
    base.write("docs/c.md", "---\ntitle: C\npublish: true\n---\nC.\n");
    base.sync().await;
    assert_eq!(base.paths(), ["docs/c.md"]);
    assert_eq!(base.knowledge.snapshot().publishing, Some(Publishing::Frontmatter));
    base.write("docs/d.md", "# D\n");
    base.sync().await;
    assert_eq!(base.paths(), ["docs/c.md"]);
    base.remove("docs/c.md");
    base.sync().await;
    assert!(base.paths().is_empty(), "removing the last published document must not publish the others");
    let warning = base.knowledge.snapshot().nothing_published().unwrap();
    assert!(warning.contains("set publish = \"all\""), "{warning}");
    let base = base.leaving_out("elsewhere");
    base.sync().await;
    assert!(base.paths().is_empty(), "nor must other settings");
}

#[tokio::test]
async fn a_draft_that_would_be_published_is_no_rule_yet() {
    let files = [("docs/a.md", "# A\n"), ("docs/b.md", "---\npublish: true\ndraft: true\n---\nB.\n")];
    let base = Base::of(&files).await;
    assert_eq!(base.paths(), ["docs/a.md"]);
    base.sync().await;
    assert_eq!(base.paths(), ["docs/a.md"]);
}
