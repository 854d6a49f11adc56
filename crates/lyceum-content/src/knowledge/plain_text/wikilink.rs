//! Links of Obsidian and wikis: `[[note]]`, `[[note#part|label]]`, and embeds `![[note]]`.

/// Extensions of embedded files that have no text.
const MEDIA: &[&str] = &[
    "avif", "bmp", "canvas", "gif", "jpeg", "jpg", "m4a", "mov", "mp3", "mp4", "ogg", "pdf", "png", "svg",
    "wav", "webm", "webp",
];

/// Maximum length of a link, in bytes.
const MAX_LINK_BYTES: usize = 400;

/// The length of the link at the start of a text, and its label; empty for embedded media.
pub(super) fn at(text: &str) -> Option<(usize, String)> {
    let inside = text.strip_prefix("![[").or_else(|| text.strip_prefix("[["))?;
    let opened = text.len() - inside.len();
    let end = inside.get(..inside.floor_char_boundary(MAX_LINK_BYTES))?.find("]]")?;
    let inside = inside.get(..end).filter(|inside| !inside.trim().is_empty() && !inside.contains('\n'))?;
    let length = opened + end + 2;
    let (target, label) = match inside.split_once('|') {
        // In a table, the bar is escaped.
        Some((target, label)) => (target.trim_end_matches('\\'), Some(label)),
        None => (inside, None),
    };
    let extension = target.rsplit_once('.').map_or("", |(_, extension)| extension);
    if opened == 3 && MEDIA.iter().any(|media| media.eq_ignore_ascii_case(extension)) {
        return Some((length, String::new()));
    }
    let label = match label.filter(|label| !label.trim().is_empty()) {
        Some(label) => label.rsplit('|').next().unwrap_or(label).to_owned(),
        // `note#part` and `note#^block` are shown without marks.
        None => target.replace("#^", " ").replace('#', " ").trim().to_owned(),
    };
    Some((length, label))
}
