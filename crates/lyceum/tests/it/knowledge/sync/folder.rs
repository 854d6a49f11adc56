//! A folder instead of a repository.

use std::{
    fs,
    time::{Duration, Instant},
};

use super::paths;
use crate::knowledge::stage::{Program, Shelf, eventually_within, published, unpublished, write_config};

#[tokio::test]
async fn a_folder_is_served_as_it_is_edited() {
    let folder = tempfile::tempdir().unwrap();
    let kb = folder.path().join("kb");
    fs::create_dir_all(kb.join("notes")).unwrap();
    fs::write(kb.join("notes/first.md"), published("First", "one")).unwrap();
    write_config(folder.path(), &format!("path = {kb:?}"));
    let data = folder.path().join("data");
    let program = Program::start(folder.path(), &data, &[]).await;
    program.shows_something().await;
    let edits: [(&str, &dyn Fn()); 5] = [
        ("edited", &|| fs::write(kb.join("notes/first.md"), published("First", "edited")).unwrap()),
        ("renamed", &|| fs::rename(kb.join("notes/first.md"), kb.join("notes/renamed.md")).unwrap()),
        ("another", &|| {
            fs::create_dir_all(kb.join("tags/deep/er")).unwrap();
            fs::write(kb.join("tags/deep/er/another.md"), published("Another", "new folder")).unwrap();
        }),
        ("unpublished", &|| fs::write(kb.join("notes/renamed.md"), unpublished("Renamed")).unwrap()),
        ("removed", &|| fs::remove_dir_all(kb.join("tags")).unwrap()),
    ];
    let expected = [
        vec![("notes/first.md", "edited\n")],
        vec![("notes/renamed.md", "edited\n")],
        vec![("notes/renamed.md", "edited\n"), ("tags/deep/er/another.md", "new folder\n")],
        vec![("tags/deep/er/another.md", "new folder\n")],
        vec![],
    ];
    for ((edit, make), expected) in edits.iter().zip(expected) {
        let began = Instant::now();
        make();
        eventually_within(Duration::from_secs(2), edit, || async {
            let source = program.source().await?;
            let shelf = Shelf::read(&data, source["commit"].as_str().unwrap())?;
            let texts: Vec<_> = paths(&shelf).into_iter().map(|path| (path, shelf.text(path))).collect();
            if texts == expected { Ok(()) } else { Err(format!("{texts:?}")) }
        })
        .await;
        println!("{edit} after {:?}", began.elapsed());
    }
}
