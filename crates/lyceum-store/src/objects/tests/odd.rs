//! Names to be careful with. The peer of S3 uses them too (`examples/s3_peer.rs`).

/// Names that real knowledge bases have, and some that would be easy to get wrong.
pub(super) const ODD: [&str; 24] = [
    "raw/é ü/ñ.md",
    "raw/e\u{301}.md",
    "raw/日本語/文書.md",
    "raw/🏛️ library.md",
    "raw/a b/c#d?.md",
    "raw/a b/c#1",
    "raw/%41.md",
    "raw/A.md",
    "raw/%2541.md",
    "raw/%2E%2E/x.md",
    "raw/50% \"of\" *all*.md",
    "raw/a+b&c=d;e,f@g:h!$'()[]{}|^~`<>.md",
    "raw/back\\slash.md",
    "raw/...",
    "raw/.hidden/.md",
    "raw/v1.2/x.md",
    "raw/v1%2E2/x.md",
    "raw/no-dot",
    "raw/no-dot.%",
    "raw/no-dot/x.md",
    "raw/x.md#1/x.md",
    "raw/ x .md",
    "content/guide/team/a.json",
    "metadata/manifest.json",
];
