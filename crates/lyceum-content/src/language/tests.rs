//! Detection of languages.

use serde_json::{Value, json};

use super::{matches, of_document, of_query, parse, stop_words::LATIN};

#[track_caller]
fn check(fields: &Value, path: &str, text: &str, expected: Option<&str>) {
    assert_eq!(of_document(fields.as_object().unwrap(), path, text).as_deref(), expected, "{path}: {text:?}");
}

const ENGLISH: &str = "You can change the settings of your vault in the window that opens.";
const GERMAN: &str = "Die Einstellungen deines Vaults kannst du in dem Fenster ändern, das sich öffnet.";

#[test]
fn what_is_declared_comes_first_then_the_path_then_the_text() {
    check(&json!({ "lang": "pt_br" }), "en/a.md", GERMAN, Some("pt-BR"));
    check(&json!({ "language": "klingon" }), "de/a.md", "", Some("de"));
    check(&json!({}), "docs/zh-CN/guide/a.md", "", Some("zh-CN"));
    check(&json!({}), "README.fr.md", "", Some("fr"));
    check(&json!({}), "guide/a.md", GERMAN, Some("de"));
    check(&json!({}), "guide/a.md", ENGLISH, Some("en"));
    check(&json!({}), "guide/a.md", "cargo build --release", None);
}

#[test]
fn a_folder_named_by_a_word_counts_if_the_text_agrees() {
    check(&json!({}), "tests/it/a.md", ENGLISH, Some("en"));
    check(
        &json!({}),
        "it/a.md",
        "Questa è la pagina delle impostazioni, che si apre con un clic.",
        Some("it"),
    );
}

#[test]
fn a_query_is_recognized_by_its_script_or_its_stop_words() {
    let queries = [
        ("how do I change the settings", Some("en")),
        ("wie ändere ich die Einstellungen", Some("de")),
        ("comment changer les paramètres", Some("fr")),
        ("cómo cambiar la configuración", Some("es")),
        ("как изменить настройки", Some("ru")),
        ("як змінити її налаштування", Some("uk")),
        ("如何更改设置", Some("zh")),
        ("設定を変更する方法", Some("ja")),
        ("설정 변경 방법", Some("ko")),
        ("settings", None),
        ("kubernetes ingress", None),
        ("", None),
    ];
    for (query, expected) in queries {
        assert_eq!(of_query(query), expected, "{query:?}");
    }
}

#[test]
fn tags_are_normalized_and_a_region_is_a_variant() {
    let parsed = ["DE", "zh_cn", "zh-hant-tw", "es-419", "docs", "xx", "en-", "de-verylong"].map(parse);
    let expected = [Some("de"), Some("zh-CN"), Some("zh-Hant-TW"), Some("es-419"), None, None, None, None];
    assert_eq!(parsed, expected.map(|tag| tag.map(str::to_owned)));
    assert!(matches("zh", "zh-CN") && matches("ZH-cn", "zh-CN") && matches("de", "de"));
    assert!(!matches("zh-CN", "zh") && !matches("d", "de") && !matches("zh-TW", "zh-CN"));
}

#[test]
fn the_stop_words_can_be_searched() {
    for (language, words) in LATIN {
        assert!(words.is_sorted(), "{language}");
    }
}
