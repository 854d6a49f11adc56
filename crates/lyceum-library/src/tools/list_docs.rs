//! `list_docs`: the tree of docs.

use lyceum_content::library::DocsNode;
use lyceum_model::ErrorCode;
use lyceum_tools::{Call, Error, Faults, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{MAX_ENTRIES, similar};
use crate::{Library, PartKind};

/// The tool.
#[derive(Debug)]
pub(crate) struct ListDocs;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Section to list, such as ["guides", "setup"]. Default: all docs.
    #[serde(default)]
    path: Vec<String>,
}

/// Sections by name; leaves are the descriptions of pages.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Output(#[schemars(with = "Map<String, Value>")] DocsNode);

impl Tool for ListDocs {
    const NAME: &'static str = "list_docs";
    const TITLE: &'static str = "List docs";
    const DESCRIPTION: &'static str = "Shows the team's docs as a tree: sections by name, pages with their \
        descriptions. Read a page with get_doc, whose path is the names from the root to the page. If there are too \
        many pages, deep sections show how many pages they have; list one with path.";
    const FAULTS: Faults = Faults::InResultAsJson;

    type Service = Library;
    type Args = Args;
    type Output = Output;

    async fn call(library: &Library, _: &Call, args: Args) -> Result<Output, Error> {
        let docs = library.index(PartKind::Docs, |indexes| indexes.docs.clone()).await?;
        let section = docs.index.tree.at(&args.path).filter(|node| matches!(node, DocsNode::Section(_)));
        let section = section.ok_or_else(|| {
            let wanted = args.path.join("/");
            let sections = docs.index.sections();
            let hint = match similar(&wanted, sections.iter().copied()).as_slice() {
                [] => String::new(),
                some => format!("did you mean {}? ", some.join(", ")),
            };
            let message = format!("no section is at {wanted:?}; {hint}leave path out to see all docs");
            Error::Failed { code: ErrorCode::NotFound, message }
        })?;
        let tool = library.prefix.of(Self::NAME);
        let summary = |below: &[String], pages: usize| {
            let path: Vec<&String> = args.path.iter().chain(below).collect();
            format!("{pages} pages; call {tool} with path {path:?}")
        };
        Ok(Output(section.within(MAX_ENTRIES, &summary)))
    }
}
