//! What a host serves to the browser.

/// The host element as one classic script with the global `transomHost`.
pub const HOST: &str = include_str!(concat!(env!("OUT_DIR"), "/host.global.js"));

/// The script of the sandbox page; safe to write into HTML.
pub const SANDBOX: &str = include_str!(concat!(env!("OUT_DIR"), "/sandbox.js"));

/// The script of the page that `transom run` serves; brings the host element with it.
pub const WORKBENCH: &str = include_str!(concat!(env!("OUT_DIR"), "/workbench.js"));

/// The HTML of that page.
pub const WORKBENCH_HTML: &str = include_str!(concat!(env!("OUT_DIR"), "/workbench.html"));

/// The style sheet of that page.
pub const WORKBENCH_CSS: &str = include_str!(concat!(env!("OUT_DIR"), "/workbench.css"));

/// The script of the page in which `transom expose` holds a server that is a page.
pub const EXPOSE: &str = include_str!(concat!(env!("OUT_DIR"), "/expose.js"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sandboxs_script_cannot_end_itself_in_html() {
        let script = SANDBOX.to_ascii_lowercase();
        assert!(!script.contains("</script") && !script.contains("<!--"));
    }

    #[test]
    fn the_files_are_whole() {
        assert!(HOST.contains("transom-view"));
        assert!(SANDBOX.contains("sandbox-") && SANDBOX.contains("proxy-ready"));
        assert!(WORKBENCH.contains("transom-view"));
        assert!(WORKBENCH_CSS.contains('{'));
        assert!(WORKBENCH_HTML.contains("/workbench.js"));
        assert!(EXPOSE.contains("MCP_TRANSPORT_HANDSHAKE"));
    }
}
