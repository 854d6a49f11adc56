//! The table `[auth]` as it is written.

use std::collections::BTreeMap;

use lyceum_model::Tier;
use schemars::JsonSchema;
use serde::Deserialize;

/// The table `[auth]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::config) struct Auth {
    /// Authentication mode. Default: "open".
    #[schemars(example = &"oauth")]
    pub mode: Option<AuthMode>,
    /// Whether public tools and documents are available without sign-in. Default: true; false for mode
    /// "github-pat".
    #[schemars(example = true)]
    pub anonymous: Option<bool>,
    /// Environment variable with the encryption key of this deployment, 64 hexadecimal digits. Default:
    /// `COOKIE_ENCRYPTION_KEY` if set; otherwise a key is generated and stored in the data folder.
    #[schemars(example = &"COOKIE_ENCRYPTION_KEY")]
    pub key_env: Option<String>,
    /// How long roles (hats and team memberships) are cached, in seconds. Default: 300.
    #[schemars(range(min = 1, max = 86_400), example = 300)]
    pub roles_seconds: Option<u64>,
    /// Blockchains for wallet sign-in. Default: chain 1 at `MAINNET_RPC_URL` and chain 10 at `OPTIMISM_RPC_URL`,
    /// each if the variable is set.
    pub chain: Vec<AuthChain>,
    /// Tiers by Hats Protocol roles. Default: none.
    pub hats: Option<AuthHats>,
    /// Sign-in with GitHub; on if this table exists.
    #[schemars(with = "AuthGitHub")]
    pub github: Option<AuthGitHub>,
    /// The WaaP wallet on the sign-in page; on if this table exists.
    #[schemars(with = "AuthWaap")]
    pub waap: Option<AuthWaap>,
    /// API keys, for programs and for people without a wallet.
    #[serde(rename = "api_key")]
    pub api_keys: Vec<AuthKey>,
    /// Preregistered OAuth clients. Other clients use client ID metadata documents or dynamic registration.
    pub client: Vec<AuthClient>,
    /// Hosts, with port, outside the public Internet that may be fetched from: for client metadata documents and
    /// ENS records. Default: none.
    #[schemars(example = ["clients.internal:443"])]
    pub trusted_hosts: Vec<String>,
}

/// Authentication mode. The safest come first, because errors list them in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AuthMode {
    /// OAuth 2.1: users sign in and authorize clients; tiers and scopes decide what each may do.
    Oauth,
    /// API keys from `[[auth.api_key]]`; public content needs none.
    ApiKey,
    /// GitHub personal access tokens, base64url-encoded, sent as bearer token with each request.
    GithubPat,
    /// No authentication: every caller may do everything. For your own machine, or behind a proxy that
    /// authenticates.
    Open,
}

impl AuthMode {
    /// The name in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Oauth => "oauth",
            Self::ApiKey => "api-key",
            Self::GithubPat => "github-pat",
        }
    }
}

/// One `[[auth.chain]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the checker reads the document instead, so that it can report all errors")]
pub(in crate::config) struct AuthChain {
    /// Chain id.
    #[schemars(range(min = 1), example = 1)]
    pub id: u64,
    /// Environment variable with the URL of the JSON-RPC endpoint.
    #[schemars(example = &"MAINNET_RPC_URL")]
    pub url_env: String,
}

/// The table `[auth.hats]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::config) struct AuthHats {
    /// Chain id of the Hats Protocol contract. Default: 10 (Optimism).
    #[schemars(range(min = 1), example = 10)]
    pub chain: Option<u64>,
    /// Address of the contract. Default: the Hats Protocol contract, which is the same on every chain.
    #[schemars(example = &"0x3bc1A0Ad72417f2d411118085256fC53CBdDd137")]
    pub contract: Option<String>,
    /// Tier for each hat id. A wearer of several hats gets the highest tier; a wallet without any is public.
    #[schemars(with = "BTreeMap<String, RoleTier>", example = serde_json::json!({ "1.2": "member", "1.2.1": "vibecoder" }))]
    pub tiers: std::collections::BTreeMap<String, Tier>,
}

/// The table `[auth.github]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::config) struct AuthGitHub {
    /// Environment variable with the client id of the OAuth app. Default: `GITHUB_CLIENT_ID`.
    #[schemars(example = &"GITHUB_CLIENT_ID")]
    pub client_id_env: Option<String>,
    /// Environment variable with the client secret of the OAuth app. Default: `GITHUB_CLIENT_SECRET`.
    #[schemars(example = &"GITHUB_CLIENT_SECRET")]
    pub client_secret_env: Option<String>,
    /// Environment variable with a token that may read organisation and team memberships. Default: `GITHUB_TOKEN`.
    #[schemars(example = &"GITHUB_TOKEN")]
    pub token_env: Option<String>,
    /// Tier for each organisation (`acme`) or team (`acme/core`). A member of several gets the highest tier.
    #[schemars(with = "BTreeMap<String, RoleTier>", example = serde_json::json!({ "acme": "member", "acme/core": "vibecoder" }))]
    pub tiers: std::collections::BTreeMap<String, Tier>,
    /// Web URL of a GitHub Enterprise Server. Default: "https://github.com".
    #[schemars(example = &"https://github.example.org")]
    pub web: Option<String>,
    /// API URL of a GitHub Enterprise Server. Default: "https://api.github.com".
    #[schemars(example = &"https://github.example.org/api/v3")]
    pub api: Option<String>,
}

/// The table `[auth.waap]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the checker reads the document instead, so that it can report all errors")]
pub(in crate::config) struct AuthWaap {
    /// URL of the script that sets `window.waap`. It runs on the sign-in page, so host it yourself or use one you
    /// trust.
    #[schemars(example = &"https://static.example.org/waap.js")]
    pub script_url: String,
    /// Subresource integrity digest of the script.
    #[schemars(regex(pattern = "^sha(256|384|512)-[A-Za-z0-9+/=]+$"), example = &"sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC")]
    pub integrity: String,
    /// Origin of the frame that the script opens. Default: "https://waap.xyz".
    #[schemars(example = &"https://waap.xyz")]
    pub frame_origin: Option<String>,
    /// Authentication methods, in order. Default: wallet, email, social.
    #[serde(default)]
    #[schemars(length(min = 1), example = ["wallet", "email", "social"])]
    pub authentication_methods: Option<Vec<WaapMethod>>,
    /// Social accounts that may sign in. Default: github, discord, google.
    #[serde(default)]
    #[schemars(example = ["github", "discord", "google"])]
    pub allowed_socials: Option<Vec<String>>,
    /// Whether to use dark mode. Default: true.
    #[schemars(example = true)]
    pub dark_mode: Option<bool>,
    /// Project name to show. Default: the title of `[knowledge]`, unless nothing of it is public.
    #[schemars(example = &"The Team")]
    pub project_name: Option<String>,
    /// Title of the dialog. Default: "Sign in to" and the project name.
    #[schemars(example = &"Sign in to The Team")]
    pub entry_title: Option<String>,
    /// WalletConnect project id, which allows wallets on other devices. Default: none.
    #[schemars(example = &"0123456789abcdef0123456789abcdef")]
    pub wallet_connect_project_id: Option<String>,
}

/// An authentication method of WaaP.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::config) enum WaapMethod {
    /// A browser wallet.
    Wallet,
    /// A code sent by email.
    Email,
    /// A social account.
    Social,
}

/// A tier that an external role (hat or team) can grant: all except `operator`.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "only used for the schema")]
enum RoleTier {
    /// Anyone, signed in or not.
    Public,
    /// A member of the community.
    Member,
    /// A member who may also write.
    Vibecoder,
}

/// One `[[auth.api_key]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the checker reads the document instead, so that it can report all errors")]
pub(in crate::config) struct AuthKey {
    /// Name of the key holder, as it appears in the audit log.
    #[schemars(example = &"ci")]
    pub name: String,
    /// Tier of the key holder. `operator` includes full health and metrics.
    #[schemars(example = &"member")]
    pub tier: Tier,
    /// Environment variable with the key. Create one with `lyceum key`.
    #[schemars(example = &"LYCEUM_KEY_CI")]
    pub key_env: String,
}

/// One `[[auth.client]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the checker reads the document instead, so that it can report all errors")]
pub(in crate::config) struct AuthClient {
    /// Client id.
    #[schemars(example = &"team-dashboard")]
    pub id: String,
    /// Display name of the client on the sign-in page. Default: none.
    #[schemars(example = &"Team dashboard")]
    pub name: Option<String>,
    /// Allowed redirect URIs.
    #[schemars(example = ["https://dashboard.example.org/callback"])]
    pub redirect_uris: Vec<String>,
    /// Environment variable with the client secret, for confidential clients. Default: none (public client).
    #[schemars(example = &"DASHBOARD_SECRET")]
    pub secret_env: Option<String>,
}
