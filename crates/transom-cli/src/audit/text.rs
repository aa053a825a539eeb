//! A row for people.

use serde_json::{Map, Value};
use transom_host::audit::{Detail, Row};

use crate::terminal::clean;

/// The row on one line: number, time, kind, whose, and the rest as it stands.
pub(super) fn line(row: &Row) -> String {
    let mut body: Map<String, Value> = serde_json::from_str(&row.body).unwrap_or_default();
    let detail = match &row.detail {
        Detail::Whole { text, .. } => serde_json::from_str(text).unwrap_or_default(),
        Detail::Redacted(_) => Map::new(),
    };
    let at = body.remove("at").and_then(|at| at.as_u64()).map(time).unwrap_or_default();
    let word = |name: &str, body: &mut Map<String, Value>| {
        body.remove(name).map(|value| words(&value)).unwrap_or_default()
    };
    let (kind, server) = (word("kind", &mut body), word("server", &mut body));
    let rest: Vec<String> = body
        .iter()
        .chain(&detail)
        .map(|(name, value)| format!("{name}={}", words(value)))
        .collect();
    let line = format!("{:>6}  {at}  {kind:<8}  {server:<10}  {}", row.seq, rest.join(" "));
    clean(line.trim_end()).into_owned()
}

fn words(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() && !text.contains([' ', '=']) => text.clone(),
        other => other.to_string(),
    }
}

/// UTC, to the millisecond.
fn time(at: u64) -> String {
    let (days, ms) = (at / 86_400_000, at % 86_400_000);
    let (year, month, day) = date(days);
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    format!("{year:04}-{month:02}-{day:02} {hours:02}:{minutes:02}:{seconds:02}.{:03}", ms % 1_000)
}

/// The day of the calendar, from days since 1970. Years are counted from March, so that the day that
/// some of them have more comes last.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (at, expected) in [
            (0, "1970-01-01 00:00:00.000"),
            (951_782_400_000, "2000-02-29 00:00:00.000"),
            (1_709_251_199_999, "2024-02-29 23:59:59.999"),
            (4_102_444_800_000, "2100-01-01 00:00:00.000"),
        ] {
            assert_eq!(time(at), expected);
        }
    }
}
