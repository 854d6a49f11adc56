//! Wire format of each event.

use jiff::Timestamp;

use crate::analytics::{Event, RefreshMode, ServerId, append::BATCH_BYTES, id::Id, line::line};

fn written(event: &Event) -> String {
    let id = Id::parse("01KHRJGTJ0QZ8X4V7C2M9T6B3D").unwrap();
    let now: Timestamp = "2026-02-18T14:30:00.0129Z".parse().unwrap();
    String::from_utf8(line(id, event, &ServerId::of_user("ana"), now).unwrap()).unwrap()
}

macro_rules! check {
    ($event:expr, @$expected:literal) => {
        let event = $event;
        let line = written(&event);
        assert!(line.ends_with("}\n") && line.lines().count() == 1, "{line:?}");
        let json: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(json["type"], event.kind());
        insta::assert_snapshot!(line.trim_end(), @$expected);
    };
}

#[test]
fn each_event_says_what_the_specification_says() {
    let context = "react auth".to_owned();
    let skill_path = "ui/react/auth".to_owned();
    check!(Event::NoMatch { context: context.clone() }, @r#"{"id":"01KHRJGTJ0QZ8X4V7C2M9T6B3D","type":"no_match","timestamp":"2026-02-18T14:30:00.012Z","server_id":"dev-ana","data":{"context":"react auth"}}"#);
    check!(
        Event::Ambiguous {
            context: context.clone(),
            candidates: vec!["ui/react/auth".to_owned(), "api/auth".to_owned()],
        },
        @r#"{"id":"01KHRJGTJ0QZ8X4V7C2M9T6B3D","type":"ambiguous","timestamp":"2026-02-18T14:30:00.012Z","server_id":"dev-ana","data":{"context":"react auth","candidates":["ui/react/auth","api/auth"]}}"#
    );
    check!(
        Event::SkillServed {
            context,
            skill_path: skill_path.clone(),
            score: 0.875,
            matched_keywords: vec!["react".to_owned(), "auth".to_owned()],
            was_ambiguous: false,
        },
        @r#"{"id":"01KHRJGTJ0QZ8X4V7C2M9T6B3D","type":"skill_served","timestamp":"2026-02-18T14:30:00.012Z","server_id":"dev-ana","data":{"context":"react auth","skill_path":"ui/react/auth","score":0.875,"matched_keywords":["react","auth"],"was_ambiguous":false}}"#
    );
    check!(
        Event::AssetServed {
            skill_path: skill_path.clone(),
            file: "assets/AuthProvider.tsx.template".to_owned(),
            asset_type: "template".to_owned(),
            is_inherited: true,
            size_bytes: 2340,
        },
        @r#"{"id":"01KHRJGTJ0QZ8X4V7C2M9T6B3D","type":"asset_served","timestamp":"2026-02-18T14:30:00.012Z","server_id":"dev-ana","data":{"skill_path":"ui/react/auth","file":"assets/AuthProvider.tsx.template","asset_type":"template","is_inherited":true,"size_bytes":2340}}"#
    );
    check!(
        Event::ScriptExecuted {
            skill_path: skill_path.clone(),
            file: "scripts/validate-auth-config.ts".to_owned(),
            execution_mode: "server".to_owned(),
            success: false,
            exit_code: 137,
            duration_ms: 60_000,
            args_provided: vec!["config".to_owned()],
        },
        @r#"{"id":"01KHRJGTJ0QZ8X4V7C2M9T6B3D","type":"script_executed","timestamp":"2026-02-18T14:30:00.012Z","server_id":"dev-ana","data":{"skill_path":"ui/react/auth","file":"scripts/validate-auth-config.ts","execution_mode":"server","success":false,"exit_code":137,"duration_ms":60000,"args_provided":["config"]}}"#
    );
    check!(
        Event::SkillFeedback {
            skill_path: skill_path.clone(),
            useful: true,
            comment: Some("saved \"hours\"\n".to_owned()),
        },
        @r#"{"id":"01KHRJGTJ0QZ8X4V7C2M9T6B3D","type":"skill_feedback","timestamp":"2026-02-18T14:30:00.012Z","server_id":"dev-ana","data":{"skill_path":"ui/react/auth","useful":true,"comment":"saved \"hours\"\n"}}"#
    );
    check!(Event::SkillFeedback { skill_path, useful: false, comment: None }, @r#"{"id":"01KHRJGTJ0QZ8X4V7C2M9T6B3D","type":"skill_feedback","timestamp":"2026-02-18T14:30:00.012Z","server_id":"dev-ana","data":{"skill_path":"ui/react/auth","useful":false}}"#);
    check!(
        Event::Refresh {
            mode: RefreshMode::Git,
            success: true,
            commit_hash: Some("a1b2c3d".to_owned()),
            files_changed: Some(3),
            skills_reindexed: 24,
        },
        @r#"{"id":"01KHRJGTJ0QZ8X4V7C2M9T6B3D","type":"refresh","timestamp":"2026-02-18T14:30:00.012Z","server_id":"dev-ana","data":{"mode":"git","success":true,"commit_hash":"a1b2c3d","files_changed":3,"skills_reindexed":24}}"#
    );
    check!(
        Event::Refresh {
            mode: RefreshMode::Local,
            success: true,
            commit_hash: None,
            files_changed: None,
            skills_reindexed: 24,
        },
        @r#"{"id":"01KHRJGTJ0QZ8X4V7C2M9T6B3D","type":"refresh","timestamp":"2026-02-18T14:30:00.012Z","server_id":"dev-ana","data":{"mode":"local","success":true,"skills_reindexed":24}}"#
    );
}

#[test]
fn a_long_text_is_clipped_between_two_letters() {
    let line = written(&Event::NoMatch { context: "é".repeat(5000) });
    let json: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(json["data"]["context"], format!("{}…", "é".repeat(2048)));
}

#[test]
fn the_largest_event_fits_into_a_batch_and_a_batch_holds_at_most_a_thousand_of_the_smallest() {
    // Six bytes each in JSON.
    let long = "\u{1}".repeat(100_000);
    let largest = written(&Event::SkillServed {
        context: long.clone(),
        skill_path: long.clone(),
        score: f64::MIN_POSITIVE,
        matched_keywords: vec![long.clone(); 1000],
        was_ambiguous: false,
    });
    assert!(largest.len() < 80 * 1024, "{}", largest.len());
    let largest = written(&Event::ScriptExecuted {
        skill_path: long.clone(),
        file: long.clone(),
        execution_mode: long.clone(),
        success: false,
        exit_code: i32::MIN,
        duration_ms: u64::MAX,
        args_provided: vec![long; 1000],
    });
    assert!(largest.len() < 80 * 1024, "{}", largest.len());
    let smallest = written(&Event::NoMatch { context: String::new() });
    assert!(BATCH_BYTES / (smallest.len() as u64) < 1000, "{}", smallest.len());
}

#[test]
fn ids_differ_and_sort_by_time() {
    let then: Timestamp = "2026-02-18T14:30:00Z".parse().unwrap();
    let later: Timestamp = "2026-02-18T14:30:00.001Z".parse().unwrap();
    let (one, other) = (Id::new(then).unwrap(), Id::new(then).unwrap());
    assert_ne!(one, other);
    assert!(one.max(other) < Id::new(later).unwrap());
    assert_eq!(Id::parse(one.as_str()), Some(one));
    // The timestamp part, as other ULID implementations encode it.
    assert_eq!(&one.as_str()[..10], "01KHRJGTJ0");
    assert_eq!(Id::parse("../../../../../../etc/passwd"), None);
}
