//! Permissions by tier.

use lyceum_model::{Caller, KNOWLEDGE_READ, MCP_READ, Scope, Tier};
use lyceum_tools::mcp::{list_prompts, list_resources, list_templates, list_tools};
use serde_json::json;

use super::base::{Base, document};

async fn base(tier: Tier) -> Base {
    let files = [
        ("tags/a.md", document("A", "", "First.")),
        ("artifacts/patterns/p.md", document("P", "group: makers\nrelease: first\n", "Second.")),
        ("artifacts/practices/q.md", document("Q", "", "Third.")),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (*file, text.as_str())).collect();
    Base::of(&files).await.called_by(Caller::known("ana", tier, scopes(tier)))
}

/// Every scope of the service that a tier may hold.
fn scopes(tier: Tier) -> Vec<Scope> {
    let all = [
        (MCP_READ, Tier::Public),
        (KNOWLEDGE_READ, Tier::Member),
        (Scope::from_static("sources:refresh"), Tier::Vibecoder),
    ];
    all.into_iter().filter(|(_, lowest)| *lowest <= tier).map(|(scope, _)| scope).collect()
}

async fn check(tier: Tier, tools: &[&str], templates: &[&str]) {
    let base = base(tier).await;
    let listed = list_tools(&base.view, None).unwrap().tools;
    assert_eq!(listed.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(), tools, "{tier:?}");
    let listed = list_templates(&base.view, None).unwrap().resource_templates;
    assert_eq!(listed.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), templates, "{tier:?}");
    assert_eq!(list_resources(&base.view, None).unwrap().resources.len(), 4);
    assert_eq!(list_prompts(&base.view, None).unwrap().prompts.len(), 3);
}

#[tokio::test]
async fn each_tier_sees_what_the_document_gives_it() {
    let public = ["define_term", "list_groups", "list_releases", "search_knowledge", "search_lexicon"];
    let member = [
        "define_term",
        "get_document",
        "list_groups",
        "list_releases",
        "search_knowledge",
        "search_lexicon",
        "search_with_documents",
    ];
    let vibecoder = [
        "define_term",
        "get_document",
        "list_groups",
        "list_releases",
        "refresh_sources",
        "search_knowledge",
        "search_lexicon",
        "search_with_documents",
    ];
    check(Tier::Public, &public, &["lexicon"]).await;
    check(Tier::Member, &member, &["content", "lexicon"]).await;
    check(Tier::Vibecoder, &vibecoder, &["content", "lexicon"]).await;
}

#[tokio::test]
async fn a_call_that_is_denied_says_what_it_requires() {
    let document = json!({ "contentType": "pattern", "id": "p" });
    let public = base(Tier::Public).await;
    assert_eq!(
        public.refusal("get_document", document.clone()).await,
        "Access denied. This tool requires member access."
    );
    for tier in [Tier::Public, Tier::Member] {
        assert_eq!(
            base(tier).await.refusal("refresh_sources", json!({})).await,
            "Access denied. This tool requires vibecoder access."
        );
    }
    assert_eq!(base(Tier::Member).await.ask("get_document", document).await["content"], "\nSecond.\n");
}

#[tokio::test]
async fn a_document_is_not_there_by_its_address_for_who_may_not_get_it() {
    let uri = "mcp://superbenefit/content/pattern/p";
    let public = base(Tier::Public).await;
    assert_eq!(public.read(uri).await.unwrap_err(), format!("unknown resource {uri:?}"));
    assert!(public.read("mcp://superbenefit/lexicon/a").await.is_ok());
    assert!(base(Tier::Member).await.read(uri).await.is_ok());
}
