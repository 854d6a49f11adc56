//! Terms of a text.

use super::analyzer;

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let mut analyzer = analyzer();
    let mut stream = analyzer.token_stream(text);
    let mut terms = Vec::new();
    stream.process(&mut |token| terms.push(token.text.clone()));
    assert_eq!(terms, expected, "{text:?}");
}

#[test]
fn words_are_stemmed() {
    check("Cells governed by members", &["cell", "govern", "by", "member"]);
}

#[test]
fn identifiers_are_found_whole_and_by_their_parts() {
    check("parse_json", &["parsejson", "pars", "json"]);
    check("getHTTPResponse", &["gethttprespons", "get", "http", "respons"]);
    check("sha256", &["sha256"]);
    check("utf8Text", &["utf8text", "utf", "8", "text"]);
}

#[test]
fn every_letter_of_a_script_without_spaces_is_a_word() {
    check("治理 DAO", &["治", "理", "dao"]);
}

#[test]
fn odd_texts_give_no_words_and_no_panic() {
    check("", &[]);
    check("🙂🙃 — …", &[]);
    check("___", &[]);
    check("مرحبا بالعالم", &["مرحبا", "بالعالم"]);
}

#[test]
fn a_term_begins_like_each_word_that_it_stands_for() {
    // The last ones are special cases of the stemmer.
    let words = "Cells governed members organisations policies youth yoga happily sky skies dying lying tying \
        news idly gently ugly early only singly exceed __init__ École İstanbul 治理 getHTTPResponse 8bit";
    let terms = |mut analyzer: tantivy::tokenizer::TextAnalyzer| {
        let mut terms = Vec::new();
        analyzer.token_stream(words).process(&mut |token| terms.push(token.text.clone()));
        terms
    };
    let all = terms(analyzer());
    for term in &all {
        let found = terms(super::analyzer_for(std::iter::once(term)));
        assert!(found.contains(term), "{term}");
    }
    assert_eq!(terms(super::analyzer_for(all.iter())), all);
}

#[test]
fn terms_are_stems_of_words_that_mean_something() {
    let text = "How do I MERGE the forms of pdfFiles?";
    let terms: Vec<(String, &str)> =
        super::terms(text).into_iter().map(|term| (term.stem, &text[term.range])).collect();
    let expected =
        [("merg", "MERGE"), ("form", "forms"), ("pdffile", "pdfFiles"), ("pdf", "pdf"), ("file", "Files")];
    assert_eq!(terms, expected.map(|(stem, word)| (stem.to_owned(), word)));
}
