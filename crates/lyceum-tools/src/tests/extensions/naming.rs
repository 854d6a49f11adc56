//! Names of extensions and methods. Invalid ones fail at start-up, with advice on how to fix them.

use lyceum_model::{Access, Domain};

use super::{
    super::{SHELF, registering::told},
    ATTIC, echo, extension,
};
use crate::{ExtensionEntry, Registry, RegistryError};

/// The error of the last of those extensions, as the operator sees it.
fn refused(extensions: impl IntoIterator<Item = ExtensionEntry>) -> String {
    let add = |all: crate::RegistryBuilder, entry| all.extension(entry);
    let error = extensions.into_iter().try_fold(Registry::builder(), add).err();
    told(&error.unwrap_or_else(|| panic!("it was accepted")))
}

#[test]
fn two_of_one_name_are_an_error_that_says_what_to_do() {
    let of = |domain: Domain, id: &str, method: &str| {
        extension(Access::public(domain.clone()), id, [echo(Access::public(domain), method)])
    };
    let first = || of(SHELF, "org.example/echo", "echo/say");
    insta::assert_snapshot!(refused([first(), of(ATTIC, "org.example/echo", "echo/sing")]), @r#"two extensions are named "org.example/echo", one in the service "shelf" and one in "attic"; disable one of the services, or rename one of them"#);
    insta::assert_snapshot!(refused([first(), of(ATTIC, "org.example/dust", "echo/say")]), @r#"two methods are named "echo/say", one in the service "shelf" and one in "attic"; disable one of the services, or rename one of them"#);
    let twice = first().method(echo(Access::public(SHELF), "echo/say"));
    insta::assert_snapshot!(refused([twice]), @r#"two methods of the service "shelf" are named "echo/say"; rename one of them"#);
}

#[track_caller]
fn check_id(id: &str, accepted: bool) {
    let result = Registry::builder().extension(extension(Access::public(SHELF), id, []));
    match result {
        Ok(_) => assert!(accepted, "{id:?} was accepted"),
        Err(error) => {
            assert!(!accepted && matches!(error, RegistryError::ExtensionId { .. }), "{id:?}: {error}");
        }
    }
}

#[test]
fn an_id_names_the_vendor_and_the_extension() {
    check_id("io.modelcontextprotocol/skills", true);
    check_id("com.example-1/my_ext.v2", true);
    check_id("example/x", true);
    for id in
        ["", "skills", "/skills", "a/", "a/b/c", "1a/b", "a-/b", "a..b/c", "a/_b", "a/b-", "a/b c", "ä/b"]
    {
        check_id(id, false);
    }
}

#[track_caller]
fn check_method(name: &str, refused_for: Option<&str>) {
    let entry = extension(Access::public(SHELF), "org.example/echo", [echo(Access::public(SHELF), name)]);
    let error = Registry::builder().extension(entry).err().map(|error| told(&error));
    assert_eq!(error.as_deref(), refused_for);
}

#[test]
fn a_method_has_a_name_that_every_client_can_send_and_that_is_its_own() {
    check_method("skills/list", None);
    check_method("resources/directory/read", None);
    check_method(&"a".repeat(128), None);
    for name in ["", "a b", "straße", "a\n", &"a".repeat(129)] {
        let text = "use 1 to 128 characters of A-Z, a-z, 0-9, '_', '-', '.' and '/'";
        check_method(name, Some(&format!("invalid method name {name:?}: {text}")));
    }
    for name in [
        "initialize",
        "server/discover",
        "tools/call",
        "resources/read",
        "resources/subscribe",
        "subscriptions/listen",
        "logging/setLevel",
        "tasks/get",
        "notifications/skills/list_changed",
        "rpc.discover",
    ] {
        let text = "the name is reserved by the protocol; rename it";
        check_method(name, Some(&format!("an extension can't define the method {name:?}: {text}")));
    }
}
