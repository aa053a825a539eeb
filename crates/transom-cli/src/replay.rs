//! `transom replay`: a recorded server for any MCP client, or a recorded client for a server that runs.

mod against;

use std::{fs::File, io::BufReader, process::ExitCode, sync::Arc};

use anyhow::{Context as _, Result, bail};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _},
    sync::mpsc,
};
use transom_host::timeline::{Recorded, Reply, Trace};

use crate::{arguments::ReplayArguments, config::Surroundings, terminal::clean};

/// Serves what was recorded, or asks a server again what it was asked.
pub(crate) fn replay(arguments: &ReplayArguments, around: &Surroundings<'_>) -> Result<ExitCode> {
    let trace = read(arguments)?;
    let server = which(&trace, arguments)?;
    if arguments.names_a_server() {
        return against::ask_again(&trace, &server, arguments, around);
    }
    let recorded = Recorded::new(&trace, &server, arguments.loose);
    if recorded.is_empty() {
        bail!("the trace has nothing that {server:?} was asked");
    }
    eprintln!("transom: {} from {}", clean(&server), arguments.file.display());
    // Nothing here waits for anything but a client.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve(recorded, arguments.real_time))?;
    Ok(ExitCode::SUCCESS)
}

fn read(arguments: &ReplayArguments) -> Result<Trace> {
    let name = arguments.file.display();
    let file = File::open(&arguments.file).with_context(|| format!("cannot open {name}"))?;
    let trace = Trace::read(BufReader::new(file)).with_context(|| format!("cannot read {name}"))?;
    if trace.moments.is_empty() {
        bail!("{name} is no trace of Transom: {}", trace.troubles.join("; "));
    }
    for trouble in &trace.troubles {
        eprintln!("transom: {name}: {trouble}");
    }
    Ok(trace)
}

/// The server that was named, or the only one that there is.
fn which(trace: &Trace, arguments: &ReplayArguments) -> Result<String> {
    let servers = trace.servers();
    let names = || servers.iter().map(|name| clean(name)).collect::<Vec<_>>().join(", ");
    match (&arguments.server, &*servers) {
        (_, []) => bail!("the trace has no message of any server"),
        (Some(name), _) if servers.contains(&name.as_str()) => Ok(name.clone()),
        (Some(name), _) => bail!("the trace has no server {name:?}; it has {}", names()),
        (None, [only]) => Ok((*only).to_owned()),
        (None, _) => {
            bail!("the trace has several servers; name one of them with --server: {}", names())
        }
    }
}

/// Answers over standard input and output until there is no more input.
async fn serve(mut recorded: Recorded, real_time: bool) -> Result<()> {
    let mut lines = tokio::io::BufReader::new(tokio::io::stdin()).lines();
    let (send, mut replies) = mpsc::channel::<String>(WAITING);
    let writer = tokio::spawn(async move {
        let mut out = tokio::io::stdout();
        while let Some(mut text) = replies.recv().await {
            text.push('\n');
            // A client that has gone wants no answers.
            if out.write_all(text.as_bytes()).await.is_err() || out.flush().await.is_err() {
                return;
            }
        }
    });
    let slots = Arc::new(tokio::sync::Semaphore::new(WAITING));
    while let Some(line) = lines.next_line().await? {
        for Reply { after, text } in recorded.answer(&line) {
            if !real_time || after.is_zero() {
                let _ = send.send(text).await;
                continue;
            }
            // A client that asks faster than it was answered then waits.
            let slot = Arc::clone(&slots).acquire_owned().await?;
            let send = send.clone();
            tokio::spawn(async move {
                tokio::time::sleep(after).await;
                let _ = send.send(text).await;
                drop(slot);
            });
        }
    }
    drop(send);
    Ok(writer.await?)
}

/// How many answers may be on their way.
const WAITING: usize = 256;
