//! Sections of the page.

use super::{EMPTY, Section};

#[test]
fn only_the_section_between_the_markers_changes() {
    let page = "# B\n<!-- bench:http -->\nold\n<!-- /bench:http -->\nrest\n";
    let new = "# B\n<!-- bench:http -->\n\nnew\n\n<!-- /bench:http -->\nrest\n";
    assert_eq!(Section::Http.replaced(page, "new\n").as_deref(), Some(new));
    assert_eq!(Section::Http.replaced(new, "new").as_deref(), Some(new));
    assert_eq!(Section::Skills.replaced(page, "new"), None);
}

#[test]
fn an_empty_page_has_every_section() {
    assert!(Section::Auth.replaced(EMPTY, "new").is_some());
    assert!(Section::Http.replaced(EMPTY, "new").is_some());
    assert!(Section::Search.replaced(EMPTY, "new").is_some());
    assert!(Section::SkillRouting.replaced(EMPTY, "new").is_some());
    assert!(Section::Skills.replaced(EMPTY, "new").is_some());
    assert!(Section::Sync.replaced(EMPTY, "new").is_some());
}
