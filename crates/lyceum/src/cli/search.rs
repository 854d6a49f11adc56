//! `lyceum search`: the server's search, on the command line.

use std::{
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use lyceum_knowledge::{Filters, Knowledge, KnowledgeSearch, SearchHit, SearchOptions, SearchResponse};
use lyceum_model::Domain;
use lyceum_search::{Mode, Search, State};

use super::embedding::{missing, until_embedded};
use crate::{
    config::{Config, has_color},
    finding::counted,
    knowledge,
    search::{self, Index},
};

/// How long to wait for the model before falling back to lexical search.
const MODEL_LOAD_TIMEOUT: Duration = Duration::from_secs(15);

/// How long to compute missing embeddings before searching with those that are there.
const EMBED_TIME: Duration = Duration::from_secs(10);

/// The arguments of `lyceum search`.
#[derive(Debug, clap::Args)]
pub(super) struct SearchArgs {
    /// Folder or Git repository to search, instead of what the configuration names; repeatable
    #[arg(long = "source", value_name = "PATH|GIT-URL")]
    pub(super) sources: Vec<String>,
    /// The query; several words need no quotes
    #[arg(required = true)]
    words: Vec<String>,
    /// Maximum number of results
    #[arg(long, short = 'n', default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=20))]
    limit: u8,
    /// The knowledge base to search, if there are several [default: the first]
    #[arg(long, value_name = "NAME")]
    knowledge: Option<String>,
    /// Only documents of this type, including its subtypes
    #[arg(long = "type", value_name = "TYPE")]
    content_type: Option<String>,
    /// Only documents of this group
    #[arg(long)]
    group: Option<String>,
    /// Only documents with any of these tags
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Only files with this path prefix
    #[arg(long)]
    path: Option<String>,
    /// Only documents in this language, such as de or zh-CN
    #[arg(long = "lang", visible_alias = "language", value_name = "LANGUAGE")]
    language: Option<String>,
    /// Search mode
    #[arg(long, value_enum, default_value_t = ModeArg::Hybrid)]
    mode: ModeArg,
    /// Print the score of each stage
    #[arg(long)]
    explain: bool,
    /// Print the JSON response of the REST API
    #[arg(long)]
    json: bool,
}

/// The search mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ModeArg {
    /// Hybrid: BM25 and embeddings
    Hybrid,
    /// BM25 only
    Lexical,
    /// Embeddings only
    Vector,
}

#[tokio::main]
pub(super) async fn search(config: &Config, args: &SearchArgs) -> anyhow::Result<ExitCode> {
    let bases = knowledge::all(config)?;
    let names = || bases.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let is_selected = |name: &str| args.knowledge.as_deref().is_none_or(|selected| selected == name);
    let Some((name, knowledge)) = bases.iter().find(|(name, _)| is_selected(name.as_str())).cloned() else {
        match &args.knowledge {
            Some(name) if !bases.is_empty() => {
                anyhow::bail!("unknown knowledge base {name:?}; --knowledge takes one of: {}", names())
            }
            _ => anyhow::bail!("there is nothing to search; add a [knowledge] table to lyceum.toml"),
        }
    };
    let Some(folder) = search::folder(config, &name) else {
        anyhow::bail!("there is nothing to search; add a [knowledge] table to lyceum.toml")
    };
    if knowledge.snapshot().version.is_none() {
        knowledge.sync_once(|_| {}).await.context("the first sync failed")?;
    }
    let index = Index::open(search::options(config, folder));
    let response = run_query(config, &index, &name, knowledge.clone(), args).await;
    index.close().await;
    let response = response?;
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&response)?)?;
    } else {
        print(&mut out, &response)?;
        if let Some(warning) = knowledge.snapshot().nothing_published() {
            writeln!(out, "warning: {warning}")?;
        }
    }
    Ok(if response.results.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Updates the index, then runs the query.
async fn run_query(
    config: &Config,
    index: &Index,
    name: &Domain,
    knowledge: Arc<Knowledge>,
    args: &SearchArgs,
) -> anyhow::Result<SearchResponse> {
    index.feed(config, name, &knowledge).await?;
    if args.mode != ModeArg::Lexical {
        wait_for_model(&index.search).await?;
        let status = until_embedded(index, EMBED_TIME).await?;
        if let Some(note) = missing(&status, "lyceum sync").filter(|_| status.pending > 0) {
            eprintln!("lyceum: {note}");
        }
    }
    index.until_ranked().await;
    let filters = Filters {
        content_type: args.content_type.clone(),
        group: args.group.clone(),
        tags: args.tags.clone(),
        path: args.path.clone(),
        language: args.language.clone(),
        limit: Some(args.limit.into()),
        ..Filters::default()
    };
    let mode = match args.mode {
        ModeArg::Hybrid => Mode::Hybrid,
        ModeArg::Lexical => Mode::Lexical,
        ModeArg::Vector => Mode::Vector,
    };
    let options = SearchOptions { mode, explain: args.explain, facets: false };
    let finder = KnowledgeSearch { knowledge, search: index.search.clone() };
    Ok(finder.find(args.words.join(" "), &filters, options).await?)
}

/// Waits until the model is loaded or has failed to load.
async fn wait_for_model(search: &Arc<Search>) -> anyhow::Result<()> {
    let until = tokio::time::Instant::now() + MODEL_LOAD_TIMEOUT;
    while tokio::time::Instant::now() < until {
        match search.status().await?.state {
            State::Opening | State::Preparing => tokio::time::sleep(Duration::from_millis(20)).await,
            State::Ready | State::Indexing | State::Embedding | State::Degraded => break,
        }
    }
    Ok(())
}

fn print(out: &mut impl Write, response: &SearchResponse) -> io::Result<()> {
    let is_terminal = has_color(&io::stdout());
    for hit in &response.results {
        let SearchHit { title, content_type, path, lines: [first, last], snippet, score, .. } = hit;
        let title = if is_terminal { format!("\x1b[1m{title}\x1b[0m") } else { title.clone() };
        writeln!(out, "{title}  ({content_type}, {score:.3})\n  {path}:{first}-{last}")?;
        if !hit.heading.is_empty() {
            writeln!(out, "  {}", hit.heading)?;
        }
        let snippet = if is_terminal { highlighted(snippet) } else { snippet.clone() };
        writeln!(out, "  {snippet}")?;
        if let Some(explained) = &hit.explain {
            writeln!(out, "  {}", explanation(explained.bm25, explained.cosine))?;
        }
        writeln!(out)?;
    }
    if response.results.is_empty() {
        let searched = response.searched.as_ref();
        let documents = searched.map_or(0, |searched| searched.documents);
        writeln!(out, "no results in {}", counted(documents, "document", "documents"))?;
    }
    if let Some(suggestion) = &response.did_you_mean {
        writeln!(out, "did you mean: {suggestion}")?;
    }
    if let Some(reason) = &response.degraded {
        writeln!(out, "note: {reason}")?;
    }
    Ok(())
}

/// The score of each stage, or that the stage did not find the page.
fn explanation(bm25: Option<f32>, cosine: Option<f32>) -> String {
    let score =
        |score: Option<f32>| score.map_or_else(|| "not found".to_owned(), |score| format!("{score:.3}"));
    format!("BM25 {}, cosine {}", score(bm25), score(cosine))
}

/// Renders the marks of a snippet as terminal colors.
fn highlighted(snippet: &str) -> String {
    let mut parts = snippet.split("**");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for (number, part) in parts.enumerate() {
        text.push_str(if number % 2 == 0 { "\x1b[33m" } else { "\x1b[0m" });
        text.push_str(part);
    }
    text + "\x1b[0m"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_explained_in_words() {
        assert_eq!(explanation(Some(5.51884), None), "BM25 5.519, cosine not found");
    }
}
