//! Headings and prose of a skill's body. Fenced code is neither.

/// How much prose is embedded: the first passages, each about this long, in bytes. A skill says first what it is for and
/// how it proceeds; the model reads no more than about 1,000 bytes at once.
const MAX_PASSAGES: usize = 3;
const PASSAGE_BYTES: usize = 700;

/// The headings, one per line.
pub(super) fn headings(body: &str) -> String {
    let headings = lines(body).filter_map(|line| line.strip_prefix('#'));
    headings.map(|heading| heading.trim_start_matches('#').trim()).collect::<Vec<_>>().join("\n")
}

/// The start of the prose, without markup, in passages of whole words.
pub(super) fn passages(body: &str) -> impl Iterator<Item = String> {
    let mut passages: Vec<String> = Vec::new();
    for word in lines(body).filter(|line| is_prose(line)).flat_map(words) {
        let is_full = passages.last().is_none_or(|passage| passage.len() >= PASSAGE_BYTES);
        if is_full && passages.len() == MAX_PASSAGES {
            break;
        }
        match passages.last_mut().filter(|_| !is_full) {
            Some(passage) => {
                passage.push(' ');
                passage.push_str(&word);
            }
            None => passages.push(word),
        }
    }
    passages.into_iter()
}

/// The lines outside of fenced code.
fn lines(body: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    body.lines().filter(move |line| {
        let is_fence = ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence));
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Whether a line is text, a list item or a quote: not a heading, a table or HTML.
fn is_prose(line: &str) -> bool {
    !line.trim_start().starts_with(['#', '|', '<'])
}

/// The words of a line, without list markers, emphasis and brackets.
fn words(line: &str) -> impl Iterator<Item = String> {
    let is_marker = |word: &str| {
        matches!(word, "-" | "*" | "+" | ">")
            || word.strip_suffix('.').is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
    };
    let words = line.split_whitespace().skip_while(move |word| is_marker(word));
    words.map(|word| word.replace(['*', '_', '`', '>', '[', ']'], "")).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    //! What of a body is read.

    use super::{MAX_PASSAGES, PASSAGE_BYTES, headings, passages};

    #[test]
    fn prose_is_read_without_markup_and_code_is_not() {
        let body = "# Use\n\n- **Draws** [charts](x)\n1. with `plot`\n> quietly\n```sh\n# not a heading\nrun it\n```\n\
            | a | b |\n<br>\n## Notes ##x\n";
        assert_eq!(passages(body).collect::<Vec<_>>(), ["Draws charts(x) with plot quietly"]);
        assert_eq!(headings(body), "Use\nNotes ##x");
    }

    #[test]
    fn a_long_body_gives_a_few_passages_of_whole_words() {
        let passages: Vec<String> = passages(&"twelve bytes ".repeat(1000)).collect();
        assert_eq!(passages.len(), MAX_PASSAGES);
        for passage in passages {
            assert!((PASSAGE_BYTES..PASSAGE_BYTES + 20).contains(&passage.len()));
            assert!(passage.split(' ').all(|word| ["twelve", "bytes"].contains(&word)), "{passage}");
        }
        assert_eq!(super::passages("# Title\n").count(), 0);
    }
}
