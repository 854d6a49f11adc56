//! Agent Skills: `skill://` resources and the extension, as clients see them.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{
    Folder, ask,
    folder::{skill, standard},
    serving,
};
use crate::app::{Older, Response, TestApp, modern};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

const PDF: &str = "---\nname: pdf\ndescription: Reads and fills PDF forms.\nlicense: MIT\ncompatibility: Needs Python 3\n\
    metadata:\n  author: ana\n  version: \"1.0\"\nallowed-tools: Bash Read\nx-team: docs\n---\n\n# PDF\n\nRead forms.md.\n";

/// Agent Skills, one in a category, and a skill of the other format.
fn folder() -> Folder {
    let folder = Folder::of(&[
        ("pdf/SKILL.md", PDF),
        ("pdf/references/forms.md", "# Forms\n"),
        ("pdf/scripts/fill.py", "print('filled')\n"),
        ("pdf/references/data/fields.json", "{}\n"),
        ("acme/billing/SKILL.md", &standard("billing", "Send bills.")),
        ("other.md", &skill("other", "Not of the standard.")),
    ]);
    folder.write("pdf/assets/logo.png", PNG);
    folder
}

/// The digest of bytes, in the format of the extension.
fn digest(bytes: &[u8]) -> String {
    let digits = const_hex::encode(Sha256::digest(bytes));
    format!("sha256:{digits}")
}

/// Sends one request in both protocol versions; the results must be equal, apart from modern fields.
async fn both(app: &TestApp, method: &str, params: Value) -> Value {
    let session = Older::open(app, "2025-11-25").await;
    let modern = app.send(modern(method, &params)).await.result();
    let older = app.send(session.request(method, &params)).await.result();
    let mut rest = modern.clone();
    for key in ["_meta", "resultType", "ttlMs", "cacheScope"] {
        rest.as_object_mut().unwrap().remove(key);
    }
    assert_eq!(older, rest, "{method}");
    modern
}

#[tokio::test]
async fn the_extension_is_declared_in_both_eras() {
    let folder = folder();
    let app = serving(&folder, "").await;
    let declared = json!({ "io.modelcontextprotocol/skills": { "directoryRead": true } });
    let discovered = app.send(modern("server/discover", &json!({}))).await.result();
    assert_eq!(discovered["capabilities"]["extensions"], declared);
    let session = Older::open(&app, "2025-11-25").await;
    assert_eq!(session.greeting["capabilities"]["extensions"], declared);
    app.stop().await;
}

#[tokio::test]
async fn skills_are_listed_with_frontmatter_and_digests() {
    let folder = folder();
    let app = serving(&folder, "").await;
    let listed = both(&app, "skills/list", json!({})).await;
    assert_eq!((&listed["ttlMs"], &listed["cacheScope"]), (&json!(60_000), &json!("public")));
    let file = |uri: &str, bytes: &[u8]| json!({ "uri": uri, "digest": digest(bytes), "size": bytes.len() });
    let billing = standard("billing", "Send bills.");
    let expected = json!([
        {
            "uri": "skill://acme/billing/SKILL.md",
            "frontmatter": { "name": "billing", "description": "About billing" },
            "resources": [file("skill://acme/billing/SKILL.md", billing.as_bytes())],
        },
        {
            "uri": "skill://pdf/SKILL.md",
            "frontmatter": {
                "name": "pdf",
                "description": "Reads and fills PDF forms.",
                "license": "MIT",
                "compatibility": "Needs Python 3",
                "metadata": { "author": "ana", "version": "1.0" },
                "allowed-tools": "Bash Read",
                "x-team": "docs",
            },
            "resources": [
                file("skill://pdf/SKILL.md", PDF.as_bytes()),
                file("skill://pdf/assets/logo.png", PNG),
                file("skill://pdf/references/data/fields.json", b"{}\n"),
                file("skill://pdf/references/forms.md", b"# Forms\n"),
                file("skill://pdf/scripts/fill.py", b"print('filled')\n"),
            ],
        },
    ]);
    assert_eq!(listed["skills"], expected);
    assert_eq!(listed.get("nextCursor"), None);
    let got = both(&app, "skills/get", json!({ "uri": "skill://pdf/SKILL.md" })).await;
    assert_eq!(got["skill"], expected[1]);
    assert_eq!((&got["ttlMs"], &got["cacheScope"]), (&json!(60_000), &json!("public")));
    app.stop().await;
}

#[tokio::test]
async fn pages_hold_every_skill_once() {
    let files: Vec<(String, String)> = (0..250)
        .map(|number| (format!("s-{number:03}/SKILL.md"), standard(&format!("s-{number:03}"), "Short.")))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    let folder = Folder::of(&files);
    let app = serving(&folder, "").await;
    let (mut found, mut params) = (Vec::new(), json!({}));
    for size in [100, 100, 50] {
        let page = both(&app, "skills/list", params).await;
        let skills = page["skills"].as_array().unwrap();
        assert_eq!(skills.len(), size);
        found.extend(skills.iter().map(|one| one["frontmatter"]["name"].as_str().unwrap().to_owned()));
        params = json!({ "cursor": page["nextCursor"] });
    }
    assert_eq!(params, json!({ "cursor": null }));
    assert_eq!(found, (0..250).map(|number| format!("s-{number:03}")).collect::<Vec<_>>());
    let listed = app.send(modern("resources/list", &json!({}))).await.result();
    assert_eq!(listed["resources"].as_array().unwrap().len(), 100);
    app.stop().await;
}

/// Checks that a request fails with that code in both protocol versions, with a message that contains that word.
async fn check_error(app: &TestApp, method: &str, params: Value, codes: [i64; 2], word: &str) {
    let session = Older::open(app, "2025-11-25").await;
    let answers: [Response; 2] =
        [app.send(modern(method, &params)).await, app.send(session.request(method, &params)).await];
    for (answer, code) in answers.iter().zip(codes) {
        let error = answer.message()["error"].clone();
        assert_eq!(error["code"], code, "{method} {params}: {error}");
        assert!(error["message"].as_str().unwrap().contains(word), "{method} {params}: {error}");
    }
}

#[tokio::test]
async fn what_is_no_skill_is_an_invalid_parameter() {
    let folder = folder();
    let app = serving(&folder, "").await;
    for uri in [
        "skill://nothing/SKILL.md",
        "skill://pdf",
        "skill://pdf/",
        "skill://pdf/references/forms.md",
        "skill://other",
        "skill://acme/SKILL.md",
        "skill://../SKILL.md",
        "skill://%2e%2e/SKILL.md",
        "skill:///etc/SKILL.md",
        "file:///etc/passwd",
        "pdf",
        "",
    ] {
        check_error(&app, "skills/get", json!({ "uri": uri }), [-32602, -32602], "No skill is served at")
            .await;
    }
    check_error(&app, "skills/get", json!({}), [-32602, -32602], "uri").await;
    check_error(&app, "skills/get", json!({ "uri": 7 }), [-32602, -32602], "").await;
    check_error(&app, "skills/list", json!({ "cursor": "?" }), [-32602, -32602], "cursor").await;
    app.stop().await;
}

#[tokio::test]
async fn an_address_may_be_spelled_with_percent_signs() {
    let folder = folder();
    let app = serving(&folder, "").await;
    let got = both(&app, "skills/get", json!({ "uri": "skill://%70df/SKILL%2Emd" })).await;
    assert_eq!(got["skill"]["uri"], "skill://%70df/SKILL%2Emd");
    assert_eq!(got["skill"]["frontmatter"]["name"], "pdf");
    app.stop().await;
}

#[tokio::test]
async fn a_directory_lists_what_is_directly_in_it() {
    let folder = folder();
    let app = serving(&folder, "").await;
    let listed = both(&app, "resources/directory/read", json!({ "uri": "skill://pdf" })).await;
    let directory = |name: &str| json!({ "uri": format!("skill://pdf/{name}"), "name": name, "mimeType": "inode/directory" });
    let expected = json!([
        {
            "uri": "skill://pdf/SKILL.md",
            "name": "pdf",
            "description": "Reads and fills PDF forms.",
            "mimeType": "text/markdown",
            "size": PDF.len(),
        },
        directory("assets"),
        directory("references"),
        directory("scripts"),
    ]);
    assert_eq!(listed["resources"], expected);
    assert_eq!((&listed["ttlMs"], &listed["cacheScope"]), (&json!(60_000), &json!("public")));
    let names = |listed: &Value| -> Vec<String> {
        listed["resources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["uri"].as_str().unwrap().to_owned())
            .collect()
    };
    let references = both(&app, "resources/directory/read", json!({ "uri": "skill://pdf/references" })).await;
    assert_eq!(names(&references), ["skill://pdf/references/data", "skill://pdf/references/forms.md"]);
    let acme = both(&app, "resources/directory/read", json!({ "uri": "skill://acme" })).await;
    assert_eq!(names(&acme), ["skill://acme/billing"]);
    let word = "is not a directory resource";
    for uri in ["skill://nothing", "skill://pdf/SKILL.md", "skill://..", "skill://pdf/..", "file:///etc", ""]
    {
        check_error(&app, "resources/directory/read", json!({ "uri": uri }), [-32602, -32602], word).await;
    }
    app.stop().await;
}

async fn read(app: &TestApp, uri: &str) -> Value {
    let mut result = both(app, "resources/read", json!({ "uri": uri })).await;
    assert_eq!(result["contents"].as_array().unwrap().len(), 1);
    result["contents"][0].take()
}

#[tokio::test]
async fn files_are_read_as_text_or_as_bytes_and_fit_their_digests() {
    let folder = folder();
    let app = serving(&folder, "").await;
    let text = |uri: &str, kind: &str, text: &str| json!({ "uri": uri, "mimeType": kind, "text": text });
    for (uri, kind, words) in [
        ("skill://pdf/SKILL.md", "text/markdown", PDF),
        ("skill://pdf/references/forms.md", "text/markdown", "# Forms\n"),
        ("skill://pdf/scripts/fill.py", "text/x-python", "print('filled')\n"),
        ("skill://pdf/references/data/fields.json", "application/json", "{}\n"),
    ] {
        assert_eq!(read(&app, uri).await, text(uri, kind, words));
    }
    let logo = "skill://pdf/assets/logo.png";
    let expected = json!({ "uri": logo, "mimeType": "image/png", "blob": BASE64_STANDARD.encode(PNG) });
    assert_eq!(read(&app, logo).await, expected);

    let listed = app.send(modern("skills/list", &json!({}))).await.result();
    let mut checked = 0;
    for file in
        listed["skills"].as_array().unwrap().iter().flat_map(|one| one["resources"].as_array().unwrap())
    {
        let contents = read(&app, file["uri"].as_str().unwrap()).await;
        let bytes = match contents["text"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => BASE64_STANDARD.decode(contents["blob"].as_str().unwrap()).unwrap(),
        };
        assert_eq!((&json!(digest(&bytes)), &json!(bytes.len())), (&file["digest"], &file["size"]), "{file}");
        checked += 1;
    }
    assert_eq!(checked, 6);
    app.stop().await;
}

#[tokio::test]
async fn what_is_not_on_the_shelf_can_not_be_read() {
    let folder = folder();
    let app = serving(&folder, "").await;
    for uri in [
        "skill://other.md",
        "skill://nothing/SKILL.md",
        "skill://pdf/../other.md",
        "skill://pdf",
        "skill://%2e%2e/x",
    ] {
        check_error(&app, "resources/read", json!({ "uri": uri }), [-32602, -32002], "").await;
    }
    app.stop().await;
}

#[tokio::test]
async fn resources_are_listed_with_name_and_description() {
    let folder = folder();
    let app = serving(&folder, "").await;
    let listed = app.send(modern("resources/list", &json!({}))).await.result();
    let expected = json!([
        {
            "uri": "skill://acme/billing/SKILL.md",
            "name": "billing",
            "description": "About billing",
            "mimeType": "text/markdown",
            "size": standard("billing", "Send bills.").len(),
        },
        {
            "uri": "skill://pdf/SKILL.md",
            "name": "pdf",
            "description": "Reads and fills PDF forms.",
            "mimeType": "text/markdown",
            "size": PDF.len(),
        },
    ]);
    assert_eq!(listed["resources"], expected);
    let templates = app.send(modern("resources/templates/list", &json!({}))).await.result();
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "skill://{+path}");
    app.stop().await;
}

#[tokio::test]
async fn the_tools_serve_skills_of_the_standard_too() {
    let folder = folder();
    let app = serving(&folder, "").await;
    let answer = ask(&app, "get_skill", json!({ "context": "fill a pdf form" })).await;
    assert_eq!(
        (&answer["skill_path"], &answer["content"]),
        (&json!("pdf"), &json!("# PDF\n\nRead forms.md."))
    );
    let files: Vec<&str> =
        answer["assets"].as_array().unwrap().iter().map(|one| one["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["assets/logo.png", "references/data/fields.json", "references/forms.md"]);
    assert_eq!(answer["scripts"][0]["file"], "scripts/fill.py");
    let asset = ask(&app, "get_asset", json!({ "skill_path": "pdf", "file": "assets/logo.png" })).await;
    assert_eq!((&asset["mime_type"], &asset["size_bytes"]), (&json!("image/png"), &json!(PNG.len())));
    app.stop().await;
}
