//! The text of documents for search.

use crate::knowledge::{Dialect, inline_tags, plain_text};

#[track_caller]
fn check(dialect: Dialect, body: &str, expected: &str) {
    let plain = plain_text(body, dialect);
    assert_eq!(plain, expected, "{body:?}");
    assert_eq!(plain.matches('\n').count(), body.matches('\n').count(), "{body:?}");
}

#[test]
fn mdx_is_read_without_its_code() {
    let mdx = |body, expected| check(Dialect::Mdx, body, expected);
    mdx(
        "import Tabs from '@theme/Tabs';\nimport {\n  a,\n\n  b,\n} from 'x';\n\nText.\n",
        "\n\n\n\n\n\n\nText.\n",
    );
    mdx("export const meta = { a: 1 };\n\nImports are important.\n", "\n\nImports are important.\n");
    mdx("{/* a\ncomment */}Hello <b>{user.name}</b>!", "\nHello !");
    mdx(
        "<Card\n  title=\"Create an app\"\n  onClick={() => a > b}\n>\nBody\n</Card>",
        "Create an app\n\n\n\nBody\n",
    );
    mdx("<>fragment</> and <https://example.org>", "fragment and <https://example.org>");
    mdx(
        "Use `{code}` and\n```jsx\n<Tabs>{x}</Tabs>\n```\n{x}",
        "Use `{code}` and\n```jsx\n<Tabs>{x}</Tabs>\n```\n",
    );
    mdx("an { open brace and a < b", "an { open brace and a < b");
}

#[test]
fn templating_is_not_text() {
    let markdown = |body, expected| check(Dialect::Markdown, body, expected);
    markdown("{% include nav.html %}\nHello {{ site.title | upcase }}.", "\nHello .");
    markdown("{{< youtube abc >}}{{% notice %}}Mind the gap.", "Mind the gap.");
    markdown("The {{domxref(\"Element.click\", \"click\")}} event", "The Element.click click event");
    markdown("## Install {#install}\n{: .note}\nText", "## Install \n\nText");
    markdown("one<br>two <!-- a\nb -->three <img alt=\"a cat\" src=\"x.png\">", "one two \nthree a cat");
    markdown("<style>\np { color: red }\n</style>Text", "\n\nText");
    // Generics and comparisons are text.
    markdown("A Vec<String> where a < b and {braces}", "A Vec<String> where a < b and {braces}");
    markdown("`{{ code }}` and \\{{ escaped", "`{{ code }}` and \\{{ escaped");
}

#[test]
fn links_of_a_vault_are_their_labels() {
    let markdown = |body, expected| check(Dialect::Markdown, body, expected);
    markdown("See [[Files]] and [[Files#Move|moving]].", "See Files and moving.");
    markdown("![[photo.png|200]]\n![[Other note#Part]]", "\nOther note Part");
    markdown("%%hidden\nnote%% 50%% off%%", "\n 50%% off%%");
    markdown("> [!warning]- Careful\n> [ ] open", ">  Careful\n> [ ] open");
    markdown("[[not closed\n]] and [[]]", "[[not closed\n]] and [[]]");
}

#[test]
fn tags_in_the_text_are_found_outside_code() {
    let tags =
        inline_tags("#a text #topic/part, (#c-d) x#no #12 #fa0 `#code`\n# Heading\n```\n#fenced\n```\n#a");
    assert_eq!(tags, ["a", "c-d", "topic/part"]);
}

#[test]
fn any_text_is_read_in_reasonable_time() {
    for part in ["{{", "<a ", "[[", "{", "`", "%%", "{%", "<!--", "\\", "é{", "import {\n"] {
        let body = part.repeat(50_000);
        for dialect in [Dialect::Markdown, Dialect::Mdx] {
            let plain = plain_text(&body, dialect);
            assert_eq!(plain.matches('\n').count(), body.matches('\n').count(), "{part:?}");
        }
    }
}
