//! Distinguishing code from prose.

use super::Kind;

#[track_caller]
fn check(text: &str, expected: Kind) {
    assert_eq!(Kind::guess(text), expected, "{text:?}");
}

#[test]
fn functions_are_code_however_much_is_said_in_them() {
    check(
        "def f(a, b):\n    \"\"\"Adds two numbers.\n\n    More about it.\n    And more.\n    \"\"\"\n    return a + b",
        Kind::Code,
    );
    check(
        "def unique(seq):     \"\"\"Helper to include only unique ones in a basis.\"\"\"     seen = {}     return seen",
        Kind::Code,
    );
    check("pub struct Page {\n    /// What is known of it.\n    facts: Facts,\n}", Kind::Code);
    check("fn main() {\n    println!(\"hello\");\n}", Kind::Code);
    check("x = load(path)\nfor line in x:\n    print(line)\n", Kind::Code);
    check("export function greet(name) {\n  return `hello ${name}`;\n}", Kind::Code);
    check("#include <stdio.h>\nint main(void) {\n  return 0;\n}", Kind::Code);
}

#[test]
fn sentences_are_prose_whatever_they_speak_of() {
    check("an experimental study of a wing in a propeller slipstream was made .", Kind::Prose);
    check("Import the data first, then return to the class of problems (see below).\nIt works.", Kind::Prose);
    check(
        "# Deploying\n\nPush to main; the server does the rest.\n\n- wait\n- look at `/health`\n",
        Kind::Prose,
    );
    check(
        "the equation p = q + r holds in the boundary layer, where it has been shown that the two of them are equal to within an error that is small .",
        Kind::Prose,
    );
    check("", Kind::Prose);
}
