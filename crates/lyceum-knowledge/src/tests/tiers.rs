//! Permissions by tier, and by what is public.

use lyceum_model::{Caller, KNOWLEDGE_READ, MCP_READ, Scope, Tier};
use lyceum_tools::mcp::{list_prompts, list_resources, list_templates, list_tools};
use serde_json::json;

use super::base::{Base, document};
use crate::PublicContent;

async fn base(public: PublicContent, tier: Tier) -> Base {
    let files = [
        ("tags/a.md", document("A", "", "First.")),
        ("artifacts/patterns/p.md", document("P", "group: makers\nrelease: first\n", "Second.")),
        ("artifacts/practices/q.md", document("Q", "", "Third.")),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (*file, text.as_str())).collect();
    Base::of(&files).await.with_public(public).called_by(Caller::known("ana", tier, scopes(tier)))
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

/// Lists, search, definitions.
const SUMMARIES: [&str; 5] =
    ["define_term", "list_groups", "list_releases", "search_knowledge", "search_lexicon"];
/// Full documents.
const DOCUMENTS: [&str; 2] = ["get_document", "search_with_documents"];
const TEMPLATES: [&str; 2] = ["content", "lexicon"];

/// Checks which tools and templates a tier sees, and how many resources and prompts.
async fn check(public: PublicContent, tier: Tier, tools: &[&[&str]], templates: &[&str], others: [usize; 2]) {
    let base = base(public, tier).await;
    let mut tools = tools.concat();
    tools.sort_unstable();
    let listed = list_tools(&base.view, None).unwrap().tools;
    assert_eq!(
        listed.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(),
        tools,
        "{public:?} {tier:?}"
    );
    let listed = list_templates(&base.view, None).unwrap().resource_templates;
    assert_eq!(
        listed.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
        templates,
        "{public:?} {tier:?}"
    );
    let resources = list_resources(&base.view, None).unwrap().resources.len();
    let prompts = list_prompts(&base.view, None).unwrap().prompts.len();
    assert_eq!([resources, prompts], others, "{public:?} {tier:?}");
}

#[tokio::test]
async fn each_tier_sees_what_is_public_and_what_the_document_gives_it() {
    use PublicContent::{All, Nothing, Summaries};
    check(All, Tier::Public, &[&SUMMARIES], &TEMPLATES, [4, 3]).await;
    check(Summaries, Tier::Public, &[&SUMMARIES], &[], [4, 3]).await;
    check(Nothing, Tier::Public, &[], &[], [0, 0]).await;
    for public in [All, Summaries, Nothing] {
        let member = [&SUMMARIES[..], &DOCUMENTS];
        check(public, Tier::Member, &member, &TEMPLATES, [4, 3]).await;
        let vibecoder = [&SUMMARIES[..], &DOCUMENTS, &["refresh_sources"]];
        check(public, Tier::Vibecoder, &vibecoder, &TEMPLATES, [4, 3]).await;
    }
}

#[tokio::test]
async fn a_tool_for_members_says_where_everyone_may_read_documents() {
    for (public, end) in [
        (
            PublicContent::All,
            " Requires member access. Published documents are open to everyone by the REST API.",
        ),
        (PublicContent::Summaries, " Requires member access."),
        (PublicContent::Nothing, " Requires member access."),
    ] {
        let base = base(public, Tier::Member).await;
        let tools = list_tools(&base.view, None).unwrap().tools;
        for tool in tools.iter().filter(|tool| DOCUMENTS.contains(&tool.name.as_ref())) {
            let description = tool.description.as_deref().unwrap();
            assert!(description.contains(end), "{public:?}: {description}");
        }
    }
}

#[tokio::test]
async fn a_call_that_is_denied_says_what_it_requires() {
    let summaries = PublicContent::Summaries;
    let document = json!({ "contentType": "pattern", "id": "p" });
    let public = base(summaries, Tier::Public).await;
    assert_eq!(
        public.refusal("get_document", document.clone()).await,
        "Access denied. This tool requires member access."
    );
    for tier in [Tier::Public, Tier::Member] {
        assert_eq!(
            base(summaries, tier).await.refusal("refresh_sources", json!({})).await,
            "Access denied. This tool requires vibecoder access."
        );
    }
    let read = base(summaries, Tier::Member).await.ask("get_document", document).await;
    assert_eq!(read["content"], "\nSecond.\n");
}

#[tokio::test]
async fn a_document_is_not_there_by_its_address_for_who_may_not_get_it() {
    for uri in ["mcp://superbenefit/content/pattern/p", "mcp://superbenefit/lexicon/a"] {
        let public = base(PublicContent::Summaries, Tier::Public).await;
        assert_eq!(public.read(uri).await.unwrap_err(), format!("unknown resource {uri:?}"));
        assert!(base(PublicContent::Summaries, Tier::Member).await.read(uri).await.is_ok());
        assert!(base(PublicContent::All, Tier::Public).await.read(uri).await.is_ok());
    }
}
