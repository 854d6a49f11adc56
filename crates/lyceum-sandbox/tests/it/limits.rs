//! Resource limits.

use std::fs;

use lyceum_sandbox::{Limits, StopReason, Variant};

use crate::stage::{ALL, CONFINED, Stage, bash, python};

/// Peak memory of this process, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_gigabyte_of_output_is_read_and_forgotten() {
    let stage = Stage::new();
    let script = bash("head -c 1000000000 /dev/zero; echo end >&2");
    let before = peak();
    for (variant, finished) in stage.run_in(&[Variant::None, Variant::Namespaces], &script).await {
        assert!(finished.stdout.text == "\0".repeat(1024 * 1024), "{variant:?}");
        assert!(finished.stdout.truncated, "{variant:?}");
        assert_eq!(
            (finished.stderr.text.as_str(), finished.stderr.truncated),
            ("end\n", false),
            "{variant:?}"
        );
        assert_eq!(finished.exit_code, 0, "{variant:?}");
    }
    assert!(peak() - before < 16 * 1024, "{} KiB more", peak() - before);
}

#[tokio::test]
async fn output_of_just_the_size_is_whole() {
    let stage = Stage::new();
    let mut script = bash("printf 12345678");
    script.limits.output_bytes = 8;
    for (variant, finished) in stage.run_in(&ALL, &script).await {
        assert_eq!(
            (finished.stdout.text.as_str(), finished.stdout.truncated),
            ("12345678", false),
            "{variant:?}"
        );
    }
}

#[tokio::test]
async fn a_scratch_folder_can_be_filled_but_not_more() {
    let stage = Stage::new();
    let mut script = python(
        "import os, sys, time\nfor number in range(40):\n  open(f'{os.environ[\"TMPDIR\"]}/{number}', 'wb').write(b'x' * (1 << 20))\n\
         time.sleep(20)",
    );
    script.limits = Limits { scratch_bytes: 8 << 20, ..script.limits };
    for (variant, finished) in stage.run_in(&CONFINED, &script).await {
        match variant {
            // A tmpfs of that size.
            Variant::Strict | Variant::Namespaces => {
                assert!(
                    finished.stderr.text.contains("No space left on device"),
                    "{variant:?}: {finished:?}"
                );
            }
            // The supervisor polls.
            Variant::Plain | Variant::Oldest | Variant::None => {
                assert_eq!(
                    (finished.exit_code, finished.stopped),
                    (137, Some(StopReason::Scratch)),
                    "{variant:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn files_that_have_no_name_any_more_fill_the_scratch_folder_too() {
    let stage = Stage::new();
    let mut script = python(
        "import os, time\nfiles = []\nfor number in range(20):\n  path = f'{os.environ[\"TMPDIR\"]}/{number}'\n  \
         files.append(open(path, 'wb', buffering=0))\n  os.unlink(path)\n  files[-1].write(b'x' * (1 << 20))\ntime.sleep(20)",
    );
    script.limits = Limits { scratch_bytes: 8 << 20, ..script.limits };
    for (variant, finished) in stage.run_in(&[Variant::Plain, Variant::Oldest], &script).await {
        assert_eq!((finished.exit_code, finished.stopped), (137, Some(StopReason::Scratch)), "{variant:?}");
    }
}

#[tokio::test]
async fn a_scratch_folder_takes_only_so_many_files() {
    let stage = Stage::in_memory();
    let script = python(
        "import os, time\nos.chdir(os.environ['TMPDIR'])\nfor number in range(30000): open(str(number), 'w').close()\n\
         time.sleep(20)",
    );
    for (variant, finished) in stage.run_in(&CONFINED, &script).await {
        let full = finished.stderr.text.contains("No space left on device");
        assert!(full || finished.stopped == Some(StopReason::Scratch), "{variant:?}: {finished:?}");
    }
}

#[tokio::test]
async fn processes_that_are_small_alone_are_stopped_if_they_are_large_together() {
    let stage = Stage::new();
    let mut script = python(
        "import os, time\nfor _ in range(5):\n  if os.fork() == 0:\n    kept = bytearray(os.urandom(1 << 20) * 60)\n    \
         time.sleep(20)\n    os._exit(0)\ntime.sleep(20)",
    );
    script.limits = Limits { memory_bytes: 200 << 20, ..script.limits };
    for (variant, finished) in stage.run_in(&CONFINED, &script).await {
        assert_eq!((finished.exit_code, finished.stopped), (137, Some(StopReason::Memory)), "{variant:?}");
    }
}

/// Python's `mmap.mmap(-1, …)` is shared anonymous memory, which the kernel counts apart from private memory.
#[tokio::test]
async fn s5_shared_anonymous_memory_counts() {
    let stage = Stage::new();
    let mut script = python(
        "import mmap, os, time\nfor _ in range(4):\n  if os.fork() == 0:\n    kept = mmap.mmap(-1, 90 << 20)\n    \
         for page in range(0, 90 << 20, 4096): kept[page] = 1\n    time.sleep(20)\n    os._exit(0)\ntime.sleep(20)",
    );
    script.limits = Limits { memory_bytes: 200 << 20, ..script.limits };
    for (variant, finished) in stage.run_in(&CONFINED, &script).await {
        assert_eq!((finished.exit_code, finished.stopped), (137, Some(StopReason::Memory)), "{variant:?}");
    }
}
