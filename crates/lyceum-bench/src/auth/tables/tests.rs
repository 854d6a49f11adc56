//! The tables.

use super::Results;
use crate::auth::load::LoadResults;
use crate::auth::sign_in::SignInTimes;
use crate::auth::token_check::{Times, TokenCheckTimes};
use crate::wrk::Measured;

fn measured(requests: u64) -> Measured {
    Measured { requests, micros: 1_000_000, p50: 900, p99: 2500, refused: 0, broken: 0 }
}

fn results() -> Results {
    let by_key = SignInTimes {
        total: vec![4.0, 5.0, 60.0],
        steps: vec![("`POST /token`", vec![1.0, 2.0, 3.0])],
        ..SignInTimes::default()
    };
    let by_wallet =
        SignInTimes { total: vec![11.0], chain: vec![0.25], requests: 4, ..SignInTimes::default() };
    Results {
        checked: TokenCheckTimes {
            tokens: 100_000,
            never_seen: Times { p50: 9.0, p99: 31.0 },
            seen: Times { p50: 1.5, p99: 4.0 },
        },
        by_key,
        by_wallet,
        loads: LoadResults {
            open: vec![measured(1000), measured(500)],
            with_token: vec![measured(900), measured(450)],
            without_token: vec![measured(950), measured(490)],
        },
    }
}

#[test]
fn figures_stand_beside_their_goals_and_what_is_missed_is_named() {
    let text = results().report().to_string();
    for line in [
        "### Token validation in the server, 100000 live tokens",
        "| not cached, read from the database: p50 | 9.0 µs | < 30 ✓ |",
        "| not cached, read from the database: p99 | 31.0 µs | < 30 ✗ MISSED |",
        "| with a key: median | 5.0 ms | < 10 ✓ |",
        "| with a key: p99 | 60.0 ms |  |",
        "| of which `POST /token` | 2.00 ms |  |",
        "| with a wallet, without the chain's time: median | 11.0 ms | < 10 ✗ MISSED |",
        "| time of the chain for 4 requests, not counted | 0.25 ms |  |",
        "| `mode = \"open\"`, no token | 500 req/s, p99 2.5 ms |  |",
        "| `mode = \"oauth\"`, with a token | 450 req/s, p99 2.5 ms (× 0.90) | ≥ 0.85 ✓ |",
        "Goals: 5 of 7 are reached.",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}
