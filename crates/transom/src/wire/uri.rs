//! The address of a UI resource.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// The address of a UI resource: `ui://` and something after it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct UiUri(String);

impl UiUri {
    /// The longest address, in bytes: people are shown it, and it is kept for as long as a person agrees to it.
    pub const LONGEST: usize = 2_048;

    /// Reads an address. The scheme is lower case, as the reference compares it.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("ui://").filter(|_| text.len() <= Self::LONGEST)?;
        let sound = !rest.is_empty() && !rest.contains(|c: char| c.is_control() || c == ' ');
        sound.then(|| Self(text.to_owned()))
    }

    /// The address as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UiUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for UiUri {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("should begin with ui://"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_01_ui_resources_have_their_own_scheme() {
        for text in ["ui://a", "ui://server/view.html?x=1"] {
            assert_eq!(UiUri::parse(text).unwrap().as_str(), text);
        }
        for text in
            ["", "ui:/a", "ui://", "UI://a", "http://a", " ui://a", "ui://a\r\nb", "ui://a b"]
        {
            assert_eq!(UiUri::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn an_address_is_not_too_long() {
        let of = |length: usize| format!("ui://{}", "a".repeat(length - 5));
        assert!(UiUri::parse(&of(UiUri::LONGEST)).is_some());
        assert_eq!(UiUri::parse(&of(UiUri::LONGEST + 1)), None);
    }
}
