//! Optional fields of a skill's frontmatter, with validation and defaults.

use lyceum_model::RelPath;
use serde::Serialize;
use serde_json::{Map, Value};

/// A file that a skill offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Asset {
    /// Its path in the skill's folder.
    pub file: RelPath,
    /// What it is.
    pub description: String,
    /// Free-form type given by the author: `template`, `image`, `other` …
    #[serde(rename = "type")]
    pub kind: String,
}

/// A script that a skill offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Script {
    /// Its path in the skill's folder.
    pub file: RelPath,
    /// What it does.
    pub description: String,
    /// Who runs it.
    pub execution: Execution,
    /// The arguments.
    pub args: Vec<Arg>,
    /// Whether it may use the network.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
}

/// Who runs a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Execution {
    /// The client: it fetches the script and runs it locally.
    Claude,
    /// This server, in its sandbox.
    Server,
}

/// An argument of a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Arg {
    /// Its name; the script sees it as `SKILL_ARG_NAME`.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Whether the argument is required.
    pub required: bool,
}

impl Execution {
    /// The value in frontmatter and responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Server => "server",
        }
    }
}

/// Fields common to both forms of skills.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Declared {
    pub inherit: Option<bool>,
    pub priority: f64,
    pub assets: Vec<Asset>,
    pub scripts: Vec<Script>,
}

/// Parses the optional fields; invalid values are dropped with a warning.
pub(super) fn declared(fields: &Map<String, Value>, warn: &mut impl FnMut(String)) -> Declared {
    let inherit = match fields.get("inherit") {
        None | Some(Value::Null) => None,
        Some(Value::Bool(inherit)) => Some(*inherit),
        // Per the specification, everything but an explicit `false` inherits.
        Some(_) => {
            warn("inherit: is neither true nor false; using true".to_owned());
            Some(true)
        }
    };
    let priority = match fields.get("priority") {
        None | Some(Value::Null) => 0.0,
        Some(value) => value.as_f64().filter(|number| number.is_finite()).unwrap_or_else(|| {
            warn("priority: is not a number; using 0".to_owned());
            0.0
        }),
    };
    let assets = entries(fields, "assets", warn, |entry, file, _| Asset {
        file,
        description: text(entry.get("description")),
        kind: Some(text(entry.get("type")))
            .filter(|kind| !kind.is_empty())
            .unwrap_or_else(|| "other".to_owned()),
    });
    let scripts = entries(fields, "scripts", warn, script);
    Declared { inherit, priority, assets, scripts }
}

/// The keywords as written; `None` if there are none.
pub(super) fn keywords(fields: &Map<String, Value>) -> Option<Vec<String>> {
    let written = fields.get("keywords")?.as_array()?.iter();
    let keywords: Vec<String> =
        written.map(|keyword| text(Some(keyword))).filter(|keyword| !keyword.trim().is_empty()).collect();
    (!keywords.is_empty()).then_some(keywords)
}

/// The description; `None` if it is empty or not a string.
pub(super) fn description(fields: &Map<String, Value>) -> Option<String> {
    let text = fields.get("description")?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Parses the entries of a list; drops those whose file is not inside the skill's folder.
fn entries<T>(
    fields: &Map<String, Value>,
    key: &str,
    warn: &mut impl FnMut(String),
    read: impl Fn(&Map<String, Value>, RelPath, &mut dyn FnMut(String)) -> T,
) -> Vec<T> {
    let written = match fields.get(key) {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(written)) => written,
        Some(_) => {
            warn(format!("{key}: is not a list; ignored"));
            return Vec::new();
        }
    };
    let mut entries = Vec::new();
    for (at, entry) in written.iter().enumerate() {
        // Short form: `- scripts/run.sh`.
        let entry = match entry {
            Value::Object(entry) => entry.clone(),
            Value::String(file) => Map::from_iter([("file".to_owned(), Value::String(file.clone()))]),
            _ => Map::new(),
        };
        let file = text(entry.get("file"));
        match RelPath::parse(file.strip_prefix("./").unwrap_or(&file)) {
            Ok(file) => {
                entries.push(read(&entry, file, &mut |message| warn(format!("{key}[{at}].{message}"))));
            }
            Err(error) => warn(format!("{key}[{at}].file: {error}; ignored")),
        }
    }
    entries
}

fn script(entry: &Map<String, Value>, file: RelPath, warn: &mut dyn FnMut(String)) -> Script {
    let execution = match text(entry.get("execution")).as_str() {
        "server" => Execution::Server,
        "" | "claude" => Execution::Claude,
        other => {
            warn(format!("execution: {other:?} is neither \"server\" nor \"claude\"; using \"claude\""));
            Execution::Claude
        }
    };
    let args = entry.get("args").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let args = args.iter().enumerate().filter_map(|(at, arg)| {
        let arg = parse_arg(arg);
        if arg.is_none() {
            warn(format!("args[{at}]: has no name of letters, digits, _ and -; ignored"));
        }
        arg
    });
    Script {
        file,
        description: text(entry.get("description")),
        execution,
        args: args.collect(),
        network: entry.get("network") == Some(&Value::Bool(true)),
    }
}

fn parse_arg(arg: &Value) -> Option<Arg> {
    let field = |key| arg.as_object().and_then(|arg| arg.get(key));
    let name = text(field("name").or(Some(arg)));
    let safe = !name.is_empty()
        && name.len() <= 64
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    safe.then(|| Arg {
        name,
        description: text(field("description")),
        required: field("required") != Some(&Value::Bool(false)),
    })
}

/// Converts a scalar to a string; empty for anything else.
fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Bool(value)) => value.to_string(),
        None | Some(Value::Null | Value::Array(_) | Value::Object(_)) => String::new(),
    }
}
