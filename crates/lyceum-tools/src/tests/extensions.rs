//! Extensions: declared to callers who may use them; their methods run like any other.

mod naming;

use std::time::Duration;

use lyceum_model::{Access, Caller, Domain, ErrorCode, Tier};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Client, SHELF, access, object, resource, spec, tool};
use crate::{Change, Error, ExtensionEntry, Hub, MethodEntry, Registry, View};

const ATTIC: Domain = Domain::from_static("attic");

/// A method that returns its parameters.
fn echo(access: Access, name: &str) -> MethodEntry {
    MethodEntry::new(access, name, |_, params| async move { Ok(object(json!({ "said": params }))) })
}

/// A method that ends with that result.
fn ending(name: &str, end: impl Fn() -> Result<Value, Error> + Send + Sync + 'static) -> MethodEntry {
    MethodEntry::new(Access::public(SHELF), name, move |_, _| {
        let end = end();
        async { end.map(object) }
    })
}

fn extension(access: Access, id: &str, methods: impl IntoIterator<Item = MethodEntry>) -> ExtensionEntry {
    let settings = object(json!({ "loud": true }));
    methods.into_iter().fold(ExtensionEntry::new(access, id, settings), ExtensionEntry::method)
}

fn registry(extensions: impl IntoIterator<Item = ExtensionEntry>) -> Registry {
    extensions.into_iter().fold(Registry::builder(), |all, entry| all.extension(entry).unwrap()).build()
}

/// A server with one public extension with those methods.
fn open(methods: impl IntoIterator<Item = MethodEntry>) -> Client {
    Client::of(registry([extension(Access::public(SHELF), "org.example/echo", methods)]))
}

#[tokio::test]
async fn a_method_is_answered_as_any_other_is() {
    let client = open([echo(Access::public(SHELF), "echo/say")]);
    let messages = client.messages("echo/say", json!({ "words": ["a"], "cursor": null })).await;
    insta::assert_json_snapshot!(messages, @r#"
    [
      {
        "id": 1,
        "jsonrpc": "2.0",
        "result": {
          "_meta": {
            "io.modelcontextprotocol/serverInfo": {
              "name": "lyceum",
              "version": "0.0.0"
            }
          },
          "resultType": "complete",
          "said": {
            "cursor": null,
            "words": [
              "a"
            ]
          }
        }
      }
    ]
    "#);
}

#[tokio::test]
async fn what_the_work_says_of_its_result_stands() {
    let own =
        json!({ "resultType": "other", "_meta": { "org.example/mood": "calm" }, "cacheScope": "private" });
    let method = ending("echo/own", move || Ok(own.clone())).cached_for(Duration::from_millis(1_500));
    let answer = open([method]).ask("echo/own", json!({})).await;
    insta::assert_json_snapshot!(answer, @r#"
    {
      "_meta": {
        "org.example/mood": "calm"
      },
      "cacheScope": "private",
      "resultType": "other",
      "ttlMs": 1500
    }
    "#);
    let odd = open([ending("echo/odd", || Ok(json!({ "_meta": 7 })))]);
    assert_eq!(odd.messages("echo/odd", json!({})).await[0]["result"]["_meta"], 7);
    let empty = open([ending("echo/empty", || Ok(json!({})))]);
    assert_eq!(empty.ask("echo/empty", json!({})).await, json!({ "resultType": "complete" }));
}

/// Checks the cache scope of a method with a TTL, in a registry that also has a resource with that access.
async fn check_kept(other: Access, scope: &str) {
    let method = echo(Access::public(SHELF), "echo/say").cached_for(Duration::from_secs(300));
    let entry = extension(Access::public(SHELF), "org.example/echo", [method]);
    let builder = Registry::builder().resource(resource(other, "kb://a")).unwrap();
    let client = Client::of(builder.extension(entry).unwrap().build());
    let answer = client.ask("echo/say", json!({})).await;
    assert_eq!((&answer["ttlMs"], &answer["cacheScope"]), (&json!(300_000), &json!(scope)));
}

#[tokio::test]
async fn a_method_that_says_so_is_kept_for_whom_the_view_allows() {
    check_kept(access(Tier::Public, &[]), "public").await;
    check_kept(access(Tier::Member, &["kb:read"]), "private").await;
    let silent = open([echo(Access::public(SHELF), "echo/say")]).ask("echo/say", json!({})).await;
    assert_eq!((silent.get("ttlMs"), silent.get("cacheScope")), (None, None));
}

#[tokio::test]
async fn an_extension_for_some_makes_every_list_private() {
    let members = access(Tier::Member, &["kb:read"]);
    let hidden = extension(members.clone(), "org.example/echo", []);
    let half = extension(Access::public(SHELF), "org.example/echo", [echo(members, "echo/say")]);
    for entry in [hidden, half] {
        let answer = Client::of(registry([entry])).ask("server/discover", json!({})).await;
        assert_eq!(answer["cacheScope"], "private");
    }
}

#[tokio::test]
async fn parameters_and_results_can_be_types() {
    #[derive(Deserialize)]
    struct Sum {
        a: i64,
        b: i64,
    }
    #[derive(Serialize)]
    struct Total {
        total: i64,
    }
    let add = async |_, Sum { a, b }: Sum| Ok(Total { total: a + b });
    let number = async |_, Sum { a, b }: Sum| Ok(a + b);
    let open_to_all = || Access::public(SHELF);
    let client = open([
        MethodEntry::of(open_to_all(), "sum/add", add),
        MethodEntry::of(open_to_all(), "sum/bare", number),
    ]);
    assert_eq!(client.ask("sum/add", json!({ "a": 2, "b": 3 })).await["total"], 5);
    insta::assert_json_snapshot!(client.ask("sum/add", json!({ "a": 2 })).await, @r#"
    {
      "error": {
        "code": -32602,
        "data": {
          "error_code": "VALIDATION_ERROR",
          "field": "params"
        },
        "message": "params: missing field `b`"
      }
    }
    "#);
    let bare = client.ask("sum/bare", json!({ "a": 2, "b": 3 })).await;
    assert_eq!(bare["error"]["code"], -32603, "a number is not a valid result: {bare}");
}

async fn check_error(error: impl Fn() -> Error + Send + Sync + 'static, code: i64) {
    let answer = open([ending("echo/fail", move || Err(error()))]).ask("echo/fail", json!({})).await;
    assert_eq!(answer["error"]["code"], code, "{answer}");
}

#[tokio::test]
async fn errors_go_through_the_one_table() {
    check_error(|| Error::ResourceNotFound { uri: "kb://a".to_owned() }, -32602).await;
    check_error(|| Error::Failed { code: ErrorCode::NotFound, message: "why".to_owned() }, -32602).await;
    check_error(|| Error::invalid("params.uri", "params.uri: is not a URI"), -32602).await;
    check_error(|| crate::InvalidCursor.into(), -32602).await;
    check_error(|| Error::internal("the key is 1234"), -32603).await;
    check_error(|| Error::Failed { code: ErrorCode::Unavailable, message: "why".to_owned() }, 5030).await;
}

#[tokio::test]
async fn a_panic_in_a_method_is_contained() {
    let at_once = ending("echo/burn", || panic!("the key is 1234"));
    let later = MethodEntry::new(Access::public(SHELF), "echo/smoulder", |_, _| async {
        tokio::task::yield_now().await;
        panic!("the key is 1234")
    });
    let client = open([at_once, later, echo(Access::public(SHELF), "echo/say")]);
    for method in ["echo/burn", "echo/smoulder"] {
        let answer = client.ask(method, json!({})).await;
        assert_eq!(answer["error"]["data"]["error_code"], "INTERNAL_ERROR", "{method}: {answer}");
        assert!(!answer.to_string().contains("1234"), "{answer}");
    }
    assert_eq!(client.ask("echo/say", json!({})).await["said"], json!({}));
}

#[tokio::test]
async fn progress_is_told_before_the_answer() {
    let slow = MethodEntry::new(Access::public(SHELF), "echo/slow", |call, _| async move {
        call.progress(1.0, None, None);
        tokio::task::yield_now().await;
        Ok(object(json!({})))
    });
    let client = open([slow]).saying("progressToken", json!("t"));
    let messages = client.messages("echo/slow", json!({})).await;
    let methods: Vec<&str> =
        messages.iter().map(|message| message["method"].as_str().unwrap_or("")).collect();
    assert_eq!(methods, ["notifications/progress", ""]);
}

/// The ids declared to that caller, and the error code of `echo/say`, if there is one.
async fn seen(client: &Client) -> (Value, Value) {
    let declared = client.ask("server/discover", json!({})).await["capabilities"]["extensions"].clone();
    (declared, client.ask("echo/say", json!({})).await["error"]["code"].clone())
}

#[tokio::test]
async fn an_extension_is_declared_to_those_who_may_use_it() {
    let declared = json!({ "org.example/echo": { "loud": true } });
    let members = || access(Tier::Member, &["kb:read"]);
    let of = |extension_terms, method_terms| {
        let entry = extension(extension_terms, "org.example/echo", [echo(method_terms, "echo/say")]);
        Client::of(registry([entry]))
    };
    let client = of(Access::public(SHELF), Access::public(SHELF));
    assert_eq!(seen(&client).await, (declared.clone(), Value::Null));
    // A method of an undeclared extension is unknown.
    let client = of(members(), Access::public(SHELF));
    assert_eq!(seen(&client).await, (Value::Null, json!(-32601)));
    assert_eq!(seen(&client.called_by(Caller::trusted())).await, (declared.clone(), Value::Null));
    // A method of a declared extension says what the caller is missing.
    let client = of(Access::public(SHELF), members());
    assert_eq!(seen(&client).await, (declared.clone(), json!(4031)));
    assert_eq!(seen(&client.called_by(Caller::trusted())).await, (declared, Value::Null));
}

#[tokio::test]
async fn a_service_alone_has_its_own_extensions_only() {
    let of = |domain: Domain, id: &str, method: &str| {
        extension(Access::public(domain.clone()), id, [echo(Access::public(domain), method)])
    };
    let client = Client::of(registry([
        of(SHELF, "org.example/echo", "echo/say"),
        of(ATTIC, "org.example/dust", "dust/say"),
    ]));
    for (service, id, [own, other]) in [
        ("shelf", "org.example/echo", ["echo/say", "dust/say"]),
        ("attic", "org.example/dust", ["dust/say", "echo/say"]),
    ] {
        let view = View::of_service(client.hub().registry(), client.caller.clone(), service).unwrap();
        assert_eq!(view.extensions().map(ExtensionEntry::id).collect::<Vec<_>>(), [id]);
        assert!(view.call_method(own, Default::default(), Default::default()).await.is_ok());
        let error = view.call_method(other, Default::default(), Default::default()).await.unwrap_err();
        assert_eq!((view.has_method(other), error.code()), (false, ErrorCode::MethodNotAllowed), "{error}");
    }
}

#[tokio::test]
async fn a_method_that_nobody_has_is_still_unknown() {
    let client = open([echo(Access::public(SHELF), "echo/say")]);
    for method in ["echo/sing", "echo/", "echo/say/", "ECHO/SAY", "ping", "tasks/get"] {
        assert_eq!(client.ask(method, json!({})).await["error"]["code"], -32601, "{method}");
    }
}

#[test]
fn a_change_of_extensions_is_swapped_in_and_tells_nobody() {
    let hub = Hub::new(registry([extension(Access::public(SHELF), "org.example/echo", [])]));
    let mut changes = hub.changes();
    hub.publish(registry([ExtensionEntry::new(
        Access::public(SHELF),
        "org.example/echo",
        Default::default(),
    )]));
    hub.publish(registry([]));
    assert!(changes.try_recv().is_err());
    hub.publish(Registry::builder().tool_entry(tool(spec("a"))).unwrap().build());
    assert_eq!(changes.try_recv(), Ok(Change::Tools));
}
