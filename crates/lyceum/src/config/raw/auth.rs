//! The table `[auth]` as people write it.

use std::collections::BTreeMap;

use lyceum_model::Tier;
use schemars::JsonSchema;
use serde::Deserialize;

/// The table `[auth]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::config) struct Auth {
    /// Who may call.
    #[schemars(example = &"open")]
    pub mode: Option<AuthMode>,
    /// Whether what is public is open to callers who do not sign in. Default: yes.
    #[schemars(example = true)]
    pub anonymous: Option<bool>,
    /// The environment variable that holds the key of this deployment, 64 hexadecimal digits. Default:
    /// `COOKIE_ENCRYPTION_KEY` where that is set; else a key is made and kept in the data folder.
    #[schemars(example = &"COOKIE_ENCRYPTION_KEY")]
    pub key_env: Option<String>,
    /// How long a role, a hat or a team, is taken as it was, in seconds. Default: 300.
    #[schemars(range(min = 1, max = 86_400), example = 300)]
    pub roles_seconds: Option<u64>,
    /// The chains that accounts may be on. Default: 1 at `MAINNET_RPC_URL` and 10 at `OPTIMISM_RPC_URL`, each where the
    /// variable is set.
    pub chain: Vec<AuthChain>,
    /// The hats that make tiers.
    pub hats: Option<AuthHats>,
    /// Sign-in with GitHub, which is there when this table is.
    #[schemars(with = "AuthGitHub")]
    pub github: Option<AuthGitHub>,
    /// The wallet of WaaP on the page, which is there when this table is.
    #[schemars(with = "AuthWaap")]
    pub waap: Option<AuthWaap>,
    /// Keys for programs, and for people without a wallet.
    #[serde(rename = "api_key")]
    pub api_keys: Vec<AuthKey>,
    /// Clients that are known by name; others register themselves.
    pub client: Vec<AuthClient>,
    /// Hosts with their ports that may be asked though they are not on the public Internet: for documents about clients, and for what names of
    /// ENS refer to.
    #[schemars(example = ["clients.internal:443"])]
    pub trusted_hosts: Vec<String>,
}

/// Who may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AuthMode {
    /// Everyone who can reach the server may do everything. For one's own machine, or behind a gate of one's own.
    Open,
    /// People sign in and allow programs to act for them; what each may do is a matter of tier and scope.
    Oauth,
    /// Only holders of a key of `[[auth.api_key]]`, and everyone for what is public.
    ApiKey,
    /// People send the personal access token that they have at GitHub, encoded as base64url, with each request.
    GithubPat,
}

/// One `[[auth.chain]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the check reads the document, so that it can go on past a fault")]
pub(in crate::config) struct AuthChain {
    /// Its number.
    #[schemars(range(min = 1), example = 1)]
    pub id: u64,
    /// The environment variable that holds the address of its JSON-RPC endpoint.
    #[schemars(example = &"MAINNET_RPC_URL")]
    pub url_env: String,
}

/// The table `[auth.hats]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::config) struct AuthHats {
    /// The chain that they are on. Default: 10.
    #[schemars(range(min = 1), example = 10)]
    pub chain: Option<u64>,
    /// The contract. Default: that of Hats Protocol.
    #[schemars(example = &"0x3bc1A0Ad72417f2d411118085256fC53CBdDd137")]
    pub contract: Option<String>,
    /// Each hat and the tier of whoever wears it. Without any, everyone who signs in with a wallet is public.
    #[schemars(with = "BTreeMap<String, RoleTier>", example = serde_json::json!({ "1.2": "member", "1.2.1": "vibecoder" }))]
    pub tiers: std::collections::BTreeMap<String, Tier>,
}

/// The table `[auth.github]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::config) struct AuthGitHub {
    /// The environment variable that holds the id of the application. Default: `GITHUB_CLIENT_ID`.
    #[schemars(example = &"GITHUB_CLIENT_ID")]
    pub client_id_env: Option<String>,
    /// The environment variable that holds its secret. Default: `GITHUB_CLIENT_SECRET`.
    #[schemars(example = &"GITHUB_CLIENT_SECRET")]
    pub client_secret_env: Option<String>,
    /// The environment variable that holds a token which may read who is in which team. Default: `GITHUB_TOKEN`.
    #[schemars(example = &"GITHUB_TOKEN")]
    pub token_env: Option<String>,
    /// Organisations and teams, and the tier of whoever is in them.
    #[schemars(with = "BTreeMap<String, RoleTier>", example = serde_json::json!({ "acme": "member", "acme/core": "vibecoder" }))]
    pub tiers: std::collections::BTreeMap<String, Tier>,
    /// Where people sign in, for an own server. Default: `https://github.com`.
    #[schemars(example = &"https://github.example.org")]
    pub web: Option<String>,
    /// Where programs ask, for an own server. Default: `https://api.github.com`.
    #[schemars(example = &"https://github.example.org/api/v3")]
    pub api: Option<String>,
}

/// The table `[auth.waap]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the check reads the document, so that it can go on past a fault")]
pub(in crate::config) struct AuthWaap {
    /// The script that sets `window.waap`. It runs in the sign-in page, so it must be one that the operator trusts.
    #[schemars(example = &"https://static.example.org/waap.js")]
    pub script_url: String,
    /// The digest of the script: the browser runs no other.
    #[schemars(regex(pattern = "^sha(256|384|512)-[A-Za-z0-9+/=]+$"), example = &"sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC")]
    pub integrity: String,
    /// The origin of the frame that the script opens. Default: `https://waap.xyz`.
    #[schemars(example = &"https://waap.xyz")]
    pub frame_origin: Option<String>,
    /// How people sign in there, in order. Default: wallet, email, social.
    #[serde(default)]
    #[schemars(length(min = 1), example = ["wallet", "email", "social"])]
    pub authentication_methods: Option<Vec<WaapMethod>>,
    /// The sites of `social`. Default: github, discord, google.
    #[serde(default)]
    #[schemars(example = ["github", "discord", "google"])]
    pub allowed_socials: Option<Vec<String>>,
    /// Whether it shows light letters on dark. Default: yes.
    #[schemars(example = true)]
    pub dark_mode: Option<bool>,
    /// Who asks, as people read it there. Default: the title of `[knowledge]`.
    #[schemars(example = &"The Team")]
    pub project_name: Option<String>,
    /// What stands above the ways to sign in. Default: "Sign in to" and the project's name.
    #[schemars(example = &"Sign in to The Team")]
    pub entry_title: Option<String>,
    /// The id of a project at WalletConnect, where wallets on other machines are let in.
    #[schemars(example = &"0123456789abcdef0123456789abcdef")]
    pub wallet_connect_project_id: Option<String>,
}

/// A way to sign in at WaaP.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::config) enum WaapMethod {
    /// A wallet of the browser.
    Wallet,
    /// A message to an address of theirs.
    Email,
    /// An account at a site.
    Social,
}

/// A tier that a role elsewhere, a hat or a team, can give: all but `operator`.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "it only says what the schema allows")]
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
#[expect(dead_code, reason = "the check reads the document, so that it can go on past a fault")]
pub(in crate::config) struct AuthKey {
    /// Whose it is, as the record of calls says it.
    #[schemars(example = &"ci")]
    pub name: String,
    /// How far its holder is trusted. `operator` also sees health and metrics in full.
    #[schemars(example = &"member")]
    pub tier: Tier,
    /// The environment variable that holds the key. `lyceum key` makes one.
    #[schemars(example = &"LYCEUM_KEY_CI")]
    pub key_env: String,
}

/// One `[[auth.client]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the check reads the document, so that it can go on past a fault")]
pub(in crate::config) struct AuthClient {
    /// Its id.
    #[schemars(example = &"team-dashboard")]
    pub id: String,
    /// Its name, as people read it.
    #[schemars(example = &"Team dashboard")]
    pub name: Option<String>,
    /// Where codes may be sent.
    #[schemars(example = ["https://dashboard.example.org/callback"])]
    pub redirect_uris: Vec<String>,
    /// The environment variable that holds its secret, where it can keep one.
    #[schemars(example = &"DASHBOARD_SECRET")]
    pub secret_env: Option<String>,
}
