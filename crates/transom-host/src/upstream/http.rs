//! The streamable HTTP transport: each message a POST, each answer a body or a stream of events.
//!
//! ```text
//!            ┌─ application/json ─────────────────▶ the answer
//!   POST ────┼─ text/event-stream ─▶ notifications, the answer
//!            │        └─ broken ─▶ GET, Last-Event-ID ─▶ the rest
//!            └─ 404, in a session ─▶ greet again, POST once more
//! ```

mod client;

pub(crate) use client::{is_loopback, is_machine, prepare_tls};

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use reqwest::{
    Method, RequestBuilder, Response, StatusCode,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use tokio::{
    sync::{RwLock, oneshot},
    task::AbortHandle,
    time::{Instant, timeout},
};
use url::Url;

use super::{
    CallError, ConnectError, Endpoint, Era, Event, HttpError, Listing, Loss, OAuth, Options,
    Request, Rubbish,
    desk::Kind,
    era::STATELESS,
    greeting,
    header::encode,
    life::Life,
    pipe::{Full, Outbox, Unsent},
    reply::{self, EVENTS, Media},
    salvage,
    sse::Parser,
};
use client::{client, configured, send_as};

/// Our end of one HTTP endpoint.
#[derive(Debug)]
pub(super) struct Http {
    client: reqwest::Client,
    url: Url,
    headers: HeaderMap,
    oauth: Option<Arc<OAuth>>,
    session: Mutex<Option<HeaderValue>>,
    /// Held for writing while a lost session is replaced: no call may be posted without one meanwhile.
    renewing: RwLock<()>,
    /// The task that keeps the standing stream.
    standing: Mutex<Option<AbortHandle>>,
    later: Outbox,
    limit: usize,
}

/// A request on its way.
#[derive(Debug)]
pub(super) struct Parcel {
    id: u64,
    kind: Kind,
    era: Era,
    text: Bytes,
    headers: HeaderMap,
}

impl Http {
    /// Prepares the endpoint. Nothing is sent yet.
    pub(super) fn new(
        endpoint: &Endpoint,
        options: &Options,
    ) -> Result<(Arc<Self>, Unsent), ConnectError> {
        let (later, unsent) = Outbox::new(options.limits.unsent);
        let headers = configured(endpoint)?;
        // Who gives a token of their own wants that one sent, and no other.
        let oauth = options.oauth.clone().filter(|_| !headers.contains_key(AUTHORIZATION));
        let http = Self {
            client: client(&endpoint.url)?,
            url: endpoint.url.clone(),
            headers,
            oauth,
            session: Mutex::default(),
            renewing: RwLock::default(),
            standing: Mutex::default(),
            later,
            limit: options.limits.message,
        };
        Ok((Arc::new(http), unsent))
    }

    /// Sends a request and delivers what comes back, however long that takes.
    ///
    /// Boxed, because replacing a lost session makes a request of its own.
    pub(super) fn exchange(
        self: Arc<Self>,
        life: Arc<Life>,
        parcel: Parcel,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            if let Err(error) = self.run(&life, &parcel).await {
                failed(&life, &parcel, error);
            }
        })
    }

    async fn run(self: &Arc<Self>, life: &Arc<Life>, parcel: &Parcel) -> Result<(), CallError> {
        let response = self.post(life, parcel).await?;
        match reply::media_type(&response) {
            Some(Media::Json) => {
                let body = reply::body(response, self.limit).await?;
                receive(life, &body, Some(parcel.id));
                // Whatever it was: there is no more to come.
                if life.is_open(parcel.id) { Err(HttpError::NoAnswer.into()) } else { Ok(()) }
            }
            Some(Media::Events) => self.follow(response, life, parcel).await,
            None => Err(HttpError::ContentType { got: reply::content_type(&response) }.into()),
        }
    }

    /// Posts a request; a session that was lost is replaced once.
    async fn post(
        self: &Arc<Self>,
        life: &Arc<Life>,
        parcel: &Parcel,
    ) -> Result<Response, CallError> {
        for _ in 0..2 {
            let session = if parcel.greets() { None } else { self.current_session(life).await };
            let response = self.send(life, parcel, session.as_ref()).await?;
            if parcel.greets() {
                self.set_session(response.headers().get(SESSION).cloned());
            }
            let status = response.status();
            match (reply::accepted(response).await, session) {
                (Err(error), Some(stale)) if reply::is_forgotten(status, &error) => {
                    self.renew(life, stale).await?;
                }
                (answer, _) => return answer,
            }
        }
        Err(HttpError::SessionLost.into())
    }

    async fn send(
        &self,
        life: &Life,
        parcel: &Parcel,
        session: Option<&HeaderValue>,
    ) -> Result<Response, HttpError> {
        let mut headers = self.headers_for(life, session);
        headers.extend(parcel.headers.clone());
        let post = self.client.post(self.url.clone()).headers(headers);
        let post = post.header(CONTENT_TYPE, "application/json").header(ACCEPT, BOTH);
        self.deliver(post.body(parcel.text.clone())).await
    }

    /// Sends a request with the token there is. One that has had its day is replaced once.
    async fn deliver(&self, request: RequestBuilder) -> Result<Response, HttpError> {
        let Some(oauth) = &self.oauth else { return request.send().await.map_err(HttpError::of) };
        let token = oauth.bearer().await;
        let again = request.try_clone();
        let mut response = send_as(token.as_ref(), request).await?;
        if response.status() == StatusCode::UNAUTHORIZED
            && let (Some(token), Some(again)) = (&token, again)
            && let Some(other) = oauth.instead_of(token).await
        {
            response = send_as(Some(&other), again).await?;
        }
        oauth.hear(response.status(), response.headers());
        Ok(response)
    }

    /// What goes along with every request: what is configured, the version, the session.
    fn headers_for(&self, life: &Life, session: Option<&HeaderValue>) -> HeaderMap {
        let mut headers = self.headers.clone();
        let version = life.terms().map(|terms| HeaderValue::from_str(&terms.version));
        if let Some(Ok(version)) = version {
            headers.insert(VERSION, version);
        }
        if let Some(session) = session {
            headers.insert(SESSION, session.clone());
        }
        headers
    }

    /// Has the server greeted again. Not by us: our call may be taken back in the middle of it, and then
    /// there would be half a session.
    async fn renew(
        self: &Arc<Self>,
        life: &Arc<Life>,
        stale: HeaderValue,
    ) -> Result<(), CallError> {
        let (done, renewed) = oneshot::channel();
        let (http, its) = (Arc::clone(self), Arc::clone(life));
        life.spawn(async move {
            let _ = done.send(http.greet_again(&its, &stale).await);
        });
        renewed.await.unwrap_or(Err(CallError::Cancelled))
    }

    /// Greets the server again, if no other call has done so since the session was lost.
    async fn greet_again(
        self: &Arc<Self>,
        life: &Arc<Life>,
        stale: &HeaderValue,
    ) -> Result<(), CallError> {
        let _alone = self.renewing.write().await;
        if self.session().as_ref() != Some(stale) {
            return Ok(());
        }
        tracing::info!("the server forgot the session; starting another");
        greeting::again(life).await?;
        // What we knew came from a session that is no more.
        life.changes().note_all();
        life.emit(Event::Restarted);
        drop(self.stand_by(life));
        Ok(())
    }

    /// Reads a stream until it has brought the answer, taking it up again where it broke.
    async fn follow(
        &self,
        response: Response,
        life: &Arc<Life>,
        parcel: &Parcel,
    ) -> Result<(), CallError> {
        let mut stream = Stream { response: Some(response), parser: Parser::new(self.limit) };
        let mut barren = 0;
        loop {
            let place = stream.parser.last_id.clone();
            let broken = stream.read(life, || life.is_open(parcel.id)).await;
            if !life.is_open(parcel.id) {
                return Ok(());
            }
            if let Err(error @ HttpError::Rubbish(_)) = broken {
                return Err(error.into());
            }
            barren = if stream.parser.last_id == place { barren + 1 } else { 0 };
            if parcel.era == Era::Stateless || stream.parser.last_id.is_none() || barren > RESUMES {
                return Err(broken.err().unwrap_or(HttpError::NoAnswer).into());
            }
            tokio::time::sleep(stream.pause(barren)).await;
            stream.response = self.listen_from(life, stream.parser.last_id.as_deref()).await.ok();
        }
    }

    /// Keeps the stream open on which the server says what no request asked for, where there is one.
    /// Returns what tells that it is there, or that there is none.
    pub(super) fn stand_by(self: &Arc<Self>, life: &Arc<Life>) -> oneshot::Receiver<()> {
        let (tell, told) = oneshot::channel();
        let task = life.spawn(Arc::clone(self).stand(Arc::clone(life), tell));
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        // The stream of a session that is gone is let go.
        standing.replace(task).inspect(AbortHandle::abort);
        told
    }

    async fn stand(self: Arc<Self>, life: Arc<Life>, ready: oneshot::Sender<()>) {
        let mut ready = Some(ready);
        let mut stream = Stream { response: None, parser: Parser::new(self.limit) };
        let mut barren = 0;
        while barren <= RESUMES {
            match self.listen_from(&life, stream.parser.last_id.as_deref()).await {
                Ok(response) => stream.response = Some(response),
                Err(CallError::Http(HttpError::Connect(_))) => life.suspect(),
                Err(CallError::Http(HttpError::Broken(_))) => {}
                // The server has none, or does not know us any more; the next request finds out.
                Err(error) => return tracing::debug!(%error, "no standing stream"),
            }
            ready.take().map(|ready| ready.send(()));
            let began = Instant::now();
            let ended = stream.read(&life, || true).await;
            tracing::debug!(?ended, "the standing stream ended");
            // Proxies end what is quiet for a minute; that is no reason to give up.
            barren = if began.elapsed() < STEADY { barren + 1 } else { 0 };
            tokio::time::sleep(stream.pause(barren)).await;
        }
    }

    async fn listen_from(&self, life: &Life, last: Option<&str>) -> Result<Response, CallError> {
        let session = self.current_session(life).await;
        let mut headers = self.headers_for(life, session.as_ref());
        if let Some(last) = last.and_then(|last| HeaderValue::from_str(last).ok()) {
            headers.insert(LAST_EVENT, last);
        }
        let get = self.client.get(self.url.clone()).headers(headers).header(ACCEPT, EVENTS);
        let response = reply::accepted(self.deliver(get).await?).await?;
        match reply::media_type(&response) {
            Some(Media::Events) => Ok(response),
            _ => Err(HttpError::ContentType { got: reply::content_type(&response) }.into()),
        }
    }

    /// Puts a notification or an answer into the queue.
    pub(super) fn post_later(&self, text: String) -> Result<(), Full> {
        self.later.push(text)
    }

    /// Posts what is in the queue, one after the other.
    pub(super) async fn post_queued(self: Arc<Self>, mut unsent: Unsent, life: Arc<Life>) {
        while let Some(text) = unsent.next().await {
            if let Err(error) = self.tell(&life, text).await {
                tracing::debug!(error = %error.story(), "a notification or an answer was not taken");
            }
        }
    }

    /// Posts a notification or an answer.
    pub(super) async fn tell(&self, life: &Life, text: String) -> Result<(), CallError> {
        // Not through the gate of `current_session`: who replaces a session says something, too.
        let headers = self.headers_for(life, self.session_of(life).as_ref());
        let post = self.client.post(self.url.clone()).headers(headers);
        let post = post.header(CONTENT_TYPE, "application/json").header(ACCEPT, BOTH);
        // No call's deadline covers this, and a server that hangs would keep everything behind it waiting.
        let sent = timeout(life.options().ping, self.deliver(post.body(text))).await;
        let response = sent.map_err(|_| CallError::Timeout)??;
        reply::accepted(response).await.map(drop)
    }

    /// Tells the server that its session is no longer needed.
    pub(super) async fn leave(&self, life: &Life, within: Duration) {
        let Some(session) = self.session() else { return };
        let headers = self.headers_for(life, Some(&session));
        let delete = self.client.request(Method::DELETE, self.url.clone()).headers(headers);
        let _ = timeout(within, self.deliver(delete)).await;
    }

    async fn current_session(&self, life: &Life) -> Option<HeaderValue> {
        let _nobody_renews = self.renewing.read().await;
        self.session_of(life)
    }

    /// The session, in the era that has sessions. A server that was asked both ways may have opened one for nothing.
    fn session_of(&self, life: &Life) -> Option<HeaderValue> {
        let stateless = life.terms().is_some_and(|terms| terms.era == Era::Stateless);
        self.session().filter(|_| !stateless)
    }

    fn session(&self) -> Option<HeaderValue> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_session(&self, session: Option<HeaderValue>) {
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = session;
    }
}

impl Parcel {
    /// A request with the headers of its era.
    pub(super) fn of_request(
        id: u64,
        (kind, era): (Kind, Era),
        text: String,
        request: &Request,
        listing: &Listing,
    ) -> Self {
        let mut headers = HeaderMap::new();
        if era == Era::Stateless {
            headers.insert(VERSION, HeaderValue::from_static(STATELESS));
            let mut put = |name: HeaderName, value: &str| {
                if let Ok(value) = HeaderValue::from_str(&encode(value)) {
                    headers.insert(name, value);
                }
            };
            put(METHOD, request.method());
            if let Some(name) = request.name() {
                put(NAME, name);
            }
            listing.headers(request).into_iter().for_each(|(name, value)| put(name, &value));
        }
        // What stands in `_meta` as well, for whoever follows requests without reading them.
        request.trace().inspect(|trace| trace.put_in(&mut headers));
        Self { id, kind, era, text: text.into(), headers }
    }

    /// Whether it opens a session.
    fn greets(&self) -> bool {
        self.kind == Kind::Greeting && self.era == Era::Greeting
    }
}

/// An event stream that may break and be taken up again.
struct Stream {
    response: Option<Response>,
    parser: Parser,
}

impl Stream {
    /// Delivers events until the stream ends or its caller wants no more.
    async fn read(&mut self, life: &Arc<Life>, wanted: impl Fn() -> bool) -> Result<(), HttpError> {
        let Some(mut response) = self.response.take() else { return Ok(()) };
        self.parser.restart();
        while wanted()
            && let Some(piece) = response.chunk().await.map_err(HttpError::of)?
        {
            let taken = self.parser.push(&piece, |data| receive(life, data, None));
            let limit = life.limits().message;
            taken.map_err(|_| HttpError::Rubbish(Rubbish::TooLong { limit }))?;
        }
        Ok(())
    }

    /// How long to wait before coming back: as the server wishes, within reason.
    fn pause(&self, barren: u32) -> Duration {
        let wished = self.parser.retry.map_or(RETRY, Duration::from_millis);
        wished.saturating_mul(1 << barren.min(8)).min(LONGEST_RETRY)
    }
}

fn failed(life: &Arc<Life>, parcel: &Parcel, error: CallError) {
    tracing::debug!(id = parcel.id, error = %error.story(), "exchange failed");
    match error {
        CallError::Http(error @ HttpError::Connect(_)) if parcel.kind != Kind::Plain => {
            life.end(Loss::Unreachable(error));
        }
        error => {
            let unreachable = matches!(error, CallError::Http(HttpError::Connect(_)));
            life.settle(parcel.id, Err(error));
            if unreachable {
                life.suspect();
            }
        }
    }
}

fn receive(life: &Arc<Life>, data: &[u8], answers: Option<u64>) {
    match std::str::from_utf8(data) {
        Ok(text) => life.receive(text.trim_ascii(), answers),
        Err(_) => life.rubbish(salvage::answered(data).or(answers), Rubbish::NotText),
    }
}

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const BOTH: &str = "application/json, text/event-stream";
/// How often a stream that brings nothing is taken up again.
const RESUMES: u32 = 4;
const RETRY: Duration = Duration::from_millis(500);
const LONGEST_RETRY: Duration = Duration::from_secs(10);
/// How long a stream must have lived not to count as barren.
const STEADY: Duration = Duration::from_secs(5);
