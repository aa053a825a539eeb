//! The annotations of a content block, checked and otherwise left alone.

use super::json::present;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

/// What the reference peers accept as annotations; anything else costs the whole message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Annotations {
    #[serde(default, rename = "audience", deserialize_with = "present")]
    _audience: Option<Vec<Role>>,
    #[serde(default, rename = "priority", deserialize_with = "present")]
    _priority: Option<Priority>,
    #[serde(default, rename = "lastModified", deserialize_with = "present")]
    _last_modified: Option<DateTime>,
}

/// A party that content is meant for.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

/// A number from 0 to 1.
struct Priority;

impl<'de> Deserialize<'de> for Priority {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fits = (0.0..=1.0).contains(&f64::deserialize(deserializer)?);
        fits.then_some(Self).ok_or_else(|| D::Error::custom("not from 0 to 1"))
    }
}

/// A moment with its offset, like `2026-01-26T12:00:00Z`.
struct DateTime;

impl<'de> Deserialize<'de> for DateTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fits = is_date_time(&String::deserialize(deserializer)?);
        fits.then_some(Self).ok_or_else(|| D::Error::custom("not a date and time with an offset"))
    }
}

fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once('T') else { return false };
    let Some(end) = time.find(['Z', '+', '-']) else { return false };
    let (time, offset) = time.split_at(end);
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    is_date(date)
        && matches!(digits(clock, ':', "99:99:99").as_deref(), Some([0..24, 0..60, 0..60]))
        && !fraction.is_empty()
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
        && (offset == "Z"
            || matches!(digits(&offset[1..], ':', "99:99").as_deref(), Some([0..24, 0..60])))
}

fn is_date(text: &str) -> bool {
    let Some(&[year, month, day]) = digits(text, '-', "9999-99-99").as_deref() else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// The numbers of a text that has digits where the pattern has nines.
fn digits(text: &str, separator: char, pattern: &str) -> Option<Vec<u32>> {
    let nines: String = text.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
    (nines == pattern).then(|| text.split(separator).filter_map(|n| n.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_told_from_other_text() {
        let good = [
            "2026-01-26T12:00:00Z",
            "2024-02-29T23:59:59.123456Z",
            "2000-02-29T00:00:00+05:30",
            "1999-12-31T00:00:00-11:00",
        ];
        let bad = [
            "",
            "T",
            "2026-01-26",
            "2026-01-26T12:00:00",
            "2026-01-26 12:00:00Z",
            "2026-13-01T12:00:00Z",
            "2026-02-29T12:00:00Z",
            "1900-02-29T12:00:00Z",
            "2026-04-31T12:00:00Z",
            "2026-01-00T12:00:00Z",
            "2026-01-26T24:00:00Z",
            "2026-01-26T12:60:00Z",
            "2026-01-26T12:00:00.Z",
            "2026-01-26T12:00:00+5:30",
            "2026-01-26T12:00:00Zulu",
            "2026-01-26T12:00:00+24:00",
            "٢٠٢٦-01-26T12:00:00Z",
            "2026-01-26T12:00:00+",
            "2026-01-26T12:00:00é",
        ];
        for text in good {
            assert!(is_date_time(text), "{text}");
        }
        for text in bad {
            assert!(!is_date_time(text), "{text}");
        }
    }
}
