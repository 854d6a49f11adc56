//! What the SQL of the engines differs in.

/// Placeholders for column types in migrations.
const TYPES: &[(&str, &str)] = &[("{bytes}", "BLOB"), ("{integer}", "INTEGER")];

/// Suffix of a `SELECT … LIMIT` that locks its rows and skips locked ones. Empty for SQLite, which has one writer
/// at a time.
pub(crate) const SKIP_LOCKED: &str = "";

/// A text of migrations with the types of this engine.
pub(crate) fn typed(text: &str) -> String {
    TYPES.iter().fold(text.to_owned(), |text, (name, sql_type)| text.replace(name, sql_type))
}
