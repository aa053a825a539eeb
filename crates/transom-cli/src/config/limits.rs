//! Limits with their sources, from the house's through the file's to one server's.

use std::{collections::BTreeMap, ops::Range};

use toml::Spanned;
use transom::host::{Limits, MethodLimits, REQUESTS, Rate, ServerLimits};

use super::{
    file,
    setting::{Setting, Source},
};

/// What views may use up, and where each number comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Caps {
    view: Vec<Setting<u64>>,
    server: Vec<Setting<u64>>,
    methods: BTreeMap<&'static str, MethodCaps>,
}

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
            view: VIEW.iter().map(|key| Setting::default((key.get)(&view))).collect(),
            server: SERVER.iter().map(|key| Setting::default((key.get)(&server))).collect(),
            methods: BTreeMap::new(),
        }
    }
}

impl Caps {
    /// These limits, with what a table of the file says instead. `source` knows where something stands.
    ///
    /// What nobody said gives way to what somebody did: a burst to its rate, one view to all of its
    /// server and the other way round. Two numbers that somebody said and that cannot both be meant are
    /// refused.
    pub(crate) fn with(
        &self,
        table: &file::Limits,
        source: impl Fn(Range<usize>) -> Source,
    ) -> Result<Self, Refused> {
        let mut caps = self.clone();
        let view = [
            &table.view.messages,
            &table.view.messages_burst,
            &table.view.bytes,
            &table.view.bytes_burst,
            &table.view.message_size,
            &table.view.calls,
            &table.view.questions,
            &table.view.held,
            &table.view.queued,
        ];
        let server = [
            &table.server.messages,
            &table.server.messages_burst,
            &table.server.bytes,
            &table.server.bytes_burst,
            &table.server.views,
            &table.server.calls,
            &table.server.questions,
            &table.server.held,
            &table.server.queued,
        ];
        set(&mut caps.view, VIEW.map(|key| (key.name, key.most)), view, &source)?;
        set(&mut caps.server, SERVER.map(|key| (key.name, key.most)), server, &source)?;
        caps.agree(&view, &server)?;
        for (name, said) in &table.methods {
            let method = caps.method(name)?;
            let own = caps.methods.entry(method).or_default();
            for (setting, said, key, most) in [
                (&mut own.messages, &said.messages, "messages", MESSAGES),
                (&mut own.messages_burst, &said.messages_burst, "messages-burst", MESSAGES),
                (&mut own.size, &said.size, "size", MESSAGE),
            ] {
                if let Some(said) = said {
                    *setting = Some(number(said, key, most, &source)?);
                }
            }
            caps.agree_method(method, said)?;
        }
        Ok(caps)
    }

    /// The limits of one view.
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        for (key, setting) in VIEW.iter().zip(&self.view) {
            (key.set)(&mut limits, setting.value);
        }
        limits.methods = self.methods.iter().map(|(name, own)| (*name, own.limits())).collect();
        limits
    }

    /// The limits of all views of one server.
    pub(crate) fn server_limits(&self) -> ServerLimits {
        let mut limits = ServerLimits::default();
        for (key, setting) in SERVER.iter().zip(&self.server) {
            (key.set)(&mut limits, setting.value);
        }
        limits
    }

    /// How many views of one server may be open, and where that was said.
    pub(crate) fn views(&self) -> &Setting<u64> {
        &self.server[VIEWS]
    }

    /// No more views than the host has, where nobody said how many.
    pub(crate) fn at_most(mut self, views: u64) -> Self {
        let own = &mut self.server[VIEWS];
        if own.source == Source::Default {
            own.value = own.value.min(views);
        }
        self
    }

    /// Every number for one view, under its name in the file.
    pub(crate) fn view(&self) -> impl Iterator<Item = (&'static str, &Setting<u64>)> {
        VIEW.iter().map(|key| key.name).zip(&self.view)
    }

    /// Every number for one server, under its name in the file.
    pub(crate) fn server(&self) -> impl Iterator<Item = (&'static str, &Setting<u64>)> {
        SERVER.iter().map(|key| key.name).zip(&self.server)
    }

    /// Every number for single methods, under its name in the file.
    pub(crate) fn methods(
        &self,
    ) -> impl Iterator<Item = (&'static str, Vec<(&'static str, &Setting<u64>)>)> {
        self.methods.iter().map(|(method, own)| {
            let all = [
                ("messages", &own.messages),
                ("messages-burst", &own.messages_burst),
                ("size", &own.size),
            ];
            let said = all.into_iter().filter_map(|(name, it)| Some((name, it.as_ref()?)));
            (*method, said.collect())
        })
    }

    /// Makes the numbers of one table fit one another, or says why they cannot.
    fn agree(&mut self, view: &[Said<'_>; 9], server: &[Said<'_>; 9]) -> Result<(), Refused> {
        for (caps, said) in [(&mut self.view, view), (&mut self.server, server)] {
            for (rate, burst, times) in
                [(MESSAGES_AT, MESSAGES_AT + 1, 2), (BYTES_AT, BYTES_AT + 1, 4)]
            {
                if said[rate].is_some() && said[burst].is_none() {
                    let Setting { value, source } = caps[rate].clone();
                    caps[burst] = Setting { value: value.saturating_mul(times), source };
                }
            }
        }
        // A message that would never fit, however long it waited.
        let (size, burst) = (self.view[SIZE_AT].value, self.view[BYTES_AT + 1].value);
        if burst < size {
            match (view[SIZE_AT], view[BYTES_AT].as_ref().or(view[BYTES_AT + 1].as_ref())) {
                (None, _) => self.view[SIZE_AT].value = burst,
                (Some(_), None) => self.view[BYTES_AT + 1].value = size,
                (Some(size_said), Some(_)) => {
                    let words = format!(
                        "message-size lets {size} bytes through, but only {burst} may be sent at once; \
                         raise bytes-burst or lower message-size"
                    );
                    return Err((size_said.span(), words));
                }
            }
        }
        for at in (0..VIEW.len()).filter(|at| *at != SIZE_AT) {
            let (one, all) = (&self.view[at], &self.server[at]);
            if one.value <= all.value {
                continue;
            }
            match (&one.source, &all.source) {
                (_, Source::Default) => self.server[at].value = self.view[at].value,
                (Source::Default, _) => self.view[at].value = self.server[at].value,
                _ => {
                    let words = format!(
                        "{} of one view is {}, but all views of its server may have {}",
                        VIEW[at].name, one.value, all.value
                    );
                    let said = view[at].as_ref().or(server[at].as_ref());
                    let span = said.map_or(0..0, Spanned::span);
                    return Err((span, words));
                }
            }
        }
        Ok(())
    }

    fn method(&self, name: &Spanned<String>) -> Result<&'static str, Refused> {
        let known = REQUESTS.into_iter().find(|known| *known == name.get_ref());
        known.ok_or_else(|| {
            let words = format!("views make no such request; there are {}", REQUESTS.join(", "));
            (name.span(), words)
        })
    }

    /// A limit within a limit that is reached first is none.
    fn agree_method(&self, name: &str, said: &file::MethodLimits) -> Result<(), Refused> {
        let own = &self.methods[name];
        let (messages, size) = (&self.view[MESSAGES_AT], &self.view[SIZE_AT]);
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

type Said<'a> = &'a Option<Spanned<u64>>;

fn set(
    caps: &mut [Setting<u64>],
    keys: [(&str, u64); 9],
    said: [Said<'_>; 9],
    source: &impl Fn(Range<usize>) -> Source,
) -> Result<(), Refused> {
    for ((setting, (name, most)), said) in caps.iter_mut().zip(keys).zip(said) {
        if let Some(said) = said {
            *setting = number(said, name, most, source)?;
        }
    }
    Ok(())
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

/// One number of the file, and where it goes.
struct Key<T> {
    name: &'static str,
    most: u64,
    get: fn(&T) -> u64,
    set: fn(&mut T, u64),
}

const fn key<T>(name: &'static str, most: u64, get: fn(&T) -> u64, set: fn(&mut T, u64)) -> Key<T> {
    Key { name, most, get, set }
}

fn whole(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

#[rustfmt::skip]
const VIEW: [Key<Limits>; 9] = [
    key("messages",       MESSAGES, |it| it.messages.per_second as u64, |it, to| it.messages.per_second = to as f64),
    key("messages-burst", MESSAGES, |it| it.messages.burst as u64,      |it, to| it.messages.burst = to as f64),
    key("bytes",          BYTES,    |it| it.bytes.per_second as u64,    |it, to| it.bytes.per_second = to as f64),
    key("bytes-burst",    BYTES,    |it| it.bytes.burst as u64,         |it, to| it.bytes.burst = to as f64),
    key("message-size",   MESSAGE,  |it| it.message.bytes as u64,       |it, to| it.message.bytes = whole(to)),
    key("calls",          CALLS,    |it| it.calls as u64,               |it, to| it.calls = whole(to)),
    key("questions",      QUESTIONS, |it| it.questions as u64,          |it, to| it.questions = whole(to)),
    key("held",           MEMORY,   |it| it.held as u64,                |it, to| it.held = whole(to)),
    key("queued",         MEMORY,   |it| it.queued as u64,              |it, to| it.queued = whole(to)),
];

/// In the order of [`VIEW`], but for the one that only one of them has.
#[rustfmt::skip]
const SERVER: [Key<ServerLimits>; 9] = [
    key("messages",       MESSAGES, |it| it.messages.per_second as u64, |it, to| it.messages.per_second = to as f64),
    key("messages-burst", MESSAGES, |it| it.messages.burst as u64,      |it, to| it.messages.burst = to as f64),
    key("bytes",          BYTES,    |it| it.bytes.per_second as u64,    |it, to| it.bytes.per_second = to as f64),
    key("bytes-burst",    BYTES,    |it| it.bytes.burst as u64,         |it, to| it.bytes.burst = to as f64),
    key("views",          MOST_VIEWS, |it| it.views as u64,             |it, to| it.views = whole(to)),
    key("calls",          CALLS,    |it| it.calls as u64,               |it, to| it.calls = whole(to)),
    key("questions",      QUESTIONS, |it| it.questions as u64,          |it, to| it.questions = whole(to)),
    key("held",           MEMORY,   |it| it.held as u64,                |it, to| it.held = whole(to)),
    key("queued",         MEMORY,   |it| it.queued as u64,              |it, to| it.queued = whole(to)),
];

const MESSAGES_AT: usize = 0;
const BYTES_AT: usize = 2;
const SIZE_AT: usize = 4;
const VIEWS: usize = 4;

/// What no file can raise.
const MESSAGES: u64 = 1_000_000;
const BYTES: u64 = 1_000_000_000;
/// What a frame between page and process can hold.
const MESSAGE: u64 = 16 << 20;
const CALLS: u64 = 10_000;
const QUESTIONS: u64 = 1_000;
const MEMORY: u64 = 1 << 30;
/// The most views of a host.
pub(crate) const MOST_VIEWS: u64 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> file::Limits {
        toml::from_str(text).unwrap()
    }

    fn with(text: &str) -> Result<Caps, String> {
        let line = |span: Range<usize>| Source::Line(Default::default(), span.start);
        Caps::default().with(&table(text), line).map_err(|(_, words)| words)
    }

    #[test]
    fn every_number_reaches_the_limit_of_its_name() {
        for (at, key) in VIEW.iter().enumerate() {
            let value = (key.get)(&Limits::default()) / 2;
            let caps = with(&format!("[view]\n{} = {value}", key.name)).unwrap();
            assert_eq!((key.get)(&caps.limits()), value, "{}", key.name);
            assert_eq!(caps.view().nth(at).unwrap().1.value, value);
        }
        for key in &SERVER {
            let value = (key.get)(&ServerLimits::default()) * 2;
            let caps = with(&format!("[server]\n{} = {value}", key.name)).unwrap();
            assert_eq!((key.get)(&caps.server_limits()), value, "{}", key.name);
        }
        let caps = with("[methods.\"ui/message\"]\nmessages = 2\nsize = 1000").unwrap();
        let rate = Some(Rate { per_second: 2.0, burst: 4.0 });
        let own = MethodLimits { rate, size: Some(1_000) };
        assert_eq!(caps.limits().methods, [("ui/message", own)].into());
    }

    #[test]
    fn what_nobody_said_gives_way() {
        let caps = with("[view]\nmessages = 50\ncalls = 300\n[server]\nheld = 1000").unwrap();
        let (view, server) = (caps.limits(), caps.server_limits());
        assert_eq!(view.messages, Rate { per_second: 50.0, burst: 100.0 });
        assert_eq!((view.calls, server.calls), (300, 300));
        assert_eq!((view.held, server.held), (1_000, 1_000));
        let caps = with("[view]\nbytes-burst = 1000").unwrap();
        assert_eq!(caps.limits().message.bytes, 1_000);
    }
}
