//! Temporary folders of documents, including the one that most tests use.

use std::{
    fs,
    ops::Deref,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

use crate::app::{Request, Response, TIMEOUT, TestApp, get};

/// A word in everything that must not be served.
pub(super) const CANARY: &str = "xyzzy-canary";

/// A folder of documents.
pub(super) struct Base {
    root: TempDir,
}

impl Base {
    /// A folder with those files.
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let base = Self { root: tempfile::tempdir().unwrap() };
        fs::create_dir(base.path()).unwrap();
        for (file, text) in files {
            base.write(file, text);
        }
        base
    }

    /// Documents of several types, with non-ASCII names, titles that need quoting, a draft and an unpublished
    /// document.
    pub(super) fn example() -> Self {
        Self::of(&EXAMPLE)
    }

    /// The folder of the documents.
    pub(super) fn path(&self) -> PathBuf {
        self.root.path().join("kb")
    }

    /// Writes a file atomically, like editors: under another name first.
    pub(super) fn write(&self, file: &str, text: &str) {
        let (place, unfinished) = (self.path().join(file), self.root.path().join("unfinished"));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&unfinished, text).unwrap();
        fs::rename(unfinished, place).unwrap();
    }

    /// Removes a file.
    pub(super) fn remove(&self, file: &str) {
        fs::remove_file(self.path().join(file)).unwrap();
    }

    /// The tables that serve it.
    pub(super) fn tables(&self) -> String {
        tables(&self.path())
    }

    /// A server that has synced it.
    pub(super) async fn served(self) -> Served {
        self.served_with("").await
    }

    /// The same with further lines, the first of them in `[server]`.
    pub(super) async fn served_with(self, server: &str) -> Served {
        let app = TestApp::product_of(&format!("{server}\n{}", self.tables())).await;
        until(&app, "/readyz", |answer| answer.status == 200).await;
        Served { app, base: self }
    }
}

/// A server, and the folder that it watches.
pub(super) struct Served {
    app: TestApp,
    pub(super) base: Base,
}

impl Served {
    /// Stops the server and waits for it.
    pub(super) async fn stop(self) {
        self.app.stop().await;
    }
}

impl Deref for Served {
    type Target = TestApp;

    fn deref(&self) -> &TestApp {
        &self.app
    }
}

/// The tables that serve a folder.
pub(super) fn tables(folder: &Path) -> String {
    format!(
        "[[source]]\nname = \"kb\"\npath = {folder:?}\n[knowledge]\nsource = \"kb\"\ntitle = \"Harbour\"\n"
    )
}

/// Repeats a request until the response is as expected.
pub(super) async fn until(app: &TestApp, path: &str, right: impl Fn(&Response) -> bool) -> Response {
    let end = std::time::Instant::now() + TIMEOUT;
    loop {
        let answer = app.send(get(path)).await;
        if right(&answer) {
            return answer;
        }
        assert!(std::time::Instant::now() < end, "{path} never answered right; the last time: {answer:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A request with one more header.
pub(super) fn with(mut request: Request, name: &'static str, value: &str) -> Request {
    request.headers_mut().append(name, value.parse().unwrap());
    request
}

/// A request with another method.
pub(super) fn by(method: &str, mut request: Request) -> Request {
    *request.method_mut() = method.parse().unwrap();
    request
}

/// The ids in a list, in order.
pub(super) fn ids(list: &Value) -> Vec<String> {
    let id = |entry: &Value| entry["id"].as_str().unwrap().to_owned();
    list["entries"].as_array().unwrap().iter().map(id).collect()
}

/// Checks the status and the code of an error, and returns its message.
#[track_caller]
pub(super) fn refused(answer: &Response, status: u16, code: &str) -> String {
    let body = answer.json();
    assert_eq!((answer.status, &body["error"]["code"]), (status, &code.into()), "{body}");
    body["error"]["message"].as_str().unwrap().to_owned()
}

const EXAMPLE: [(&str, &str); 11] = [
    (
        "tags/dao.md",
        "---\ntitle: DAO\ndate: 2024-01-15\npublish: true\naliases: [daos]\ntags: [governance, größe]\n---\n\
         # DAO\n\nAn organisation of *equals*.\n",
    ),
    ("tags/cell.md", "---\ntitle: Cell\ndate: 2024-01-16\npublish: true\n---\nA small group.\n"),
    (
        "artifacts/patterns/cell-governance.md",
        "---\ntitle: Cell governance\ndate: 2024-02-01\npublish: true\ngroup: dao-primitives\nrelease: first\n\
         tags: [governance]\n---\nCells govern themselves.\n",
    ),
    (
        "artifacts/patterns/Ämter & Würden.md",
        "---\ntitle: Ämter & Würden\ndate: 2024-02-02\npublish: true\ngroup: dao-primitives\ntags: [\"größe\"]\n---\n\
         Über Ämter.\n",
    ),
    (
        "artifacts/practices/check-in.md",
        "---\ntitle: Check-in\ndate: 2024-02-03\npublish: true\nrelease: first\n---\nSay how you are.\n",
    ),
    (
        "artifacts/articles/odd.md",
        "---\ntitle: \"She said: \\\"no\\\" # [really]\\n--- and left\"\ndate: 2024-03-01\npublish: true\n\
         description: |\n  Two\n  lines\n---\n\n\nOdd.\n",
    ),
    ("data/people/ada.md", "---\ntitle: Ada\ndate: 2024-04-01\npublish: true\n---\nShe writes.\n"),
    (
        "data/projects/harbour.md",
        "---\ntitle: Harbour\ndate: 2024-05-01\npublish: true\nstatus: active\ngroup: harbour\n---\nA harbour.\n",
    ),
    ("notes/plain.md", "---\ntitle: Plain\ndate: 2023-01-01\npublish: true\n---\nPlain.\n"),
    (
        "notes/xyzzy-canary.md",
        "---\ntitle: xyzzy-canary\ndate: 2024-06-01\npublish: false\ngroup: xyzzy-canary\n---\nxyzzy-canary\n",
    ),
    (
        "artifacts/patterns/xyzzy-canary.md",
        "---\ntitle: xyzzy-canary\ndate: 2024-06-01\npublish: true\ndraft: true\ntags: [xyzzy-canary]\n---\nxyzzy-canary\n",
    ),
];
