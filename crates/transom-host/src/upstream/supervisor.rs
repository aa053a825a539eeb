//! Keeps one server connected: starts it, attends to it, starts it again.

use std::sync::Arc;

use serde::Serialize;
use tokio::{
    sync::{broadcast, oneshot, watch},
    time::{Duration, Instant, sleep, timeout},
};
use transom::{calls::Patience, host::List};

use super::{
    CallError, CallOptions, ConnectError, Era, Event, Health, Listing, Loss, Options, Outcome,
    Request, ServerIdentity, Target,
    child::{Child, LastWords},
    desk::LISTEN,
    era::STATELESS,
    error::story,
    greeting::{self, raw},
    http::Http,
    life::{Life, Link},
    listing,
    pipe::{self, Outbox},
    request::{Stamp, Stamps},
};

/// What is known of a server now.
#[derive(Clone, Debug)]
pub(super) struct State {
    life: Option<Arc<Life>>,
    pub(super) server: Arc<ServerIdentity>,
    pub(super) listing: Arc<Listing>,
    pub(super) health: Health,
}

impl State {
    /// The connection, if there is one.
    pub(super) fn life(&self) -> Option<Arc<Life>> {
        self.life.clone()
    }
}

/// Starts a server, again and again.
#[derive(Debug)]
pub(super) struct Supervisor {
    target: Target,
    options: Arc<Options>,
    events: broadcast::Sender<Event>,
    closing: watch::Receiver<bool>,
}

/// A first connection, and where its state is written.
pub(super) type First = (Connection, watch::Sender<State>);

impl Supervisor {
    pub(super) fn new(
        target: Target,
        options: Options,
        events: broadcast::Sender<Event>,
        closing: watch::Receiver<bool>,
    ) -> Self {
        Self { target, options: Arc::new(options), events, closing }
    }

    /// Connects for the first time.
    pub(super) async fn begin(&self) -> Result<(First, watch::Receiver<State>), ConnectError> {
        let connection = self.connect().await?;
        let (state, seen) = watch::channel(connection.state());
        Ok(((connection, state), seen))
    }

    /// Attends to the server until it is closed or given up.
    pub(super) async fn run(self, (mut connection, state): First) {
        let mut failures = 0;
        loop {
            let born = Instant::now();
            let Some(loss) = self.attend(&connection, &state).await else {
                return connection.close(self.options.farewell).await;
            };
            drop(connection);
            tracing::warn!(server = self.target.key(), reason = %story(&*loss), "server lost");
            if born.elapsed() >= self.options.restart.healthy {
                failures = 0;
            }
            state.send_modify(|state| {
                state.life = None;
                state.health = Health::Restarting;
            });
            self.emit(Event::Down(Arc::clone(&loss)));
            connection = match self.restart(&mut failures).await {
                Some(connection) => connection,
                None => return self.give_up(loss, &state),
            };
            state.send_replace(connection.state());
            self.emit(Event::Restarted);
            // It may be another version of itself.
            connection.server.lists().for_each(|list| self.emit(Event::ListChanged(list)));
        }
    }

    fn give_up(&self, loss: Arc<Loss>, state: &watch::Sender<State>) {
        state.send_modify(|state| state.health = Health::Gone);
        self.emit(Event::Gone(loss));
    }

    /// Keeps the tools up to date until the connection ends; nothing if it is to be closed.
    async fn attend(
        &self,
        connection: &Connection,
        state: &watch::Sender<State>,
    ) -> Option<Arc<Loss>> {
        let life = &connection.life;
        let mut closing = self.closing.clone();
        tokio::select! {
            loss = life.ended() => Some(loss),
            () = self.relay_changes(life, state) => None,
            () = listen(life, &connection.server) => None,
            _ = closing.wait_for(|closing| *closing) => None,
        }
    }

    /// Tells what changed, at most a few times a second however often the server says so.
    async fn relay_changes(&self, life: &Arc<Life>, state: &watch::Sender<State>) {
        loop {
            for list in life.changes().next().await {
                if list == List::Tools && !refresh(life, state).await {
                    continue;
                }
                self.emit(Event::ListChanged(list));
            }
            sleep(CALM).await;
        }
    }

    /// Tries to connect again, waiting longer each time; nothing if it is hopeless or to be closed.
    async fn restart(&self, failures: &mut u32) -> Option<Connection> {
        while *failures < self.options.restart.attempts {
            let wait = self.options.restart.wait(*failures);
            *failures += 1;
            let mut closing = self.closing.clone();
            tokio::select! {
                () = sleep(wait) => {}
                _ = closing.wait_for(|closing| *closing) => return None,
            }
            let signed_in = self.options.oauth.as_ref().map(|oauth| oauth.signed_in());
            let connected = tokio::select! {
                connected = self.connect() => connected,
                _ = closing.wait_for(|closing| *closing) => return None,
            };
            match (connected, signed_in) {
                (Ok(connection), _) => return Some(connection),
                // It is there; it is only waiting for a person to sign in.
                (Err(error), Some(mut signed_in)) if error.wants_oauth() => {
                    *failures -= 1;
                    tokio::select! {
                        _ = signed_in.changed() => {}
                        _ = closing.wait_for(|closing| *closing) => return None,
                    }
                }
                (Err(error), _) => tracing::warn!(error = %story(&error), "restart failed"),
            }
        }
        None
    }

    async fn connect(&self) -> Result<Connection, ConnectError> {
        let key = self.target.key();
        let guess = self.options.memo.recall(&key);
        let connected = match self.connect_as(guess).await {
            // It ended when it was asked which era it speaks: then it speaks the older one.
            Err(error) if guess != Some(Era::Greeting) && greeting::is_shock(&error) => {
                self.connect_as(Some(Era::Greeting)).await.map_err(|_| error)
            }
            connected => connected,
        }?;
        self.options.memo.remember(&key, connected.server.era);
        Ok(connected)
    }

    async fn connect_as(&self, guess: Option<Era>) -> Result<Connection, ConnectError> {
        let mut connection = self.open()?;
        let life = &connection.life;
        connection.server = Arc::new(greeting::greet(life, guess).await?);
        let standing = match (life.link(), connection.server.era) {
            (Link::Http(http), Era::Greeting) => Some(http.stand_by(life)),
            _ => None,
        };
        if connection.server.has(List::Tools) {
            match listing::fetch(life).await {
                Ok(listing) => life.set_listing(Arc::new(listing)),
                // A server whose tools cannot be listed may still have resources.
                Err(error) => {
                    tracing::warn!(error = %error.story(), "no tools");
                    life.set_listing(Arc::new(Listing::failed(&error)));
                }
            }
        }
        // What a server says before its stream stands is lost, questions to us among it.
        if let Some(standing) = standing {
            let _ = timeout(self.options.probe, standing).await;
        }
        Ok(connection)
    }

    fn open(&self) -> Result<Connection, ConnectError> {
        match &self.target {
            Target::Stdio(command) => self.open_child(Child::start(command)?, command.echo),
            Target::InProcess(server) => {
                let (reader, writer) = tokio::io::split(server.start());
                let (mut connection, unsent) = self.open_pipe();
                let life = &connection.life;
                let (close, closing) = oneshot::channel();
                life.spawn(pipe::write(writer, unsent, closing));
                life.spawn(pipe::attend(reader, Arc::clone(life)));
                connection.close_pipe = Some(close);
                Ok(connection)
            }
            Target::Http(endpoint) => {
                let (http, unsent) = Http::new(endpoint, &self.options)?;
                let life = self.life(Link::Http(Arc::clone(&http)));
                life.spawn(http.post_queued(unsent, Arc::clone(&life)));
                Ok(Connection::new(life))
            }
        }
    }

    fn open_child(&self, mut child: Child, echo: bool) -> Result<Connection, ConnectError> {
        let (stdin, stdout) = child.pipes().expect("all three are piped, and taken once");
        let stderr = child.stderr().expect("all three are piped, and taken once");
        let (mut connection, unsent) = self.open_pipe();
        let life = &connection.life;
        let (close, closing) = oneshot::channel();
        let (end, ending) = oneshot::channel();
        let (status, exit) = watch::channel(None);
        let words = LastWords::default();
        let heard = self.options.stderr.clone();
        life.spawn(words.clone().listen(stderr, echo, heard));
        life.spawn(pipe::write(stdin, unsent, closing));
        life.spawn(pipe::attend_child(stdout, exit, words, Arc::clone(life)));
        let keeper = tokio::spawn(pipe::keep(child, ending, status));
        connection.close_pipe = Some(close);
        connection.keeper = Some(Keeper { end: Some(end), task: keeper });
        Ok(connection)
    }

    fn open_pipe(&self) -> (Connection, pipe::Unsent) {
        let (outbox, unsent) = Outbox::new(self.options.limits.unsent);
        (Connection::new(self.life(Link::Pipe(outbox))), unsent)
    }

    fn life(&self, link: Link) -> Arc<Life> {
        let options = Arc::clone(&self.options);
        let client = raw(&options.client);
        let stamp = |options: &Options| {
            let capabilities = raw(&options.capabilities());
            Stamp::new(Era::Stateless, STATELESS, &client, &capabilities)
        };
        let text = Options { views: false, ..Options::clone(&options) };
        let stamps = Stamps { usual: stamp(&options), text: stamp(&text) };
        Life::new(options, link, stamps, self.events.clone())
    }

    fn emit(&self, event: Event) {
        let _ = self.events.send(event);
    }
}

/// Lists the tools again; whether that worked.
async fn refresh(life: &Arc<Life>, state: &watch::Sender<State>) -> bool {
    match listing::fetch(life).await {
        Ok(listing) => {
            let listing = Arc::new(listing);
            life.set_listing(Arc::clone(&listing));
            state.send_modify(|state| state.listing = listing);
            true
        }
        // The old list is better than none, and the server will say so if it changes again.
        Err(error) => {
            tracing::warn!(error = %error.story(), "the tools could not be listed again");
            false
        }
    }
}

/// Keeps a subscription open, where changes are told only to who asks.
async fn listen(life: &Arc<Life>, server: &ServerIdentity) {
    let mut failures = 0;
    let offered = server.era == Era::Stateless && server.lists().next().is_some();
    while offered && failures < MAX_FAILURES {
        let began = Instant::now();
        match subscribe(life, server).await {
            Err(CallError::Refused(_)) => break,
            ended => tracing::debug!(?ended, "the subscription ended"),
        }
        failures = if began.elapsed() > STEADY { 0 } else { failures + 1 };
        sleep(CALM * (1 << failures)).await;
        // What happened in between was not told.
        if failures == 0 {
            life.changes().note_all();
        }
    }
    std::future::pending().await
}

/// Subscribes to all that changes, and waits for the end of it.
async fn subscribe(life: &Arc<Life>, server: &ServerIdentity) -> Outcome {
    let options = CallOptions { progress: false, patience: Some(Patience::flat(Duration::MAX)) };
    life.call(&subscription(server), options)?.outcome().await
}

fn subscription(server: &ServerIdentity) -> Request {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Filter {
        tools_list_changed: bool,
        resources_list_changed: bool,
        prompts_list_changed: bool,
    }
    let mut request = Request::new(LISTEN);
    let filter = Filter {
        tools_list_changed: server.has(List::Tools),
        resources_list_changed: server.has(List::Resources),
        prompts_list_changed: server.has(List::Prompts),
    };
    request.push("notifications", &raw(&filter));
    request
}

/// One connection and what must end with it.
#[derive(Debug)]
pub(super) struct Connection {
    life: Arc<Life>,
    server: Arc<ServerIdentity>,
    close_pipe: Option<oneshot::Sender<()>>,
    keeper: Option<Keeper>,
}

/// Who keeps the child.
#[derive(Debug)]
struct Keeper {
    end: Option<oneshot::Sender<Duration>>,
    task: tokio::task::JoinHandle<()>,
}

impl Connection {
    fn new(life: Arc<Life>) -> Self {
        Self { life, server: Arc::new(ServerIdentity::unknown()), close_pipe: None, keeper: None }
    }

    fn state(&self) -> State {
        State {
            life: Some(Arc::clone(&self.life)),
            server: Arc::clone(&self.server),
            listing: self.life.listing(),
            health: Health::Up,
        }
    }

    /// Ends the connection in the order that gives the server a chance.
    async fn close(mut self, each: Duration) {
        self.life.end(Loss::Closed);
        if let Link::Http(http) = self.life.link() {
            http.leave(&self.life, each).await;
        }
        if let Some(close) = self.close_pipe.take() {
            let _ = close.send(());
        }
        if let Some(keeper) = &mut self.keeper {
            if let Some(end) = keeper.end.take() {
                let _ = end.send(each);
            }
            let _ = (&mut keeper.task).await;
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.life.stop();
        if let Some(keeper) = &self.keeper {
            // Drops the child, which kills the group.
            keeper.task.abort();
        }
    }
}

/// The least time between two looks at what changed.
const CALM: Duration = Duration::from_millis(200);
/// How long a subscription must have lived not to count as refused.
const STEADY: Duration = Duration::from_secs(5);
/// How often a server may refuse a subscription before it is left alone.
const MAX_FAILURES: u32 = 4;
