//! Limits with their sources, from the house's through the file's to one server's.

use std::{collections::BTreeMap, ops::Range};

use toml::Spanned;
use transom::host::{Limits, MethodLimits, REQUESTS, Rate, ServerLimits};

use super::{
    file,
    setting::{Setting, Source},
    times::Times,
};

/// What views may use up, and where each number comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Caps {
    view: Numbers,
    server: Numbers,
    methods: BTreeMap<&'static str, MethodCaps>,
    times: Times,
}

/// A number that a file can say of a view or of a server, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cap {
    Messages,
    MessagesBurst,
    Bytes,
    BytesBurst,
    /// Of a view alone.
    MessageSize,
    /// Of a server alone.
    Views,
    Calls,
    Questions,
    Held,
    Queued,
}

type Numbers = BTreeMap<Cap, Setting<u64>>;
/// What one table of the file says.
type Said<'a> = BTreeMap<Cap, &'a Spanned<u64>>;

/// What single requests may use up.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MethodCaps {
    messages: Option<Setting<u64>>,
    messages_burst: Option<Setting<u64>>,
    size: Option<Setting<u64>>,
}

/// A number that cannot be meant, where it stands, and why.
pub(crate) type Refused = (Range<usize>, String);

impl Default for Caps {
    /// The house's.
    fn default() -> Self {
        let (view, server) = (Limits::default(), ServerLimits::default());
        Self {
            view: VIEW.iter().map(|key| (key.cap, Setting::default((key.get)(&view)))).collect(),
            server: SERVER
                .iter()
                .map(|key| (key.cap, Setting::default((key.get)(&server))))
                .collect(),
            methods: BTreeMap::new(),
            times: Times::default(),
        }
    }
}

impl Caps {
    /// These limits, with what a table of the file says instead. `source` knows where something stands.
    ///
    /// A default gives way to what the file says: a burst to its rate, one view to all of its server and the
    /// other way round. Two numbers of the file that cannot both be meant are refused.
    pub(crate) fn with(
        &self,
        table: &file::LimitsTable,
        source: impl Fn(Range<usize>) -> Source,
    ) -> Result<Self, Refused> {
        let mut caps = self.clone();
        let (view, server) = (said(&VIEW, &table.view), said(&SERVER, &table.server));
        for (caps, said) in [(&mut caps.view, &view), (&mut caps.server, &server)] {
            for (cap, said) in said {
                caps.insert(*cap, number(said, cap.name(), cap.most(), &source)?);
            }
            bursts_follow(caps, said);
        }
        caps.fit_one_message(&view)?;
        caps.fit_one_server(&view, &server)?;
        caps.times = caps.times.with(&table.time, &source)?;
        for (name, said) in &table.methods {
            let method = request(name)?;
            caps.methods.entry(method).or_default().set(said, &source)?;
            caps.fit_method(method, said)?;
        }
        Ok(caps)
    }

    /// The limits of one view.
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        for key in &VIEW {
            (key.set)(&mut limits, self.view[&key.cap].value);
        }
        limits.methods = self.methods.iter().map(|(name, own)| (*name, own.limits())).collect();
        limits
    }

    /// The limits of all views of one server.
    pub(crate) fn server_limits(&self) -> ServerLimits {
        let mut limits = ServerLimits::default();
        for key in &SERVER {
            (key.set)(&mut limits, self.server[&key.cap].value);
        }
        limits
    }

    /// How many views of one server may be open, and where that was said.
    pub(crate) fn views(&self) -> &Setting<u64> {
        &self.server[&Cap::Views]
    }

    /// No more views than the host has, where the file does not say how many.
    pub(crate) fn at_most(mut self, views: u64) -> Self {
        let own = self.server.entry(Cap::Views).or_insert_with(|| Setting::default(views));
        if own.source == Source::Default {
            own.value = own.value.min(views);
        }
        self
    }

    /// How long a server may take.
    pub(crate) fn times(&self) -> &Times {
        &self.times
    }

    /// Every number for one view, under its name in the file.
    pub(crate) fn view(&self) -> impl Iterator<Item = (&'static str, &Setting<u64>)> {
        self.view.iter().map(|(cap, setting)| (cap.name(), setting))
    }

    /// Every number for one server, under its name in the file.
    pub(crate) fn server(&self) -> impl Iterator<Item = (&'static str, &Setting<u64>)> {
        self.server.iter().map(|(cap, setting)| (cap.name(), setting))
    }

    /// Every number for single methods, under its name in the file.
    pub(crate) fn methods(
        &self,
    ) -> impl Iterator<Item = (&'static str, Vec<(&'static str, &Setting<u64>)>)> {
        self.methods.iter().map(|(method, own)| (*method, own.named().collect()))
    }

    /// Makes room for the longest message: it would never fit, however long it waited.
    fn fit_one_message(&mut self, said: &Said<'_>) -> Result<(), Refused> {
        let (size, burst) = (self.view[&Cap::MessageSize].value, self.view[&Cap::BytesBurst].value);
        if burst >= size {
            return Ok(());
        }
        let bytes = said.get(&Cap::Bytes).or_else(|| said.get(&Cap::BytesBurst));
        match (said.get(&Cap::MessageSize), bytes) {
            (None, _) => change(&mut self.view, Cap::MessageSize, burst),
            (Some(_), None) => change(&mut self.view, Cap::BytesBurst, size),
            (Some(size_said), Some(_)) => {
                let words = format!(
                    "message-size lets {size} bytes through, but only {burst} may be sent at once; \
                     raise bytes-burst or lower message-size"
                );
                return Err((size_said.span(), words));
            }
        }
        Ok(())
    }

    /// Makes sure that one view may not have more than all views of its server.
    fn fit_one_server(&mut self, view: &Said<'_>, server: &Said<'_>) -> Result<(), Refused> {
        for (cap, all) in &mut self.server {
            let Some(one) = self.view.get_mut(cap).filter(|one| one.value > all.value) else {
                continue;
            };
            match (&one.source, &all.source) {
                (_, Source::Default) => all.value = one.value,
                (Source::Default, _) => one.value = all.value,
                _ => {
                    let words = format!(
                        "{} of one view is {}, but all views of its server may have {}",
                        cap.name(),
                        one.value,
                        all.value
                    );
                    let said = view.get(cap).or_else(|| server.get(cap));
                    return Err((said.map_or(0..0, |said| said.span()), words));
                }
            }
        }
        Ok(())
    }

    /// Refuses a limit of one request that is never reached, because the view's is reached first.
    fn fit_method(&self, name: &str, said: &file::MethodLimits) -> Result<(), Refused> {
        let own = &self.methods[name];
        let (messages, size) = (&self.view[&Cap::Messages], &self.view[&Cap::MessageSize]);
        for (own, all, said, what) in [
            (&own.messages, messages, &said.messages, "messages"),
            (&own.size, size, &said.size, "bytes"),
        ] {
            if let (Some(own), Some(said)) = (own, said)
                && own.value > all.value
            {
                let words = format!(
                    "{name} may have {} {what}, but a view no more than {} in all",
                    own.value, all.value
                );
                return Err((said.span(), words));
            }
        }
        if let (None, Some(burst)) = (&own.messages, &said.messages_burst) {
            return Err((burst.span(), "messages-burst needs messages beside it".to_owned()));
        }
        Ok(())
    }
}

impl MethodCaps {
    fn set(
        &mut self,
        said: &file::MethodLimits,
        source: &impl Fn(Range<usize>) -> Source,
    ) -> Result<(), Refused> {
        for (setting, said, key, most) in [
            (&mut self.messages, &said.messages, "messages", MESSAGES),
            (&mut self.messages_burst, &said.messages_burst, "messages-burst", MESSAGES),
            (&mut self.size, &said.size, "size", MESSAGE),
        ] {
            if let Some(said) = said {
                *setting = Some(number(said, key, most, source)?);
            }
        }
        Ok(())
    }

    fn named(&self) -> impl Iterator<Item = (&'static str, &Setting<u64>)> {
        let all = [
            ("messages", &self.messages),
            ("messages-burst", &self.messages_burst),
            ("size", &self.size),
        ];
        all.into_iter().filter_map(|(name, it)| Some((name, it.as_ref()?)))
    }

    fn limits(&self) -> MethodLimits {
        let value = |setting: &Option<Setting<u64>>| setting.as_ref().map(|setting| setting.value);
        let rate = value(&self.messages).map(|per_second| Rate {
            per_second: per_second as f64,
            burst: value(&self.messages_burst).unwrap_or_else(|| per_second.saturating_mul(2))
                as f64,
        });
        MethodLimits { rate, size: value(&self.size).map(whole) }
    }
}

/// A burst that the file does not say follows its rate, where the file says that.
fn bursts_follow(caps: &mut Numbers, said: &Said<'_>) {
    for (rate, burst, times) in
        [(Cap::Messages, Cap::MessagesBurst, 2), (Cap::Bytes, Cap::BytesBurst, 4)]
    {
        if said.contains_key(&rate) && !said.contains_key(&burst) {
            let Setting { value, source } = caps[&rate].clone();
            caps.insert(burst, Setting { value: value.saturating_mul(times), source });
        }
    }
}

/// Changes a number that the file does not say; its source stays the default.
fn change(caps: &mut Numbers, cap: Cap, value: u64) {
    caps.entry(cap).and_modify(|setting| setting.value = value);
}

fn said<'a, F, T>(keys: &[Key<F, T>], table: &'a F) -> Said<'a> {
    keys.iter().filter_map(|key| Some((key.cap, (key.said)(table).as_ref()?))).collect()
}

/// The request of that name.
fn request(name: &Spanned<String>) -> Result<&'static str, Refused> {
    let known = REQUESTS.into_iter().find(|known| *known == name.get_ref());
    known.ok_or_else(|| {
        let words = format!("views make no such request; there are {}", REQUESTS.join(", "));
        (name.span(), words)
    })
}

/// A number that lets something through, and not more than can be held.
pub(crate) fn number(
    said: &Spanned<u64>,
    name: &str,
    most: u64,
    source: &impl Fn(Range<usize>) -> Source,
) -> Result<Setting<u64>, Refused> {
    match *said.get_ref() {
        0 => Err((said.span(), format!("{name} = 0 would let nothing through"))),
        value if value > most => {
            Err((said.span(), format!("{name} cannot be more than {most}, and is {value}")))
        }
        value => Ok(Setting { value, source: source(said.span()) }),
    }
}

fn whole(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

impl Cap {
    /// Its name in the file.
    fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::MessagesBurst => "messages-burst",
            Self::Bytes => "bytes",
            Self::BytesBurst => "bytes-burst",
            Self::MessageSize => "message-size",
            Self::Views => "views",
            Self::Calls => "calls",
            Self::Questions => "questions",
            Self::Held => "held",
            Self::Queued => "queued",
        }
    }

    /// What no file can raise it above.
    fn most(self) -> u64 {
        match self {
            Self::Messages | Self::MessagesBurst => MESSAGES,
            Self::Bytes | Self::BytesBurst => BYTES,
            Self::MessageSize => MESSAGE,
            Self::Views => MOST_VIEWS,
            Self::Calls => CALLS,
            Self::Questions => QUESTIONS,
            Self::Held | Self::Queued => MEMORY,
        }
    }
}

/// One number: where it stands in the file's table, and where it goes.
struct Key<F, T> {
    cap: Cap,
    said: fn(&F) -> &Option<Spanned<u64>>,
    get: fn(&T) -> u64,
    set: fn(&mut T, u64),
}

const fn key<F, T>(
    cap: Cap,
    said: fn(&F) -> &Option<Spanned<u64>>,
    get: fn(&T) -> u64,
    set: fn(&mut T, u64),
) -> Key<F, T> {
    Key { cap, said, get, set }
}

#[rustfmt::skip]
const VIEW: [Key<file::ViewLimits, Limits>; 9] = [
    key(Cap::Messages,      |it| &it.messages,       |it| it.messages.per_second as u64, |it, to| it.messages.per_second = to as f64),
    key(Cap::MessagesBurst, |it| &it.messages_burst, |it| it.messages.burst as u64,      |it, to| it.messages.burst = to as f64),
    key(Cap::Bytes,         |it| &it.bytes,          |it| it.bytes.per_second as u64,    |it, to| it.bytes.per_second = to as f64),
    key(Cap::BytesBurst,    |it| &it.bytes_burst,    |it| it.bytes.burst as u64,         |it, to| it.bytes.burst = to as f64),
    key(Cap::MessageSize,   |it| &it.message_size,   |it| it.message.bytes as u64,       |it, to| it.message.bytes = whole(to)),
    key(Cap::Calls,         |it| &it.calls,          |it| it.calls as u64,               |it, to| it.calls = whole(to)),
    key(Cap::Questions,     |it| &it.questions,      |it| it.questions as u64,           |it, to| it.questions = whole(to)),
    key(Cap::Held,          |it| &it.held,           |it| it.held as u64,                |it, to| it.held = whole(to)),
    key(Cap::Queued,        |it| &it.queued,         |it| it.queued as u64,              |it, to| it.queued = whole(to)),
];

#[rustfmt::skip]
const SERVER: [Key<file::ServerLimits, ServerLimits>; 9] = [
    key(Cap::Messages,      |it| &it.messages,       |it| it.messages.per_second as u64, |it, to| it.messages.per_second = to as f64),
    key(Cap::MessagesBurst, |it| &it.messages_burst, |it| it.messages.burst as u64,      |it, to| it.messages.burst = to as f64),
    key(Cap::Bytes,         |it| &it.bytes,          |it| it.bytes.per_second as u64,    |it, to| it.bytes.per_second = to as f64),
    key(Cap::BytesBurst,    |it| &it.bytes_burst,    |it| it.bytes.burst as u64,         |it, to| it.bytes.burst = to as f64),
    key(Cap::Views,         |it| &it.views,          |it| it.views as u64,               |it, to| it.views = whole(to)),
    key(Cap::Calls,         |it| &it.calls,          |it| it.calls as u64,               |it, to| it.calls = whole(to)),
    key(Cap::Questions,     |it| &it.questions,      |it| it.questions as u64,           |it, to| it.questions = whole(to)),
    key(Cap::Held,          |it| &it.held,           |it| it.held as u64,                |it, to| it.held = whole(to)),
    key(Cap::Queued,        |it| &it.queued,         |it| it.queued as u64,              |it, to| it.queued = whole(to)),
];

const MESSAGES: u64 = 1_000_000;
const BYTES: u64 = 1_000_000_000;
/// What one message between page and process can hold.
const MESSAGE: u64 = 16 << 20;
const CALLS: u64 = 10_000;
const QUESTIONS: u64 = 1_000;
const MEMORY: u64 = 1 << 30;
/// The most views of a host.
pub(crate) const MOST_VIEWS: u64 = 10_000;

#[cfg(test)]
mod tests;
