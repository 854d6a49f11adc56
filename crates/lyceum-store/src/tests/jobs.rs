//! Jobs: claimed, completed, failed, enqueued again.

use std::time::Duration;

use super::{LEASE, at, engines};
use crate::jobs::{self, Failure, Job, Retries};

const QUEUE: &str = "objects";
const RETRIES: Retries = Retries { limit: 5, first: Duration::from_secs(30) };

fn keys(jobs: &[Job]) -> Vec<&str> {
    jobs.iter().map(|job| job.key.as_str()).collect()
}

#[tokio::test]
async fn a_job_is_claimed_by_one_and_free_again_after_its_lease() {
    for scene in engines().await {
        let claims = scene.db.write("test", |tx| {
            jobs::enqueue(tx, QUEUE, [("a", "1")], at(0))?;
            jobs::enqueue(tx, "another", [("b", "")], at(0))?;
            let claim = |seconds| jobs::claim(tx, QUEUE, at(seconds), LEASE, 10);
            Ok([claim(0)?, claim(1)?, claim(59)?, claim(60)?])
        });
        let claims = claims.await.unwrap();
        assert_eq!(claims.each_ref().map(|claim| keys(claim)), [vec!["a"], vec![], vec![], vec!["a"]]);
        assert_eq!(claims.last().unwrap()[0].attempts, 2);
    }
}

#[tokio::test]
async fn a_job_that_was_asked_for_again_while_it_was_done_is_done_again() {
    for scene in engines().await {
        let left = scene.db.write("test", |tx| {
            jobs::enqueue(tx, QUEUE, [("a", "old")], at(0))?;
            let old = jobs::claim(tx, QUEUE, at(0), LEASE, 10)?;
            jobs::enqueue(tx, QUEUE, [("a", "new")], at(1))?;
            // The new version can't be claimed while the old one is running: they could finish in the wrong order.
            let meanwhile = jobs::claim(tx, QUEUE, at(2), LEASE, 10)?;
            jobs::complete(tx, QUEUE, &old[0])?;
            let new = jobs::claim(tx, QUEUE, at(3), LEASE, 10)?;
            jobs::complete(tx, QUEUE, &new[0])?;
            Ok((meanwhile.len(), new[0].payload.clone(), jobs::count(tx, QUEUE)?))
        });
        assert_eq!(left.await.unwrap(), (0, "new".to_owned(), 0));
    }
}

#[tokio::test]
async fn a_job_that_fails_is_tried_five_times_with_longer_waits_and_then_kept() {
    for scene in engines().await {
        let tried = scene.db.write("test", |tx| {
            jobs::enqueue(tx, QUEUE, [("a", "1")], at(0))?;
            let (mut tried, mut now) = (Vec::new(), 0);
            while let Some(due) = jobs::next_due(tx, QUEUE)? {
                now = due.as_second() - at(0).as_second();
                tried.push(now);
                let job = jobs::claim(tx, QUEUE, at(now), LEASE, 10)?.remove(0);
                jobs::fail(tx, QUEUE, &job, "no room", RETRIES.next(job.attempts, at(now)))?;
            }
            let kept = jobs::failures(tx, QUEUE, 10)?;
            Ok((tried, kept, jobs::claim(tx, QUEUE, at(now + 1_000_000), LEASE, 10)?.len()))
        });
        let kept = vec![Failure { key: "a".into(), attempts: 5, due: None, error: "no room".into() }];
        assert_eq!(tried.await.unwrap(), (vec![0, 30, 90, 210, 450], kept, 0));
    }
}

#[tokio::test]
async fn asking_again_gives_a_failed_job_a_new_start() {
    for scene in engines().await {
        let claimed = scene.db.write("test", |tx| {
            jobs::enqueue(tx, QUEUE, [("a", "1")], at(0))?;
            let job = jobs::claim(tx, QUEUE, at(0), LEASE, 10)?.remove(0);
            jobs::fail(tx, QUEUE, &job, "no room", None)?;
            jobs::enqueue(tx, QUEUE, [("a", "2")], at(1))?;
            jobs::claim(tx, QUEUE, at(1), LEASE, 10)
        });
        let claimed = claimed.await.unwrap();
        assert_eq!((claimed[0].payload.as_str(), claimed[0].attempts), ("2", 1));
    }
}

#[tokio::test]
async fn jobs_that_failed_are_tried_at_once_when_that_is_asked_for() {
    for scene in engines().await {
        let claimed = scene.db.write("test", |tx| {
            for key in ["claimed", "given up", "waiting"] {
                jobs::enqueue(tx, QUEUE, [(key, "")], at(0))?;
            }
            for job in jobs::claim(tx, QUEUE, at(0), LEASE, 10)? {
                match job.key.as_str() {
                    "given up" => jobs::fail(tx, QUEUE, &job, "no room", None)?,
                    "waiting" => jobs::fail(tx, QUEUE, &job, "no room", Some(at(60)))?,
                    _ => {}
                }
            }
            jobs::retry_all(tx, QUEUE, at(1))?;
            jobs::claim(tx, QUEUE, at(1), LEASE, 10)
        });
        let claimed = claimed.await.unwrap();
        let mut tried: Vec<_> = claimed.iter().map(|job| (job.key.as_str(), job.attempts)).collect();
        tried.sort_unstable();
        assert_eq!(tried, [("claimed", 2), ("given up", 1), ("waiting", 2)]);
    }
}

#[tokio::test]
async fn no_more_are_claimed_than_were_asked_for_and_the_oldest_first() {
    for scene in engines().await {
        let claimed = scene.db.write("test", |tx| {
            for (key, seconds) in [("c", 0), ("a", 1), ("b", 1), ("d", 5)] {
                jobs::enqueue(tx, QUEUE, [(key, "")], at(seconds))?;
            }
            Ok([jobs::claim(tx, QUEUE, at(2), LEASE, 2)?, jobs::claim(tx, QUEUE, at(2), LEASE, 9)?])
        });
        let mut claimed = claimed.await.unwrap().map(|jobs| keys(&jobs).join(" "));
        claimed[0] = {
            let mut two: Vec<&str> = claimed[0].split(' ').collect();
            two.sort_unstable();
            two.join(" ")
        };
        assert_eq!(claimed, ["a c", "b"]);
    }
}

#[tokio::test]
async fn whoever_begins_alone_can_end_every_old_claim() {
    for scene in engines().await {
        let claimed = scene.db.write("test", |tx| {
            jobs::enqueue(tx, QUEUE, [("a", "")], at(0))?;
            jobs::claim(tx, QUEUE, at(0), LEASE, 10)?;
            jobs::release_all(tx, QUEUE)?;
            jobs::claim(tx, QUEUE, at(1), LEASE, 10)
        });
        assert_eq!(claimed.await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_worker_that_was_paused_past_its_lease_can_t_end_the_claim_of_another() {
    for scene in engines().await {
        let seen = scene.db.write("test", |tx| {
            jobs::enqueue(tx, QUEUE, [("a", "1")], at(0))?;
            let paused = jobs::claim(tx, QUEUE, at(0), LEASE, 10)?.remove(0);
            let other = jobs::claim(tx, QUEUE, at(60), LEASE, 10)?.remove(0);
            jobs::complete(tx, QUEUE, &paused)?;
            jobs::fail(tx, QUEUE, &paused, "too late", None)?;
            let claimed = jobs::claim(tx, QUEUE, at(61), LEASE, 10)?.len();
            let kept = (jobs::count(tx, QUEUE)?, jobs::failures(tx, QUEUE, 10)?.len());
            // Enqueued again and claimed by a third: the second no longer has it either.
            jobs::enqueue(tx, QUEUE, [("a", "2")], at(62))?;
            let third = jobs::claim(tx, QUEUE, at(200), LEASE, 10)?.remove(0);
            jobs::complete(tx, QUEUE, &other)?;
            let meanwhile = jobs::claim(tx, QUEUE, at(201), LEASE, 10)?.len();
            jobs::complete(tx, QUEUE, &third)?;
            Ok((claimed, kept, meanwhile, jobs::count(tx, QUEUE)?))
        });
        assert_eq!(seen.await.unwrap(), (0, (1, 0), 0, 0));
    }
}
