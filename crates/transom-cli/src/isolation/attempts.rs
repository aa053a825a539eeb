//! What is tried, and by whom.

/// One thing that a view tries.
#[derive(Debug)]
pub(super) struct Attempt {
    /// Its name, in the document that tries it and in the path that a trap waits at.
    pub(super) id: &'static str,
    /// What a person calls it.
    pub(super) words: &'static str,
    pub(super) sort: Sort,
    pub(super) by: Attacker,
}

/// What its success would mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// An escape: it must not work.
    Escape,
    /// An escape that no host can close in today's browsers, and why.
    Open(&'static str),
    /// What views are for: it must work.
    Need,
}

/// The view that tries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attacker {
    /// The one that tries most of them, one after the other.
    Main,
    /// The one that is clicked on before each.
    Clicked,
    /// One for this attempt alone, which it may not survive.
    Alone,
    /// One for this attempt alone, which it must not survive: it is over when the view is, or says that it goes on.
    Doomed,
    /// The one whose server was granted more kinds of script.
    Granted,
}

impl Attempt {
    /// The name of the view that tries it.
    pub(super) fn view(&self) -> &'static str {
        match self.by {
            Attacker::Main => "main",
            Attacker::Clicked => "clicked",
            Attacker::Granted => "granted",
            Attacker::Alone | Attacker::Doomed => self.id,
        }
    }
}

const fn escape(id: &'static str, words: &'static str) -> Attempt {
    Attempt { id, words, sort: Sort::Escape, by: Attacker::Main }
}

const fn click(id: &'static str, words: &'static str) -> Attempt {
    Attempt { id, words, sort: Sort::Escape, by: Attacker::Clicked }
}

const fn alone(id: &'static str, words: &'static str) -> Attempt {
    Attempt { id, words, sort: Sort::Escape, by: Attacker::Alone }
}

const fn doomed(id: &'static str, words: &'static str) -> Attempt {
    Attempt { id, words, sort: Sort::Escape, by: Attacker::Doomed }
}

const fn open(id: &'static str, words: &'static str, why: &'static str) -> Attempt {
    Attempt { id, words, sort: Sort::Open(why), by: Attacker::Main }
}

const fn need(id: &'static str, words: &'static str) -> Attempt {
    Attempt { id, words, sort: Sort::Need, by: Attacker::Main }
}

const fn granted(id: &'static str, words: &'static str) -> Attempt {
    Attempt { id, words, sort: Sort::Need, by: Attacker::Granted }
}

/// All of them, in the order they are tried and printed.
pub(super) const ATTEMPTS: &[Attempt] = &[
    escape("fetch", "fetch from an address not declared"),
    escape(
        "near-fetch",
        "fetch from an address of this machine that it declares, and no person agreed to",
    ),
    escape("xhr", "XMLHttpRequest"),
    escape("websocket", "WebSocket"),
    escape("eventsource", "EventSource"),
    escape("beacon", "sendBeacon"),
    escape("image", "image"),
    escape("css-image", "image from a style"),
    escape("script", "script"),
    escape("stylesheet", "style sheet"),
    escape("font", "font"),
    escape("media", "audio or video"),
    escape("object", "object or embed"),
    escape("frame", "frame"),
    escape("child-fetch", "fetch of a blank frame inside"),
    escape("blob-frame", "fetch of a blob frame inside"),
    escape("ping", "<a ping>"),
    escape("prefetch", "prefetch"),
    escape("preload", "preload"),
    escape("modulepreload", "preload of a module"),
    escape("speculation", "speculation rules"),
    open(
        "preconnect",
        "preconnect: a connection without a word on it",
        "Chromium opens it without asking the policy; it tells an address that it was named, and no more",
    ),
    open(
        "webrtc",
        "WebRTC: a packet to a STUN server",
        "no policy that browsers enforce covers it; a few bytes can leave with every packet",
    ),
    escape("eval", "eval"),
    escape("worker-unasked", "worker from a blob, not granted"),
    escape("wasm-unasked", "WebAssembly, not granted"),
    escape("service-worker", "service worker"),
    escape("porch-fetch", "fetch of its porch's own window"),
    escape("porch-script", "script put into its porch"),
    escape("porch-image", "image put into its porch"),
    escape("porch-frame", "frame put into its porch"),
    escape("porch-child-fetch", "fetch of a blank frame in its porch"),
    escape("porch-service-worker", "service worker of its porch"),
    escape("sandbox-dom", "the sandbox's document"),
    escape("sandbox-rewrite", "the sandbox's functions, rewritten"),
    escape("sandbox-odd-value", "a value without a size, past its porch to the sandbox"),
    escape("top-dom", "the host page's document"),
    escape("frame-element", "its porch's frame, in the sandbox"),
    escape("document-domain", "document.domain"),
    escape("sibling-dom", "another view's document"),
    escape("sibling-storage", "another view's storage"),
    escape("host-storage", "the host page's storage"),
    escape("host-cookie", "a cookie for the host page"),
    escape("host-request", "a request to the host"),
    escape("host-socket", "a socket to the host"),
    escape("broadcast", "a broadcast that another view hears"),
    escape("ready-spoof", "messages in the sandbox's name"),
    escape("odd-value", "a value that is not JSON, and so has no size, in a message"),
    escape("call-spoof", "a call in another view's name"),
    escape("foreign-tool", "another server's tool"),
    escape("call-twin", "a call that names two tools, and a word in the host's place"),
    escape("credential", "a credential in what it can see"),
    escape("camera", "camera"),
    escape("microphone", "microphone"),
    escape("geolocation", "position"),
    click("clipboard", "clipboard, after a click"),
    click("popup", "popup, after a click"),
    click("porch-popup", "popup of its porch, after a click"),
    click("popup-link", "a link to a new tab, after a click"),
    click("download", "download, after a click"),
    click("fullscreen", "fullscreen, after a click"),
    click("top-link", "a link that replaces the host page, after a click"),
    click("top-navigation", "the host page sent elsewhere, after a click"),
    alone("view-spoof", "messages to another view, in its host's name"),
    doomed("stray", "messages to the host page itself, past the sandbox, again and again"),
    doomed("port-object", "something other than text on its port"),
    alone("form-post", "form sent to another site"),
    alone("self-navigation", "itself sent elsewhere"),
    alone("meta-refresh", "itself sent elsewhere by <meta>"),
    alone("porch-write", "its porch written anew"),
    alone("porch-navigation", "its porch sent elsewhere"),
    alone("porch-blob", "its porch sent to a page of its own making"),
    alone("porch-removal", "itself removed from its porch, going on in there"),
    alone("sandbox-navigation", "its sandbox sent elsewhere"),
    alone("sandbox-link", "its sandbox sent elsewhere by a link in its porch"),
    need("parent", "a parent of its own origin, which it may look at and change"),
    need("storage", "local storage"),
    need("data-image", "data: images"),
    need("declared-fetch", "fetch from a declared address"),
    need("form-script", "forms handled by script"),
    need("webgl", "WebGL"),
    granted("worker-blob", "workers from blob:, once granted"),
    granted("worker-data", "workers from data:, once granted"),
    granted("wasm", "WebAssembly, once granted"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_attempt_is_in_the_document_and_named_once() {
        let document = include_str!("stranger.html");
        let mut names = BTreeSet::new();
        for Attempt { id, .. } in ATTEMPTS {
            assert!(names.insert(id), "{id} twice");
            let bare = id.chars().all(char::is_alphanumeric);
            let key = if bare { format!("\n  {id}: ") } else { format!("\n  \"{id}\": ") };
            assert!(document.contains(&key), "{id}");
        }
    }
}
