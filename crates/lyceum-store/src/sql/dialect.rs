//! What the SQL of the engines differs in.

/// The SQL of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// A text of migrations with the types of the engine. Text is ordered by bytes everywhere.
    pub(crate) fn typed(self, text: &str) -> String {
        let types: &[(&str, &str)] = match self {
            Self::Sqlite => &[("{bytes}", "BLOB"), ("{integer}", "INTEGER")],
            Self::Postgres => {
                &[("{bytes}", "BYTEA"), ("{integer}", "BIGINT"), (" TEXT", " TEXT COLLATE \"C\"")]
            }
        };
        types.iter().fold(text.to_owned(), |text, (name, sql_type)| text.replace(name, sql_type))
    }

    /// Suffix of a `SELECT … LIMIT` that locks its rows and skips locked ones. SQLite has one writer at a time.
    pub(crate) fn skip_locked(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => "FOR UPDATE SKIP LOCKED",
        }
    }

    /// Query of the server's clock in milliseconds; `None` if the process's own is as good.
    pub(crate) fn clock(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"),
        }
    }
}
