//! `transom audit`: reads what was written down, and tells whether it was touched.

mod line;
mod text;

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, BufRead as _, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use transom_host::audit::{Broken, Hash, Head, Reader, Verifier, retain};

use crate::{
    arguments::{AuditArguments, AuditCommand},
    config::{Config, Surroundings},
    terminal,
};
use line::{End, Line};

/// Does what is wanted.
pub(crate) fn audit(arguments: &AuditArguments, around: &Surroundings<'_>) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if let AuditCommand::Verify { head, export: Some(export) } = &arguments.command {
        return tell(verify_export(export, *head)?);
    }
    let path = find(arguments, around)?;
    runtime.block_on(async {
        match arguments.command {
            AuditCommand::List { last } => list(&path, last).await,
            AuditCommand::Export { redact } => match export(&path, redact).await {
                Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
                other => other,
            },
            AuditCommand::Verify { head, .. } => {
                tell(Reader::open(&path).await?.verify(head).await?)
            }
            AuditCommand::Prune { retain } => remove(&path, retain).await,
        }
    })
}

fn find(arguments: &AuditArguments, around: &Surroundings<'_>) -> Result<PathBuf> {
    let folder = Config::load(&arguments.folder.run(), around)?.run.data.value;
    let folder =
        folder.context("nothing is kept, so there is no audit; say where with --data-dir")?;
    Ok(folder.join(FILE))
}

async fn list(path: &Path, last: Option<usize>) -> Result<ExitCode> {
    let mut reader = Reader::open(path).await?;
    let mut kept = VecDeque::new();
    loop {
        let rows = reader.next().await?;
        if rows.is_empty() {
            break;
        }
        let mut page = String::new();
        for row in rows {
            let line = match row {
                Ok(row) => text::line(&row),
                Err(broken) => broken.to_string(),
            };
            match last {
                Some(last) => {
                    kept.push_back(line);
                    kept.drain(..kept.len().saturating_sub(last));
                }
                None => page.extend([&line, "\n"]),
            }
        }
        terminal::print(&page)?;
    }
    terminal::print(&kept.iter().flat_map(|line| [line, "\n"]).collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}

async fn export(path: &Path, redact: bool) -> Result<ExitCode> {
    let mut reader = Reader::open(path).await?;
    let mut out = BufWriter::new(io::stdout().lock());
    let anchor = reader.anchor();
    writeln!(out, "{}", line::beginning(anchor))?;
    let mut verifier = Verifier::new(anchor, None);
    let (mut last, mut broken) = (anchor, None);
    loop {
        let rows = reader.next().await?;
        if rows.is_empty() {
            break;
        }
        for row in rows {
            // A row that was changed is exported too: an auditor will want to see it.
            let row = row?;
            if broken.is_none() {
                broken = verifier.take(&row).err();
            }
            last = Head { seq: row.seq, hash: row.hash };
            let row = if redact { row.redacted() } else { row };
            writeln!(out, "{}", line::of(&row))?;
        }
    }
    writeln!(out, "{}", line::end(last))?;
    out.flush()?;
    match broken {
        None => Ok(ExitCode::SUCCESS),
        Some(broken) => {
            eprintln!("transom: {broken}");
            Ok(ExitCode::FAILURE)
        }
    }
}

fn verify_export(path: &Path, head: Option<Hash>) -> Result<Result<Head, Broken>> {
    let name = || format!("cannot read {}", path.display());
    let mut lines = BufReader::new(File::open(path).with_context(name)?).lines();
    let first = lines.next().transpose().with_context(name)?.unwrap_or_default();
    let anchor = line::read_beginning(&first)
        .with_context(|| format!("{} is not an export of an audit", path.display()))?;
    let mut verifier = Verifier::new(anchor, head);
    let mut last = anchor.seq;
    for text in lines {
        let text = text.with_context(name)?;
        let unreadable = |why| Broken::Unreadable { seq: last + 1, why };
        match line::read(&text) {
            Ok(Line::Row(row)) => {
                if let Err(broken) = verifier.take(&row) {
                    return Ok(Err(broken));
                }
                last = row.seq;
            }
            Ok(Line::End(End { seq, hash })) => {
                let verified = verifier.end();
                let other =
                    verified.as_ref().is_ok_and(|head| (head.seq, head.hash) != (seq, hash));
                return Ok(if other { Err(Broken::Cut { last }) } else { verified });
            }
            Err(why) => return Ok(Err(unreadable(why))),
        }
    }
    // An export without its last line was cut.
    Ok(Err(Broken::Cut { last }))
}

fn tell(outcome: Result<Head, Broken>) -> Result<ExitCode> {
    match outcome {
        Ok(Head { seq, hash }) => {
            terminal::print(&format!("all is well up to row {seq}, head {hash}\n"))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(broken) => {
            terminal::print(&format!("{broken}\n"))?;
            Ok(ExitCode::FAILURE)
        }
    }
}

async fn remove(path: &Path, days: u32) -> Result<ExitCode> {
    let count = match retain(path, days).await? {
        Ok(count) => count,
        Err(broken) => {
            terminal::print(&format!("nothing was removed: {broken}\n"))?;
            return Ok(ExitCode::FAILURE);
        }
    };
    let head = Reader::open(path).await?.verify(None).await?;
    let head = head.map_err(|broken| anyhow::anyhow!("after removing rows, {broken}"))?;
    terminal::print(&format!("removed {count} rows; head {}\n", head.hash))?;
    Ok(ExitCode::SUCCESS)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    kind == Some(io::ErrorKind::BrokenPipe)
}

/// The file in the data folder.
pub(crate) const FILE: &str = "audit.db";
