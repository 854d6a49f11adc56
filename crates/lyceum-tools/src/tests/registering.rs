//! What can be registered. Invalid entries fail at start-up, with advice on how to fix them.

use std::error::Error as _;

use lyceum_model::{Access, Domain, Tier};

use super::{SHELF, family, prompt, resource, said, spec, tool};
use crate::{Registry, RegistryError, ToolEntry, ToolSpec, mcp::WirePrompt};

const ATTIC: Domain = Domain::from_static("attic");

/// An error with its cause, as the operator sees it.
pub(super) fn told(error: &RegistryError) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

#[test]
fn two_tools_with_one_name_are_an_error_that_says_what_to_write() {
    let builder = Registry::builder().tool_entry(tool(spec("search"))).unwrap();
    let again = ToolSpec { access: Access::public(ATTIC), ..spec("search") };
    insta::assert_snapshot!(told(&builder.tool_entry(tool(again)).unwrap_err()), @r#"
    two tools are named "search", one in the service "shelf" and one in "attic"; give one of the services a prefix in lyceum.toml, such as

        [attic]
        prefix = "attic_"
    "#);
}

#[test]
fn two_tools_of_one_service_are_not_told_apart_by_a_prefix() {
    let builder = Registry::builder().tool_entry(tool(spec("search"))).unwrap();
    let error = told(&builder.tool_entry(tool(spec("search"))).unwrap_err());
    insta::assert_snapshot!(error, @r#"two tools of the service "shelf" are named "search"; rename one of them"#);
}

#[test]
fn two_prompts_with_one_name_are_an_error_that_says_what_to_write() {
    let wire = || WirePrompt::new("greet", None::<&str>, None);
    let builder = Registry::builder().prompt(prompt(Access::public(SHELF), wire())).unwrap();
    let again = prompt(Access::public(ATTIC), wire());
    insta::assert_snapshot!(told(&builder.prompt(again).unwrap_err()), @r#"
    two prompts are named "greet", one in the service "shelf" and one in "attic"; give one of the services a prefix in lyceum.toml, such as

        [attic]
        prefix = "attic_"
    "#);
}

#[test]
fn two_resources_with_one_address_are_an_error_that_says_what_to_write() {
    let builder = Registry::builder().resource(resource(Access::public(SHELF), "kb://a")).unwrap();
    let again = resource(Access::public(ATTIC), "kb://a");
    insta::assert_snapshot!(told(&builder.resource(again).unwrap_err()), @r#"two resources are named "kb://a", one in the service "shelf" and one in "attic"; give one of them another URI"#);
}

#[test]
fn two_templates_with_one_address_are_an_error_that_says_what_to_write() {
    let entry = |domain| family(Access::public(domain), "kb://{id}").unwrap();
    let builder = Registry::builder().template(entry(SHELF)).unwrap();
    insta::assert_snapshot!(told(&builder.template(entry(ATTIC)).unwrap_err()), @r#"two resource templates are named "kb://{id}", one in the service "shelf" and one in "attic"; give one of them another URI"#);
}

#[test]
fn a_name_that_two_kinds_share_is_no_clash() {
    let prompt = prompt(Access::public(SHELF), WirePrompt::new("search", None::<&str>, None));
    let registry =
        Registry::builder().tool_entry(tool(spec("search"))).unwrap().prompt(prompt).unwrap().build();
    assert_eq!(registry.services().map(Domain::as_str).collect::<Vec<_>>(), ["shelf"]);
}

#[track_caller]
fn check_name(name: &str, accepted: bool) {
    let entry = ToolEntry::new(spec(name), |_, _| async { said("") });
    match entry {
        Ok(_) => assert!(accepted, "{name:?} was accepted"),
        Err(error) => {
            assert!(!accepted, "{error}");
            let text = format!(
                "invalid tool name {name:?}: use 1 to 128 characters of A-Z, a-z, 0-9, '_', '-' and '.'"
            );
            assert_eq!(told(&error), text);
        }
    }
}

#[test]
fn a_tool_has_a_name_that_every_client_can_send() {
    check_name("search_knowledge", true);
    check_name("A-z.0_9", true);
    check_name(&"a".repeat(128), true);
    check_name(&"a".repeat(129), false);
    check_name("", false);
    check_name("two words", false);
    check_name("a/b", false);
    check_name("straße", false);
    check_name("a\n", false);
}

#[test]
fn s7_whatever_is_above_public_names_a_scope() {
    let members = || Access::scoped(SHELF, Tier::Member, []);
    let builder = Registry::builder;
    let refused = [
        builder().tool_entry(tool(ToolSpec { access: members(), ..spec("search") })),
        builder().resource(resource(members(), "kb://a")),
        builder().template(family(members(), "kb://{a}").unwrap()),
        builder().prompt(prompt(members(), WirePrompt::new("greet", None::<&str>, None))),
    ];
    for refused in refused {
        assert!(matches!(refused, Err(RegistryError::NoScope { .. })), "{refused:?}");
    }
    let refused = builder().tool_entry(tool(ToolSpec { access: members(), ..spec("search") }));
    insta::assert_snapshot!(told(&refused.unwrap_err()), @r#"the tool "search" requires the tier member but no scope; add the scope that a user must grant"#);
}
