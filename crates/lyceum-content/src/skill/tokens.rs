//! The tokenizer: free text → the words that count.

/// English and French words that say nothing about a task.
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

/// What French words shorten to before an apostrophe.
const ELISIONS: [&str; 9] = ["l", "d", "j", "m", "t", "s", "n", "c", "qu"];

/// The words of a text that count: lower case, without punctuation, each once, in their order.
///
/// Punctuation becomes a space, so that `auth/jwt` is found by its parts; hyphens stay.
pub(super) fn tokenize(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let mut seen = std::collections::HashSet::new();
    lower
        .split_whitespace()
        .map(without_elision)
        .flat_map(|word| word.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_')))
        .map(|word| word.trim_matches('-'))
        .filter(|word| !word.is_empty() && !is_stop_word(word))
        .filter(|word| seen.insert(*word))
        .map(str::to_owned)
        .collect()
}

/// `l'authentification` → `authentification`.
fn without_elision(word: &str) -> &str {
    word.split_once(['\'', '’']).filter(|(short, _)| ELISIONS.contains(short)).map_or(word, |(_, rest)| rest)
}

fn is_stop_word(word: &str) -> bool {
    use std::{collections::HashSet, sync::LazyLock};
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP_WORDS.split_whitespace().collect());
    WORDS.contains(word)
}
