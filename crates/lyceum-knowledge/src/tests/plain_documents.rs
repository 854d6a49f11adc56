//! Plain documents, as repositories have them: no types, several file kinds, several languages.

use super::base::Base;

async fn base() -> Base {
    Base::open(&[
        ("README.md", "# The Docs\n\nWelcome."),
        ("en/settings.md", "## Open Settings\n\nUse the {{ app }}*menu*."),
        ("de/settings.md", "---\nname: Einstellungen\n---\n\nDas [[Menü|Menu]]."),
        ("guide/intro.mdx", "import A from 'a'\n\n# Intro to C#\n\n<A>Hello</A>"),
        ("guide/index.markdown", "Some text."),
        ("source/index.html.md.erb", "# Rendered"),
        ("logo.PNG", ""),
        ("src/main.rs", ""),
        ("src/lib.rs", ""),
    ])
    .await
}

#[tokio::test]
async fn ids_come_from_paths_and_titles_from_titles() {
    let base = base().await;
    let snapshot = base.knowledge.snapshot();
    let mut found: Vec<_> = (snapshot.catalog.entries().iter())
        .map(|entry| (entry.key(), entry.summary.title.clone(), entry.summary.description.clone()))
        .collect();
    found.sort();
    let found: Vec<_> =
        found.iter().map(|(key, title, about)| (key.as_str(), title.as_str(), about.as_str())).collect();
    assert_eq!(
        found,
        [
            ("file/de/settings", "Einstellungen", "Das Menu."),
            ("file/en/settings", "Settings", "Use the menu."),
            ("file/guide", "Guide", "Some text."),
            ("file/guide/intro", "Intro to C#", "Hello"),
            ("file/readme", "The Docs", "Welcome."),
        ]
    );
}

#[tokio::test]
async fn a_document_is_served_as_it_is_written() {
    let base = base().await;
    for uri in ["content/file/guide/intro", "content/file/guide%2Fintro"] {
        let read = base.read(&format!("mcp://superbenefit/{uri}")).await.unwrap();
        assert!(read["text"].as_str().unwrap().ends_with("<A>Hello</A>"), "{read}");
    }
    let document =
        base.ask("get_document", serde_json::json!({ "contentType": "file", "id": "guide/intro" })).await;
    assert!(document.to_string().contains("import A from 'a'"), "{document}");
}

#[tokio::test]
async fn every_file_is_accounted_for() {
    let base = base().await;
    let report = base.knowledge.sync_once(|_| ()).await.unwrap();
    assert_eq!((report.files.published, report.files.skipped, report.files.total()), (5, 1, 6));
    let template = &report.skipped.first[0];
    assert_eq!(template.path, "source/index.html.md.erb");
    assert!(template.reason.contains("it is a template (.erb)"), "{template:?}");
    assert_eq!(
        report.other_files.into_iter().collect::<Vec<_>>(),
        [(".png".to_owned(), 1), (".rs".to_owned(), 2)]
    );
    assert_eq!(report.hashed_ids.count, 0);
    base.remove("source/index.html.md.erb");
    let report = base.knowledge.sync_once(|_| ()).await.unwrap();
    assert_eq!((report.files.total(), report.skipped.count), (5, 0));
}
