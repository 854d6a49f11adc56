//! Prompts, in all protocol versions.

use serde_json::json;

use super::base::{Base, both, both_refuse};

#[tokio::test]
async fn each_prompt_is_written_with_its_arguments() {
    let base = Base::new();
    let app = base.served().await;
    let listed = both(&app, "prompts/list", json!({})).await;
    let names: Vec<&str> =
        listed["prompts"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["compare-practices", "explain-pattern", "research-topic"]);
    for (name, arguments, first, last) in [
        (
            "research-topic",
            json!({ "topic": "Commons", "depth": "deep" }),
            "Research the topic \"Commons\" in the SuperBenefit knowledge base.\n\n\nProvide a comprehensive analysis",
            "5. Gaps or areas needing more documentation\n\n\nUse the search_knowledge and define_term tools as needed.",
        ),
        (
            "research-topic",
            json!({ "topic": "Commons" }),
            "Research the topic \"Commons\" in the SuperBenefit knowledge base.\n\n\nProvide a brief summary",
            "3. One or two external resources\n\n\nUse the search_knowledge and define_term tools as needed.",
        ),
        (
            "explain-pattern",
            json!({ "pattern": "Rotating stewards" }),
            "Explain the pattern \"Rotating stewards\" as documented in SuperBenefit's knowledge base.\n\nInclude:",
            "Use the search_knowledge and define_term tools to find accurate information.",
        ),
        (
            "compare-practices",
            json!({ "practice1": "Check-in", "practice2": "Rotating stewards" }),
            "Compare \"Check-in\" and \"Rotating stewards\" as described in the SuperBenefit knowledge base.\n\nStructure",
            "Use the search_knowledge tool to find relevant documentation for both.",
        ),
    ] {
        let written = both(&app, "prompts/get", json!({ "name": name, "arguments": arguments })).await;
        let messages = written["messages"].as_array().unwrap();
        assert_eq!((messages.len(), &messages[0]["role"]), (1, &json!("user")), "{name}");
        assert_eq!(messages[0]["content"]["type"], "text");
        let text = messages[0]["content"]["text"].as_str().unwrap();
        assert!(text.starts_with(first) && text.ends_with(last), "{text}");
    }
    app.stop().await;
}

#[tokio::test]
async fn an_argument_that_is_missing_or_wrong_is_named() {
    let base = Base::new();
    let app = base.served().await;
    for (name, arguments, word) in [
        ("research-topic", json!({}), "arguments.topic"),
        (
            "research-topic",
            json!({ "topic": "a", "depth": "middling" }),
            "arguments.depth: must be shallow or deep",
        ),
        ("explain-pattern", json!({ "topic": "a" }), "arguments.pattern"),
        ("compare-practices", json!({ "practice1": "a" }), "arguments.practice2"),
        ("write-poem", json!({}), "prompts/list"),
    ] {
        let params = json!({ "name": name, "arguments": arguments });
        both_refuse(&app, "prompts/get", params, [-32602, -32602], word).await;
    }
    app.stop().await;
}
