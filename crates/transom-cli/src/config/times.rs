//! How long servers may take, with where each number comes from.

use std::{ops::Range, time::Duration};

use toml::Spanned;
use transom::calls::Patience;
use transom_host::upstream;

use super::{
    file,
    limits::{Refused, number},
    setting::{Setting, Source},
};

/// How long a server may take, in seconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Times {
    call: Setting<u64>,
    call_idle: Setting<u64>,
    list: Setting<u64>,
}

impl Default for Times {
    /// The house's.
    fn default() -> Self {
        let upstream::Times { call, listing } = upstream::Times::default();
        let secs = |time: Duration| Setting::default(time.as_secs());
        Self { call: secs(call.total), call_idle: secs(call.idle), list: secs(listing) }
    }
}

impl Times {
    /// These times, with what a table of the file says instead. A default gives way to what the file says.
    pub(super) fn with(
        &self,
        table: &file::TimeLimits,
        source: &impl Fn(Range<usize>) -> Source,
    ) -> Result<Self, Refused> {
        let mut times = self.clone();
        for (setting, said, name) in [
            (&mut times.call, &table.call, "call"),
            (&mut times.call_idle, &table.call_idle, "call-idle"),
            (&mut times.list, &table.list, "list"),
        ] {
            if let Some(said) = said {
                *setting = number(said, name, DAY, source)?;
            }
        }
        times.fit(table)?;
        Ok(times)
    }

    /// Makes sure that a call without a sign of life does not outlast the longest one.
    fn fit(&mut self, table: &file::TimeLimits) -> Result<(), Refused> {
        let (idle, call) = (&mut self.call_idle, &mut self.call);
        if idle.value <= call.value {
            return Ok(());
        }
        match (&idle.source, &call.source) {
            (Source::Default, _) => idle.value = call.value,
            (_, Source::Default) => call.value = idle.value,
            _ => {
                let words = format!(
                    "a call that says nothing may take {} s, but no call more than {}; raise call or lower call-idle",
                    idle.value, call.value
                );
                let said = table.call_idle.as_ref().or(table.call.as_ref());
                return Err((said.map_or(0..0, Spanned::span), words));
            }
        }
        Ok(())
    }

    /// The same for the host.
    pub(crate) fn times(&self) -> upstream::Times {
        let secs = |setting: &Setting<u64>| Duration::from_secs(setting.value);
        let call = Patience { idle: secs(&self.call_idle), total: secs(&self.call) };
        upstream::Times { call, listing: secs(&self.list) }
    }

    /// Every number, under its name in the file.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, &Setting<u64>)> {
        [("call", &self.call), ("call-idle", &self.call_idle), ("list", &self.list)].into_iter()
    }
}

/// The longest that a file can make anything wait, in seconds.
pub(super) const DAY: u64 = 86_400;

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str) -> Result<upstream::Times, String> {
        let table: file::TimeLimits = toml::from_str(text).unwrap();
        let line = |span: Range<usize>| Source::Line(Default::default(), span.start);
        Times::default().with(&table, &line).map(|it| it.times()).map_err(|(_, words)| words)
    }

    #[test]
    fn every_number_reaches_the_time_of_its_name_and_a_default_gives_way() {
        let secs = |times: upstream::Times| {
            [times.call.idle, times.call.total, times.listing].map(|time| time.as_secs())
        };
        #[rustfmt::skip]
        let table = [
            ("",                              [60, 600, 60]),
            ("call-idle = 5",                 [5, 600, 60]),
            ("call = 1200",                   [60, 1200, 60]),
            ("call = 20",                     [20, 20, 60]),
            ("call-idle = 900",               [900, 900, 60]),
            ("call-idle = 30\ncall = 30",     [30, 30, 60]),
            ("list = 7",                      [60, 600, 7]),
        ];
        for (text, expected) in table {
            assert_eq!(with(text).map(secs), Ok(expected), "{text}");
        }
    }

    #[test]
    fn times_that_cannot_be_meant_are_refused() {
        #[rustfmt::skip]
        let table = [
            ("call = 0",                   "call = 0 would let nothing through"),
            ("list = 0",                   "list = 0 would let nothing through"),
            ("call-idle = 86401",          "call-idle cannot be more than 86400"),
            ("call = 10\ncall-idle = 11",  "raise call or lower call-idle"),
        ];
        for (text, expected) in table {
            let words = with(text).unwrap_err();
            assert!(words.contains(expected), "{text}: {words}");
        }
    }
}
