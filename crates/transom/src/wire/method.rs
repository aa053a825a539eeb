//! The names of the methods, and the older spellings still met in the wild.

/// View to host, request: opens the session.
pub const INITIALIZE: &str = "ui/initialize";
/// View to host: the view is ready; the gate opens.
pub const INITIALIZED: &str = "ui/notifications/initialized";
/// View to host: the content's size.
pub const SIZE_CHANGED: &str = "ui/notifications/size-changed";
/// View to host: the view wants to be closed.
pub const REQUEST_TEARDOWN: &str = "ui/notifications/request-teardown";
/// View to host, request: open a link outside.
pub const OPEN_LINK: &str = "ui/open-link";
/// View to host, request: hand a file to the user.
pub const DOWNLOAD_FILE: &str = "ui/download-file";
/// View to host, request: say something in the conversation.
pub const MESSAGE: &str = "ui/message";
/// View to host, request: another display mode.
pub const REQUEST_DISPLAY_MODE: &str = "ui/request-display-mode";
/// View to host, request: replace what the model is told about the view.
pub const UPDATE_MODEL_CONTEXT: &str = "ui/update-model-context";
/// Both ways, request: call a tool of the server, or one of the view's own.
pub const TOOLS_CALL: &str = "tools/call";
/// Both ways, request: list tools.
pub const TOOLS_LIST: &str = "tools/list";
/// View to host to server, request: read a resource.
pub const RESOURCES_READ: &str = "resources/read";
/// View to host to server, request: list resources.
pub const RESOURCES_LIST: &str = "resources/list";
/// View to host to server, request: list resource templates.
pub const RESOURCES_TEMPLATES_LIST: &str = "resources/templates/list";
/// View to host to server, request: list prompts.
pub const PROMPTS_LIST: &str = "prompts/list";
/// View to host, request: have the host's model write something.
pub const SAMPLING_CREATE_MESSAGE: &str = "sampling/createMessage";
/// View to host: a log line.
pub const LOG: &str = "notifications/message";
/// Both ways: the list of tools has changed.
pub const TOOLS_LIST_CHANGED: &str = "notifications/tools/list_changed";
/// Host to view: the list of resources has changed.
pub const RESOURCES_LIST_CHANGED: &str = "notifications/resources/list_changed";
/// Host to view: the list of prompts has changed.
pub const PROMPTS_LIST_CHANGED: &str = "notifications/prompts/list_changed";
/// Both ways, request: are you there?
pub const PING: &str = "ping";
/// Both ways: a request is no longer wanted.
pub const CANCELLED: &str = "notifications/cancelled";
/// Both ways: how far a request has come.
pub const PROGRESS: &str = "notifications/progress";
/// Host to view: arguments so far, closed so that they parse.
pub const TOOL_INPUT_PARTIAL: &str = "ui/notifications/tool-input-partial";
/// Host to view: the complete arguments, once.
pub const TOOL_INPUT: &str = "ui/notifications/tool-input";
/// Host to view: the tool's result.
pub const TOOL_RESULT: &str = "ui/notifications/tool-result";
/// Host to view: the tool call was cancelled.
pub const TOOL_CANCELLED: &str = "ui/notifications/tool-cancelled";
/// Host to view: what changed around the view.
pub const HOST_CONTEXT_CHANGED: &str = "ui/notifications/host-context-changed";
/// Host to view, request: say goodbye.
pub const RESOURCE_TEARDOWN: &str = "ui/resource-teardown";
/// Sandbox to host: send me the document.
pub const SANDBOX_PROXY_READY: &str = "ui/notifications/sandbox-proxy-ready";
/// Host to sandbox: the document.
pub const SANDBOX_RESOURCE_READY: &str = "ui/notifications/sandbox-resource-ready";

/// Every method above, once.
#[rustfmt::skip]
pub const ALL: &[&str] = &[
    INITIALIZE, INITIALIZED, SIZE_CHANGED, REQUEST_TEARDOWN, OPEN_LINK, DOWNLOAD_FILE, MESSAGE,
    REQUEST_DISPLAY_MODE, UPDATE_MODEL_CONTEXT, TOOLS_CALL, TOOLS_LIST, RESOURCES_READ,
    RESOURCES_LIST, RESOURCES_TEMPLATES_LIST, PROMPTS_LIST, SAMPLING_CREATE_MESSAGE, LOG,
    TOOLS_LIST_CHANGED, RESOURCES_LIST_CHANGED, PROMPTS_LIST_CHANGED, PING, CANCELLED, PROGRESS,
    TOOL_INPUT_PARTIAL, TOOL_INPUT, TOOL_RESULT, TOOL_CANCELLED, HOST_CONTEXT_CHANGED,
    RESOURCE_TEARDOWN, SANDBOX_PROXY_READY, SANDBOX_RESOURCE_READY,
];

/// Maps a spelling of an older draft to today's name; any other name stays as it is.
///
/// Only for what is read: nothing is written under an old name.
#[rustfmt::skip]
pub fn canonical(method: &str) -> &str {
    match method {
        "initialize" => INITIALIZE,
        "notifications/initialized" => INITIALIZED,
        "ui/size-change" | "ui/notifications/size-change" | "ui/resize" => SIZE_CHANGED,
        "ui/tool-cancelled" => TOOL_CANCELLED,
        "ui/host-context-change" | "ui/notifications/host-context-change" => HOST_CONTEXT_CHANGED,
        "ui/notifications/sandbox-ready" => SANDBOX_PROXY_READY,
        "ui/sandbox-resource-ready" => SANDBOX_RESOURCE_READY,
        other => other,
    }
}

/// Whether a method belongs to host and sandbox alone and must never reach, or come from, a view.
///
/// Holds for the reserved prefix, whatever follows it, and for the older spellings.
pub fn is_sandbox(method: &str) -> bool {
    canonical(method).starts_with(SANDBOX_PREFIX)
}

/// Whether a method is the extension's own; such a message never goes on to the server.
pub fn is_ui(method: &str) -> bool {
    canonical(method).starts_with("ui/")
}

const SANDBOX_PREFIX: &str = "ui/notifications/sandbox-";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_names_stay_as_they_are() {
        for method in ALL {
            assert_eq!(canonical(method), *method);
        }
        assert_eq!(canonical("ui/unheard-of"), "ui/unheard-of");
    }

    #[test]
    fn table_4_2_proxy_ready() {
        assert_eq!(canonical("ui/notifications/sandbox-ready"), SANDBOX_PROXY_READY);
    }

    #[test]
    fn table_4_2_html_push() {
        assert_eq!(canonical("ui/sandbox-resource-ready"), SANDBOX_RESOURCE_READY);
    }

    #[test]
    fn table_4_2_cancel() {
        assert_eq!(canonical("ui/tool-cancelled"), TOOL_CANCELLED);
    }

    #[test]
    fn table_4_2_size() {
        for old in ["ui/size-change", "ui/notifications/size-change", "ui/resize"] {
            assert_eq!(canonical(old), SIZE_CHANGED);
        }
    }

    #[test]
    fn table_4_2_context() {
        for old in ["ui/host-context-change", "ui/notifications/host-context-change"] {
            assert_eq!(canonical(old), HOST_CONTEXT_CHANGED);
        }
    }

    #[test]
    fn table_4_2_handshake_names() {
        assert_eq!(canonical("initialize"), INITIALIZE);
        assert_eq!(canonical("notifications/initialized"), INITIALIZED);
    }

    // The whole prefix is reserved, also names that are not defined yet.
    #[test]
    fn the_sandbox_prefix_is_reserved() {
        for method in [
            SANDBOX_PROXY_READY,
            SANDBOX_RESOURCE_READY,
            "ui/notifications/sandbox-anything",
            "ui/notifications/sandbox-ready",
            "ui/sandbox-resource-ready",
        ] {
            assert!(is_sandbox(method), "{method}");
        }
        let others = ALL.iter().filter(|method| !is_sandbox(method)).count();
        assert_eq!(others, ALL.len() - 2);
    }

    // What is ours is never forwarded to the server, under no spelling.
    #[test]
    fn ui_methods_are_told_from_the_servers() {
        for method in ["ui/initialize", "initialize", "notifications/initialized", "ui/new"] {
            assert!(is_ui(method), "{method}");
        }
        for method in [TOOLS_CALL, RESOURCES_READ, PROMPTS_LIST, LOG, PING] {
            assert!(!is_ui(method), "{method}");
        }
    }
}
