//! A plain HTTP service as upstream: `POST {url}/tools/{name}/call` with `{ "arguments": {…} }`, like the REST API of this
//! server. The response is the structured result.

use lyceum_net::{ClientError, ClientOptions, client, read_body, retry_after};
use lyceum_tools::mcp::JsonObject;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{
    Client, Response, Url,
    header::{ACCEPT, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::{json, value::RawValue};

use crate::{Credential, Fault, Limits};

/// What a path segment can't contain as it is.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A client of one service, with its own connection pool.
pub(crate) struct HttpService {
    client: Client,
    url: Url,
    headers: HeaderMap,
    limits: Limits,
}

impl HttpService {
    /// Creates a client. For an https URL it reads the system's root certificates.
    pub(crate) fn new(
        url: Url,
        credential: Option<&Credential>,
        limits: Limits,
    ) -> Result<Self, ClientError> {
        let options = ClientOptions { connect_timeout: Some(limits.connect), ..ClientOptions::default() };
        let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
        let credential: Option<(HeaderName, HeaderValue)> =
            credential.and_then(|one| Some((one.header.clone(), one.value()?)));
        headers.extend(credential);
        Ok(Self { client: client(&url, options)?, url, headers, limits })
    }

    /// Checks that the service accepts connections, whatever it answers.
    pub(crate) async fn probe(&self) -> Result<(), Fault> {
        match checked(self.client.get(self.url.clone()).headers(self.headers.clone()).send().await?) {
            Err(fault @ Fault::Unauthorized(_)) => Err(fault),
            Err(fault @ Fault::Status(500..)) => Err(fault),
            _ => Ok(()),
        }
    }

    /// Calls a tool; the result has the form of an MCP tool result.
    pub(crate) async fn call(&self, tool: &str, arguments: JsonObject) -> Result<Box<RawValue>, Fault> {
        let mut url = self.url.clone();
        let tool = utf8_percent_encode(tool, SEGMENT);
        url.set_path(&format!("{}/tools/{tool}/call", url.path().trim_end_matches('/')));
        let body = json!({ "arguments": arguments }).to_string();
        let request = self.client.post(url).headers(self.headers.clone());
        let request = request.header("content-type", "application/json").body(body);
        let response = checked(request.send().await?)?;
        let body = read_body(response, self.limits.response_bytes).await?;
        let text = String::from_utf8(body).map_err(|_| Fault::Invalid("it is not UTF-8"))?;
        let content = RawValue::from_string(text).map_err(|_| Fault::Invalid("it is not JSON"))?;
        // The text repeats the structured content, for clients that read only text.
        let text = json!([{ "type": "text", "text": content.get() }]);
        let result = format!("{{\"content\":{text},\"structuredContent\":{content}}}");
        RawValue::from_string(result).map_err(|_| Fault::Invalid("it is not JSON"))
    }
}

/// A response with a success status, or why there is none.
fn checked(response: Response) -> Result<Response, Fault> {
    match response.status().as_u16() {
        200..300 => Ok(response),
        status @ (401 | 403) => Err(Fault::Unauthorized(status)),
        429 => {
            Err(Fault::RateLimited { retry_after: retry_after(response.headers(), jiff::Timestamp::now()) })
        }
        status => Err(Fault::Status(status)),
    }
}
