//! Runners work in every sandbox.

use std::path::Path;

use lyceum_harness::skip::skipped;

use crate::stage::{ALL, Stage, bash, python, script};

const NODE: &str = "/usr/bin/node";

#[tokio::test]
async fn bash_runs() {
    let stage = Stage::new();
    let script = bash(
        "echo hello from \"${BASH_VERSION%%.*}\" | sed 's/from.*/bash/'; echo oops > /dev/stderr\n\
         cat <<< here; cat <(echo substituted); echo $((6*7)); date > \"$TMPDIR/date\"; wc -l < \"$TMPDIR/date\"\n\
         timeout 5 true; echo $?",
    );
    for (variant, finished) in stage.run_in(&ALL, &script).await {
        assert_eq!(
            finished.stdout.text, "hello bash\nhere\nsubstituted\n42\n1\n0\n",
            "{variant:?}: {finished:?}"
        );
        assert_eq!(finished.stderr.text, "oops\n", "{variant:?}");
    }
}

#[tokio::test]
async fn python_runs() {
    let stage = Stage::new();
    let script = python(
        "import hashlib, json, ssl, subprocess, tempfile, threading\n\
         seen = []\nthreads = [threading.Thread(target=seen.append, args=(n,)) for n in range(4)]\n\
         [t.start() for t in threads]; [t.join() for t in threads]\n\
         with tempfile.NamedTemporaryFile() as file: file.write(b'x')\n\
         print('hello', len(seen), subprocess.run(['echo', 'child'], capture_output=True, text=True).stdout.strip())",
    );
    for (variant, finished) in stage.run_in(&ALL, &script).await {
        assert_eq!(finished.stdout.text, "hello 4 child\n", "{variant:?}: {finished:?}");
    }
}

#[tokio::test]
async fn node_runs() {
    if !Path::new(NODE).exists() {
        return skipped("node is not installed");
    }
    let stage = Stage::new();
    for (variant, finished) in stage.run_in(&ALL, &script(NODE, "console.log('hello', 6 * 7)")).await {
        assert_eq!(finished.stdout.text, "hello 42\n", "{variant:?}: {finished:?}");
    }
    // A thread, a child process, a file, OpenSSL, and WebAssembly, which reserves much more memory than it uses.
    let mut script = script(NODE, include_str!("runners.js"));
    script.limits.address_bytes = 16 << 30;
    for (variant, finished) in stage.run_in(&ALL, &script).await {
        assert_eq!(finished.stdout.text, "hello 42 child 64 text 65536\n", "{variant:?}: {finished:?}");
    }
}
