//! Prompts: the exact texts of the specification.

use lyceum_tools::mcp::list_prompts;
use serde_json::json;

use super::base::{Base, document};

async fn base() -> Base {
    Base::of(&[
        ("tags/commons.md", &document("Commons", "", "Shared.")),
        ("artifacts/patterns/circle.md", &document("Circle", "", "Sit.")),
        ("artifacts/practices/check-in.md", &document("Check-in", "", "Speak.")),
        ("artifacts/articles/commons-essay.md", &document("Commons, an essay", "", "Long.")),
        ("artifacts/patterns/cut.md", &document("Cut", "draft: true\n", "Not yet.")),
    ])
    .await
}

#[tokio::test]
async fn the_prompts_are_those_of_the_document() {
    let base = base().await;
    let listed = serde_json::to_value(list_prompts(&base.view, None).unwrap().prompts).unwrap();
    let expected = json!([
        {
            "name": "compare-practices",
            "title": "Compare two practices",
            "description": "Compare two practices from the SuperBenefit knowledge base",
            "arguments": [
                { "name": "practice1", "description": "First practice to compare", "required": true },
                { "name": "practice2", "description": "Second practice to compare", "required": true },
            ],
        },
        {
            "name": "explain-pattern",
            "title": "Explain a pattern",
            "description": "Explain a pattern with examples and context from SuperBenefit's experience",
            "arguments": [{ "name": "pattern", "description": "Pattern name to explain", "required": true }],
        },
        {
            "name": "research-topic",
            "title": "Research a topic",
            "description": "Research a topic comprehensively across the SuperBenefit knowledge base",
            "arguments": [
                { "name": "topic", "description": "Topic to research", "required": true },
                { "name": "depth", "description": "Research depth: shallow or deep", "required": false },
            ],
        },
    ]);
    assert_eq!(listed, expected);
}

#[tokio::test]
async fn a_topic_is_researched_as_deep_as_wanted() {
    let base = base().await;
    let shallow = r#"Research the topic "Commons" in the SuperBenefit knowledge base.


Provide a brief summary including:
1. Key definition from the lexicon
2. Most relevant artifact
3. One or two external resources


Use the search_knowledge and define_term tools as needed."#;
    for arguments in [
        json!({ "topic": "Commons" }),
        json!({ "topic": "Commons", "depth": "shallow" }),
        json!({ "topic": "Commons", "depth": "" }),
    ] {
        assert_eq!(base.prompt("research-topic", arguments).await.unwrap(), shallow);
    }
    let deep = r#"Research the topic "Commons" in the SuperBenefit knowledge base.


Provide a comprehensive analysis including:
1. Core concepts and definitions from the lexicon
2. Related patterns and practices from artifacts
3. External resources from the library
4. Cross-references to other relevant topics
5. Gaps or areas needing more documentation


Use the search_knowledge and define_term tools as needed."#;
    let arguments = json!({ "topic": "Commons", "depth": "deep" });
    assert_eq!(base.prompt("research-topic", arguments).await.unwrap(), deep);
    let refusal = base.prompt("research-topic", json!({ "topic": "a", "depth": "abyssal" })).await;
    assert_eq!(refusal.unwrap_err(), "arguments.depth: must be shallow or deep");
    let refusal = base.prompt("research-topic", json!({ "depth": "deep" })).await.unwrap_err();
    assert!(refusal.contains("arguments.topic"), "{refusal}");
}

#[tokio::test]
async fn a_pattern_is_explained_and_practices_are_compared() {
    let base = base().await;
    let explained = r#"Explain the pattern "Circle" as documented in SuperBenefit's knowledge base.

Include:
1. Definition from the lexicon
2. How it works in practice
3. Examples from SuperBenefit's experience
4. Related patterns
5. When to use vs. alternatives

Use the search_knowledge and define_term tools to find accurate information."#;
    assert_eq!(base.prompt("explain-pattern", json!({ "pattern": "Circle" })).await.unwrap(), explained);
    let compared = r#"Compare "Check-in" and "Circle" as described in the SuperBenefit knowledge base.

Structure your comparison:
1. Brief definition of each
2. Key similarities
3. Key differences
4. When to use each
5. How they might complement each other

Use the search_knowledge tool to find relevant documentation for both."#;
    let arguments = json!({ "practice1": "Check-in", "practice2": "Circle" });
    assert_eq!(base.prompt("compare-practices", arguments).await.unwrap(), compared);
}

#[tokio::test]
async fn arguments_are_completed_with_what_is_there() {
    let base = base().await;
    for (prompt, argument, typed, expected) in [
        ("research-topic", "topic", "com", json!(["Commons", "Commons, an essay"])),
        ("research-topic", "topic", "cut", json!([])),
        ("research-topic", "depth", "", json!(["deep", "shallow"])),
        ("research-topic", "depth", "sh", json!(["shallow"])),
        ("explain-pattern", "pattern", "c", json!(["Circle"])),
        ("compare-practices", "practice1", "c", json!(["Check-in", "Circle"])),
        ("compare-practices", "practice2", "check", json!(["Check-in"])),
    ] {
        let of = json!({ "type": "ref/prompt", "name": prompt });
        assert_eq!(base.complete(&of, argument, typed)["values"], expected, "{prompt} {argument} {typed:?}");
    }
}
