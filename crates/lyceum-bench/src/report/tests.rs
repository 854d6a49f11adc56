//! Formatting of a report.

use super::{Report, Row, Table};

fn report() -> Report {
    let mut report = Report::default();
    report.say("Three rounds.");
    let cold = Row::of_figures("cold", vec!["7000".to_owned(), "9000".to_owned()]).below(7000.0, 8000.0);
    let memory = Row::of_figures("memory", vec![String::new(), "210 MB".to_owned()]).below(210.0, 200.0);
    let any = Row::of_figures("any", vec!["1".to_owned(), "2".to_owned()]);
    let table = Table::new(&["milliseconds", "median", "worst"], vec![cold, memory, any]);
    report.add(table.titled("Sync").about("mdn"));
    report.add(Table::of_figures(vec![Row::new("calls", "20")]));
    report
}

#[test]
fn figures_stand_beside_their_goals_and_what_is_missed_is_named() {
    let report =
        report().with_footer(vec!["search: no model".to_owned()], vec![("date", "today".to_owned())]);
    let expected = "\
Three rounds.

### Sync

| milliseconds | median | worst | goal |
|---|--:|--:|--:|
| cold | 7000 | 9000 | < 8000 ✓ |
| memory |  | 210 MB | < 200 ✗ MISSED |
| any | 1 | 2 |  |

|  | figure |
|---|--:|
| calls | 20 |

Goals: 1 of 2 are reached.

- MISSED: mdn: memory: 210 MB (< 200)
- NOT MEASURED: search: no model

- date: today
";
    assert_eq!(report.to_string(), expected);
}

#[test]
fn what_was_never_measured_is_missed() {
    let mut report = Report::default();
    report.add(Table::of_figures(vec![Row::new("cold", "NaN").below(f64::NAN, 1.0).at_least(f64::NAN, 1.0)]));
    assert!(report.to_string().contains("Goals: 0 of 2 are reached."), "{report}");
}
