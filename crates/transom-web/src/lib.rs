//! The browser side, built and ready to be served. The only crate that knows Node.

/// The view library as one classic script with the global `transom`; safe to write into HTML.
pub const VIEW: &str = include_str!(concat!(env!("OUT_DIR"), "/transom.global.js"));

/// The host element as one classic script with the global `transomHost`.
pub const HOST: &str = include_str!(concat!(env!("OUT_DIR"), "/host.global.js"));

/// The script of the sandbox page; safe to write into HTML.
pub const SANDBOX: &str = include_str!(concat!(env!("OUT_DIR"), "/sandbox.js"));

/// The script of the page that `transom run` serves; brings the host element with it.
pub const WORKBENCH: &str = include_str!(concat!(env!("OUT_DIR"), "/workbench.js"));

/// The HTML of that page.
pub const WORKBENCH_HTML: &str =
    include_str!(concat!(env!("OUT_DIR"), "/npm/workbench/index.html"));

/// The style sheet of that page.
pub const WORKBENCH_CSS: &str = include_str!(concat!(env!("OUT_DIR"), "/workbench.css"));

/// The script of the page in which `transom expose` holds a server that is a page.
pub const EXPOSE: &str = include_str!(concat!(env!("OUT_DIR"), "/expose.js"));

// The build script's too.
#[path = "../build/packages.rs"]
pub mod packages;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_into_html_cannot_end_its_own_script() {
        for script in [VIEW, SANDBOX] {
            let script = script.to_ascii_lowercase();
            assert!(!script.contains("</script") && !script.contains("<!--"));
        }
    }

    #[test]
    fn the_scripts_are_whole() {
        assert!(VIEW.contains("ui/initialize"));
        assert!(HOST.contains("transom-view"));
        assert!(SANDBOX.contains("sandbox-") && SANDBOX.contains("proxy-ready"));
        assert!(WORKBENCH.contains("transom-view"));
        assert!(WORKBENCH_CSS.contains('{'));
        assert!(EXPOSE.contains("MCP_TRANSPORT_HANDSHAKE"));
    }
}
