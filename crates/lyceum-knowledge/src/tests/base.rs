//! A knowledge base in a temporary folder, and a caller.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use lyceum_content::{document::Publishing, ontology::Ontology};
use lyceum_model::{Caller, Domain, SourceName};
use lyceum_models::embedder::EmbedError;
use lyceum_search::Search;
use lyceum_source::{Folder, Source};
use lyceum_store::{Db, Objects};
use lyceum_tools::{
    CallContext, Outcome, Registry, View,
    mcp::{CallToolResult, JsonObject, call_tool, complete, get_prompt, read_resource},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Knowledge, KnowledgeSearch, Links, Options, PublicContent, register};

pub(super) const DOMAIN: Domain = Domain::from_static("knowledge");

/// A knowledge base and its caller.
pub(super) struct Base {
    pub(super) knowledge: Arc<Knowledge>,
    pub(super) view: View,
    folder: TempDir,
}

/// A published document with extra lines of frontmatter.
pub(super) fn document(title: &str, lines: &str, body: &str) -> String {
    format!("---\ntitle: {title}\ndate: 2025-03-01\npublish: true\n{lines}---\n\n{body}\n")
}

impl Base {
    /// A synced base with these files, called by a trusted caller.
    pub(super) async fn of(files: &[(&str, &str)]) -> Self {
        let base = Self::unread(files);
        base.sync().await;
        base
    }

    /// A base with these files, before the first sync.
    pub(super) fn unread(files: &[(&str, &str)]) -> Self {
        Self::over(Objects::memory(), files)
    }

    /// A synced base of plain documents: everything is published.
    pub(super) async fn open(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("kb")).unwrap();
        let publish = Some(Publishing::All);
        let knowledge = Arc::new(Knowledge::open(Options { publish, ..options(folder.path()) }).unwrap());
        let view = view(&knowledge, Caller::trusted());
        let base = Self { knowledge, view, folder };
        for (file, text) in files {
            base.write(file, text);
        }
        base.sync().await;
        base
    }

    /// Like `unread`, with an object store shared with the test.
    pub(super) fn over(objects: Objects, files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("kb")).unwrap();
        let options = Options { objects, ..options(folder.path()) };
        let knowledge = Arc::new(Knowledge::open(options).unwrap());
        let view = view(&knowledge, Caller::trusted());
        let base = Self { knowledge, view, folder };
        for (file, text) in files {
            base.write(file, text);
        }
        base
    }

    /// A base of one of several machines, with its own data folder: the source, the objects and the database are shared.
    pub(super) async fn on_machine(source: &Path, objects: Objects, shared: Db) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = Source::Folder(Folder::new(source));
        let options =
            Options { source, objects, shared: Some((shared, "kb".to_owned())), ..options(folder.path()) };
        let opened = tokio::task::spawn_blocking(move || Knowledge::open(options)).await.unwrap();
        let knowledge = Arc::new(opened.unwrap());
        let view = view(&knowledge, Caller::trusted());
        Self { knowledge, view, folder }
    }

    /// The same base with another caller.
    pub(super) fn called_by(mut self, caller: Caller) -> Self {
        self.view = view(&self.knowledge, caller);
        self
    }

    /// The same base with another setting of what is public.
    pub(super) fn with_public(self, public: PublicContent) -> Self {
        let Self { mut knowledge, view, folder } = self;
        drop(view);
        Arc::get_mut(&mut knowledge).unwrap().options.public = public;
        let view = view_of(&knowledge);
        Self { knowledge, view, folder }
    }

    pub(super) fn write(&self, file: &str, text: &str) {
        let path = self.folder.path().join("kb").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn remove(&self, file: &str) {
        fs::remove_file(self.folder.path().join("kb").join(file)).unwrap();
    }

    /// Reopens the base with other rules, which exclude a folder.
    pub(super) fn leaving_out(self, folder: &str) -> Self {
        let Self { knowledge, view, folder: data } = self;
        let objects = knowledge.options.objects.clone();
        drop((view, knowledge));
        let exclude = vec![lyceum_model::RelPath::parse(folder).unwrap()];
        let rules = format!("without {folder}");
        let options = Options { objects, exclude, rules, ..options(data.path()) };
        let knowledge = Arc::new(Knowledge::open(options).unwrap());
        let view = view_of(&knowledge);
        Self { knowledge, view, folder: data }
    }

    /// Paths of the published documents.
    pub(super) fn paths(&self) -> Vec<String> {
        let snapshot = self.knowledge.snapshot();
        let mut paths: Vec<String> =
            snapshot.catalog.entries().iter().map(|entry| entry.summary.path.clone()).collect();
        paths.sort();
        paths
    }

    pub(super) async fn sync(&self) {
        self.knowledge.sync_once(|_| ()).await.unwrap();
    }

    /// The result of a call.
    pub(super) async fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        match call_tool(&self.view, tool, object(arguments), CallContext::default()).await {
            Ok(Outcome::Done(result)) => result.decode().unwrap(),
            other => panic!("{tool}: {other:?}"),
        }
    }

    /// The structured result of a successful call.
    pub(super) async fn ask(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_ne!(result.is_error, Some(true), "{tool}: {result:?}");
        result.structured_content.unwrap()
    }

    /// The error message of a failed call.
    pub(super) async fn refusal(&self, tool: &str, arguments: Value) -> String {
        let result = serde_json::to_value(self.call(tool, arguments).await).unwrap();
        assert_eq!(result["isError"], true, "{tool}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Reads a resource.
    pub(super) async fn read(&self, uri: &str) -> Result<Value, String> {
        match read_resource(&self.view, uri, CallContext::default()).await {
            Ok(Outcome::Done(result)) => Ok(serde_json::to_value(&result.contents).unwrap()[0].take()),
            Ok(Outcome::NeedInput(_)) => panic!("unexpected elicitation"),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Gets the text of a prompt.
    pub(super) async fn prompt(&self, name: &str, arguments: Value) -> Result<String, String> {
        match get_prompt(&self.view, name, object(arguments), CallContext::default()).await {
            Ok(Outcome::Done(result)) => {
                let result = serde_json::to_value(result).unwrap();
                assert_eq!(result["messages"].as_array().unwrap().len(), 1);
                assert_eq!(result["messages"][0]["role"], "user");
                Ok(result["messages"][0]["content"]["text"].as_str().unwrap().to_owned())
            }
            Ok(Outcome::NeedInput(_)) => panic!("unexpected elicitation"),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Completes an argument of a prompt or a variable of a resource template.
    pub(super) fn complete(&self, of: &Value, name: &str, typed: &str) -> Value {
        let params = json!({ "ref": of, "argument": { "name": name, "value": typed } });
        let result = complete(&self.view, &serde_json::from_value(params).unwrap()).unwrap();
        serde_json::to_value(result).unwrap()["completion"].take()
    }
}

fn view_of(knowledge: &Arc<Knowledge>) -> View {
    view(knowledge, Caller::trusted())
}

fn view(knowledge: &Arc<Knowledge>, caller: Caller) -> View {
    let finder = KnowledgeSearch { knowledge: knowledge.clone(), search: search() };
    let registry = register(Registry::builder(), &DOMAIN, &Arc::new(finder)).unwrap().build();
    View::of_all(Arc::new(registry), Arc::new(caller))
}

/// A search index that is never opened; search is tested elsewhere.
fn search() -> Arc<Search> {
    Arc::new(Search::new(lyceum_search::Options {
        folder: PathBuf::new(),
        shared: None,
        embedder: None,
        connect: Arc::new(|_| Box::pin(async { Err(EmbedError::Model("none".to_owned())) })),
        reranker: None,
    }))
}

fn options(folder: &Path) -> Options {
    Options {
        name: SourceName::parse("kb").unwrap(),
        source: Source::Folder(Folder::new(folder.join("kb"))),
        ontology: Ontology::standard().unwrap(),
        rules: String::new(),
        publish: None,
        exclude: Vec::new(),
        links: Links(Some("https://git.example.org/kb/{commit}/{path}".to_owned())),
        poll: Duration::from_secs(60),
        title: "SuperBenefit".to_owned(),
        public: PublicContent::Summaries,
        folder: folder.to_owned(),
        objects: Objects::memory(),
        shared: None,
        drafts: None,
    }
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        other => panic!("not an object: {other}"),
    }
}
