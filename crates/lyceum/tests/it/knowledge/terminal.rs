//! What `lyceum serve` prints on a terminal.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::Read,
    os::unix::ffi::OsStrExt,
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex},
};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tokio::process::{Child, Command};

use super::stage::{eventually, prepare};

/// A pseudo-terminal, and what was printed on it.
struct Terminal {
    user_side: File,
    printed: Arc<Mutex<String>>,
}

impl Terminal {
    fn open() -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let user_side =
            File::options().read(true).write(true).open(OsStr::from_bytes(name.to_bytes())).unwrap();
        let printed = Arc::new(Mutex::new(String::new()));
        let (mut controller, shared) = (File::from(controller), printed.clone());
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Fails once nobody has the terminal open any more.
            while let Ok(count @ 1..) = controller.read(&mut bytes) {
                shared.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        Self { user_side, printed }
    }

    fn stdio(&self) -> Stdio {
        self.user_side.try_clone().unwrap().into()
    }

    /// Waits until a text was printed; returns all of it.
    async fn shows(&self, text: &str) -> String {
        eventually(text, || async {
            let printed = self.printed.lock().unwrap().replace("\r\n", "\n");
            if printed.contains(text) { Ok(printed) } else { Err(printed) }
        })
        .await
    }
}

/// Starts `lyceum serve` with the folder `docs`, and standard output on the terminal.
fn serve(folder: &Path, terminal: &Terminal, stderr: Stdio) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lyceum"));
    command.args(["--data-dir", "data", "serve", "docs", "--listen", "127.0.0.1:0"]);
    prepare(&mut command, folder, &[("NO_COLOR", "1")]);
    command.stdout(terminal.stdio()).stderr(stderr).kill_on_drop(true).spawn().unwrap()
}

fn docs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    fs::create_dir_all(docs.join(".hidden")).unwrap();
    for (file, text) in [
        ("a.md", "# A"),
        ("b.md", "# B"),
        ("later.md", "---\ndraft: true\n---\n"),
        ("no.md", "---\npublish: false\n---\n"),
        ("page.md.erb", "# <%= title %>"),
        ("one.pdf", "%PDF"),
        ("two.pdf", "%PDF"),
        ("logo.png", "PNG"),
    ] {
        fs::write(docs.join(file), text).unwrap();
    }
    folder
}

#[tokio::test]
async fn serve_shows_what_is_served_what_is_left_out_and_what_to_do_next() {
    let (folder, terminal) = (docs(), Terminal::open());
    let _running = serve(folder.path(), &terminal, terminal.stdio());
    let printed = terminal.shows("keep this setup").await;
    let url = printed.split("Lyceum listens on ").nth(1).unwrap().lines().next().unwrap();
    let expected = format!(
        "
docs: docs, 4 markdown files
  knowledge  2 documents
  left out   1 file: `draft: true`; to serve them, remove it
             1 file: `publish: false`; to serve them, remove it
             1 file: a template (.erb), not a document; render it and serve the result
             1 folder: hidden: its name begins with a dot
             3 files: not markdown, so not read: 2 .pdf, 1 .png
  search     lexical (BM25); search.embedder.kind is \"none\"

Next:
  lyceum connect claude --url {url} "
    );
    assert!(printed.contains(&expected), "{printed}");
    for command in ["  lyceum search --data-dir data --source docs ", "  lyceum init --data-dir data docs "] {
        assert!(printed.contains(command), "{printed}");
    }
}

#[tokio::test]
async fn serve_is_brief_where_the_log_goes_elsewhere() {
    let (folder, terminal) = (docs(), Terminal::open());
    let _running = serve(folder.path(), &terminal, Stdio::null());
    let printed = terminal.shows("; search: ").await;
    let line = "docs: docs, 4 markdown files; knowledge: 2 documents (5 reasons to leave files out); search: lexical";
    assert!(printed.contains(line) && !printed.contains("Next:"), "{printed}");
}
