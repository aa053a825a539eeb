//! The browser side of Transom, as text.
//!
//! [`VIEW`] is what a server writes into its documents. The feature `host` adds what a host serves; who writes a server
//! compiles none of that. The published crate carries the built files; a checkout builds them with Node, and no
//! other crate knows Node.

/// The view library as one classic script with the global `transom`; safe to write into HTML.
pub const VIEW: &str = include_str!(concat!(env!("OUT_DIR"), "/transom.global.js"));

/// The same with `carry` and its like: what a server writes into its documents when it carries their requests.
pub const CARRY: &str = include_str!(concat!(env!("OUT_DIR"), "/carry.global.js"));

#[cfg(feature = "host")]
mod host;

#[cfg(feature = "host")]
pub use host::{
    EXPOSE, HOST, PORCH, SANDBOX, WORKBENCH, WORKBENCH_CSS, WORKBENCH_FILES, WORKBENCH_HTML,
};

// The build script's too; `transom pages` bundles its samples with it.
#[cfg(any(test, feature = "host"))]
#[path = "../build/packages.rs"]
pub mod packages;

#[cfg(test)]
mod tests {
    use super::{CARRY, VIEW};

    #[test]
    fn the_views_scripts_are_whole_and_cannot_end_themselves_in_html() {
        for script in [VIEW, CARRY] {
            assert!(script.contains("ui/initialize"));
            let script = script.to_ascii_lowercase();
            assert!(!script.contains("</script") && !script.contains("<!--"));
        }
        assert!(CARRY.contains("http_stream_read") && !VIEW.contains("http_stream_read"));
    }
}
