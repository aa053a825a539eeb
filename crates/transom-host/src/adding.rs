//! Servers that come and go while the host runs: what a person adds on the page, starts again and removes.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use tokio::sync::{mpsc, oneshot};

use crate::{
    audit::{Audit, Record},
    driver::Event,
    log::{LineKind, Log},
    making::{Agreement, Maker},
    place::Place,
    server::{Server, Servers},
    upstream::Target,
    words,
    words::Words,
};

/// A server that a person wants to add.
#[derive(Debug)]
pub struct Addition {
    /// What it is called.
    pub name: String,
    /// Where it is.
    pub target: Target,
    /// What is agreed with it.
    pub agreement: Agreement,
}

/// What a doorkeeper says in its own time; an error is for people.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// Decides about servers that a person adds on the page. A page that starts programs as it likes is how a tool like this is
/// taken over: so what the page sends is text, and the doorkeeper says what comes of it.
pub trait Doorkeeper: Send + Sync {
    /// Reads what a person wrote and says what is added; it may ask them elsewhere first. `taken` are the names that there are.
    fn admit<'a>(&'a self, text: &'a str, taken: Vec<String>) -> Answer<'a, Vec<Addition>>;

    /// Keeps an added server for the next run; returns where.
    fn keep<'a>(&'a self, name: &'a str) -> Answer<'a, String>;
}

/// Why a server was not added or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AddError {
    /// There is one of that name.
    #[error("there is a server named {0:?} already; give it another name")]
    Taken(String),
    /// Views of the one that had the name are still there.
    #[error("views of the server that was named {0:?} are still closing; try again in a moment")]
    Closing(String),
    /// As many servers as there may be.
    #[error("there are {SERVERS} servers, which is as many as there may be")]
    TooMany,
    /// It could not be written down, so it was not done.
    #[error("it cannot be written down, so it was not done: {0}")]
    Audit(String),
    /// The host has ended.
    #[error("the host has ended")]
    Ended,
}

/// What adding and removing needs.
pub(crate) struct Door {
    pub(crate) maker: Maker,
    pub(crate) servers: Arc<Servers>,
    pub(crate) events: mpsc::Sender<Event>,
    pub(crate) log: Arc<Log>,
    pub(crate) audit: Option<Audit>,
    pub(crate) keeper: Option<Arc<dyn Doorkeeper>>,
    /// One at a time: what is added twice at once is added once.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

impl Door {
    pub(crate) fn new(
        maker: Maker,
        servers: Arc<Servers>,
        events: mpsc::Sender<Event>,
        audit: Option<Audit>,
        keeper: Option<Arc<dyn Doorkeeper>>,
    ) -> Self {
        let log = Arc::clone(&maker.log);
        Self { maker, servers, events, log, audit, keeper, turn: tokio::sync::Mutex::default() }
    }

    /// Adds what a person wrote on the page, as far as the doorkeeper lets it in; in words why not.
    pub(crate) async fn ask(&self, text: &str) -> Result<Vec<String>, String> {
        let Some(keeper) = &self.keeper else { return Err(NO_KEEPER.to_owned()) };
        let taken = self.servers.list().into_iter().map(|(name, _)| name).collect();
        let additions = keeper.admit(text, taken).await?;
        let mut names = vec![];
        for addition in additions {
            let name = addition.name.clone();
            self.add(addition).await.map_err(|error| error.to_string())?;
            names.push(name);
        }
        Ok(names)
    }

    /// Keeps one for the next run; returns where.
    pub(crate) async fn keep(&self, name: &str) -> Result<String, String> {
        let Some(keeper) = &self.keeper else { return Err(NO_KEEPER.to_owned()) };
        keeper.keep(name).await
    }

    pub(crate) async fn add(&self, addition: Addition) -> Result<(), AddError> {
        let _alone = self.turn.lock().await;
        let Addition { name, target, agreement } = addition;
        let all = self.servers.list();
        if all.len() >= SERVERS {
            return Err(AddError::TooMany);
        }
        if self.servers.get(&name).is_some() {
            return Err(AddError::Taken(name));
        }
        let place = Place::of(&target);
        self.write(Record::server("add", &place).of_server(&name)).await?;
        let server = Arc::new(self.maker.server(name.clone(), &target, agreement));
        let (done, told) = oneshot::channel();
        // The loop knows it before anybody can open a view of it.
        let event = Event::Added { server: Arc::clone(&server), done };
        self.events.send(event).await.map_err(|_| AddError::Ended)?;
        if !told.await.map_err(|_| AddError::Ended)? {
            return Err(AddError::Closing(name));
        }
        self.servers.insert(&server);
        self.log.write(
            LineKind::Server,
            &name,
            words!("added on the page: {}", Words::ours(place.words())),
        );
        self.servers.connect(vec![(name, target)], &self.events);
        Ok(())
    }

    /// Ends a server with its views; whether there was one.
    pub(crate) async fn remove(&self, name: &str) -> Result<bool, AddError> {
        let _alone = self.turn.lock().await;
        let Some(server) = self.servers.get(name) else { return Ok(false) };
        self.write(Record::server("remove", server.place()).of_server(name)).await?;
        let (done, told) = oneshot::channel();
        let event = Event::Removed { server: name.to_owned(), done };
        self.events.send(event).await.map_err(|_| AddError::Ended)?;
        told.await.map_err(|_| AddError::Ended)?;
        self.servers.remove(name);
        self.log.write(LineKind::Server, name, "removed on the page");
        Ok(true)
    }

    /// Starts one again; whether there is one.
    pub(crate) async fn restart(&self, name: &str) -> Result<bool, AddError> {
        let Some(server) = self.servers.get(name) else { return Ok(false) };
        self.write(Record::server("restart", server.place()).of_server(name)).await?;
        self.log.write(LineKind::Server, name, "started again on the page");
        Ok(self.servers.restart(name))
    }

    /// Writes down that a person asks a server for something themselves, before it is asked.
    pub(crate) async fn note_asked(
        &self,
        server: &Server,
        method: &'static str,
        about: &str,
    ) -> Result<(), AddError> {
        let record = Record::asked_by_person(method, about, server.place());
        self.write(record.of_server(server.name())).await
    }

    async fn write(&self, record: Record) -> Result<(), AddError> {
        let Some(audit) = &self.audit else { return Ok(()) };
        audit.write(record).await.map_err(|error| AddError::Audit(error.to_string()))
    }
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").finish_non_exhaustive()
    }
}

const NO_KEEPER: &str = "this host takes no servers from its page";
/// The most servers of one host, those of its configuration among them.
const SERVERS: usize = 256;
