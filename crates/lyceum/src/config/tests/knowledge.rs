//! The table `[knowledge]`, and the bundled example without a configuration.

use std::{fs, path::Path};

use lyceum_knowledge::PublicContent;

use super::declared;
use crate::config::{
    AuthService, Config, KnowledgeService, Location, Overrides, ServiceArgument, SourceArgument,
    document::Document,
};

const SOURCE: &str = "[[source]]\nname = \"kb\"\nurl = \"https://example.org/kb.git\"\n";

fn with(text: &str, variables: &[(&str, &str)]) -> Result<Config, String> {
    let document = Document::parse(Path::new("lyceum.toml"), &format!("{SOURCE}{text}")).unwrap();
    let variable = |name: &str| variables.iter().find(|(one, _)| *one == name).map(|(_, value)| value.into());
    Config::of(document, variable, &Overrides::default()).map_err(|faults| faults.to_string())
}

#[track_caller]
fn check_fault(text: &str, variables: &[(&str, &str)], told: &[&str]) {
    let error = with(text, variables).unwrap_err();
    for part in told {
        assert!(error.contains(part), "{part:?} is not in {error}");
    }
}

#[test]
fn the_table_turns_the_service_on() {
    assert!(with("", &[]).unwrap().services.is_empty());
    let service: KnowledgeService = declared(&with("[knowledge]\nsource = \"kb\"", &[]).unwrap());
    assert_eq!((service.source.name.as_str(), service.title.as_str()), ("kb", "kb"));
    assert!(!service.ontology.get("tag").unwrap().default_of("publish"));
}

#[test]
fn without_a_word_all_is_public_where_nobody_signs_in_and_summaries_where_people_do() {
    use PublicContent::{All, Nothing, Summaries};
    let public = |more: &str| {
        let config = with(&format!("[knowledge]\nsource = \"kb\"\n{more}"), &[]).unwrap();
        let all = config.services_of::<KnowledgeService>().map(|(_, service)| service.public);
        all.collect::<Vec<_>>()
    };
    let auth = "[auth]\nmode = \"github-pat\"\n";
    assert_eq!(public(""), [All]);
    assert_eq!(public("public = \"all\"\n"), [All]);
    assert_eq!(public("[auth]\nmode = \"open\"\n"), [All]);
    assert_eq!(public(auth), [Summaries]);
    assert_eq!(public(&format!("{auth}anonymous = true\n")), [Summaries]);
    for (written, expected) in [("all", All), ("summaries", Summaries), ("nothing", Nothing)] {
        assert_eq!(public(&format!("public = {written:?}\n{auth}")), [expected]);
    }
    // Each knowledge base has its own.
    let more = "[knowledge.a]\nsource = \"kb\"\npublic = \"nothing\"\n[knowledge.b]\nsource = \"kb\"\n";
    assert_eq!(public(&format!("public = \"all\"\n{more}{auth}")), [All, Nothing, Summaries]);
}

#[test]
fn the_sign_in_page_does_not_name_a_knowledge_base_of_which_nothing_is_public() {
    let name = |public: &str| {
        let text = format!(
            "[knowledge]\nsource = \"kb\"\ntitle = \"Strongroom\"\npublic = {public:?}\n[auth]\nmode = \"oauth\"\n\
             [auth.waap]\nscript_url = \"https://static.example.org/waap.js\"\nintegrity = \"sha384-a\"\n"
        );
        let config = with(&text, &[("OPTIMISM_RPC_URL", "https://chain.example.org")]).unwrap();
        let AuthService::Gated(oauth) = config.auth else { panic!("{:?}", config.auth) };
        oauth.waap.unwrap().settings.project.name
    };
    assert_eq!((name("summaries"), name("nothing")), ("Strongroom".to_owned(), "lyceum".to_owned()));
}

#[test]
fn rules_differ_when_documents_would_be_read_otherwise() {
    let rules = |text: &str| {
        let config = with(&format!("[knowledge]\nsource = \"kb\"\n{text}"), &[]).unwrap();
        declared::<KnowledgeService>(&config).rules
    };
    let plain = rules("");
    assert_eq!(plain, rules("title = \"Another\""));
    assert_ne!(plain, rules("publish = \"all\""));
    assert_eq!(plain, rules("publish = \"auto\""));
    assert_ne!(plain, rules("exclude = [\"templates\"]"));
}

#[test]
fn an_ontology_of_one_s_own_is_read_beside_the_file() {
    let folder = tempfile::TempDir::new().unwrap();
    fs::write(folder.path().join("types.toml"), "[[type]]\nname = \"file\"\n[[type]]\nname = \"recipe\"\n")
        .unwrap();
    let text = format!("{SOURCE}[knowledge]\nsource = \"kb\"\nontology = \"types.toml\"");
    let config = Config::from_text(&folder.path().join("lyceum.toml"), &text).unwrap();
    assert!(declared::<KnowledgeService>(&config).ontology.get("recipe").is_some());
}

#[test]
fn types_that_search_has_for_skills_are_taken() {
    let folder = tempfile::TempDir::new().unwrap();
    fs::write(folder.path().join("types.toml"), "[[type]]\nname = \"file\"\n[[type]]\nname = \"skill\"\n")
        .unwrap();
    let text = format!("{SOURCE}[knowledge]\nsource = \"kb\"\nontology = \"types.toml\"");
    let faults = Config::from_text(&folder.path().join("lyceum.toml"), &text).unwrap_err();
    assert!(faults.to_string().contains("is reserved for skills"), "{faults}");
}

#[test]
fn every_fault_is_told_at_once() {
    check_fault("[knowledge]\nsource = \"other\"", &[], &["no [[source]] is named \"other\""]);
    check_fault("[knowledge]\nsource = \"kb\"\nontology = \"absent.toml\"", &[], &["absent.toml"]);
    check_fault(
        "[knowledge]\nsource = \"kb\"\ntitle = \"知識\"\nexclude = [\"../x\"]\nsauce = 1",
        &[],
        &["title", "exclude", "sauce"],
    );
}

#[test]
fn a_bucket_needs_its_keys_and_a_line_that_nobody_reads() {
    let bucket = |endpoint: &str| {
        format!(
            "[knowledge]\nsource = \"kb\"\n[knowledge.bucket]\nname = \"b\"\nendpoint = {endpoint:?}\naccess_key_env = \"ID\"\nsecret_key_env = \"KEY\""
        )
    };
    let keys = [("ID", "an-id"), ("KEY", "canary")];
    let config = with(&bucket("https://s3.example.org"), &keys).unwrap();
    assert!(!format!("{config:?}").contains("canary"));
    assert_eq!(declared::<KnowledgeService>(&config).bucket.unwrap().region, "auto");
    check_fault(
        &bucket("https://s3.example.org"),
        &[],
        &["the variable ID is not set", "the variable KEY is not set"],
    );
    check_fault(&bucket("http://s3.example.org"), &keys, &["https"]);
}

#[test]
fn a_webhook_needs_its_secret() {
    let text = "webhook_secret_env = \"HOOK\"\nweb_url = \"https://example.org/{path}\"";
    check_fault(text, &[], &["the variable HOOK is not set", "web_url", "{commit}"]);
    let config = with("webhook_secret_env = \"HOOK\"", &[("HOOK", "canary")]).unwrap();
    assert!(!format!("{config:?}").contains("canary"));
}

#[test]
fn a_folder_that_names_a_variable_needs_it_too() {
    let document = |key: &str| format!("[[source]]\nname = \"f\"\npath = \".\"\n{key} = \"UNSET\"\n");
    for key in ["webhook_secret_env", "token_env"] {
        let faults = Config::from_text(Path::new("lyceum.toml"), &document(key)).unwrap_err().to_string();
        assert!(faults.contains(key) && faults.contains("the variable UNSET is not set"), "{faults}");
    }
}

#[test]
fn without_anything_the_example_is_served() {
    let nothing = || Config::of(Document::empty(), |_| None, &Overrides::default()).unwrap();
    let config = nothing().or_example().unwrap();
    assert_eq!(declared::<KnowledgeService>(&config).source.location, Location::Example);
    let written = with("", &[]).unwrap().or_example().unwrap();
    assert!(written.services.is_empty());
}

fn argument(location: &str, services: &[(&'static str, Option<&str>)]) -> SourceArgument {
    let service = |(table, name): &(&'static str, Option<&str>)| ServiceArgument {
        table,
        name: name.map(str::to_owned),
        exclude: Vec::new(),
        path: None,
    };
    SourceArgument { location: location.to_owned(), services: services.iter().map(service).collect() }
}

fn of_arguments(sources: Vec<SourceArgument>) -> Config {
    Config::of(Document::empty(), |_| None, &Overrides { sources, ..Overrides::default() }).unwrap()
}

#[track_caller]
fn check_location(location: &str, name: &str, is_folder: bool) {
    let config = of_arguments(vec![argument(location, &[("knowledge", None)])]).or_example().unwrap();
    let service = declared::<KnowledgeService>(&config);
    assert_eq!(service.source.name.as_str(), name, "{location:?}");
    assert_eq!(matches!(service.source.location, Location::Folder(_)), is_folder, "{location:?}");
    assert_eq!(service.publish, None, "the rule is recognised");
}

#[test]
fn several_locations_are_services_with_names_of_their_own() {
    let config = of_arguments(vec![
        argument("/srv/docs", &[("knowledge", Some("docs")), ("skills", None)]),
        argument("/home/me/docs", &[("knowledge", Some("docs-2"))]),
    ]);
    let names: Vec<&str> = config.services.iter().map(|declared| declared.name.as_str()).collect();
    assert_eq!(names, ["docs", "docs-2", "skills"]);
    let sources: Vec<&str> = config.sources.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(sources, ["docs", "docs-2"]);
}

#[test]
fn a_location_on_the_command_line_is_a_source_with_a_name() {
    check_location("./My Docs", "my-docs", true);
    check_location("/srv/2026 notes/", "kb-2026-notes", true);
    check_location("/", "kb", true);
    check_location("https://example.org/team/kb.git", "kb", false);
    check_location("git@example.org:team/Handbook.git", "handbook", false);
}
