//! The parameters of a message: `_meta` as a struct, the rest as JSON.

use std::{fmt, marker::PhantomData};

use rmcp::model::{ClientCapabilities, JsonObject, ProgressToken};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::Value;

use crate::LogLevel;

/// The contents of `params._meta`.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Meta {
    /// The protocol version of the request.
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    pub version: Option<String>,
    /// The capabilities of the client.
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    pub client: Option<ClientCapabilities>,
    /// The minimum level of log messages that the client wants.
    #[serde(rename = "io.modelcontextprotocol/logLevel")]
    pub log_level: Option<LogLevel>,
    /// Token for progress notifications; absent if the client wants none.
    #[serde(rename = "progressToken")]
    pub progress_token: Option<ProgressToken>,
    /// W3C Trace Context of the client. Any value is accepted: an invalid one is ignored.
    traceparent: Option<Value>,
}

impl Meta {
    /// The W3C `traceparent` of the client, if it is a string.
    pub fn traceparent(&self) -> Option<&str> {
        self.traceparent.as_ref().and_then(Value::as_str)
    }

    /// The required `_meta` keys that are missing.
    pub(crate) fn missing(&self) -> Vec<&'static str> {
        let version = self.version.is_none().then_some("io.modelcontextprotocol/protocolVersion");
        let client = self.client.is_none().then_some("io.modelcontextprotocol/clientCapabilities");
        version.into_iter().chain(client).collect()
    }
}

/// Parameters, with `_meta` separated while parsing.
#[derive(Debug, Default)]
pub(super) struct Params {
    pub meta: Meta,
    pub rest: JsonObject,
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Params;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Params, A::Error> {
                let mut params = Params::default();
                while let Some(key) = map.next_key::<String>()? {
                    if key == "_meta" {
                        let meta = map.next_value::<Named<Meta>>();
                        params.meta =
                            meta.map_err(|error| A::Error::custom(format_args!("_meta: {error}")))?.0;
                    } else {
                        params.rest.insert(key, map.next_value::<Value>()?);
                    }
                }
                Ok(params)
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

/// Accepts an object only: a derived deserializer would also accept an array of the values.
struct Named<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }

        deserializer.deserialize_map(Fields(PhantomData)).map(Self)
    }
}
