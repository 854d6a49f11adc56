//! What a skill's frontmatter declares, with its rules and defaults.

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
    /// What it is for, in the author's word: `template`, `image`, `other` …
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
    /// The client: it reads the script and runs it where it is.
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
    /// Whether the script can't do without.
    pub required: bool,
}

impl Execution {
    /// The word in frontmatter and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Server => "server",
        }
    }
}

/// What is common to both forms of skills.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Declared {
    pub inherit: Option<bool>,
    pub priority: f64,
    pub assets: Vec<Asset>,
    pub scripts: Vec<Script>,
}

/// Reads the optional fields; what can't be used is left out and told.
pub(super) fn declared(fields: &Map<String, Value>, warn: &mut impl FnMut(String)) -> Declared {
    let inherit = match fields.get("inherit") {
        None | Some(Value::Null) => None,
        Some(Value::Bool(inherit)) => Some(*inherit),
        // As the document has it: everything but an explicit `false` inherits.
        Some(_) => {
            warn("inherit: is neither true nor false; it counts as true".to_owned());
            Some(true)
        }
    };
    let priority = match fields.get("priority") {
        None | Some(Value::Null) => 0.0,
        Some(value) => value.as_f64().filter(|number| number.is_finite()).unwrap_or_else(|| {
            warn("priority: is not a number; it counts as 0".to_owned());
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

/// The keywords as they are written; nothing unless there is at least one.
pub(super) fn keywords(fields: &Map<String, Value>) -> Option<Vec<String>> {
    let written = fields.get("keywords")?.as_array()?.iter();
    let keywords: Vec<String> =
        written.map(|keyword| text(Some(keyword))).filter(|keyword| !keyword.trim().is_empty()).collect();
    (!keywords.is_empty()).then_some(keywords)
}

/// The description, unless it is empty or not text.
pub(super) fn description(fields: &Map<String, Value>) -> Option<String> {
    let text = fields.get("description")?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The entries of a list that name a file which stays in the skill's folder.
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
            warn(format!("{key}: is not a list; it is left out"));
            return Vec::new();
        }
    };
    let mut entries = Vec::new();
    for (at, entry) in written.iter().enumerate() {
        // `- scripts/run.sh` is what people write when there is nothing more to say.
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
            Err(error) => warn(format!("{key}[{at}].file: {error}; it is left out")),
        }
    }
    entries
}

fn script(entry: &Map<String, Value>, file: RelPath, warn: &mut dyn FnMut(String)) -> Script {
    let execution = match text(entry.get("execution")).as_str() {
        "server" => Execution::Server,
        "" | "claude" => Execution::Claude,
        other => {
            warn(format!(
                "execution: {other:?} is neither \"server\" nor \"claude\"; it counts as \"claude\""
            ));
            Execution::Claude
        }
    };
    let args = entry.get("args").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let args = args.iter().enumerate().filter_map(|(at, arg)| {
        let arg = arg_of(arg);
        if arg.is_none() {
            warn(format!("args[{at}]: has no name of letters, digits, _ and -; it is left out"));
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

fn arg_of(arg: &Value) -> Option<Arg> {
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

/// A scalar as text; nothing else is text.
fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Bool(truth)) => truth.to_string(),
        None | Some(Value::Null | Value::Array(_) | Value::Object(_)) => String::new(),
    }
}
