//! Which trace a request belongs to, as W3C Trace Context has it: in `_meta` and, over HTTP, in a header.

use std::fmt;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// A trace and one of its spans: `00-<trace>-<span>-01`.
///
/// It says nothing about what is asked: both are random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    trace: u128,
    span: u64,
}

impl TraceParent {
    /// A span in a trace of its own; nothing where the system has no randomness, since no call fails for its trace.
    pub fn new() -> Option<Self> {
        let mut bytes = [0_u8; 24];
        getrandom::fill(&mut bytes).ok()?;
        let (trace, span) = bytes.split_at(16);
        let trace = u128::from_be_bytes(trace.try_into().expect("sixteen"));
        let span = u64::from_be_bytes(span.try_into().expect("eight"));
        // All zeros is what the standard has for none.
        (trace != 0 && span != 0).then_some(Self { trace, span })
    }

    pub(super) fn put_in(&self, headers: &mut HeaderMap) {
        let value = HeaderValue::from_str(&self.to_string()).expect("digits and hyphens");
        headers.insert(HeaderName::from_static(NAME), value);
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { trace, span } = self;
        write!(f, "00-{trace:032x}-{span:016x}-01")
    }
}

/// What it is called, in `_meta` and as a header.
pub(super) const NAME: &str = "traceparent";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_printed_as_the_standard_has_it_and_never_the_same() {
        let known = TraceParent { trace: 0x4bf9, span: 0xf067 };
        assert_eq!(known.to_string(), "00-00000000000000000000000000004bf9-000000000000f067-01");
        let (one, other) = (TraceParent::new().unwrap(), TraceParent::new().unwrap());
        assert!(one.trace != other.trace && one.span != other.span);
        assert_eq!(one.to_string().len(), 55);
    }
}
