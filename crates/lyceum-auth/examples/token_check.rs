//! Measures how long the server takes to check an access token: uncached, with a database lookup, and cached.
//!
//! Fills a database that must not exist yet, opens it again as a server does at start, and checks each token once
//! each way, in random order, on one thread. Prints microseconds as JSON. Arguments: the database file and the
//! number of tokens.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a measurement, not a product")]

use std::{path::Path, time::Instant};

use jiff::{SignedDuration, Timestamp};
use lyceum_auth::{
    ApiKey, Auth, DEFAULT_ROLES_TTL, Guard, Key, Kind, Settings, Token, oauth::client::ClientMetadata,
};
use lyceum_model::{KNOWLEDGE_READ, MCP_READ, Right, Rights, Tier};
use lyceum_store::{
    Db,
    grants::{self, Grant, NewToken, TokenKind},
};
use serde_json::{Value, json};

const ISSUER: &str = "http://127.0.0.1:8787";
const RESOURCE: &str = "http://127.0.0.1:8787/mcp";

/// Number of tokens per user.
const TOKENS_PER_USER: usize = 10;

/// Number of grants per transaction.
const BATCH_SIZE: usize = 5000;

/// A grant to insert, with the hashes of its two tokens.
struct NewGrant {
    grant: Grant,
    access: [u8; 32],
    refresh: [u8; 32],
    expires: Timestamp,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [file, count] = words.as_slice() else { panic!("usage: token_check FILE COUNT") };
    let (file, count) = (Path::new(file), count.parse::<usize>().unwrap());
    assert!(!file.exists(), "{} already exists", file.display());
    let now = Timestamp::now();
    let people: Vec<ApiKey> = (0..count.div_ceil(TOKENS_PER_USER)).map(api_key).collect();

    let mut tokens = {
        let db = Db::open(file).unwrap();
        let auth = auth(db.clone(), &people);
        let metadata =
            ClientMetadata { redirect_uris: vec![format!("{ISSUER}/callback")], ..ClientMetadata::default() };
        // Registers the client, so that its id has a realistic length.
        let client = auth.register(&metadata, now).unwrap().client_id;
        fill(&db, &client, &people, count, now).await
    };

    let auth = auth(Db::open(file).unwrap(), &people);
    let mut seed = 1;
    shuffle(&mut tokens, &mut seed);
    let never_seen = check(&auth, &tokens, now).await;
    shuffle(&mut tokens, &mut seed);
    let seen = check(&auth, &tokens, now).await;
    let unknown = Token::random(Kind::Access).unwrap();
    assert!(
        auth.admit(Some(unknown.reveal()), RESOURCE, now).await.is_err(),
        "an unknown token was accepted"
    );
    println!("{}", json!({ "tokens": count, "neverSeen": never_seen, "seen": seen }));
}

/// A user with an API key, so that no chain is needed to look up roles.
fn api_key(number: usize) -> ApiKey {
    let hash = Token::random(Kind::Key).unwrap().hash().0;
    ApiKey { name: format!("person-{number}"), hash, tier: Tier::Vibecoder }
}

fn auth(db: Db, people: &[ApiKey]) -> Auth {
    let settings = Settings {
        issuer: ISSUER.to_owned(),
        resources: vec![RESOURCE.to_owned()],
        key: Key::random().unwrap(),
        clients: Vec::new(),
        chains: Vec::new(),
        hats: None,
        names: None,
        github: None,
        takes_pats: false,
        roles_good_for: DEFAULT_ROLES_TTL,
        keys: people.to_vec(),
        guard: Guard::default(),
        anonymous: true,
        rights: Rights::new([
            Right::new(MCP_READ, Tier::Public, "Read"),
            Right::new(KNOWLEDGE_READ, Tier::Member, "Read documents"),
        ]),
    };
    Auth::new(db, settings)
}

/// Inserts grants, each with an access token and a refresh token; returns the access tokens.
async fn fill(db: &Db, client: &str, people: &[ApiKey], count: usize, now: Timestamp) -> Vec<String> {
    let scopes: Vec<String> = vec![MCP_READ.to_string(), KNOWLEDGE_READ.to_string()];
    let scopes = scopes.join(" ");
    let (mut tokens, mut batch) = (Vec::with_capacity(count), Vec::new());
    for (number, person) in (0..count).zip(people.iter().cycle()) {
        let [access, refresh] = [Kind::Access, Kind::Refresh].map(|kind| Token::random(kind).unwrap());
        let grant = Grant {
            id: Token::random(Kind::Code).unwrap().reveal().to_owned(),
            subject: person.subject().to_string(),
            client: client.to_owned(),
            client_name: Some("A program".to_owned()),
            resource: RESOURCE.to_owned(),
            scopes: scopes.clone(),
            facts: "{}".to_owned(),
            created: now,
            expires: now + SignedDuration::from_hours(30 * 24),
        };
        let expires = now + SignedDuration::from_hours(1);
        batch.push(NewGrant { grant, access: access.hash().0, refresh: refresh.hash().0, expires });
        tokens.push(access.reveal().to_owned());
        if batch.len() == BATCH_SIZE || number + 1 == count {
            let batch = std::mem::take(&mut batch);
            db.write("token_check", move |tx| batch.iter().try_for_each(|one| write(tx, one))).await.unwrap();
        }
    }
    tokens
}

fn write(tx: &lyceum_store::Tx<'_>, one: &NewGrant) -> Result<(), lyceum_store::DbError> {
    let NewGrant { grant, access, refresh, expires } = one;
    let token = |hash, kind, expires| NewToken { hash, kind, scopes: &grant.scopes, facts: "{}", expires };
    grants::insert(tx, grant)?;
    grants::add_token(tx, &grant.id, token(access, TokenKind::Access, *expires))?;
    grants::add_token(tx, &grant.id, token(refresh, TokenKind::Refresh, grant.expires))
}

/// Checks each token once. `now` doesn't advance, so on the second pass all tokens are still cached.
async fn check(auth: &Auth, tokens: &[String], now: Timestamp) -> Value {
    let mut times = Vec::with_capacity(tokens.len());
    for token in tokens {
        let started = Instant::now();
        let caller = auth.admit(Some(token), RESOURCE, now).await;
        times.push(started.elapsed().as_secs_f64() * 1e6);
        assert_eq!(caller.as_ref().map(|caller| caller.tier()), Ok(Tier::Vibecoder));
    }
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times.get((times.len() * percent).div_ceil(100).saturating_sub(1)).unwrap();
    json!({ "p50": at(50), "p99": at(99) })
}

/// Shuffles deterministically.
fn shuffle(tokens: &mut [String], seed: &mut u64) {
    for last in (1..tokens.len()).rev() {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let other = usize::try_from(*seed >> 33).unwrap() % (last + 1);
        tokens.swap(last, other);
    }
}
