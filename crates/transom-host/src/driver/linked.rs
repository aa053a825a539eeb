//! Files that a view only names: its server is asked for them, and they are saved like those that a view brings along.
//!
//! An address goes to the server of the view and nowhere else, whatever its scheme is: this process fetches nothing (H-97). What
//! comes back does not reach the view, only the person, under the name that they agreed to.

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use transom::{
    host::{File, FileBody, Task},
    violation::Quoted,
    wire::{Body, EmbeddedResource},
};

use super::{
    common::Common,
    event::{Event, NoFile},
    seat::Seat,
};
use crate::{
    consent,
    log::LineKind,
    server::Server,
    upstream::{CallError, CallOptions, Request},
    words,
    words::Words,
};

impl Seat {
    /// Asks the view's server for the files that are only named, one after the other.
    pub(super) fn collect(&mut self, common: &Common, call: u64, files: Vec<File>) {
        let Some(server) = common.servers.get(&self.server) else { return };
        let (stop, stopped) = oneshot::channel::<Quoted>();
        let Some(live) = self.live() else { return };
        live.calls.insert(call, stop);
        let (view, turn, events) = (self.id.clone(), self.turn, common.events.clone());
        tokio::spawn(async move {
            let files = tokio::select! {
                // Whatever is being read is taken back with it.
                _ = stopped => return,
                files = all(&server, files) => files,
            };
            let _ = events.send(Event::Collected { view, turn, call, files }).await;
        });
    }

    /// All of them are there, and can be saved; or one is not, and none is.
    pub(super) fn collected(
        &mut self,
        common: &mut Common,
        call: u64,
        files: Result<Vec<File>, NoFile>,
    ) {
        let wanted = self.live().and_then(|live| live.calls.remove(&call)).is_some();
        match files {
            // The view took it back in the meantime.
            _ if !wanted => {}
            Ok(files) => {
                let task = Task::Download { files };
                let deed = consent::deed(&task, self.deed_id(call)).expect("it is one");
                self.deed(common, call, deed);
            }
            Err(NoFile { told, logged }) => {
                self.log_of(common, LineKind::Refused, || words!("no file: {}", logged));
                self.settle(common, call, Err(told.as_str()));
            }
        }
    }
}

/// Whether one of the files is only named.
pub(super) fn is_linked(files: &[File]) -> bool {
    files.iter().any(|file| matches!(file.body, FileBody::Link(_)))
}

async fn all(server: &Server, mut files: Vec<File>) -> Result<Vec<File>, NoFile> {
    let mut room = MOST;
    for file in &mut files {
        let FileBody::Link(address) = &file.body else { continue };
        let (name, shown) = (Quoted::new(&file.name), Quoted::new(address));
        let failed = |error: CallError| NoFile {
            told: words!(
                "the server did not give {}: {}",
                name.clone(),
                Words::ours(&error.outline())
            ),
            logged: words!("the server did not give {}: {}", shown.clone(), Words::of(&error)),
        };
        let options = CallOptions { progress: true, patience: None };
        let call = server.start(&Request::read_resource(address), options).map_err(failed)?;
        let result = call.outcome().await.map_err(failed)?;
        room = room.checked_sub(result.get().len()).ok_or_else(|| {
            NoFile::of(words!("the files from the server have more than {} bytes", MOST))
        })?;
        let given = read(&result).ok_or_else(|| NoFile {
            told: words!("{} is no file of the server", name.clone()),
            logged: words!("{} is no file of the server", shown.clone()),
        })?;
        file.body = given.body;
        file.mime_type = file.mime_type.take().or(given.mime_type);
    }
    Ok(files)
}

/// What a server gave, and what it says that it is.
struct Given {
    body: FileBody,
    mime_type: Option<String>,
}

/// The first thing that the server gave: people were asked about one file.
fn read(result: &RawValue) -> Option<Given> {
    #[derive(Deserialize)]
    struct Contents<'a> {
        #[serde(borrow)]
        contents: Vec<EmbeddedResource<'a>>,
    }
    let Contents { contents } = serde_json::from_str(result.get()).ok()?;
    let EmbeddedResource { body, mime_type, .. } = contents.into_iter().next()?;
    let body = match body {
        Body::Text(text) => FileBody::Text(text.into_owned()),
        Body::Blob(blob) => FileBody::Blob(blob.as_str().to_owned()),
    };
    Some(Given { body, mime_type })
}

/// How much the server may give for one download, in bytes of its answers: all of it goes to the page in one message.
const MOST: usize = 12 << 20;
