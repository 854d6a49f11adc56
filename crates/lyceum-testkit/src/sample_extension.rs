//! A sample MCP extension: a paginated list, a single read, and methods that report progress, hang or panic.

use std::time::Duration;

use lyceum_model::{Access, ErrorCode};
use lyceum_tools::{
    Call, Error, ExtensionEntry, MethodEntry, Page,
    mcp::{JsonObject, WireResource},
};
use serde::{Deserialize, Serialize};

/// Number of letters: more than one page.
const LETTER_COUNT: usize = 150;

#[derive(Deserialize)]
struct ListParams {
    cursor: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListResult {
    letters: Vec<WireResource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct GetParams {
    uri: String,
}

#[derive(Serialize)]
struct GetResult {
    letter: WireResource,
    reader: String,
}

/// The extension `org.lyceum.test/letters`, with that access.
pub fn sample_extension(access: Access) -> ExtensionEntry {
    let settings = JsonObject::from_iter([("sealed".to_owned(), true.into())]);
    ExtensionEntry::new(access.clone(), "org.lyceum.test/letters", settings)
        .method(MethodEntry::of(access.clone(), "letters/list", list).cached_for(Duration::from_secs(300)))
        .method(MethodEntry::of(access.clone(), "letters/get", get))
        .method(MethodEntry::new(access.clone(), "letters/send", send))
        .method(MethodEntry::new(access.clone(), "letters/wait", wait))
        .method(MethodEntry::new(access, "letters/burn", burn))
}

async fn list(_: Call, ListParams { cursor }: ListParams) -> Result<ListResult, Error> {
    let uris: Vec<String> = (0..LETTER_COUNT).map(uri).collect();
    let page = Page::take("letters", uris.iter().map(|uri| (uri.as_str(), letter(uri))), cursor.as_deref())?;
    Ok(ListResult { letters: page.entries, next_cursor: page.next })
}

async fn get(call: Call, GetParams { uri }: GetParams) -> Result<GetResult, Error> {
    if (0..LETTER_COUNT).all(|number| self::uri(number) != uri) {
        let message = format!("unknown letter {uri:?}");
        return Err(Error::Failed { code: ErrorCode::NotFound, message });
    }
    Ok(GetResult { letter: letter(&uri), reader: call.caller().tier().to_string() })
}

/// Reports progress.
async fn send(call: Call, params: JsonObject) -> Result<JsonObject, Error> {
    call.progress(1.0, Some(2.0), None);
    call.progress(2.0, Some(2.0), None);
    Ok(JsonObject::from_iter([("sent".to_owned(), params.into())]))
}

/// Never ends.
async fn wait(_: Call, _: JsonObject) -> Result<JsonObject, Error> {
    std::future::pending().await
}

#[expect(clippy::panic, reason = "tests panics in methods")]
async fn burn(_: Call, _: JsonObject) -> Result<JsonObject, Error> {
    panic!("the ashes say 1234")
}

fn uri(number: usize) -> String {
    format!("letter://{number:03}")
}

fn letter(uri: &str) -> WireResource {
    WireResource::new(uri, uri.trim_start_matches("letter://")).with_mime_type("text/plain")
}
