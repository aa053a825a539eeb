//! How a server is reached, signed in to, listened to, and started again.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use tokio::sync::mpsc;
use transom::host::List;

use super::{
    ListChanged, Server, Servers,
    shown::{SignIn, Standing},
};
use crate::{
    log::LineKind,
    timeline::Tap,
    upstream::{self, Invitation, NotSignedIn, OAuth, Options, Overhear, Target, Upstream},
    words::Words,
};

impl Server {
    /// Connects, prefetches, and tells what happens from then on; all of it again whenever the operator wants
    /// the server started again.
    pub(super) async fn live(
        self: Arc<Self>,
        target: Target,
        servers: &Servers,
        events: &mpsc::Sender<impl From<ListChanged> + Send + 'static>,
    ) {
        let mut known = false;
        loop {
            let reached = tokio::select! {
                reached = self.reach(&target, servers) => reached,
                // Dropping the attempt ends what was started for it.
                () = self.again.notified() => continue,
            };
            match reached {
                Ok(upstream) => {
                    self.serve(upstream, known, servers, events).await;
                    known = true;
                }
                Err(words) => {
                    self.log.write(LineKind::Error, &self.name, Words::ours(&words));
                    self.become_(servers, Standing::Gone, words);
                    self.again.notified().await;
                }
            }
            self.become_(servers, Standing::Connecting, "starting again…".to_owned());
        }
    }

    /// Listens to a server until it is to be started again, and ends it.
    pub(super) async fn serve(
        &self,
        upstream: Upstream,
        known: bool,
        servers: &Servers,
        events: &mpsc::Sender<impl From<ListChanged> + Send + 'static>,
    ) {
        let mut news = upstream.events();
        self.connect(Some(upstream.clone()));
        if known {
            self.log.write(LineKind::Server, &self.name, "is there again");
            // It may be another version of itself.
            self.forget_documents().await;
            for list in upstream.server().lists() {
                let _ = events.send(ListChanged { server: self.name.clone(), list }.into()).await;
            }
        }
        self.ready(servers);
        let listen = async {
            while let Some(event) = news.next().await {
                self.hear(event, servers, events).await;
            }
            std::future::pending().await
        };
        tokio::select! {
            () = listen => {}
            () = self.sign_in_when_asked(servers) => {}
            () = self.keep_reviewing(servers) => {}
            () = self.again.notified() => {}
        }
        self.connect(None);
        self.become_(servers, Standing::Connecting, "ending…".to_owned());
        upstream.close().await;
    }

    /// Connects, after signing in if it must be; in words why not.
    pub(super) async fn reach(
        &self,
        target: &Target,
        servers: &Servers,
    ) -> Result<Upstream, String> {
        loop {
            let stderr = Some(self.aside.hearer());
            let overhear: Option<Arc<dyn Overhear>> =
                Some(Arc::new(Tap::new(&self.timeline, &self.name)));
            let (oauth, ask) = (self.oauth.clone(), self.ask.clone());
            let mut options = Options { oauth, ask, stderr, overhear, ..Options::default() };
            options.greeting = self.greeting.unwrap_or(options.greeting);
            (options.patience, options.listing) = (self.times.call, self.times.listing);
            // Views have their share; what people open comes on top.
            options.limits.calls = self.limits.1.calls.saturating_add(OPENINGS);
            let patience = options.greeting;
            let connecting = Upstream::connect(target.clone(), options);
            let error = match self.aloud(patience, servers, connecting).await {
                Ok(upstream) => return Ok(upstream),
                Err(error) => error,
            };
            match &self.oauth {
                Some(oauth) if error.wants_oauth() => {
                    self.sign_in(oauth, servers).await.map_err(|error| error.to_string())?;
                    self.become_(servers, Standing::Connecting, "connecting…".to_owned());
                }
                _ => return Err(error.advice()),
            }
        }
    }

    /// Waits for a server, and after a while says so.
    pub(super) async fn aloud<T>(
        &self,
        patience: Duration,
        servers: &Servers,
        connecting: impl Future<Output = T>,
    ) -> T {
        let mut connecting = std::pin::pin!(connecting);
        if let Ok(connected) = tokio::time::timeout(QUIET, &mut connecting).await {
            return connected;
        }
        let (so_far, in_all) = (QUIET.as_secs(), patience.as_secs());
        let words = format!("no answer after {so_far} s; waiting for up to {in_all} s…");
        self.log.write(LineKind::Server, &self.name, Words::ours(&words));
        self.become_(servers, Standing::Connecting, words);
        connecting.await
    }

    /// Asks the person to sign in until that is done; an error if there is nowhere to do it.
    pub(super) async fn sign_in(
        &self,
        oauth: &OAuth,
        servers: &Servers,
    ) -> Result<(), NotSignedIn> {
        loop {
            let invitation = oauth.invite().await?;
            self.invite(&invitation, servers);
            let outcome = invitation.outcome().await;
            self.state.lock().unwrap_or_else(PoisonError::into_inner).sign_in = None;
            servers.changed();
            match outcome {
                Ok(()) => {
                    self.log.write(LineKind::Server, &self.name, "a person signed in");
                    return Ok(());
                }
                Err(error) => self.log.write(LineKind::Error, &self.name, Words::of(&error)),
            }
        }
    }

    pub(super) fn invite(&self, invitation: &Invitation, servers: &Servers) {
        let place = invitation.place().to_owned();
        // Not the address: it is for the person, and a log may be read by others.
        let words = format!("asks you to sign in at {place}");
        self.log.write(LineKind::Server, &self.name, Words::ours(&words));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.sign_in = Some(SignIn { url: invitation.url.to_string(), place });
        if state.standing == Standing::Connecting {
            (state.standing, state.words) = (Standing::SignIn, words);
        }
        drop(state);
        servers.changed();
    }

    /// A server may ask again later: when a token has ended, or for more rights.
    pub(super) async fn sign_in_when_asked(&self, servers: &Servers) {
        let Some(oauth) = &self.oauth else { return std::future::pending().await };
        loop {
            oauth.asked().await;
            match self.sign_in(oauth, servers).await {
                Ok(()) => self.upstream().iter().for_each(Upstream::refresh),
                Err(error) => self.log.write(LineKind::Error, &self.name, Words::of(&error)),
            }
            tokio::time::sleep(BETWEEN_INVITATIONS).await;
        }
    }

    pub(super) async fn hear(
        &self,
        event: upstream::Event,
        servers: &Servers,
        events: &mpsc::Sender<impl From<ListChanged> + Send + 'static>,
    ) {
        match event {
            upstream::Event::ListChanged(list) => self.list_changed(list, servers, events).await,
            upstream::Event::Missed(_) => {
                for list in [List::Tools, List::Resources, List::Prompts] {
                    self.list_changed(list, servers, events).await;
                }
                // A server that says more than is heard has its lists asked for no more often than one that changes them.
                tokio::time::sleep(BETWEEN_MISSED).await;
            }
            upstream::Event::Down(loss) => {
                let words = Words::of(&loss).to_string();
                self.log.write(LineKind::Error, &self.name, Words::ours(&words));
                self.become_(servers, Standing::Connecting, format!("{words}; starting it again…"));
            }
            upstream::Event::Restarted => {
                self.log.write(LineKind::Server, &self.name, "is there again");
                self.ready(servers);
            }
            upstream::Event::Gone(loss) => {
                let words = Words::of(&loss).to_string();
                self.log.write(LineKind::Error, &self.name, Words::ours(&words));
                self.become_(servers, Standing::Gone, words);
            }
            upstream::Event::Log(params) => self.aside.hear_log(&params),
            _ => {}
        }
    }

    pub(super) async fn list_changed(
        &self,
        list: List,
        servers: &Servers,
        events: &mpsc::Sender<impl From<ListChanged> + Send + 'static>,
    ) {
        if list == List::Resources {
            self.forget_documents().await;
        }
        let _ = events.send(ListChanged { server: self.name.clone(), list }.into()).await;
        self.ready(servers);
    }

    pub(super) async fn forget_documents(&self) {
        *self.entries.lock().await = None;
        *self.templates.lock().await = None;
        self.store.invalidate(&self.name);
    }
}

/// The least time between two reviews of a server that says more than is heard.
pub(super) const BETWEEN_MISSED: Duration = Duration::from_millis(200);

/// How many calls of people may be under way beside those of views.
pub(super) const OPENINGS: usize = 256;

/// How long a server may stay silent before people are told.
pub(super) const QUIET: Duration = Duration::from_secs(4);

/// The least time between two invitations of a server that is connected: it can ask as often as it likes.
pub(super) const BETWEEN_INVITATIONS: Duration = Duration::from_secs(5);
