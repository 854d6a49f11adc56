//! Kills the process between any two steps of a draft: there is one branch, one commit, one pull request and one row in
//! the audit log, always.

use std::{collections::BTreeSet, os::unix::process::ExitStatusExt};

use super::{Stage, approved, article, eventually};

/// The failpoints, in order.
const STEPS: [&str; 11] = [
    "draft-approved",
    "draft-audited",
    "draft-queued",
    "draft-sought",
    "draft-base",
    "draft-based",
    "draft-tree",
    "draft-commit",
    "draft-branch",
    "draft-opened",
    "draft-stored",
];

/// From this step on, the next process finishes the draft by itself.
const FIRST_DURABLE: usize = 2;

/// The signal of a process that aborts.
const ABORTED: i32 = 6;

/// Runs of each step, unless the variable says otherwise.
const RUNS: usize = 2;
const RUNS_VARIABLE: &str = "LYCEUM_DRAFT_KILLS";

#[tokio::test]
async fn whenever_it_is_killed_a_draft_becomes_one_pull_request() {
    let runs = std::env::var(RUNS_VARIABLE).map_or(RUNS, |runs| runs.parse().unwrap());
    let stage = Stage::new().await;
    stage.start().await.kill().await;
    let mut drafts = 0;
    for (position, step) in STEPS.iter().enumerate() {
        for run in 0..runs {
            let arguments = article(&format!("Killed at {step}, run {run}"));
            let program = stage.start_with(&[("LYCEUM_TRIAL_END_AT", step)]).await;
            let lost = approved(&program, &stage.contributor, "create_draft", &arguments).await;
            assert!(lost.is_err(), "{step}: {lost:?}");
            let ended = program.ends().await;
            assert_eq!(ended.status.signal(), Some(ABORTED), "{step}: {ended:?}");
            // The base moves while the server is down; a draft keeps the one that it has.
            stage.kb.write(format!("notes/{position}-{run}.md"), super::published("Moved", step)).unwrap();
            stage.kb.publish().await.unwrap();
            drafts += 1;

            let program = stage.start().await;
            if position >= FIRST_DURABLE && run % 2 == 0 {
                eventually("the draft is finished without its caller", || async {
                    let pulls = stage.github.pull_requests("acme/kb").len();
                    if pulls == drafts { Ok(()) } else { Err(format!("{step}: {pulls} of {drafts}")) }
                })
                .await;
            }
            let done = approved(&program, &stage.contributor, "create_draft", &arguments).await.unwrap();
            assert_eq!(done["structuredContent"]["state"], "open", "{step}: {done}");
            program.kill().await;
            check(&stage, drafts, step);
        }
    }
}

fn check(stage: &Stage, drafts: usize, step: &str) {
    let (branches, pulls) = (stage.branches(), stage.github.pull_requests("acme/kb"));
    let heads: BTreeSet<&str> = pulls.iter().map(|pull| pull.head.as_str()).collect();
    assert_eq!((pulls.len(), heads.len(), branches.len()), (drafts, drafts, drafts), "{step}");
    assert_eq!(stage.approvals().len(), drafts, "{step}");
    for (branch, commit) in &branches {
        assert!(heads.contains(branch.as_str()), "{step}: {branch}");
        let added = stage.git_of_server(&["rev-list", "--count", &format!("main..{commit}")]);
        assert_eq!(added.trim(), "1", "{step}: {branch}");
    }
}
