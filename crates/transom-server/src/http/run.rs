//! One request from its arguments to its response.

use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::response::Parts;
use http::{HeaderMap, Method};
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, JsonObject};
use rmcp::service::RequestContext;
use tokio::time::Instant;

use super::ask::{Ask, CacheMode};
use super::cache::{Key, Whole};
use super::failure::{Code, Failure};
use super::follow::{Arrived, Caller, Ready};
use super::incoming::Incoming;
use super::limits::Running;
use super::path::Target;
use super::record::{Decision, HttpRecord};
use super::route::Route;
use super::{Proxy, tool};

/// What came of a request.
enum Outcome {
    Whole(Whole, Decision),
    /// The beginning of a response, and the handle by which the rest is read.
    Stream(Whole, String),
    /// A redirect that the view wants to see and not to follow.
    Opaque,
    Limited(Duration),
    /// The backend has answered, and the app may not have the answer: it asked too much.
    Withheld(Failure),
}

impl Proxy {
    /// Answers one call of `http_request`. It ends at the backend as soon as the view gives it up.
    pub(crate) async fn request(
        &self,
        arguments: JsonObject,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let cancelled = context.ct.clone();
        let begun = Instant::now();
        let mut record = HttpRecord::new();
        let result = tokio::select! {
            result = self.answer(arguments, context, &mut record) => Some(result),
            () = cancelled.cancelled() => None,
        };
        let result = result.unwrap_or_else(|| {
            record.decision = Decision::Cancelled;
            // Whoever gave it up does not hear this.
            tool::failed(&Failure::network(&"the view gave it up"), record.reached)
        });
        record.took = begun.elapsed();
        record.log();
        if let Some(hear) = &self.on_record {
            hear(&record);
        }
        result
    }

    async fn answer(
        &self,
        arguments: JsonObject,
        context: RequestContext<RoleServer>,
        record: &mut HttpRecord,
    ) -> CallToolResult {
        let url = arguments.get("url").and_then(|url| url.as_str()).unwrap_or_default().to_owned();
        let outcome = self.attempt(arguments, context, record).await;
        match outcome {
            Ok(Outcome::Whole(whole, decision)) => {
                record.decision = decision;
                record.status = Some(whole.status.as_u16());
                record.received = whole.bytes.len();
                tool::answer(&record.method, whole, &self.hidden)
            }
            Ok(Outcome::Stream(head, id)) => {
                record.decision = Decision::Allowed;
                record.status = Some(head.status.as_u16());
                tool::streamed(&record.method, head, &self.hidden, &id, self.streams.idle())
            }
            Ok(Outcome::Opaque) => {
                record.decision = Decision::Allowed;
                tool::opaque(&record.method, &url)
            }
            Ok(Outcome::Limited(wait)) => {
                record.decision = Decision::Limited;
                tool::limited(&record.method, &url, wait.as_secs() + 1)
            }
            Ok(Outcome::Withheld(failure)) => {
                record.decision = Decision::Limited;
                tool::failed(&failure, true)
            }
            Err(failure) => {
                let refused = matches!(failure.code, Code::Blocked | Code::BadRequest);
                record.decision = if refused { Decision::Refused } else { Decision::Failed };
                tool::failed(&failure, record.reached)
            }
        }
    }

    async fn attempt(
        &self,
        arguments: JsonObject,
        context: RequestContext<RoleServer>,
        record: &mut HttpRecord,
    ) -> Result<Outcome, Failure> {
        let mut ask = Ask::parse(arguments)?;
        let method = ask.method()?;
        record.method = method.to_string();
        let target = Target::parse(&self.base, &ask.url)?;
        record.path = target.path().to_owned();
        let (person, proof) = self.person(&context).await?;
        record.app.clone_from(&person);
        let route = self.route(&method, &target)?;
        let patience = ask.patience(self.patience)?;
        let body = std::mem::take(&mut ask.body);
        let caller = Caller { ask: &ask, person: &person, proof: &proof };
        let ready = self.prepare(&caller, body, method, target, route)?;
        record.sent = ready.body.len();

        let identity = self.names.of_proof(caller.sent_proof());
        let key = (ready.method == Method::GET)
            .then(|| Key::new(&person, identity, &ready.target, &ready.headers));
        let kept = self
            .cache
            .as_ref()
            .zip(key.as_ref())
            .and_then(|(cache, key)| cache.find(key, ask.cache));
        if let Some(whole) = kept {
            return Ok(Outcome::Whole(whole, Decision::Kept));
        }
        if ask.cache == CacheMode::OnlyIfCached {
            return Err(Failure { code: Code::Network, words: "nothing is kept for this request" });
        }
        let _running: Running = match self.limits.begin(&person, route) {
            Ok(running) => running,
            Err(wait) => return Ok(Outcome::Limited(wait)),
        };
        if let Err(wait) = self.limits.count(&person, ready.body.len()) {
            return Ok(Outcome::Limited(wait));
        }
        let fetched =
            tokio::time::timeout(patience, self.fetch(ready, &caller, &mut record.reached));
        let Some((whole, rest)) = fetched.await.map_err(|_| Failure::timeout())?? else {
            return Ok(Outcome::Opaque);
        };
        record.status = Some(whole.status.as_u16());
        let outcome = self.deliver(&person, whole, rest);
        if let (Some(cache), Some(key), Outcome::Whole(whole, _)) =
            (&self.cache, key.filter(|_| ask.cache != CacheMode::NoStore), &outcome)
        {
            cache.keep(key, whole);
        }
        Ok(outcome)
    }

    /// Gives an app what the backend answered, unless it has had too much already.
    fn deliver(&self, person: &str, whole: Whole, rest: Option<Incoming>) -> Outcome {
        if let Some(rest) = rest {
            // From here on it lasts as long as the view reads it.
            let rest = rest.silent_for(self.streams.whole());
            return match self.streams.open(person, whole.bytes.clone(), rest) {
                Ok(id) => Outcome::Stream(whole, id),
                Err(failure) => Outcome::Withheld(failure),
            };
        }
        // No 429, which would say that nothing was done.
        if self.limits.count(person, whole.bytes.len()).is_err() {
            let words = "the response is more than this app may receive now";
            return Outcome::Withheld(Failure::too_large(words));
        }
        Outcome::Whole(whole, Decision::Allowed)
    }

    /// The first route that opens it. Whether the backend knows the path is not asked: what is closed looks the same either way (FSE-18).
    pub(super) fn route(&self, method: &Method, target: &Target) -> Result<usize, Failure> {
        let open = |route: &&Route| !route.sockets;
        let found =
            self.routes.iter().position(|route| open(&route) && route.takes(method, target));
        let found = found.ok_or_else(|| Failure::blocked("no route opens this method and path"))?;
        // Hosts were told that this one reads; the backend may take it for that one, which writes.
        let before = self.routes[..found].iter().filter(open);
        let mut writes = before.filter(|route| !route.only_reads());
        if self.routes[found].only_reads() && writes.any(|route| route.could_take(method, target)) {
            return Err(Failure::blocked("the path passes for that of another route"));
        }
        Ok(found)
    }

    /// The response, whole; or, where view and route agree on that, its beginning and the rest.
    async fn fetch(
        &self,
        ready: Ready,
        caller: &Caller<'_>,
        reached: &mut bool,
    ) -> Result<Option<(Whole, Option<Incoming>)>, Failure> {
        let head = ready.method == Method::HEAD;
        let Some(arrived) = self.follow(ready, caller, reached).await? else {
            return Ok(None);
        };
        let Arrived { response, target, route, redirected } = arrived;
        let (Parts { status, headers, .. }, body) = response.into_parts();
        if !(200..=599).contains(&status.as_u16()) {
            return Err(Failure::protocol("the backend answered with a status that is none"));
        }
        let rules = &self.routes[route];
        let (bytes, rest) = if head {
            (Bytes::new(), None)
        } else {
            let incoming = Incoming::new(body, &headers, self.idle)?;
            if caller.ask.stream && rules.streams {
                let patience = if is_endless(&headers) { Duration::ZERO } else { SOON };
                incoming.all_by(Instant::now() + patience, INLINE).await?
            } else {
                (incoming.all(rules.max_response).await?, None)
            }
        };
        Ok(Some((Whole { status, headers, bytes, target, redirected }, rest)))
    }
}

/// Types that are read as they come, whatever is there already (STR-12).
fn is_endless(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    ["text/event-stream", "application/x-ndjson", "application/jsonl", "application/json-seq"]
        .contains(&essence.as_str())
}

/// What does not come so soon, or is larger, is a stream: the view does not wait for the end of what has begun (STR-2).
const SOON: Duration = Duration::from_millis(100);
const INLINE: usize = super::stream::CHUNK as usize;
