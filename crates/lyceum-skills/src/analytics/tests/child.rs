//! A process of its own that tracks and publishes, to be killed by a test.
//!
//! It is this very test binary, told by its environment to play that part. On each line of its input stands how many
//! events to track; for each one it has tracked it answers with a line. It ends with its input.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver as ServerBehavior, RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{asked, schedule, tracker};
use crate::analytics::{Endpoint, Figures, publish};

const PART: &str = "LYCEUM_TEST_USAGE_PART";
const TEST: &str = "analytics::tests::child::a_process_tracks_what_it_is_told_to";

/// What the process is to do.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) folder: String,
    /// Events are told apart by this and a number.
    pub(super) name: String,
    /// How many bytes an event has, about.
    pub(super) padding: usize,
    /// Where to publish, and how often in milliseconds.
    pub(super) publish: Option<(String, u64)>,
}

impl Part {
    pub(super) fn new(folder: &Path, name: &str) -> Self {
        let folder = folder.to_str().unwrap().to_owned();
        Self { folder, name: name.to_owned(), padding: 0, publish: None }
    }

    pub(super) fn publishing(mut self, url: &str, every: u64) -> Self {
        self.publish = Some((url.to_owned(), every));
        self
    }

    /// What the event with this number asks for.
    pub(super) fn context(&self, number: usize) -> String {
        format!("{} {number} {}", self.name, "x".repeat(self.padding))
    }

    pub(super) fn contexts(&self, count: usize) -> Vec<String> {
        (0..count).map(|number| self.context(number)).collect()
    }

    /// Plays it.
    fn play(&self, input: impl Read, mut output: impl Write) -> Figures {
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
                tracker.track(&asked(&self.context(number)));
                number += 1;
                output.write_all(b"tracked\n").unwrap();
            }
        }
        drop(stop);
        publisher.into_iter().for_each(|thread| thread.join().unwrap());
        tracker.figures()
    }
}

#[test]
fn a_process_tracks_what_it_is_told_to() {
    if let Ok(part) = std::env::var(PART) {
        let part: Part = serde_json::from_str(&part).unwrap();
        let figures = part.play(std::io::stdin(), std::io::stdout());
        let Figures { recorded, failed, .. } = figures;
        println!("end {recorded} {failed}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut output = Vec::new();
    let part = Part::new(folder.path(), "here");
    assert_eq!(part.play("2\n1\n".as_bytes(), &mut output).recorded, 3);
    assert_eq!(output, b"tracked\ntracked\ntracked\n");
    assert_eq!(super::waiting(folder.path()), 3);
}

/// A process that plays a part. It is killed with this value, if not before.
pub(super) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    answers: ServerBehavior<String>,
    /// How many events it said to have tracked.
    pub(super) tracked: usize,
    asked: usize,
}

impl Process {
    pub(super) fn start(part: &Part) -> Self {
        Self::run(Command::new(std::env::current_exe().unwrap()), part, &[])
    }

    /// Starts it with this environment.
    pub(super) fn start_with(part: &Part, environment: &[(&str, &Path)]) -> Self {
        Self::run(Command::new(std::env::current_exe().unwrap()), part, environment)
    }

    /// Starts it where no file may be larger than a few KiB.
    pub(super) fn start_without_room(part: &Part) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\""]);
        shell.arg(std::env::current_exe().unwrap());
        Self::run(shell, part, &[])
    }

    fn run(mut command: Command, part: &Part, environment: &[(&str, &Path)]) -> Self {
        command.args(["--exact", TEST, "--nocapture", "--test-threads=1"]);
        command.env(PART, serde_json::to_string(part).unwrap());
        command.envs(environment.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (say, answers) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if say.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, input, answers, tracked: 0, asked: 0 }
    }

    /// Tells it to track so many more events.
    pub(super) fn ask(&mut self, count: usize) {
        self.asked += count;
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{count}\n").as_bytes()).unwrap();
    }

    /// Waits until it has tracked so many events in all.
    #[track_caller]
    pub(super) fn wait_for(&mut self, count: usize) {
        while self.tracked < count {
            self.hear(Duration::from_secs(20)).expect("the process says nothing more");
        }
    }

    /// Hears one line, and counts it.
    fn hear(&mut self, limit: Duration) -> Result<String, RecvTimeoutError> {
        let line = self.answers.recv_timeout(limit)?;
        // The test harness may have begun the line.
        self.tracked += usize::from(line.ends_with("tracked"));
        Ok(line)
    }

    /// Lets it go on for a moment.
    pub(super) fn for_a_moment(&mut self, moment: Duration) {
        let start = std::time::Instant::now();
        while let Some(left) = moment.checked_sub(start.elapsed()) {
            if self.hear(left) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it as `kill -9` does, and says how many events it had tracked: at least, and at most.
    pub(super) fn kill(mut self) -> (usize, usize) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        while self.hear(Duration::from_secs(20)).is_ok() {}
        // It may have been killed between the event and the answer.
        (self.tracked, self.asked.min(self.tracked + 1))
    }

    /// Lets it end by itself, and says how many events it recorded and how many failed.
    pub(super) fn end(mut self) -> (usize, usize) {
        drop(self.input.take());
        let mut last = None;
        while let Ok(line) = self.hear(Duration::from_secs(20)) {
            if let Some(figures) = line.strip_prefix("end ") {
                last = figures.split_once(' ').map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap()));
            }
        }
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
        last.unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _it_may_be_gone = self.child.kill();
        let _ = self.child.wait();
    }
}
