//! Dates in frontmatter.

use super::{moment, standard_form};

/// Notations that JavaScript's `new Date` accepts, with their ISO 8601 form.
#[test]
fn dates_as_people_write_them_have_a_standard_form() {
    for (written, standard) in [
        ("February 1, 2024", "2024-02-01"),
        ("february 1 2024", "2024-02-01"),
        ("Feb 1, 2024", "2024-02-01"),
        ("Feb. 01, 2024", "2024-02-01"),
        ("1 February 2024", "2024-02-01"),
        ("01 Feb 2024", "2024-02-01"),
        ("1-Feb-2024", "2024-02-01"),
        ("2024/02/01", "2024-02-01"),
        ("2024/2/1", "2024-02-01"),
        ("2024-2-1", "2024-02-01"),
        ("02/01/2024", "2024-02-01"),
        ("Thursday, February 1, 2024", "2024-02-01"),
        ("Thu Feb 01 2024", "2024-02-01"),
        ("February 1, 2024 10:30", "2024-02-01T10:30:00Z"),
        ("2024/02/01 10:30:15", "2024-02-01T10:30:15Z"),
        ("Thu, 01 Feb 2024 10:30:00 +0100", "2024-02-01T09:30:00Z"),
        ("Thu, 01 Feb 2024 10:30:00 GMT", "2024-02-01T10:30:00Z"),
    ] {
        assert_eq!(standard_form(written).as_deref(), Some(standard), "{written}");
        assert!(moment(standard).is_some(), "{standard}");
    }
}

#[test]
fn what_is_no_date_has_none() {
    for written in ["", "soon", "2024", "February", "13/13/2024", "February 30, 2024", "1.2.2024", "Monday"] {
        assert_eq!((standard_form(written), moment(written)), (None, None), "{written}");
    }
}
