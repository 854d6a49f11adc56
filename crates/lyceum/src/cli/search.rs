//! `lyceum search`: the server's search, on the command line.

use std::{
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use lyceum_knowledge::{
    EverythingHit, EverythingResponse, Filters, Knowledge, KnowledgeBases, KnowledgeSearch, NamedBase,
    SearchCoverage, SearchHit, SearchOptions, SearchResponse,
};
use lyceum_model::{Access, Caller, Domain};
use lyceum_search::{Mode, Search, State};
use lyceum_tools::Prefix;
use tokio::task::block_in_place;

use super::embedding::{missing, until_embedded};
use crate::{
    config::{Config, KnowledgeService, has_color},
    finding::counted,
    knowledge,
    search::{self, Embedders, Index},
    storage::Storage,
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
    /// The knowledge base to search, if there are several [default: all of them]
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
    let storage = block_in_place(|| Storage::open(config))?;
    let bases = block_in_place(|| selected(config, &storage, args))?;
    let (embedders, mut opened) = (Embedders::default(), Vec::new());
    for (name, prefix, knowledge) in bases {
        let Some(folder) = search::folder(config, &name) else { continue };
        if knowledge.snapshot().version.is_none() {
            let synced = knowledge.sync_once(|_| {}).await;
            synced.with_context(|| format!("the first sync of {} failed", knowledge.source_name()))?;
        }
        let index = Index::open(search::options_sharing(config, &storage, folder, &embedders));
        let finder = Arc::new(KnowledgeSearch { knowledge, search: index.search.clone() });
        let access = Access::public(name.clone());
        opened.push((NamedBase { name, prefix, access, finder }, index));
    }
    let answer = answer(config, &storage, &opened, args).await;
    let mut warnings = Vec::new();
    for (base, index) in opened {
        index.close().await;
        warnings.extend(base.finder.knowledge.snapshot().nothing_published());
    }
    let answer = answer?;
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", answer.json()?)?;
    } else {
        answer.print(&mut out)?;
        for warning in warnings {
            writeln!(out, "warning: {warning}")?;
        }
    }
    Ok(if answer.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The knowledge bases to search: all, or the one with the given name.
fn selected(
    config: &Config,
    storage: &Storage,
    args: &SearchArgs,
) -> anyhow::Result<Vec<(Domain, Prefix, Arc<Knowledge>)>> {
    let declared: Vec<_> = config.services_of::<KnowledgeService>().collect();
    let names = || declared.iter().map(|(one, _)| one.name.as_str()).collect::<Vec<_>>().join(", ");
    let is_selected = |name: &str| args.knowledge.as_deref().is_none_or(|selected| selected == name);
    let bases = declared.iter().filter(|(one, _)| is_selected(one.name.as_str())).map(|(one, settings)| {
        Ok((one.name.clone(), one.prefix.clone(), knowledge::open(config, storage, &one.name, settings)?))
    });
    let bases = bases.collect::<anyhow::Result<Vec<_>>>()?;
    match &args.knowledge {
        Some(name) if bases.is_empty() && !declared.is_empty() => {
            anyhow::bail!("unknown knowledge base {name:?}; --knowledge takes one of: {}", names())
        }
        _ if bases.is_empty() => {
            anyhow::bail!("there is nothing to search; add a [knowledge] table to lyceum.toml")
        }
        _ => Ok(bases),
    }
}

/// Updates the indexes, then runs the query.
async fn answer(
    config: &Config,
    storage: &Storage,
    opened: &[(NamedBase, Index)],
    args: &SearchArgs,
) -> anyhow::Result<Answer> {
    for (base, index) in opened {
        index.feed(config, storage, &base.name, &base.finder.knowledge).await?;
        if args.mode != ModeArg::Lexical {
            wait_for_model(&index.search).await?;
            let status = until_embedded(index, EMBED_TIME).await?;
            if let Some(note) = missing(&status, "lyceum sync").filter(|_| status.pending > 0) {
                eprintln!("lyceum: {note}");
            }
        }
        index.until_ranked().await;
    }
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
    let text = args.words.join(" ");
    if let [(only, _)] = opened {
        return Ok(Answer::One(only.finder.find(text, &filters, options).await?));
    }
    let bases = KnowledgeBases(opened.iter().map(|(base, _)| base.clone()).collect());
    Ok(Answer::Several(bases.find(&Caller::trusted(), &text, &filters, options).await?))
}

/// The response of one knowledge base, or of several.
enum Answer {
    One(SearchResponse),
    Several(EverythingResponse),
}

impl Answer {
    fn is_empty(&self) -> bool {
        match self {
            Self::One(response) => response.results.is_empty(),
            Self::Several(response) => response.results.is_empty(),
        }
    }

    fn json(&self) -> serde_json::Result<String> {
        match self {
            Self::One(response) => serde_json::to_string_pretty(response),
            Self::Several(response) => serde_json::to_string_pretty(response),
        }
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::One(SearchResponse { results, searched, did_you_mean, degraded, .. }) => {
                for hit in results {
                    print_hit(out, None, hit)?;
                }
                print_notes(out, searched.as_ref(), did_you_mean.as_deref(), degraded.as_deref())
            }
            Self::Several(EverythingResponse { results, searched, did_you_mean, degraded, .. }) => {
                for EverythingHit { service, hit, .. } in results {
                    print_hit(out, Some(service), hit)?;
                }
                print_notes(out, searched.as_ref(), did_you_mean.as_deref(), degraded.as_deref())
            }
        }
    }
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

fn print_hit(out: &mut impl Write, service: Option<&str>, hit: &SearchHit) -> io::Result<()> {
    let is_terminal = has_color(&io::stdout());
    let SearchHit { title, content_type, path, lines: [first, last], snippet, score, .. } = hit;
    let title = if is_terminal { format!("\x1b[1m{title}\x1b[0m") } else { title.clone() };
    let service = service.map(|service| format!("{service}: ")).unwrap_or_default();
    writeln!(out, "{title}  ({content_type}, {score:.3})\n  {service}{path}:{first}-{last}")?;
    if !hit.heading.is_empty() {
        writeln!(out, "  {}", hit.heading)?;
    }
    let snippet = if is_terminal { highlighted(snippet) } else { snippet.clone() };
    writeln!(out, "  {snippet}")?;
    if let Some(explained) = &hit.explain {
        writeln!(out, "  {}", explanation(explained.bm25, explained.cosine))?;
    }
    writeln!(out)
}

/// What was searched if nothing was found, and hints.
fn print_notes(
    out: &mut impl Write,
    searched: Option<&SearchCoverage>,
    suggestion: Option<&str>,
    degraded: Option<&str>,
) -> io::Result<()> {
    if let Some(searched) = searched {
        writeln!(out, "no results in {}", counted(searched.documents, "document", "documents"))?;
    }
    if let Some(suggestion) = suggestion {
        writeln!(out, "did you mean: {suggestion}")?;
    }
    if let Some(reason) = degraded {
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
