//! Parsing of query strings.

use lyceum_content::{knowledge::Filter, ontology::Ontology};

use super::ListRequest;

fn parse(query: &str) -> Result<ListRequest, (String, String)> {
    let error = |error: crate::http::ApiError| {
        let field = error.details.unwrap()["field"].as_str().unwrap().to_owned();
        (field, error.message)
    };
    ListRequest::parse(query, &Ontology::standard().unwrap()).map_err(error)
}

#[track_caller]
fn check(query: &str, filter: Filter, limit: usize, offset: usize) {
    assert_eq!(parse(query), Ok(ListRequest { filter, limit, offset }), "{query:?}");
}

#[track_caller]
fn check_refused(query: &str, field: &str, words: &str) {
    let (found, message) = parse(query).unwrap_err();
    assert_eq!(found, field, "{query:?}");
    assert!(message.starts_with(field) && message.contains(words), "{query:?}: {message}");
}

#[test]
fn what_is_not_asked_for_has_its_usual_value() {
    for query in ["", "&", "unknown=1", "&&unknown", "%FF=1", "Limit=7"] {
        check(query, Filter::default(), 20, 0);
    }
}

#[test]
fn each_filter_is_read_as_it_was_meant() {
    let text = |text: &str| Some(text.to_owned());
    let tags = |tags: &[&str]| Filter {
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        ..Filter::default()
    };
    check("contentType=resource", Filter { content_type: text("resource"), ..Filter::default() }, 20, 0);
    check("group=a+b%2Bc", Filter { group: text("a b+c"), ..Filter::default() }, 20, 0);
    check("release=Gr%C3%BC%C3%9Fe", Filter { release: text("Grüße"), ..Filter::default() }, 20, 0);
    check("status=a=b", Filter { status: text("a=b"), ..Filter::default() }, 20, 0);
    check("tag=a&tag=b,c%2Cd&tag=,e", tags(&["a", "b", "c", "d", "e"]), 20, 0);
    check("limit=100&offset=9007199254740991", Filter::default(), 100, 9_007_199_254_740_991);
    check("limit=007", Filter::default(), 7, 0);
}

#[test]
fn a_number_out_of_its_range_is_refused_with_what_to_write() {
    for limit in
        ["", "0", "101", "-1", "+5", "1.0", "1e1", "ten", "99999999999999999999999", "%D9%A3", "5%00"]
    {
        check_refused(&format!("limit={limit}"), "limit", "from 1 to 100, such as limit=20");
    }
    for offset in ["", "-1", "9007199254740992", "null"] {
        check_refused(&format!("offset={offset}"), "offset", "from 0 to 9007199254740991, such as offset=0");
    }
}

#[test]
fn an_unknown_type_is_refused_with_those_there_are() {
    for name in ["", "Pattern", "patterns", "pattern%2F", "x".repeat(10_000).as_str()] {
        check_refused(&format!("contentType={name}"), "contentType", "use one of article, data, file");
    }
}

#[test]
fn what_is_empty_no_text_or_too_much_is_refused() {
    for name in ["group", "release", "status", "tag"] {
        check_refused(name, name, "is empty");
        check_refused(&format!("{name}="), name, "is empty");
        check_refused(&format!("{name}=%FF"), name, "is not valid UTF-8");
    }
    check_refused("tag=,,", "tag", "is empty");
    check_refused(&format!("tag={}", "a,".repeat(51)), "tag", "at most 50");
    check_refused("limit=%FF", "limit", "is not valid UTF-8");
}

#[test]
fn what_can_only_be_one_thing_is_written_once() {
    for pair in ["contentType=tag", "group=a", "release=a", "status=a", "limit=5", "offset=5"] {
        let (name, _) = pair.split_once('=').unwrap();
        check_refused(&format!("{pair}&{pair}"), name, "is given twice");
    }
}
