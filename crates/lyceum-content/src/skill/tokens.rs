//! The tokenizer of skill routing.

/// English and French stop words.
const STOP_WORDS: &str = "a an the and or but nor if then else so as at by for from in into of off on onto out over per to up via \
    with without about above after again all also am any are be because been before being below between both can could \
    did do does doing down during each few further had has have having he her here hers him his how i im \
    is it its itself just me more most my need no not now off once only other our own please same she \
    should some such than that thats their them there these they this those through too under until us very want was \
    we were what when where which while who whom why will would you your \
    le la les un une des du de au aux et ou où mais donc or ni ce cet cette ces cela ça ceci que qui quoi dont \
    quel quelle quels quelles je tu il elle on nous vous ils elles me te se lui leur leurs moi toi soi mon ma mes \
    ta tes sa ses notre nos votre vos en y ne pas plus par pour sur sous dans avec sans entre vers chez est \
    sont suis es sommes êtes été être ai as avons avez ont avoir fait faire faut veux veut peux peut dois doit très \
    aussi comme si tout tous toute toutes même mêmes autre autres alors ainsi afin";

/// The ASCII and the typographic apostrophes.
const APOSTROPHES: [char; 3] = ['\'', '’', 'ʼ'];

/// French elisions, as in `l'eau`.
const ELISIONS: [&str; 9] = ["l", "d", "j", "m", "t", "s", "n", "c", "qu"];

/// English contractions after a stop word: `I'm`, `they've`, `that's`.
const CONTRACTIONS: [&str; 7] = ["d", "ll", "m", "re", "s", "t", "ve"];

/// Tokenizes a task: lower case, without punctuation except hyphens, without stop words, deduplicated, in order.
///
/// Words separated by punctuation are tokens too: `auth/jwt` becomes `authjwt`, `auth` and `jwt`.
pub(super) fn tokenize(text: &str) -> Vec<String> {
    distinct(text, |word| {
        let parts: Vec<&str> = parts(word).filter(|part| !is_stop_word(part)).collect();
        let joined = word.split(is_separator).collect::<String>();
        // An abbreviation is one token: `C.I.` becomes `ci`.
        let is_abbreviation = word.contains('.') && word.split('.').all(|part| part.chars().count() <= 1);
        let whole = (is_abbreviation || !parts.is_empty()).then(|| joined.trim_matches('-').to_owned());
        let parts = parts.into_iter().filter(|_| !is_abbreviation).map(str::to_owned);
        whole.into_iter().chain(parts).collect()
    })
}

fn distinct(text: &str, tokens_of: impl Fn(&str) -> Vec<String>) -> Vec<String> {
    let lower = text.to_lowercase();
    let mut seen = std::collections::HashSet::new();
    let tokens = lower.split_whitespace().flat_map(|word| tokens_of(&without_apostrophes(word)));
    tokens.filter(|token| !is_stop_word(token)).filter(|token| seen.insert(token.clone())).collect()
}

fn parts(word: &str) -> impl Iterator<Item = &str> {
    word.split(is_separator).map(|part| part.trim_matches('-')).filter(|part| !part.is_empty())
}

fn is_separator(c: char) -> bool {
    !(c.is_alphanumeric() || c == '-' || c == '_')
}

/// Removes apostrophes inside words (`React's` becomes `Reacts`), French elisions (`l'authentification` becomes
/// `authentification`) and English contractions (`I'm`, `don't`).
fn without_apostrophes(word: &str) -> String {
    let word = word.trim_matches(is_separator_but_dot);
    let Some((before, after)) = word.split_once(APOSTROPHES) else { return word.to_owned() };
    let suffix = after.find(is_separator).and_then(|at| after.get(..at)).unwrap_or(after);
    if CONTRACTIONS.contains(&suffix) && (is_stop_word(before) || (suffix == "t" && before.ends_with('n'))) {
        // `aren't` is a stop word like `are`; a token `aren` would match `parent`.
        return without_apostrophes(after.get(suffix.len()..).unwrap_or_default());
    }
    let word = if ELISIONS.contains(&before) { after } else { word };
    word.replace(APOSTROPHES, "")
}

/// Keeps dots, since a word may end with an abbreviation's dot.
fn is_separator_but_dot(c: char) -> bool {
    is_separator(c) && c != '.'
}

fn is_stop_word(word: &str) -> bool {
    use std::{collections::HashSet, sync::LazyLock};
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP_WORDS.split_whitespace().collect());
    WORDS.contains(word)
}
