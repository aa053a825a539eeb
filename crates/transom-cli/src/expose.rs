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
use transom_host::private_folder;

use crate::{
    arguments::{ExposeArguments, RunArguments},
    browser,
    config::{Config, Surroundings},
    interrupts::Interrupts,
    listen,
};
use hub::Hub;
use link::Opener;

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
            _ = interrupts.next() => Ok(ExitCode::SUCCESS),
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
        door::origin(arguments.port)
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
