//! The gate: entries that a caller may not use are not listed, and calling one says everything that is missing.

use lyceum_model::{Access, Caller, Domain, Scope, Tier};
use serde_json::json;

use super::{Client, access, family, prompt, resource, spec, tool};
use crate::{Faults, Registry, ToolSpec, View, mcp::WirePrompt};

/// One entry of each kind, all with the same access.
fn guarded(access: &Access) -> Registry {
    let told = ToolSpec { access: access.clone(), ..spec("told") };
    let raised = ToolSpec { faults: Faults::AsProtocolError, access: access.clone(), ..spec("raised") };
    Registry::builder()
        .tool_entry(tool(told))
        .and_then(|all| all.tool_entry(tool(raised)))
        .and_then(|all| all.resource(resource(access.clone(), "shelf://fixed")))
        .and_then(|all| all.template(family(access.clone(), "shelf://{id}")?))
        .and_then(|all| all.prompt(prompt(access.clone(), WirePrompt::new("greet", None::<&str>, None))))
        .unwrap()
        .build()
}

fn alice(tier: Tier, scopes: &[&str]) -> Caller {
    Caller::known("alice", tier, scopes.iter().map(|scope| Scope::parse(scope).unwrap()))
}

/// Checks that everything is listed and can be called; or that nothing is, and each call says that it needs `missing`.
async fn check(caller: &Caller, access: &Access, missing: Option<&str>) {
    let client = Client::of(guarded(access)).called_by(caller.clone());
    let lists = [
        ("tools/list", "tools", 2),
        ("resources/list", "resources", 1),
        ("resources/templates/list", "resourceTemplates", 1),
        ("prompts/list", "prompts", 1),
    ];
    for (method, list, all) in lists {
        let listed = client.ask(method, json!({})).await[list].as_array().unwrap().len();
        assert_eq!(listed, if missing.is_none() { all } else { 0 }, "{method} for {caller:?}");
    }
    let said = missing.map_or("done".to_owned(), |what| format!("Access denied. This tool requires {what}."));
    assert_eq!(client.call("told", json!({})).await, said);
    assert_eq!(client.call("raised", json!({})).await, said);
}

#[tokio::test]
async fn a_tier_contains_the_ones_below_it() {
    let members = access(Tier::Member, &["kb:read"]);
    check(&Caller::anonymous(), &members, Some("member access")).await;
    check(&alice(Tier::Public, &["kb:read"]), &members, Some("member access")).await;
    check(&alice(Tier::Member, &["kb:read"]), &members, None).await;
    check(&alice(Tier::Vibecoder, &["kb:read"]), &members, None).await;
    check(&Caller::trusted(), &members, None).await;
}

#[tokio::test]
async fn s7_a_tier_opens_nothing_by_itself() {
    let members = access(Tier::Member, &["kb:read"]);
    check(&alice(Tier::Vibecoder, &["kb:write"]), &members, Some("the scope kb:read")).await;
    let open = access(Tier::Public, &[]);
    check(&Caller::anonymous(), &open, None).await;
    check(&Caller::trusted(), &open, None).await;
    check(&alice(Tier::Public, &["mcp:read"]), &open, None).await;
    check(&alice(Tier::Vibecoder, &["kb:write"]), &open, Some("the scope mcp:read")).await;
}

#[tokio::test]
async fn every_scope_is_needed() {
    let two = access(Tier::Public, &["kb:read", "kb:write"]);
    check(&Caller::anonymous(), &two, Some("the scopes kb:read, kb:write")).await;
    check(&alice(Tier::Vibecoder, &["kb:read"]), &two, Some("the scope kb:write")).await;
    check(&alice(Tier::Public, &["kb:write", "kb:read", "more"]), &two, None).await;
    check(&Caller::trusted(), &two, None).await;
}

#[tokio::test]
async fn all_that_is_missing_is_named_at_once() {
    let both = access(Tier::Vibecoder, &["kb:read", "kb:write"]);
    let caller = alice(Tier::Member, &[]);
    check(&caller, &both, Some("vibecoder access")).await;
    check(&alice(Tier::Member, &["kb:read", "kb:write"]), &both, Some("vibecoder access")).await;
    check(&alice(Tier::Vibecoder, &["kb:write"]), &both, Some("the scope kb:read")).await;
    check(&alice(Tier::Vibecoder, &["kb:read", "kb:write"]), &both, None).await;
}

#[tokio::test]
async fn a_refusal_is_told_as_the_tools_document_says() {
    let client = Client::of(guarded(&access(Tier::Member, &["kb:read"])));
    insta::assert_json_snapshot!(client.ask("tools/call", json!({ "name": "told" })).await, @r#"
    {
      "_meta": {
        "lyceum/error_code": "SCOPE_MISSING"
      },
      "content": [
        {
          "text": "Access denied. This tool requires member access.",
          "type": "text"
        }
      ],
      "isError": true,
      "resultType": "complete"
    }
    "#);
    insta::assert_json_snapshot!(client.ask("tools/call", json!({ "name": "raised" })).await, @r#"
    {
      "error": {
        "code": 4031,
        "data": {
          "error_code": "SCOPE_MISSING",
          "missingScopes": [
            "kb:read"
          ],
          "requiredTier": "member"
        },
        "message": "Access denied. This tool requires member access."
      }
    }
    "#);
}

/// The gateway's document, decision 5: "Normalize all failures to MCP-compatible JSON-RPC error envelopes with stable
/// error.data.error_code values: … SCOPE_MISSING …".
#[tokio::test]
async fn g5_a_tool_of_the_gateway_that_tells_the_model_of_failures_is_denied_by_the_protocol() {
    let terms = access(Tier::Vibecoder, &["skills:run"]);
    let run = ToolSpec { faults: Faults::InResultUnlessDenied, access: terms, ..spec("run") };
    let client = Client::of(super::tools([tool(run)]));
    let denied = client.ask("tools/call", json!({ "name": "run" })).await;
    assert_eq!(denied["error"]["data"]["error_code"], "SCOPE_MISSING", "{denied}");
    let trusted = client.called_by(Caller::trusted());
    assert_eq!(trusted.call("run", json!({})).await, "done");
}

#[tokio::test]
async fn what_may_not_be_used_can_not_be_told_from_what_is_not_there() {
    let (guarded, empty) =
        (Client::of(guarded(&access(Tier::Member, &["kb:read"]))), Client::of(Registry::builder().build()));
    let argument = json!({ "name": "id", "value": "" });
    for (method, params) in [
        ("resources/read", json!({ "uri": "shelf://fixed" })),
        ("resources/read", json!({ "uri": "shelf://any" })),
        ("prompts/get", json!({ "name": "greet" })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "greet" }, "argument": argument }),
        ),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/resource", "uri": "shelf://{id}" }, "argument": argument }),
        ),
    ] {
        let answer = guarded.ask(method, params.clone()).await;
        assert_eq!(answer["error"]["data"]["error_code"], "NOT_FOUND", "{method} {params}");
        assert_eq!(answer, empty.ask(method, params.clone()).await, "{method} {params}");
    }
}

/// Checks the cache scope of the lists of a server whose tools have those access rules.
async fn check_kept(terms: &[Access], scope: &str) {
    let entry = |(number, access): (usize, &Access)| {
        tool(ToolSpec { access: access.clone(), ..spec(&format!("tool-{number}")) })
    };
    let client = Client::of(super::tools(terms.iter().enumerate().map(entry))).called_by(Caller::trusted());
    for method in
        ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"]
    {
        assert_eq!(client.ask(method, json!({})).await["cacheScope"], scope, "{method} of {terms:?}");
    }
}

#[tokio::test]
async fn a_list_that_depends_on_the_caller_is_not_kept_for_others() {
    let (open, members, scoped) =
        (access(Tier::Public, &[]), access(Tier::Member, &["kb:read"]), access(Tier::Public, &["kb:read"]));
    check_kept(&[], "public").await;
    check_kept(std::slice::from_ref(&open), "public").await;
    check_kept(&[open.clone(), members], "private").await;
    check_kept(&[scoped, open], "private").await;
}

#[tokio::test]
async fn what_is_read_is_not_kept_at_all() {
    for (access, scope) in
        [(access(Tier::Public, &[]), "public"), (access(Tier::Member, &["kb:read"]), "private")]
    {
        let client = Client::of(guarded(&access)).called_by(Caller::trusted());
        let read = client.ask("resources/read", json!({ "uri": "shelf://fixed" })).await;
        assert_eq!((&read["cacheScope"], &read["ttlMs"]), (&json!(scope), &json!(0)));
    }
}

#[tokio::test]
async fn a_service_alone_shows_only_its_own() {
    let other = Access::public(Domain::from_static("other"));
    let there = ToolSpec { access: other, faults: Faults::AsProtocolError, ..spec("there") };
    let client = Client::of(super::tools([tool(spec("here")), tool(there)]));
    let (registry, caller) = (client.hub().registry(), client.caller.clone());
    assert!(View::of_service(registry.clone(), caller.clone(), "absent").is_none());
    let view = View::of_service(registry, caller, "shelf").unwrap();
    assert_eq!(view.tools().map(|tool| tool.spec().name.as_str()).collect::<Vec<_>>(), ["here"]);
    let error = view.call("there", Default::default(), Default::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "unknown tool \"there\"; tools/list lists all tools");
}
