//! Mirrored headers must match the body.

use lyceum_model::Access;
use serde_json::{Value, json};

use super::{Client, SHELF, object, spec, tool};
use crate::{
    ExtensionEntry, MethodEntry, Registry, ToolSpec,
    mcp::{Header, JsonObject, Mirror, Reply},
};

/// A tool whose arguments are mirrored in headers (a string, an integer, a boolean, a nested string), and an
/// extension.
fn routed() -> Client {
    let input_schema = object(json!({
        "type": "object",
        "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "count": { "type": "integer", "x-mcp-header": "Count" },
            "urgent": { "type": "boolean", "x-mcp-header": "Urgent" },
            "where": { "properties": { "zone": { "type": "string", "x-mcp-header": "Zone" } } },
            "note": { "type": "string" },
        },
    }));
    let notes = ExtensionEntry::new(Access::public(SHELF), "org.example/notes", JsonObject::new());
    let get = MethodEntry::new(Access::public(SHELF), "notes/get", |_, params| async { Ok(params) });
    let builder = Registry::builder().tool_entry(tool(ToolSpec { input_schema, ..spec("route") })).unwrap();
    Client::of(builder.extension(notes.method(get)).unwrap().build())
}

/// Sends a request with exactly those headers; checks that it is accepted, or rejected for that reason.
async fn check_request(method: &str, params: Value, headers: &[(&str, &str)], refused: Option<&str>) {
    let lookup = |name: &str| {
        let mut sent = headers.iter().filter(|(header, _)| header.eq_ignore_ascii_case(name));
        match (sent.next(), sent.next()) {
            (None, _) => Header::Absent,
            (Some((_, value)), None) => Header::Text(value),
            (Some(_), Some(_)) => Header::Unreadable,
        }
    };
    let client = routed();
    let request = client.request(method, params);
    let mirror = Mirror {
        version: lookup("MCP-Protocol-Version"),
        method: lookup("Mcp-Method"),
        name: lookup("Mcp-Name"),
        other: &lookup,
    };
    match client.mcp.dispatch(client.view(), request, Some(&mirror)).await {
        Reply::Refused(message) => {
            let error = &client.read(*message)["error"];
            let text = refused.map(|reason| format!("Header mismatch: {reason}"));
            assert_eq!(error["message"].as_str(), text.as_deref(), "{headers:?}");
            assert_eq!(error["code"], -32020);
        }
        reply => assert_eq!(refused, None, "{headers:?} was answered: {reply:?}"),
    }
}

const VERSION: (&str, &str) = ("MCP-Protocol-Version", "2026-07-28");
const CALL: (&str, &str) = ("Mcp-Method", "tools/call");
const ROUTE: (&str, &str) = ("Mcp-Name", "route");

#[tokio::test]
async fn version_method_and_name_are_repeated() {
    let call = || json!({ "name": "route" });
    let check = async |headers: &[_], refused| check_request("tools/call", call(), headers, refused).await;
    check(&[VERSION, CALL, ROUTE], None).await;
    check(&[CALL, ROUTE], Some("MCP-Protocol-Version is missing")).await;
    check(&[VERSION, ROUTE], Some("Mcp-Method is missing")).await;
    check(&[VERSION, CALL], Some("Mcp-Name is missing")).await;
    let other = "MCP-Protocol-Version does not match the body";
    check(&[("MCP-Protocol-Version", "2025-11-25"), CALL, ROUTE], Some(other)).await;
    let other = "Mcp-Method does not match the body";
    check(&[VERSION, ("Mcp-Method", "tools/list"), ROUTE], Some(other)).await;
    check(&[VERSION, ("Mcp-Method", "TOOLS/CALL"), ROUTE], Some(other)).await;
    let other = "Mcp-Name does not match the body";
    check(&[VERSION, CALL, ("Mcp-Name", "other")], Some(other)).await;
    check(&[VERSION, CALL, ("Mcp-Name", "")], Some(other)).await;
    check(&[VERSION, CALL, ROUTE, ROUTE], Some("Mcp-Name must be sent once, in visible ASCII")).await;
    check(&[VERSION, CALL, CALL, ROUTE], Some("Mcp-Method must be sent once, in visible ASCII")).await;
}

#[tokio::test]
async fn a_list_has_no_name_and_a_resource_is_named_by_its_address() {
    let list = ("Mcp-Method", "tools/list");
    check_request("tools/list", json!({}), &[VERSION, list], None).await;
    let (uri, read) = (json!({ "uri": "kb://a" }), ("Mcp-Method", "resources/read"));
    check_request("resources/read", uri.clone(), &[VERSION, read, ("Mcp-Name", "kb://a")], None).await;
    let other = Some("Mcp-Name does not match the body");
    check_request("resources/read", uri, &[VERSION, read, ("Mcp-Name", "kb://b")], other).await;
}

#[tokio::test]
async fn a_method_of_an_extension_needs_no_name_but_one_that_is_sent_must_be_in_the_body() {
    let get = ("Mcp-Method", "notes/get");
    let check = async |params, headers: &[_], refused| {
        let headers: Vec<_> = [VERSION, get].iter().chain(headers).copied().collect();
        check_request("notes/get", params, &headers, refused).await;
    };
    let both = || json!({ "name": "n", "uri": "note://ä" });
    check(both(), &[], None).await;
    check(both(), &[("Mcp-Name", "n")], None).await;
    check(both(), &[("Mcp-Name", "=?base64?bm90ZTovL8Ok?=")], None).await;
    check(json!({ "id": 7 }), &[("Mcp-Name", "7")], None).await;
    let other = Some("Mcp-Name does not match the body");
    check(both(), &[("Mcp-Name", "m")], other).await;
    check(json!({ "uri": "note://a" }), &[("Mcp-Name", "note://b")], other).await;
    check_request("notes/get", both(), &[VERSION], Some("Mcp-Method is missing")).await;
}

/// Calls the tool with those arguments and, besides the required headers, that one.
async fn check(arguments: Value, header: (&str, &str), refused: Option<&str>) {
    let params = json!({ "name": "route", "arguments": arguments });
    check_request("tools/call", params, &[VERSION, CALL, ROUTE, header], refused).await;
}

#[tokio::test]
async fn an_argument_is_repeated_as_it_is() {
    let other = Some("Mcp-Param-Region does not match the body");
    check(json!({ "region": "eu" }), ("Mcp-Param-Region", "eu"), None).await;
    check(json!({ "region": "eu" }), ("mcp-param-region", " eu\t"), None).await;
    check(json!({ "region": "eu" }), ("Mcp-Param-Region", "EU"), other).await;
    check(json!({ "region": "eu" }), ("Mcp-Param-Region", ""), other).await;
    check(json!({ "region": "eu" }), ("X-Other", "eu"), Some("Mcp-Param-Region is missing")).await;
    check(json!({ "urgent": true }), ("Mcp-Param-Urgent", "true"), None).await;
    let urgent = Some("Mcp-Param-Urgent does not match the body");
    check(json!({ "urgent": true }), ("Mcp-Param-Urgent", "1"), urgent).await;
    check(json!({ "urgent": false }), ("Mcp-Param-Urgent", "true"), urgent).await;
    check(json!({ "where": { "zone": "a" } }), ("Mcp-Param-Zone", "a"), None).await;
    check(json!({ "note": "n" }), ("X-Other", "n"), None).await;
}

#[tokio::test]
async fn what_a_header_can_not_carry_comes_in_base64() {
    let other = Some("Mcp-Param-Region does not match the body");
    check(json!({ "region": "größe" }), ("Mcp-Param-Region", "=?base64?Z3LDtsOfZQ==?="), None).await;
    check(json!({ "region": " eu " }), ("Mcp-Param-Region", "=?base64?IGV1IA==?="), None).await;
    check(json!({ "region": " eu " }), ("Mcp-Param-Region", " eu "), other).await;
    check(json!({ "region": "" }), ("Mcp-Param-Region", "=?base64??="), None).await;
    check(json!({ "region": "=?base64?ZXU=?=" }), ("Mcp-Param-Region", "=?base64?ZXU=?="), other).await;
    check(json!({ "region": "=?base64?ZXU" }), ("Mcp-Param-Region", "=?base64?ZXU"), None).await;
    let broken = Some("Mcp-Param-Region is not valid Base64");
    check(json!({ "region": "eu" }), ("Mcp-Param-Region", "=?base64?ZXU?="), broken).await;
    check(json!({ "region": "eu" }), ("Mcp-Param-Region", "=?base64?Z XU=?="), broken).await;
    check(json!({ "region": "eu" }), ("Mcp-Param-Region", "=?base64?_w==?="), broken).await;
    check(json!({ "region": "eu" }), ("Mcp-Param-Region", "=?base64?/w==?="), broken).await;
}

#[tokio::test]
async fn a_number_is_the_same_however_it_is_written() {
    let other = Some("Mcp-Param-Count does not match the body");
    check(json!({ "count": 42 }), ("Mcp-Param-Count", "42"), None).await;
    check(json!({ "count": 42 }), ("Mcp-Param-Count", "42.0"), None).await;
    check(json!({ "count": 42.0 }), ("Mcp-Param-Count", "42"), None).await;
    check(json!({ "count": -1 }), ("Mcp-Param-Count", "-1"), None).await;
    check(json!({ "count": 42 }), ("Mcp-Param-Count", "43"), other).await;
    check(json!({ "count": 42 }), ("Mcp-Param-Count", "42.5"), other).await;
    check(json!({ "count": 42 }), ("Mcp-Param-Count", "forty-two"), other).await;
    check(json!({ "count": 42 }), ("Mcp-Param-Count", "NaN"), other).await;
}

#[tokio::test]
async fn two_large_numbers_are_not_taken_for_one() {
    let other = Some("Mcp-Param-Count does not match the body");
    check(json!({ "count": 9_007_199_254_740_993_i64 }), ("Mcp-Param-Count", "9007199254740993"), None).await;
    check(json!({ "count": 9_007_199_254_740_993_i64 }), ("Mcp-Param-Count", "9007199254740992"), other)
        .await;
}

#[tokio::test]
async fn a_header_without_its_argument_is_refused() {
    let alone = Some("Mcp-Param-Region is sent, but the body lacks that argument");
    check(json!({}), ("Mcp-Param-Region", "eu"), alone).await;
    check(json!({ "region": null }), ("Mcp-Param-Region", "null"), alone).await;
    let twice = [VERSION, CALL, ROUTE, ("Mcp-Param-Region", "eu"), ("Mcp-Param-Region", "eu")];
    let params = json!({ "name": "route", "arguments": { "region": "eu" } });
    let once = Some("Mcp-Param-Region must be sent once, in visible ASCII");
    check_request("tools/call", params, &twice, once).await;
}
