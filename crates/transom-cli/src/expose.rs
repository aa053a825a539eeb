//! `transom expose`: an MCP server that is a web page, for any MCP client.
//!
//! ```text
//!   client ──stdio or HTTP──▶ Hub ──socket──▶ our page in Chromium ──postMessage──▶ the server's page, in a frame of it
//! ```

mod door;
mod http;
mod hub;
mod link;
mod stdio;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use transom_host::private_folder;
use url::Url;

use crate::{
    arguments::RunArguments,
    browser,
    config::{Config, Surroundings},
    interrupts::Interrupts,
    listen,
};
use hub::Hub;
use link::Opener;

/// Which page, and to whom.
#[derive(Args, Clone, Debug)]
pub(crate) struct ExposeArguments {
    /// The server's address: https, or http on this machine.
    #[arg(value_name = "PAGE-URL", value_parser = page)]
    page: Url,
    /// Offers it over streamable HTTP at this port of 127.0.0.1, in place of standard input and output.
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,
    /// Shows the browser: for a setup that a person must see.
    #[arg(long)]
    window: bool,
    /// The port of our own page. Its origin, http://localhost:PORT, is what the server must allow.
    #[arg(long, value_name = "PORT", default_value_t = PORT)]
    port: u16,
    /// Runs the page without the browser's own sandbox, as root must. Only for pages that you trust.
    #[arg(long)]
    no_browser_sandbox: bool,
    /// The browser; otherwise $CHROMIUM, or the first Chromium that is installed.
    #[arg(long, value_name = "PROGRAM")]
    browser: Option<PathBuf>,
    /// A further flag for the browser; may be given several times.
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    browser_flag: Vec<String>,
    /// Where the browser's profile is kept, and with it what the page was set up with.
    ///
    /// $XDG_DATA_HOME/transom (or ~/.local/share/transom), unless said.
    #[arg(long, value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// Keeps nothing between runs.
    #[arg(long, conflicts_with = "data_dir")]
    no_data: bool,
}

/// Offers the page until the client is done, or until it is interrupted.
pub(crate) fn expose(arguments: &ExposeArguments, around: &Surroundings<'_>) -> Result<ExitCode> {
    let program = browser::find(arguments.browser.as_deref())?;
    let fresh = tempfile::tempdir().context("there is no place for a profile")?;
    let profile = profile(arguments, around, fresh.path())?;
    let root = browser::is_root(fresh.path());
    if root && !arguments.no_browser_sandbox {
        bail!(
            "Chromium gives up its own sandbox when root starts it, and a stranger's page would run without: \
             start transom as another user, or say --no-browser-sandbox for a page that you trust"
        );
    }
    let mut flags = arguments.browser_flag.clone();
    if arguments.no_browser_sandbox {
        flags.push("--no-sandbox".to_owned());
    }
    if !arguments.window {
        flags.push("--headless".to_owned());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut interrupts = Interrupts::listen().context("cannot listen for Ctrl-C")?;
        let opener = Opener {
            program,
            profile,
            flags,
            page: arguments.page.clone(),
            window: arguments.window,
        };
        tokio::select! {
            ended = serve(arguments, opener) => ended,
            () = interrupts.next() => Ok(ExitCode::SUCCESS),
        }
    })
}

async fn serve(arguments: &ExposeArguments, opener: Opener) -> Result<ExitCode> {
    // A fixed place: the server's page allows this origin, and no other port would do.
    let both = listen::both(arguments.port).await;
    let both = both.with_context(|| {
        format!(
            "port {} is taken; choose another with --port, and let the page allow it",
            arguments.port
        )
    })?;
    let door = door::open(both, &arguments.page).await?;
    eprintln!(
        "transom: {} is offered; its page must allow {}",
        arguments.page,
        origin(arguments.port)
    );
    let (hub, asks) = Hub::new(opener, door, arguments.http.is_none());
    let heard = hub.heard();
    let running = tokio::spawn(hub.run());
    let served = match arguments.http {
        Some(port) => http::serve(port, asks).await,
        None => stdio::serve(asks, heard).await,
    };
    // Whoever asked is gone, and with the last asker the hub ends, and its browser.
    let _ = running.await;
    served.map(|()| ExitCode::SUCCESS)
}

/// Where the profile is: in the data folder, one for each origin of ours, or nowhere for longer than this run.
fn profile(
    arguments: &ExposeArguments,
    around: &Surroundings<'_>,
    fresh: &Path,
) -> Result<PathBuf> {
    let run = RunArguments {
        data_dir: arguments.data_dir.clone(),
        no_data: arguments.no_data,
        ..RunArguments::default()
    };
    let mut run = run;
    // The file in this folder has nothing to say about one page.
    run.servers.no_toml = true;
    let config = Config::load(&run, around)?;
    let Some(data) = config.run.data.value else { return Ok(fresh.join("profile")) };
    let folder = data.join(format!("expose-{}", arguments.port));
    private_folder(&data).and_then(|()| private_folder(&folder)).with_context(|| {
        format!(
            "cannot use {}; choose another with --data-dir, or none with --no-data",
            data.display()
        )
    })?;
    Ok(folder)
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

/// Our page's origin, which a server's allow-list names.
pub(crate) fn origin(port: u16) -> String {
    format!("http://localhost:{port}")
}

/// The port of our page, unless said.
pub(crate) const PORT: u16 = 7450;

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
