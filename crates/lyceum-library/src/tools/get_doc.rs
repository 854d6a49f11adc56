//! `get_doc`: a page, by the `index.md` convention.

use lyceum_content::library::DocsIndex;
use lyceum_model::RelPath;
use lyceum_tools::{Call, Error, Faults, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Open, hint, text};
use crate::{
    Library, PartKind, Reader,
    read::{Found, Freshness},
};

/// The tool.
#[derive(Debug)]
pub(crate) struct GetDoc;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Args {
    /// Names from the root of list_docs to the page, such as ["guides", "setup"].
    #[schemars(length(max = 32))]
    path: Vec<String>,
    /// Whether to read the newest version even if one from the last ten minutes is cached. Default: false.
    #[serde(default)]
    skip_cache: bool,
}

/// A page.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The requested path.
    path: Vec<String>,
    /// The markdown.
    content: String,
    /// Path in the repository.
    file_path: String,
    /// Git's id of this version of the file.
    sha: String,
    /// The commit that this version was seen at; absent if it is newer than the lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// Link to the file at that commit, or else on its branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

impl Tool for GetDoc {
    const NAME: &'static str = "get_doc";
    const TITLE: &'static str = "Get a page of the docs";
    const DESCRIPTION: &'static str = "Reads a page of the team's docs as markdown. path is the names from the root of list_docs to the page.";
    const FAULTS: Faults = Faults::InResultAsJson;

    type Service = Library;
    type Args = Args;
    type Output = Output;

    async fn call(library: &Library, call: &Call, args: Args) -> Result<Output, Error> {
        let found = find(library, call, &args.path, Freshness::of(args.skip_cache)).await?;
        let (content, sha) = (text(&found), found.file.sha.clone());
        let (file_path, commit, url) = (found.path.to_string(), found.commit, found.url);
        Ok(Output { path: args.path, content, file_path, sha, commit, url })
    }
}

/// Reads a page by its path.
pub(crate) async fn read_page(library: &Library, call: &Call, path: &[String]) -> Result<Found, Error> {
    find(library, call, path, Freshness::Cached).await
}

async fn find(library: &Library, call: &Call, path: &[String], freshness: Freshness) -> Result<Found, Error> {
    let docs: Open<'_, DocsIndex> =
        Open::part(library, PartKind::Docs, |indexes| indexes.docs.clone()).await?;
    let segments: Result<Vec<RelPath>, Error> =
        path.iter().map(|segment| docs.parameter("path", segment)).collect();
    let keys = segments?.iter().map(RelPath::as_str).collect::<Vec<_>>().join("/");
    let pages = || docs.indexed.iter().flat_map(|indexed| indexed.index.pages.keys()).map(String::as_str);
    let hint = || hint(&keys, pages(), "list_docs");
    let paths = docs.candidates(&keys, hint)?;
    docs.read(call, paths, freshness, hint).await
}

impl Open<'_, DocsIndex> {
    /// Where a page may be: `…/index.md`, then `….md`, then where the index has it, which may be an `.mdx` file.
    fn candidates(&self, keys: &str, hint: impl Fn() -> String) -> Result<Vec<RelPath>, Error> {
        let index = self.indexed.as_ref().map(|indexed| &indexed.index);
        let folder = self.options.path.as_ref().or_else(|| index?.folder.as_ref());
        let mut paths = match keys {
            "" => vec![self.below("path", folder, "index.md")?],
            keys => vec![
                self.below("path", folder, &format!("{keys}/index.md"))?,
                self.below("path", folder, &format!("{keys}.md"))?,
            ],
        };
        let known = index.and_then(|index| index.page(keys));
        match (&self.options.reader, known, paths.first()) {
            (Reader::Server { .. }, Some(known), _) => paths = vec![known.clone()],
            (_, None, Some(first)) => self.check_unlisted(first, hint)?,
            (_, Some(known), _) if !paths.contains(known) => paths.push(known.clone()),
            _ => {}
        }
        Ok(paths)
    }
}
