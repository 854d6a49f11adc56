//! The parameters of a message: `_meta` as what is needed of it, the rest as plain JSON.

use std::{fmt, marker::PhantomData};

use rmcp::model::{ClientCapabilities, JsonObject, ProgressToken};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::Value;

use crate::LogLevel;

/// What `params._meta` says.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Meta {
    /// The revision that the request speaks.
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    pub version: Option<String>,
    /// What the client can do.
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    pub client: Option<ClientCapabilities>,
    /// How much of the log the client wants.
    #[serde(rename = "io.modelcontextprotocol/logLevel")]
    pub log_level: Option<LogLevel>,
    /// Under which name the client wants to hear of progress.
    #[serde(rename = "progressToken")]
    pub progress_token: Option<ProgressToken>,
    /// The span that the client sends the request from, as W3C Trace Context writes it. It may be anything, and is no fault.
    traceparent: Option<Value>,
}

impl Meta {
    /// The span that the client sends the request from.
    pub fn traceparent(&self) -> Option<&str> {
        self.traceparent.as_ref().and_then(Value::as_str)
    }

    /// What a modern request must carry and this one does not.
    pub(crate) fn missing(&self) -> Vec<&'static str> {
        let version = self.version.is_none().then_some("io.modelcontextprotocol/protocolVersion");
        let client = self.client.is_none().then_some("io.modelcontextprotocol/clientCapabilities");
        version.into_iter().chain(client).collect()
    }
}

/// Parameters, taken apart while they are read.
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

/// A value whose fields stand under their names: a derived reader would also take them alone, as an array.
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
