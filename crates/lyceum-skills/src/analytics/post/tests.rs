//! Classification of status codes.

use reqwest::StatusCode;

use super::advice;

#[test]
fn an_answer_that_time_can_heal_is_no_refusal() {
    for status in 300..600 {
        let later = matches!(status, 408 | 409 | 425 | 429 | 500..);
        let advice = advice(StatusCode::from_u16(status).unwrap());
        assert_eq!(advice.is_none(), later, "{status}");
    }
}
