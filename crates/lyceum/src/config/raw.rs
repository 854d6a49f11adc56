//! The configuration as people write it. Its JSON schema is the check, and is committed for editors to use.
//!
//! Every field is optional here: what is missing gets its default when the raw form becomes a `Config`.

mod auth;

use lyceum_content::skill::{AnalyticsOverlay, AssetOverlay, MatchOverlay, RefreshOverlay, ScriptOverlay};
use schemars::JsonSchema;
use serde::Deserialize;

use auth::Auth;
pub use auth::AuthMode;

/// The file `lyceum.toml`, without the tables of services: each kind of service brings its own.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Raw {
    /// Where the server listens and what it is called.
    pub server: Server,
    /// How much of everything is allowed.
    pub limits: Limits,
    /// Who may call.
    pub auth: Auth,
    /// The Git repositories and folders that knowledge comes from.
    pub source: Vec<Source>,
    /// Search settings.
    pub search: Search,
}

/// The table `[server]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Server {
    /// The address and port to listen on; port 0 picks a free one.
    #[schemars(example = "127.0.0.1:8787")]
    pub listen: Option<String>,
    /// The URL that clients use, where it is not the listen address.
    #[schemars(example = "https://mcp.example.org")]
    pub public_url: Option<String>,
    /// The folder for what must survive a restart.
    #[schemars(example = "/var/lib/lyceum")]
    pub data_dir: Option<String>,
    /// The web pages that may call from a browser. Loopback pages may always call a loopback server.
    #[schemars(example = ["https://app.example.org"])]
    pub allowed_origins: Vec<String>,
    /// Further names that the server is called by, beside those of `listen` and `public_url`.
    #[schemars(example = ["lyceum.internal"])]
    pub allowed_hosts: Vec<String>,
    /// The address and port of a second listener that serves `/health`, `/livez`, `/readyz` and `/metrics` in full, to whoever
    /// reaches it. Let only operators reach it: loopback, or a private network.
    #[schemars(example = "127.0.0.1:8788")]
    pub operator_listen: Option<String>,
    /// The reverse proxies whose `X-Forwarded-For` is believed, as addresses or networks (CIDR). Default: none. Name yours,
    /// also one on this machine (`127.0.0.1`), or all of its clients share one rate limit.
    #[schemars(example = ["127.0.0.1", "10.0.0.0/8"])]
    pub trusted_proxies: Vec<String>,
}

/// The table `[limits]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Limits {
    /// The largest request body, in bytes.
    #[schemars(range(min = 1024, max = 1_073_741_824), example = 4_194_304)]
    pub body_bytes: Option<u64>,
    /// How long a client may take to send the head or the body of a request, in seconds.
    #[schemars(range(min = 1, max = 3600), example = 10)]
    pub read_seconds: Option<u64>,
    /// How long a client may leave an answer unread before it is dropped, in seconds.
    #[schemars(range(min = 1, max = 3600), example = 30)]
    pub write_seconds: Option<u64>,
    /// How long one call may work, in seconds. A call of `run_script` may take `skills.scripts.timeout_seconds`.
    #[schemars(range(min = 1, max = 86_400), example = 120)]
    pub call_seconds: Option<u64>,
    /// How many connections may be open at once.
    #[schemars(range(min = 1, max = 1_000_000), example = 4096)]
    pub connections: Option<u64>,
    /// How many of them one client address may have; loopback and `server.trusted_proxies` may have all.
    #[schemars(range(min = 1, max = 1_000_000), example = 256)]
    pub connections_per_address: Option<u64>,
    /// How many bytes of request bodies and subscriptions are held for all clients together; of each body the first 16 KiB
    /// are not counted.
    #[schemars(range(min = 1_048_576), example = 268_435_456)]
    pub buffer_bytes: Option<u64>,
    /// Where people sign in: the largest request body without a sign-in, in bytes.
    #[schemars(range(min = 1024, max = 1_073_741_824), example = 262_144)]
    pub anonymous_body_bytes: Option<u64>,
    /// Where people sign in: how many requests a second one client address may send without a sign-in. Twice as many may come
    /// at once; those that come too early wait up to a second, then they are refused.
    #[schemars(range(min = 1, max = 1_000_000), example = 50)]
    pub anonymous_per_second: Option<u64>,
    /// The same for all client addresses together.
    #[schemars(range(min = 1, max = 1_000_000), example = 1000)]
    pub anonymous_total_per_second: Option<u64>,
    /// How many sessions of older clients are held in memory; the longest idle makes room, and comes back when used.
    #[schemars(range(min = 1, max = 1_000_000), example = 1000)]
    pub sessions: Option<u64>,
    /// How long an idle session stays in memory, in seconds.
    #[schemars(range(min = 1, max = 86_400), example = 300)]
    pub session_idle_seconds: Option<u64>,
    /// How long calls that are under way may take to finish when the server is told to stop, in seconds.
    #[schemars(range(min = 0, max = 3600), example = 10)]
    pub shutdown_seconds: Option<u64>,
}

/// One `[[source]]`: a Git repository (`url`) or a folder (`path`).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the check reads the document, so that it can go on past a fault")]
pub(super) struct Source {
    /// A short name, unique among the sources.
    #[schemars(example = &"kb")]
    pub name: String,
    /// The repository, as Git takes it.
    #[schemars(example = "https://example.org/kb.git")]
    pub url: Option<String>,
    /// The folder.
    #[schemars(example = "./kb")]
    pub path: Option<String>,
    /// The branch of the repository.
    #[schemars(example = &"main")]
    pub branch: Option<String>,
    /// The environment variable that holds the token for the repository.
    #[schemars(example = &"GITHUB_TOKEN")]
    pub token_env: Option<String>,
    /// The environment variable that holds the secret of the repository's webhook: it is then told of pushes at
    /// `/webhooks/github`.
    #[schemars(example = &"GITHUB_WEBHOOK_SECRET")]
    pub webhook_secret_env: Option<String>,
    /// Where the web shows a file of the repository, where that is not known by itself.
    #[schemars(example = &"https://git.example.org/team/kb/src/commit/{commit}/{path}")]
    pub web_url: Option<String>,
    /// How many minutes lie between two questions for news of the repository.
    #[schemars(range(min = 1, max = 10_080), example = 15)]
    pub poll_minutes: Option<u64>,
}

/// The table `[knowledge]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the check reads the document, so that it can go on past a fault")]
pub(crate) struct Knowledge {
    /// The source that the documents are in.
    #[schemars(example = &"kb")]
    pub source: String,
    /// What stands before the names of its tools and prompts, so that two services can be offered side by side. Default: nothing,
    /// and the name with `_` for a table that has one, such as `[knowledge.docs]`.
    #[schemars(example = &"docs_")]
    pub prefix: Option<String>,
    /// Who the knowledge base belongs to, as people read it; also the host of `mcp://` addresses. Default: the name of
    /// the source.
    #[schemars(example = &"The Team")]
    pub title: Option<String>,
    /// A file with the types of documents, where they are not the usual ones.
    #[schemars(example = "ontology.toml")]
    pub ontology: Option<String>,
    /// Whether documents that do not say `publish` are served, files without frontmatter too.
    #[schemars(example = false)]
    pub publish_by_default: Option<bool>,
    /// Folders and files of the source that are left out.
    #[serde(default)]
    #[schemars(example = ["templates"])]
    pub exclude: Vec<String>,
    /// Who may read whole documents by the REST API. Default: public.
    #[serde(default)]
    #[schemars(with = "KnowledgeApi", example = &"public")]
    pub api: Option<KnowledgeApi>,
    /// Where documents are kept, where that is not the data folder: an S3-compatible object store.
    #[serde(default)]
    #[schemars(with = "Bucket")]
    pub bucket: Option<Bucket>,
}

/// Who may read whole documents by the REST API.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KnowledgeApi {
    /// Everyone who may read what is public. The tier `member` keeps no published document secret then.
    #[default]
    Public,
    /// Members alone, by the scope `knowledge:read`: with lists, search and `/llms.txt`.
    Member,
    /// Nobody: there is no REST API. Members read by MCP.
    Off,
}

/// The table `[knowledge.bucket]`: an S3-compatible object store, such as R2 or MinIO.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the check reads the document, so that it can go on past a fault")]
pub(crate) struct Bucket {
    /// The bucket.
    #[schemars(example = &"team-knowledge")]
    pub name: String,
    /// The address of the object store.
    #[schemars(example = &"https://s3.example.org")]
    pub endpoint: String,
    /// The region, where the object store has regions.
    #[schemars(example = &"auto")]
    pub region: Option<String>,
    /// What all keys begin with, where the bucket is shared.
    #[schemars(example = &"lyceum")]
    pub prefix: Option<String>,
    /// The environment variable that holds the id of the access key.
    #[schemars(example = &"S3_ACCESS_KEY_ID")]
    pub access_key_env: String,
    /// The environment variable that holds the secret of the access key.
    #[schemars(example = &"S3_SECRET_ACCESS_KEY")]
    pub secret_key_env: String,
}

/// The table `[search]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Search {
    /// What turns texts into vectors, so that they are found by what they mean. Default: `all-MiniLM-L6-v2` on this
    /// machine.
    #[schemars(with = "Embedder")]
    pub embedder: Option<Embedder>,
    /// What reads the best results together with the question and orders them once more. Default: nothing.
    #[schemars(with = "Reranker")]
    pub reranker: Option<Reranker>,
    /// The folder of models. Default: `models` in the data folder.
    #[schemars(example = "/var/lib/lyceum/models")]
    pub models: Option<String>,
    /// Where models are fetched from.
    #[schemars(example = "https://huggingface.co")]
    pub hub: Option<String>,
}

/// What turns texts into vectors.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the check reads the document, so that it can go on past a fault")]
pub(super) struct Embedder {
    /// Where the model runs.
    pub kind: EmbedderKind,
    /// The model: of a local one its name, or `org/name` at the hub.
    #[schemars(example = &"all-MiniLM-L6-v2")]
    pub model: Option<String>,
    /// Of a local model: the folder of its files, where it is not one of `models`.
    #[schemars(example = &"./bge-base-en-v1.5")]
    pub folder: Option<String>,
    /// The address of the endpoint.
    #[schemars(example = &"https://api.openai.com/v1")]
    pub url: Option<String>,
    /// The environment variable that holds the key of the endpoint.
    #[schemars(example = &"OPENAI_API_KEY")]
    pub key_env: Option<String>,
    /// Of Workers AI: the account.
    #[schemars(example = &"023e105f4ecef8ad9ca31a8372d0c353")]
    pub account: Option<String>,
    /// How long vectors shall be, for models that leave the choice.
    #[schemars(range(min = 8, max = 8192), example = 768)]
    pub dimensions: Option<u64>,
    /// How many texts go into one request.
    #[schemars(range(min = 1, max = 2048), example = 64)]
    pub batch: Option<u64>,
    /// Of a local model: how the vectors of words become one, where its folder does not say.
    pub pooling: Option<PoolingKind>,
    /// What stands before a question, where the model wants that.
    #[schemars(example = &"query: ")]
    pub query_prefix: Option<String>,
    /// What stands before a passage, where the model wants that.
    #[schemars(example = &"passage: ")]
    pub passage_prefix: Option<String>,
    /// How many tokens of a text the model sees.
    #[schemars(range(min = 16, max = 32768), example = 256)]
    pub max_tokens: Option<u64>,
}

/// Where a model runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum EmbedderKind {
    /// Nowhere: things are found by their words.
    None,
    /// On this machine.
    Local,
    /// At an endpoint that speaks as OpenAI's does.
    #[serde(rename = "openai")]
    OpenAi,
    /// At an Ollama server.
    Ollama,
    /// At a text-embeddings-inference server.
    Tei,
    /// At Workers AI.
    WorkersAi,
}

/// How the vectors of words become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum PoolingKind {
    /// Their mean.
    Mean,
    /// The first.
    Cls,
}

/// What orders the best results once more.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the check reads the document, so that it can go on past a fault")]
pub(super) struct Reranker {
    /// Where the model runs.
    pub kind: RerankerKind,
    /// The model.
    #[schemars(example = &"rerank-v3.5")]
    pub model: Option<String>,
    /// Of a local model: the folder of its files.
    #[schemars(example = &"./bge-reranker-base")]
    pub folder: Option<String>,
    /// The address of the endpoint.
    #[schemars(example = &"https://api.cohere.com/v2")]
    pub url: Option<String>,
    /// The environment variable that holds the key of the endpoint.
    #[schemars(example = &"COHERE_API_KEY")]
    pub key_env: Option<String>,
    /// Of Workers AI: the account.
    #[schemars(example = &"023e105f4ecef8ad9ca31a8372d0c353")]
    pub account: Option<String>,
    /// How long a search waits for it, in milliseconds; then the order stays as it was.
    #[schemars(range(min = 50, max = 30_000), example = 1500)]
    pub budget_ms: Option<u64>,
}

/// Where a reranker runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RerankerKind {
    /// Nowhere.
    None,
    /// On this machine.
    Local,
    /// At Workers AI.
    WorkersAi,
    /// At a text-embeddings-inference server.
    Tei,
    /// At an endpoint that speaks as Cohere's does.
    Cohere,
}

/// The table `[skills]`. What is written here counts over the `config.yaml` of the source.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Skills {
    /// The source that the skills are in.
    #[schemars(example = &"team-skills")]
    #[expect(dead_code, reason = "the check reads the document, so that it can go on past a fault")]
    pub source: String,
    /// What stands before the names of its tools and prompts, so that two services can be offered side by side. Default: nothing,
    /// and the name with `_` for a table that has one, such as `[skills.docs]`.
    #[schemars(example = &"docs_")]
    #[expect(dead_code, reason = "it is read for every kind of service alike")]
    pub prefix: Option<String>,
    /// The folder of the skills in the source, where it is not found by itself.
    #[schemars(example = &"skills")]
    #[expect(dead_code, reason = "the check reads the document, so that it can go on past a fault")]
    pub path: Option<String>,
    /// How skills are found.
    #[serde(default)]
    pub matching: MatchOverlay,
    /// How often a repository is asked for news.
    #[serde(default)]
    pub refresh: RefreshOverlay,
    /// How scripts are run.
    #[serde(default)]
    pub scripts: ScriptOverlay,
    /// How assets are served.
    #[serde(default)]
    pub assets: AssetOverlay,
    /// Where usage is told.
    #[serde(default)]
    pub analytics: AnalyticsOverlay,
}
