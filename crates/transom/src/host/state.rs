//! The host's end of one view's life, as a table: what it decides with, and every move it may make.

use std::time::Duration;

use crate::violation::Violation;

/// Where one view stands.
///
/// ```text
/// start ──▶ Waiting ──ui/initialize──▶ Greeted ──initialized──▶ Ready ──close──▶ Closing ──▶ Closed
///             ▲ │                         │ ▲                    │ │                │           ▲
///             │ └──silence, close─────────┴─┼────────────────────┼─┼────────────────┴───────────┤
///             │                             └──ui/initialize again: a new instance              │
///             └──the document was reloaded───────────────────────┘  (answered, silence, reload)─┘
/// ```
///
/// Beside the phase stand two facts about the tool call that opened the view: what the host knows of
/// it, and what it has told this instance. Being ready means bringing the second up to the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct State {
    pub(super) phase: Phase,
    pub(super) known: Known,
    pub(super) told: Told,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Phase {
    /// The view has not spoken yet.
    Waiting { deadline: Duration },
    /// `ui/initialize` was answered; until `initialized`, only answers go out (H-53).
    Greeted { deadline: Duration },
    /// The gate is open.
    Ready,
    /// The view was asked to save its things (H-130).
    Closing { deadline: Duration, reason: Reason },
    /// Over. Nothing goes in or out.
    Closed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) arguments: Arguments,
    pub(super) ending: Option<Ending>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arguments {
    None,
    Partial,
    Complete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Result,
    Cancelled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Nothing,
    Input,
    Ending,
}

/// What happens to a session, reduced to what matters for its phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Event {
    /// `ui/initialize` came.
    Greeting,
    /// `ui/notifications/initialized` came.
    Initialized,
    /// The frame holds a new document.
    Reloaded,
    /// The host wants to take the view away.
    Close(Reason),
    /// The view answered the teardown, in whatever way.
    TornDown,
    /// Time passed.
    Tick,
}

/// What becomes known of the tool call that opened the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    Partial,
    Arguments,
    Ending(Ending),
}

/// What a step wants done, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// Give up whatever the previous instance still waits for.
    Forget,
    /// Answer `ui/initialize`.
    Greet,
    /// The gate opens: send what has gathered.
    Open,
    /// Send `tool-input-partial`.
    Partial,
    /// Send `tool-input`.
    Input,
    /// Send `tool-result` or `tool-cancelled`.
    Ending,
    /// Send `ui/resource-teardown`.
    TearDown(Reason),
    /// It is over.
    Close(Reason),
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The host or the person closed it.
    Closed,
    /// The view asked to be closed and the host agreed.
    Asked,
    /// H-57: the view never finished its handshake.
    NeverInitialized,
    /// The view reloads for ever.
    ReloadLoop,
    /// The view broke the rules more often than by accident.
    Flood,
    /// The view wrote to the host's page itself, past its sandbox.
    PastSandbox,
    /// The view put something other than text on its port.
    NotText,
    /// The view took the keyboard from the page that shows it, and took it again.
    Focus,
    /// A person took back something that the view was given when it was loaded.
    TakenBack,
    /// The server that the view came from is gone.
    ServerGone,
    /// The page that showed the view is gone.
    PageGone,
}

impl Reason {
    /// What the view is told.
    pub(super) fn words(self) -> Option<&'static str> {
        match self {
            Self::Closed
            | Self::NeverInitialized
            | Self::PastSandbox
            | Self::NotText
            | Self::PageGone => None,
            Self::Asked => Some("the view asked to be closed"),
            Self::ReloadLoop => Some("the view was loaded too often"),
            Self::Flood => Some("the view broke too many rules"),
            Self::Focus => Some("the view took the keyboard"),
            Self::TakenBack => Some("what the view was given was taken back"),
            Self::ServerGone => Some("the server is gone"),
        }
    }
}

/// The tool call's story has gone past the point where this could be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tool call has gone on and cannot be changed now")]
pub struct TooLate;

/// How long a phase may last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) handshake: Duration,
    pub(super) teardown: Duration,
}

impl State {
    pub(super) fn start(now: Duration, terms: Terms) -> Self {
        Self {
            phase: Phase::Waiting { deadline: now.saturating_add(terms.handshake) },
            known: Known { arguments: Arguments::None, ending: None },
            told: Told::Nothing,
        }
    }

    /// Every move a session may make.
    pub(super) fn step(
        self,
        now: Duration,
        event: Event,
        terms: Terms,
    ) -> Result<(Self, Vec<Move>), Violation> {
        use Phase::{Closed, Closing, Greeted, Ready, Waiting};
        let until = |patience| now.saturating_add(patience);
        Ok(match (self.phase, event) {
            (Waiting { deadline }, Event::Greeting) => {
                (self.at(Greeted { deadline }), vec![Move::Greet])
            }
            // A component mounted twice greets twice before it says `initialized` (H-56).
            (Greeted { deadline }, Event::Greeting) => {
                (self.at(Greeted { deadline }), vec![Move::Forget, Move::Greet])
            }
            // A reload sends ui/initialize again without teardown: the frame died and could not say
            // so. A view that greets after a finished handshake is a new instance and has seen nothing.
            (Ready, Event::Greeting) => {
                let phase = Greeted { deadline: until(terms.handshake) };
                (Self { told: Told::Nothing, ..self.at(phase) }, vec![Move::Forget, Move::Greet])
            }
            (Greeted { .. }, Event::Initialized) => {
                let (state, mut moves) = self.at(Ready).catch_up();
                moves.insert(0, Move::Open);
                (state, moves)
            }
            // R-04: some views say it twice; the second says nothing new.
            (Ready | Closing { .. }, Event::Initialized) => (self, vec![]),
            (Waiting { .. } | Greeted { .. } | Ready, Event::Reloaded) => {
                let phase = Waiting { deadline: until(terms.handshake) };
                (Self { told: Told::Nothing, ..self.at(phase) }, vec![Move::Forget])
            }
            // H-133: who was never ready is not asked.
            (Waiting { .. } | Greeted { .. }, Event::Close(reason)) => {
                (self.at(Closed), vec![Move::Close(reason)])
            }
            // H-130, and not H-131: a view that floods is told, and not waited for. The other views would wait with it.
            (Ready, Event::Close(Reason::Flood)) => {
                let moves = vec![Move::TearDown(Reason::Flood), Move::Close(Reason::Flood)];
                (self.at(Closed), moves)
            }
            (Closing { .. }, Event::Close(Reason::Flood)) => {
                (self.at(Closed), vec![Move::Close(Reason::Flood)])
            }
            (Ready, Event::Close(reason)) => {
                let phase = Closing { deadline: until(terms.teardown), reason };
                (self.at(phase), vec![Move::TearDown(reason)])
            }
            (Closing { .. } | Closed, Event::Close(_)) => (self, vec![]),
            // The document that was asked is gone, and its answer with it.
            (Closing { reason, .. }, Event::TornDown | Event::Reloaded) => {
                (self.at(Closed), vec![Move::Close(reason)])
            }
            (Waiting { deadline } | Greeted { deadline }, Event::Tick) if deadline <= now => {
                (self.at(Closed), vec![Move::Close(Reason::NeverInitialized)])
            }
            (Closing { deadline, reason }, Event::Tick) if deadline <= now => {
                (self.at(Closed), vec![Move::Close(reason)])
            }
            (_, Event::Tick) => (self, vec![]),
            (_, event) => return Err(self.refuse(event)),
        })
    }

    /// Takes in news about the tool call, and tells what can be told now.
    pub(super) fn learn(self, news: News) -> Result<(Self, Vec<Move>), TooLate> {
        let Known { arguments, ending } = self.known;
        let known = match (news, arguments, ending) {
            // H-64: no partial after the input. H-61, H-68: one input, one ending.
            (News::Partial, Arguments::None | Arguments::Partial, None) => {
                Known { arguments: Arguments::Partial, ending }
            }
            // H-62: a result that overtook its arguments waits for them.
            (
                News::Arguments,
                Arguments::None | Arguments::Partial,
                None | Some(Ending::Result),
            ) => Known { arguments: Arguments::Complete, ending },
            (News::Ending(ending), _, None) => Known { arguments, ending: Some(ending) },
            _ => return Err(TooLate),
        };
        Ok(match self.phase {
            Phase::Ready => Self { known, ..self }.catch_up(),
            _ => (Self { known, ..self }, vec![]),
        })
    }

    /// In the words of a refusal.
    pub(super) fn name(self) -> &'static str {
        match self.phase {
            Phase::Waiting { .. } => "waiting for ui/initialize",
            Phase::Greeted { .. } => "waiting for initialized",
            Phase::Ready => "ready",
            Phase::Closing { .. } => "closing",
            Phase::Closed => "closed",
        }
    }

    pub(super) fn deadline(self) -> Option<Duration> {
        match self.phase {
            Phase::Waiting { deadline } | Phase::Greeted { deadline } => Some(deadline),
            Phase::Closing { deadline, .. } => Some(deadline),
            Phase::Ready | Phase::Closed => None,
        }
    }

    /// Whether the handshake is still to come.
    pub(super) fn is_waiting(self) -> bool {
        matches!(self.phase, Phase::Waiting { .. } | Phase::Greeted { .. })
    }

    fn at(self, phase: Phase) -> Self {
        Self { phase, ..self }
    }

    /// `partial* → input → (result | cancelled)`, each once; a cancellation may come without input.
    fn catch_up(mut self) -> (Self, Vec<Move>) {
        let mut moves = vec![];
        match (self.told, self.known.arguments) {
            (Told::Nothing, Arguments::Complete) => {
                moves.push(Move::Input);
                self.told = Told::Input;
            }
            (Told::Nothing, Arguments::Partial) if self.known.ending.is_none() => {
                moves.push(Move::Partial);
            }
            _ => {}
        }
        let told = match (self.told, self.known.ending) {
            (Told::Input, Some(_)) => true,
            // docs/reference/mcp-apps.md §3.16: cancelled before the arguments were complete.
            (Told::Nothing, Some(Ending::Cancelled)) => true,
            _ => false,
        };
        if told {
            moves.push(Move::Ending);
            self.told = Told::Ending;
        }
        (self, moves)
    }

    fn refuse(self, event: Event) -> Violation {
        let got = match event {
            Event::Greeting => "ui/initialize",
            Event::Initialized => "ui/notifications/initialized",
            Event::Reloaded => "a reload",
            Event::Close(_) => "a close",
            Event::TornDown => "an answer to the teardown",
            Event::Tick => "the time",
        };
        Violation::Unexpected { state: self.name(), got: got.into() }
    }
}

#[cfg(test)]
mod tests;
