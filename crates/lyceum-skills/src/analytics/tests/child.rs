//! A separate process that tracks and publishes, to be killed by a test.
//!
//! It is this test binary, configured by an environment variable. Each line of its stdin is a number of events to
//! track; it writes a line for each tracked event. It exits at the end of stdin.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{no_match, schedule, tracker};
use crate::analytics::{Counters, Endpoint, publish};

const SPEC_VARIABLE: &str = "LYCEUM_TEST_USAGE_PART";
const TEST: &str = "analytics::tests::child::a_process_tracks_what_it_is_told_to";

/// What the process does.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct ChildSpec {
    pub(super) folder: String,
    /// Prefix of the events' contexts.
    pub(super) name: String,
    /// Approximate size of an event, in bytes.
    pub(super) padding: usize,
    /// Endpoint, and interval in milliseconds.
    pub(super) publish: Option<(String, u64)>,
}

impl ChildSpec {
    pub(super) fn new(folder: &Path, name: &str) -> Self {
        let folder = folder.to_str().unwrap().to_owned();
        Self { folder, name: name.to_owned(), padding: 0, publish: None }
    }

    pub(super) fn publishing(mut self, url: &str, every: u64) -> Self {
        self.publish = Some((url.to_owned(), every));
        self
    }

    /// Context of the event with this number.
    pub(super) fn context(&self, number: usize) -> String {
        format!("{} {number} {}", self.name, "x".repeat(self.padding))
    }

    pub(super) fn contexts(&self, count: usize) -> Vec<String> {
        (0..count).map(|number| self.context(number)).collect()
    }

    /// Runs the child's main loop.
    fn run(&self, input: impl Read, mut output: impl Write) -> Counters {
        let tracker = tracker(Path::new(&self.folder));
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let publisher = self.publish.clone().map(|(url, every)| {
            let (tracker, endpoint) = (tracker.clone(), Endpoint::parse(&url).unwrap());
            thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(publish(tracker, endpoint, schedule(every), async { drop(stopped.await) }));
            })
        });
        let mut number = 0;
        for line in BufReader::new(input).lines().map_while(Result::ok) {
            for _ in 0..line.parse().unwrap() {
                tracker.track(&no_match(&self.context(number)));
                number += 1;
                output.write_all(b"tracked\n").unwrap();
            }
        }
        drop(stop);
        publisher.into_iter().for_each(|thread| thread.join().unwrap());
        tracker.counters()
    }
}

#[test]
fn a_process_tracks_what_it_is_told_to() {
    if let Ok(spec) = std::env::var(SPEC_VARIABLE) {
        let spec: ChildSpec = serde_json::from_str(&spec).unwrap();
        let counters = spec.run(std::io::stdin(), std::io::stdout());
        let Counters { recorded, failed, .. } = counters;
        println!("end {recorded} {failed}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut output = Vec::new();
    let spec = ChildSpec::new(folder.path(), "here");
    assert_eq!(spec.run("2\n1\n".as_bytes(), &mut output).recorded, 3);
    assert_eq!(output, b"tracked\ntracked\ntracked\n");
    assert_eq!(super::pending_events(folder.path()), 3);
}

/// A child process; killed on drop.
pub(super) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Number of events reported as tracked.
    pub(super) tracked: usize,
    requested: usize,
}

impl Process {
    pub(super) fn start(spec: &ChildSpec) -> Self {
        Self::run(Command::new(std::env::current_exe().unwrap()), spec, &[])
    }

    /// Starts it with extra environment variables.
    pub(super) fn start_with(spec: &ChildSpec, environment: &[(&str, &Path)]) -> Self {
        Self::run(Command::new(std::env::current_exe().unwrap()), spec, environment)
    }

    /// Starts it with a file size limit of a few KiB.
    pub(super) fn start_without_room(spec: &ChildSpec) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\""]);
        shell.arg(std::env::current_exe().unwrap());
        Self::run(shell, spec, &[])
    }

    fn run(mut command: Command, spec: &ChildSpec, environment: &[(&str, &Path)]) -> Self {
        command.args(["--exact", TEST, "--nocapture", "--test-threads=1"]);
        command.env(SPEC_VARIABLE, serde_json::to_string(spec).unwrap());
        command.envs(environment.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, input, lines, tracked: 0, requested: 0 }
    }

    /// Requests that many more events.
    pub(super) fn request(&mut self, count: usize) {
        self.requested += count;
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{count}\n").as_bytes()).unwrap();
    }

    /// Waits until it has tracked that many events in total.
    #[track_caller]
    pub(super) fn wait_for(&mut self, count: usize) {
        while self.tracked < count {
            self.next_line(Duration::from_secs(20)).expect("no output from the process");
        }
    }

    /// Receives one line, and counts it.
    fn next_line(&mut self, limit: Duration) -> Result<String, RecvTimeoutError> {
        let line = self.lines.recv_timeout(limit)?;
        // The line may start with output of the test harness.
        self.tracked += usize::from(line.ends_with("tracked"));
        Ok(line)
    }

    /// Lets it run for a while.
    pub(super) fn run_for(&mut self, duration: Duration) {
        let start = std::time::Instant::now();
        while let Some(left) = duration.checked_sub(start.elapsed()) {
            if self.next_line(left) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it with SIGKILL; returns the minimum and maximum number of tracked events.
    pub(super) fn kill(mut self) -> (usize, usize) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        while self.next_line(Duration::from_secs(20)).is_ok() {}
        // It may have been killed between an event and its output line.
        (self.tracked, self.requested.min(self.tracked + 1))
    }

    /// Lets it exit; returns the numbers of recorded and failed events.
    pub(super) fn end(mut self) -> (usize, usize) {
        drop(self.input.take());
        let mut last = None;
        while let Ok(line) = self.next_line(Duration::from_secs(20)) {
            if let Some(counters) = line.strip_prefix("end ") {
                last = counters.split_once(' ').map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap()));
            }
        }
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
        last.unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _may_be_gone = self.child.kill();
        let _ = self.child.wait();
    }
}
