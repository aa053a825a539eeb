//! What a view may use up, and how long things may take.

use std::{collections::BTreeMap, time::Duration};

use super::{rate::Rate, state};
use crate::{calls::Patience, rpc};

/// The limits of one view. What all views of one server may use up together is in
/// [`ServerLimits`](super::ServerLimits).
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// The size and depth of one message.
    pub message: rpc::MessageLimits,
    /// Messages a second.
    pub messages: Rate,
    /// Bytes a second.
    pub bytes: Rate,
    /// Refused messages a second; beyond it the view is taken away.
    pub strikes: Rate,
    /// New instances a second; beyond it the view is taken away.
    pub instances: Rate,
    /// Requests in flight.
    pub calls: usize,
    /// Questions that a person has not yet decided.
    pub questions: usize,
    /// The size of all requests that wait for a person, in bytes.
    pub held: usize,
    /// The size of all messages that the page has not taken yet, in bytes. The driver, which carries them, keeps to it.
    pub queued: usize,
    /// Requests of single methods, by their names.
    pub methods: BTreeMap<&'static str, MethodLimits>,
    /// Tools that the view may offer (H-117).
    pub app_tools: usize,
    /// The size of one result of such a tool, in bytes (H-117).
    pub app_tool_result: usize,
}

/// The limits of one method, within those of the view. None is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MethodLimits {
    /// Requests a second.
    pub rate: Option<Rate>,
    /// The size of the params, in bytes.
    pub size: Option<usize>,
}

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// From the start, or a reload, to `initialized` (H-57).
    pub handshake: Duration,
    /// From the same until it is told that the view has not got ready yet.
    pub quiet: Duration,
    /// For the view to save its things (H-131).
    pub teardown: Duration,
    /// For the server, or the page, to carry out a request.
    pub call: Patience,
    /// For a person to decide, while nothing keeps the view from giving up.
    pub decision: Duration,
    /// For a person to decide, while progress keeps the view waiting.
    pub long_decision: Duration,
    /// Between two signs of life while a person decides; the reference view gives up after 60 s.
    pub heartbeat: Duration,
    /// After a second "no, this time" in a row, before the same may be asked again. Every further no
    /// doubles it, up to what a decision may take.
    pub again: Duration,
    /// For a tool that the view offers (H-117).
    pub app_tool: Duration,
    /// Between two changes of size.
    pub resize: Duration,
    /// Between two announcements that the view's tools changed (H-117).
    pub list_changed: Duration,
}

impl Terms {
    /// How long the phases of a view may last; without end, where none need be ready at all.
    pub(super) fn phases(&self, endless: bool) -> state::Terms {
        let handshake = if endless { Duration::MAX } else { self.handshake };
        state::Terms { handshake, teardown: self.teardown }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message: rpc::MessageLimits::default(),
            messages: Rate { per_second: 300.0, burst: 600.0 },
            bytes: Rate { per_second: 16e6, burst: 64e6 },
            strikes: Rate { per_second: 10.0, burst: 1_000.0 },
            instances: Rate { per_second: 0.5, burst: 10.0 },
            calls: 128,
            questions: 16,
            held: 32 << 20,
            queued: 64 << 20,
            methods: BTreeMap::new(),
            app_tools: 50,
            app_tool_result: 10_000_000,
        }
    }
}

impl Default for Terms {
    fn default() -> Self {
        let secs = Duration::from_secs;
        Self {
            handshake: secs(30),
            quiet: secs(4),
            teardown: secs(5),
            call: Patience { idle: secs(120), total: secs(3_600) },
            decision: secs(50),
            long_decision: secs(600),
            heartbeat: secs(15),
            again: secs(3),
            app_tool: secs(30),
            resize: Duration::from_millis(16),
            list_changed: secs(1),
        }
    }
}
