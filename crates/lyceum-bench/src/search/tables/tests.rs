//! The tables.

use serde_json::json;

use super::Results;
use crate::search::fresh::FreshnessTimes;

fn results() -> Results {
    let mean = |mean: f64| json!({ "mean": mean, "noise": 0.03 });
    let stage = |mode: &str, ndcg: f64| {
        let latency = json!({ "p50": 5.0, "p95": 9.0, "p99": 12.0 });
        json!({ "mode": mode, "ndcg": mean(ndcg), "mrr": mean(0.5), "recall": mean(0.9), "hit": mean(0.6), "latency": latency })
    };
    let compared = json!([{ "with": "lexical", "difference": { "mean": 0.1, "low": 0.05, "high": 0.15 } },
        { "with": "vector", "difference": { "mean": -0.1, "low": -0.15, "high": -0.05 } }]);
    let evaluated = json!({
        "report": { "set": "cosqa-dev", "stages": [stage("hybrid", 0.82), stage("lexical", 0.6)], "model": { "name": "MiniLM" } },
        "comparedWithStages": compared,
        "notAsked": null,
    });
    let fresh = FreshnessTimes {
        lexical_seconds: 2.0,
        first_chunks_seconds: 60.0,
        all_chunks_seconds: 400.0,
        documents: 2000,
        chunks: 9000,
        peak_kib: 102_400,
    };
    Results {
        quality: vec![serde_json::from_value(evaluated).unwrap()],
        fresh: Some(fresh),
        ..Results::default()
    }
}

#[test]
fn goals_that_are_missed_are_named() {
    let text = results().report().to_string();
    assert!(
        text.contains("| cosqa-dev | hybrid | 0.820 ± 0.030 | 0.500 | 0.900 | 0.600 | 5.0 | 9.0 |"),
        "{text}"
    );
    assert!(text.contains("| cosqa-dev: nDCG@10, hybrid | 0.820 | ≥ 0.81 ✓ |"), "{text}");
    assert!(text.contains("in the lexical index after | 2.0 s | < 3 ✓ |"), "{text}");
    assert!(text.contains("Goals: 5 of 7 are reached."), "{text}");
    assert!(text.contains("- MISSED: cosqa-dev: hybrid compared with vector alone: -0.100"), "{text}");
    assert!(text.contains("every chunk embedded after: 400 s (< 300)"), "{text}");
}

#[test]
fn what_could_not_be_measured_is_named() {
    let mut results = Results::default();
    results.record("served", Err::<(), _>(anyhow::anyhow!("no server")), |_, ()| {});
    assert_eq!(results.problems, ["served: no server"]);
}
