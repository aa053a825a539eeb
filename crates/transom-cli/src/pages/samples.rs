//! What there is to serve, and who may speak to whom.

/// One sample page.
pub(super) struct Sample {
    /// Its folder, and the first part of its host name.
    pub(super) name: &'static str,
    pub(super) words: &'static str,
    pub(super) part: Part,
}

/// What a page is to the others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A server in a frame of a client.
    Framed,
    /// A server in a popup of a client, which no page may put into a frame.
    Popup,
    /// The outer page of the inverted pair.
    Dashboard,
    /// Its inner page.
    Copilot,
    /// The page that connects to the servers.
    Client,
}

pub(super) const SAMPLES: [Sample; 7] = [
    Sample { name: "client", words: "a small client: start here", part: Part::Client },
    Sample { name: "pi", words: "a server: estimates pi, seen or not", part: Part::Framed },
    Sample { name: "json", words: "a server: searches a file of yours", part: Part::Framed },
    Sample { name: "mermaid", words: "a server: draws diagrams", part: Part::Framed },
    Sample { name: "folder", words: "a server: reads a folder, in a popup", part: Part::Popup },
    Sample { name: "dashboard", words: "inverted: this page is the server", part: Part::Dashboard },
    Sample { name: "copilot", words: "and this one its client", part: Part::Copilot },
];
