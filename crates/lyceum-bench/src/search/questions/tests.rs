//! Queries.

use super::{path, percent_encode, shuffle, title};

#[test]
fn a_question_can_stand_in_an_address() {
    assert_eq!(percent_encode("a b&c=é"), "a%20b%26c%3D%C3%A9");
    assert_eq!(path("a?", "lexical"), "/api/v1/search?mode=lexical&q=a%3F");
}

#[test]
fn a_title_is_read_without_its_quotes() {
    assert_eq!(title("title: \"Array: map() method\"").as_deref(), Some("Array: map() method"));
    assert_eq!(title("title: Learn").as_deref(), Some("Learn"));
    assert_eq!((title("title: 404"), title("slug: a")), (None, None));
}

#[test]
fn the_order_is_another_but_always_the_same() {
    let before: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    let [mut once, mut again] = [before.clone(), before.clone()];
    shuffle(&mut once);
    shuffle(&mut again);
    assert!(once == again && once != before);
    once.sort_by_key(|text| text.parse::<u32>().ok());
    assert_eq!(once, before);
}
