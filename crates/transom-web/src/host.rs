//! What a host serves to the browser.

/// The host element as one classic script with the global `transomHost`.
pub const HOST: &str = include_str!(concat!(env!("OUT_DIR"), "/host.global.js"));

/// The script of the sandbox page; safe to write into HTML.
pub const SANDBOX: &str = include_str!(concat!(env!("OUT_DIR"), "/sandbox.js"));

/// The script of the porch, the page between the sandbox page and a view; safe to write into HTML.
pub const PORCH: &str = include_str!(concat!(env!("OUT_DIR"), "/porch.js"));

/// The script of the page that `transom run` serves; brings the host element with it.
pub const WORKBENCH: &str = include_str!(concat!(env!("OUT_DIR"), "/workbench.js"));

/// What that script imports when it is first needed, and the page's icon: name and text, served below `/workbench/`.
pub const WORKBENCH_FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/workbench.rs"));

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
    fn a_script_that_stands_in_html_cannot_end_itself() {
        for script in [SANDBOX, PORCH].map(str::to_ascii_lowercase) {
            assert!(!script.contains("</script") && !script.contains("<!--"));
        }
    }

    #[test]
    fn the_files_are_whole() {
        assert!(HOST.contains("transom-view"));
        assert!(SANDBOX.contains("sandbox-") && SANDBOX.contains("proxy-ready"));
        assert!(PORCH.contains("postMessage"));
        assert!(WORKBENCH.contains("transom-view"));
        assert!(
            WORKBENCH_FILES.iter().any(|(name, text)| *name == "icon.svg" && text.contains("<svg"))
        );
        assert!(WORKBENCH_CSS.contains('{'));
        assert!(WORKBENCH_HTML.contains("/workbench.js"));
        assert!(EXPOSE.contains("MCP_TRANSPORT_HANDSHAKE"));
    }
}
