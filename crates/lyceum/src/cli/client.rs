//! Names of OAuth clients, as people know them.

/// Maximum length of a client id that is shown as it is: those of the configuration are short, while the id of a
/// registered client is its whole registration.
const MAX_SHOWN_ID_CHARS: usize = 40;

/// The name that a client gave itself, else its id if that can be read. Text of a client can't control the terminal.
pub(super) fn client_name(id: &str, name: Option<&str>) -> String {
    let is_readable = id.starts_with("https://") || id.chars().count() <= MAX_SHOWN_ID_CHARS;
    let shown = match name {
        Some(name) => name,
        None if is_readable => id,
        None => "a registered client without a name",
    };
    shown.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_called_by_a_name_that_can_be_read() {
        assert_eq!(client_name("eyJuIjoi", Some("Claude\x1b[2J Code")), "Claude[2J Code");
        assert_eq!(
            client_name("https://app.example.org/client.json", None),
            "https://app.example.org/client.json"
        );
        assert_eq!(client_name("inspector", None), "inspector");
        assert_eq!(client_name(&"eyJuIjoi".repeat(20), None), "a registered client without a name");
    }
}
