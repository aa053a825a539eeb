//! How servers that are web pages are served and offered.

use std::path::PathBuf;

use clap::Args;
use transom::origin::Origin;
use url::Url;

use super::RunArguments;

/// How to serve the sample pages.
#[derive(Args, Clone, Debug)]
pub(crate) struct PagesArguments {
    /// The checkout of Transom whose pages are served. The default is the one around this folder.
    #[arg(long, value_name = "DIR", help_heading = "Pages")]
    pub(crate) path: Option<PathBuf>,
    /// The pages' port. If it is busy, the next free one is taken.
    #[arg(long, value_name = "PORT", default_value_t = 7430, help_heading = "Pages")]
    pub(crate) pages_port: u16,
    /// A further page that may connect to the samples, by its origin; may be given several times.
    #[arg(long, value_name = "ORIGIN", value_parser = Origin::parse, help_heading = "Pages")]
    pub(crate) allow: Vec<Origin>,
    #[command(flatten)]
    pub(crate) run: RunArguments,
}

/// Which page, and to whom.
#[derive(Args, Clone, Debug)]
pub(crate) struct ExposeArguments {
    /// The server's address: https, or http on this machine.
    #[arg(value_name = "PAGE-URL", value_parser = page)]
    pub(crate) page: Url,
    /// Offers it over streamable HTTP at this port of 127.0.0.1, instead of standard input and output.
    #[arg(long, value_name = "PORT")]
    pub(crate) http: Option<u16>,
    /// Shows the browser, for a setup that a person must do.
    #[arg(long)]
    pub(crate) window: bool,
    /// The port of our own page. Its origin, http://localhost:PORT, is what the server must allow.
    #[arg(long, value_name = "PORT", default_value_t = 7450)]
    pub(crate) port: u16,
    /// Runs the page without the browser's own sandbox, as root must. Only for pages that you trust.
    #[arg(long)]
    pub(crate) no_browser_sandbox: bool,
    /// The browser; otherwise $CHROMIUM, or the first Chromium that is installed.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) browser: Option<PathBuf>,
    /// A further flag for the browser; may be given several times.
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    pub(crate) browser_flag: Vec<String>,
    /// Where the browser's profile is kept, with what was entered while the page was set up.
    ///
    /// The default is $XDG_DATA_HOME/transom (or ~/.local/share/transom).
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Keeps nothing between runs.
    #[arg(long, conflicts_with = "data_dir")]
    pub(crate) no_data: bool,
}

/// Reads the address of a page server, as `readServerUrl` does in the page.
fn page(text: &str) -> Result<Url, String> {
    let expected = || "expected a page's address: https, or http on this machine".to_owned();
    let mut url = Url::parse(text).map_err(|_| expected())?;
    let local = url.host_str().is_some_and(|host| {
        host == "localhost"
            || host.ends_with(".localhost")
            || host == "[::1]"
            || host.starts_with("127.")
    });
    if !(url.scheme() == "https" || url.scheme() == "http" && local) {
        return Err(expected());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("an address with a name or a password in it".to_owned());
    }
    url.set_fragment(None);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_where_nobody_reads_along() {
        for good in [
            "https://a.example/x?y",
            "http://localhost:1/",
            "http://json.localhost:7430/",
            "http://127.0.0.1:2",
        ] {
            assert!(page(good).is_ok(), "{good}");
        }
        for bad in [
            "http://a.example/",
            "ftp://localhost/",
            "javascript:1",
            "https://me:pw@a.example/",
            "json",
        ] {
            assert!(page(bad).is_err(), "{bad}");
        }
        assert_eq!(page("https://a.example/#setup").unwrap().as_str(), "https://a.example/");
    }
}
