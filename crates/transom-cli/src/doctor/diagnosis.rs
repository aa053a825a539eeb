//! Why a step breaks, as far as that can be told, and what to change.

use serde::Serialize;
use serde_json::Value;
use transom_host::timeline::Party;

use super::evidence::Evidence;

/// A cause by its name, and what to do about it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Diagnosis {
    /// Its name.
    pub(super) cause: &'static str,
    /// What to change.
    pub(super) advice: String,
}

/// The likeliest cause of a broken step.
pub(super) fn of(step: &str, evidence: &Evidence) -> Diagnosis {
    let document =
        evidence.document().and_then(|content| content["text"].as_str()).unwrap_or_default();
    match step {
        "connect" => said(
            "no-server",
            "Start the server by hand and look at what it writes; `transom check` says more.",
        ),
        "list" => said("no-tools", "Register a tool, and announce the capability `tools`."),
        "link" => said(
            "no-link",
            "Put the address of the view into the tool: _meta: { ui: { resourceUri: \"ui://…\" } }.",
        ),
        "read" => said(
            "no-document",
            "Register a resource under exactly the address that the tool links to, and answer resources/read with its text.",
        ),
        "mime" => said(
            "wrong-mime",
            "Say mimeType: \"text/html;profile=mcp-app\" in the content that resources/read returns.",
        ),
        "policy" => said(
            "not-mounted",
            "The log of `transom run` says why; a declaration that does not parse is one reason.",
        ),
        "sandbox" | "document" => said(
            "not-loaded",
            "Look whether a script of the document never ends, or whether the browser was busy.",
        ),
        "initialize" => silent(evidence, document),
        "initialized" => unheard(evidence),
        "input" => said(
            "no-input",
            "This is the host's part: tell us, with a trace (`transom run --record`).",
        ),
        "result" => said(
            "tool-failed",
            "Call the tool with arguments that it takes: --input '{…}'; its own error stands above.",
        ),
        _ => blank(evidence),
    }
}

/// The view never said hello.
fn silent(evidence: &Evidence, document: &str) -> Diagnosis {
    let lacks = |message: &Value| message["jsonrpc"] != "2.0";
    let said_any = evidence.messages.iter().filter(|it| it.of_view && it.from == Party::View);
    if said_any.clone().any(|it| lacks(&it.value))
        || (posts(document) && !document.contains("jsonrpc"))
    {
        return said(
            "no-jsonrpc",
            "Every message needs jsonrpc: \"2.0\"; without it, hosts drop it and say nothing.",
        );
    }
    if let Some(blocked) = evidence.blocked.first() {
        return said(
            "csp",
            &format!(
                "The policy keeps the document from what it needs ({blocked}). Name its domain in _meta.ui.csp of the resource (resourceDomains for scripts, styles and images; connectDomains for fetch), or bundle it."
            ),
        );
    }
    if let Some(error) = evidence.errors.first() {
        return said(
            "script-error",
            &format!("A script of the document fails before it says hello: {error}"),
        );
    }
    if document.contains("top.postMessage") {
        return said("wrong-window", "The view posts to window.top; its host is window.parent.");
    }
    if document.contains("srcdoc") {
        return said(
            "srcdoc",
            "The view is in a frame of its own (srcdoc), whose parent is the document and not the host: say hello from the document itself.",
        );
    }
    // By its text: the sandbox has a script of its own in the frame.
    if !document.to_ascii_lowercase().contains("<script") {
        return said(
            "no-script",
            "The document has no script. A view says ui/initialize to its host: use a library, such as transom or ext-apps.",
        );
    }
    said(
        "never-connects",
        "The document's script never says ui/initialize: call connect() of the library that it uses, also when nothing else has happened yet.",
    )
}

/// It said hello, was answered, and went no further.
fn unheard(evidence: &Evidence) -> Diagnosis {
    let mut answers = evidence.messages.iter().filter(|it| it.of_view && it.from == Party::Gate);
    let refused = answers.find_map(|it| it.value["error"]["message"].as_str());
    if let Some(words) = refused {
        return said(
            "hello-refused",
            &format!("The host refused the view's ui/initialize: {words}"),
        );
    }
    if let Some(error) = evidence.errors.first() {
        return said("script-error", &format!("A script of the view fails on the answer: {error}"));
    }
    said(
        "wrong-source",
        "The view does not hear the answer to its ui/initialize. Compare event.source with window.parent, and with nothing else; compare no origin with a fixed one; and send ui/notifications/initialized after the answer.",
    )
}

/// All was said and told, and nothing is to be seen.
fn blank(evidence: &Evidence) -> Diagnosis {
    if let Some(blocked) = evidence.blocked.first() {
        return said(
            "csp",
            &format!(
                "The policy keeps the view from what it shows ({blocked}). Name its domain in _meta.ui.csp of the resource."
            ),
        );
    }
    if let Some(error) = evidence.errors.first() {
        return said("script-error", &format!("A script of the view fails: {error}"));
    }
    let refused =
        evidence.events.iter().find(|(kind, words)| kind == "verdict" && !words.is_empty());
    if let Some((_, words)) = refused {
        return said(
            "refused",
            &format!(
                "What the view wanted was refused: {words}. A host says in hostCapabilities what it offers; a view asks for nothing else."
            ),
        );
    }
    said(
        "no-handler",
        "The view is told its input and result and does nothing with them. Set its handlers (ontoolinput, ontoolresult) before connect(), not after it.",
    )
}

fn posts(document: &str) -> bool {
    document.contains("postMessage(")
}

fn said(cause: &'static str, advice: &str) -> Diagnosis {
    Diagnosis { cause, advice: advice.to_owned() }
}
