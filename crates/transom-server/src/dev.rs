//! Dev mode: files are read from disk, and running views follow them.

/// Whether views follow their files on disk.
///
/// Only a debug build knows where its files lie; in a release build dev mode finds nothing to follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dev {
    on: bool,
}

impl Dev {
    /// On if `TRANSOM_DEV` is `1`, as `transom dev` sets it.
    pub fn from_env() -> Self {
        Self { on: std::env::var("TRANSOM_DEV").is_ok_and(|value| value == "1") }
    }

    /// On.
    pub fn on() -> Self {
        Self { on: true }
    }

    /// Off.
    pub fn off() -> Self {
        Self { on: false }
    }

    pub(crate) fn is_on(self) -> bool {
        self.on
    }
}

/// What a view runs in dev mode.
pub(crate) const SCRIPT: &str = "";
