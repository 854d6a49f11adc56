//! Parses dates: ISO 8601, and other common notations.

use jiff::{
    Timestamp,
    civil::{Date, DateTime},
    fmt::{rfc2822, strtime::BrokenDownTime},
    tz::TimeZone,
};

/// Common date notations. With slashes the month comes before the day, as in JavaScript.
const DATE_FORMATS: [&str; 11] = [
    "%Y/%m/%d",
    "%Y-%m-%d",
    "%m/%d/%Y",
    "%B %d, %Y",
    "%b %d, %Y",
    "%B %d %Y",
    "%b %d %Y",
    "%d %B %Y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%Y %b %d",
];

/// Times that may follow a date.
const TIME_FORMATS: [&str; 5] = ["", " %H:%M", " %H:%M:%S", " %I:%M %p", " %H:%M:%S GMT"];

/// Prefixes of the weekdays.
const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Maximum length of a date; longer texts are rejected.
const MAX_DATE_BYTES: usize = 64;

/// Parses an ISO 8601 date or time: `2024-01-15`, `2024-01-15 10:00`, `2024-01-15T10:00:00Z`.
pub fn moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    text.parse::<Timestamp>()
        .ok()
        .or_else(|| text.parse::<DateTime>().ok().and_then(in_utc))
        .or_else(|| text.parse::<Date>().ok().and_then(|date| in_utc(date.at(0, 0, 0, 0))))
}

/// Converts other notations to ISO 8601: `February 1, 2024` becomes `2024-02-01`. A time without a zone is in UTC.
pub(super) fn standard_form(text: &str) -> Option<String> {
    let text = text.trim();
    if text.len() > MAX_DATE_BYTES {
        return None;
    }
    if let Ok(zoned) = rfc2822::parse(text) {
        return Some(zoned.timestamp().to_string());
    }
    // Drop the dot of `Feb. 1` and the weekday of `Thu, …`.
    let text = without_weekday(text).replace(". ", " ");
    let written = DATE_FORMATS
        .iter()
        .flat_map(|day| TIME_FORMATS.iter().map(move |time| (*time, format!("{day}{time}"))));
    let found = written.into_iter().find_map(|(time, format)| {
        let parsed = BrokenDownTime::parse(&format, &text).ok()?;
        let date = parsed.to_date().ok()?;
        if time.is_empty() { Some((date, None)) } else { Some((date, Some(parsed.to_time().ok()?))) }
    });
    found.map(|(date, time)| match time {
        None => date.to_string(),
        Some(time) => format!("{}Z", date.to_datetime(time)),
    })
}

fn without_weekday(text: &str) -> &str {
    let Some((first, rest)) = text.split_once(' ') else { return text };
    let first = first.trim_end_matches([',', '.']);
    let is_weekday = first.chars().all(|c| c.is_ascii_alphabetic())
        && first.get(..3).is_some_and(|start| WEEKDAYS.contains(&start.to_ascii_lowercase().as_str()));
    if is_weekday { rest.trim_start() } else { text }
}

fn in_utc(time: DateTime) -> Option<Timestamp> {
    time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests;
