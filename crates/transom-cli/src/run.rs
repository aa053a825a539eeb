//! `transom run`: a host on loopback.

use anyhow::{Context, Result};
use axum::serve::ListenerExt;
use transom::origin::Origin;
use transom_host::{
    Host, demo,
    sandbox::Naming,
    upstream::{Command, Endpoint, Target},
};

use crate::{
    RunArguments,
    listen::{self, Both},
    mcp_servers,
};

/// Runs until it is interrupted.
pub(crate) fn run(arguments: RunArguments) -> Result<()> {
    log_to_stderr(arguments.json);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve(arguments))
}

async fn serve(arguments: RunArguments) -> Result<()> {
    let servers = servers(&arguments)?;
    let (page, sandbox) = listen::pair(arguments.port).await?;
    let host = build(&arguments, &servers, &page, &sandbox)?;
    let address = format!("http://localhost:{}/#token={}", page.port, host.token());
    println!("transom {}   {address}    (sandbox on :{})", env!("CARGO_PKG_VERSION"), sandbox.port);
    for (name, target) in &servers {
        println!("  {name:<12}{}", place(target));
    }
    let (pages, frames) = (host.page_router(), host.sandbox_router());
    for (both, router) in [(page, pages), (sandbox, frames)] {
        for listener in both.listeners {
            let router = router.clone();
            let listener = listener.tap_io(|stream| {
                // Without it a small answer waits for the peer's confirmation of the one before.
                let _ = stream.set_nodelay(true);
            });
            tokio::spawn(async move { axum::serve(listener, router).await });
        }
    }
    if arguments.open {
        open(&address);
    }
    tokio::signal::ctrl_c().await.context("cannot listen for Ctrl-C")?;
    println!("closing…");
    host.close().await;
    Ok(())
}

fn build(
    arguments: &RunArguments,
    servers: &[(String, Target)],
    page: &Both,
    sandbox: &Both,
) -> Result<Host> {
    // Not `[::1]`: browsers ignore an IPv6 address in a policy, and no frame could be shown there.
    let origins = ["localhost", "127.0.0.1"];
    let origins = origins.map(|name| Origin::parse(&format!("http://{name}:{}", page.port)));
    let origins = origins.into_iter().collect::<Result<Vec<_>, _>>()?;
    let naming = match arguments.sandbox.as_str() {
        "ports" => Naming::Ports,
        _ => Naming::Localhost { port: sandbox.port },
    };
    let mut builder = Host::builder(origins, naming);
    for (name, target) in servers {
        builder = builder.server(name.clone(), target.clone());
    }
    if let Some(folder) = &arguments.data_dir {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        builder = builder.data(folder.clone());
    }
    if servers.len() == 1 && servers[0].0 == "demo" {
        builder = builder.open_first("demo", "show_weather");
    }
    Ok(builder.build()?)
}

/// The servers that were asked for, or the demo.
fn servers(arguments: &RunArguments) -> Result<Vec<(String, Target)>> {
    let mut servers = vec![];
    if let Some(path) = &arguments.config {
        servers.extend(mcp_servers::read(path)?);
    }
    if let Some(url) = &arguments.url {
        let name = url.host_str().unwrap_or("server").to_owned();
        servers.push((name, Target::Http(Endpoint::new(url.clone()))));
    }
    if let Some((program, args)) = arguments.server.split_first() {
        servers.push((name_of(program, args), Target::Stdio(Command::new(program, args.to_vec()))));
    }
    if servers.is_empty() {
        servers.push(("demo".to_owned(), Target::InProcess(demo::server())));
    }
    Ok(servers)
}

/// The first word of a command that is not a launcher or an option, without its path.
fn name_of(program: &str, args: &[String]) -> String {
    let words = std::iter::once(program).chain(args.iter().map(String::as_str));
    let launchers =
        ["npx", "node", "uvx", "uv", "bunx", "deno", "python", "python3", "cargo", "run"];
    let last = |word: &str| word.rsplit(['/', '\\']).next().unwrap_or(word).to_owned();
    let mut names = words.filter(|word| !word.starts_with('-')).map(last);
    let fallback = last(program);
    names.find(|word| !launchers.contains(&word.as_str())).unwrap_or(fallback)
}

fn place(target: &Target) -> String {
    match target {
        Target::Stdio(command) => format!("{} {}", command.program, command.args.join(" ")),
        Target::Http(endpoint) => endpoint.url.to_string(),
        Target::InProcess(_) => "built in".to_owned(),
    }
}

fn open(address: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    if let Err(error) = std::process::Command::new(opener).arg(address).spawn() {
        eprintln!("transom: {opener} could not be started ({error}); open the address yourself");
    }
}

fn log_to_stderr(json: bool) {
    use tracing_subscriber::{EnvFilter, fmt};
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    let builder = fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if json { builder.json().init() } else { builder.init() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_named_after_what_it_runs() {
        let name = |words: &[&str]| {
            let args: Vec<String> = words[1..].iter().map(|&word| word.to_owned()).collect();
            name_of(words[0], &args)
        };
        assert_eq!(name(&["npx", "-y", "@scope/some-server", "--stdio"]), "some-server");
        assert_eq!(name(&["node", "dist/index.js"]), "index.js");
        assert_eq!(name(&["./target/debug/board"]), "board");
        assert_eq!(name(&["npx"]), "npx");
    }
}
