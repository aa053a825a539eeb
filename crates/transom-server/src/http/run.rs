//! One request from its arguments to its response.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_TYPE, LOCATION, PRAGMA};
use http::response::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, JsonObject};
use rmcp::service::RequestContext;
use tokio::time::Instant;

use super::ask::{Ask, CacheMode, Redirect, Send};
use super::backend::{Backend, Coming};
use super::cache::{Key, Whole};
use super::failure::{Code, Failure};
use super::incoming::Incoming;
use super::limits::Running;
use super::path::Target;
use super::record::{Decision, HttpRecord};
use super::route::Route;
use super::{Proxy, body, headers, tool};

/// A request that is allowed, and ready to be sent.
struct Ready {
    method: Method,
    target: Target,
    route: usize,
    headers: HeaderMap,
    body: Bytes,
}

/// A response whose body is still on its way.
struct Arrived {
    response: Response<Coming>,
    target: Target,
    route: usize,
    redirected: bool,
}

/// What came of a request.
enum Outcome {
    Whole(Whole, Decision),
    /// The beginning of a response, and the handle by which the rest is read.
    Stream(Whole, String),
    /// A redirect that the view wants to see and not to follow.
    Opaque,
    Limited(Duration),
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
        let mut record = HttpRecord {
            app: String::new(),
            method: String::new(),
            path: String::new(),
            status: None,
            sent: 0,
            received: 0,
            took: Duration::ZERO,
            decision: Decision::Refused,
        };
        let result = tokio::select! {
            result = self.answer(arguments, context, &mut record) => Some(result),
            () = cancelled.cancelled() => None,
        };
        let result = result.unwrap_or_else(|| {
            record.decision = Decision::Cancelled;
            // Whoever gave it up does not hear this.
            tool::failed(&Failure::network(&"the view gave it up"))
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
            Err(failure) => {
                let refused = matches!(failure.code, Code::Blocked | Code::BadRequest);
                record.decision = if refused { Decision::Refused } else { Decision::Failed };
                tool::failed(&failure)
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
        let ready = self.prepare(&mut ask, method, target, route, &proof)?;
        record.sent = ready.body.len();

        let key =
            (ready.method == Method::GET).then(|| Key::new(&person, &ready.target, &ready.headers));
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
        let fetched = tokio::time::timeout(patience, self.fetch(ready, &ask, proof));
        let Some((whole, rest)) = fetched.await.map_err(|_| Failure::timeout())?? else {
            return Ok(Outcome::Opaque);
        };
        if let Some(rest) = rest {
            // From here on it lasts as long as somebody reads it.
            let rest = rest.silent_for(self.streams.whole());
            let id = self.streams.open(&person, whole.bytes.clone(), rest)?;
            return Ok(Outcome::Stream(whole, id));
        }
        if let Err(wait) = self.limits.count(&person, whole.bytes.len()) {
            return Ok(Outcome::Limited(wait));
        }
        if let (Some(cache), Some(key)) =
            (&self.cache, key.filter(|_| ask.cache != CacheMode::NoStore))
        {
            cache.keep(key, &whole);
        }
        Ok(Outcome::Whole(whole, Decision::Allowed))
    }

    /// The first route that opens it. Whether the backend knows the path is not asked: what is closed looks the same either way (FSE-18).
    fn route(&self, method: &Method, target: &Target) -> Result<usize, Failure> {
        let found = self.routes.iter().position(|route| route.takes(method, target));
        found.ok_or_else(|| Failure::blocked("no route opens this method and path"))
    }

    /// What goes on of a request: its headers filtered, its body read and judged by the route.
    fn prepare(
        &self,
        ask: &mut Ask,
        method: Method,
        target: Target,
        route: usize,
        proof: &HeaderMap,
    ) -> Result<Ready, Failure> {
        let rules = &self.routes[route];
        let mut own = self.own.clone();
        own.extend(proof.clone());
        let mut headers = headers::of_view(&ask.headers, &rules.headers, &own)?;
        let mut bytes = Bytes::new();
        // REQ-4: these have no body, whatever came.
        if method != Method::GET && method != Method::HEAD {
            let read = body::read(std::mem::take(&mut ask.body), ask.body_type, rules.max_request)?;
            if let Some(implied) =
                read.implied.filter(|_| read.overrules || !headers.contains_key(CONTENT_TYPE))
            {
                let implied = HeaderValue::from_str(&implied).expect("it is plain text of ours");
                headers.insert(CONTENT_TYPE, implied);
            }
            bytes = read.bytes;
        } else {
            headers.remove(CONTENT_TYPE);
        }
        check_body(rules, &headers, &bytes)?;
        prefer(&mut headers, ACCEPT, "*/*");
        match ask.cache {
            CacheMode::NoStore | CacheMode::Reload => {
                prefer(&mut headers, CACHE_CONTROL, "no-cache");
                prefer(&mut headers, PRAGMA, "no-cache");
            }
            CacheMode::NoCache => prefer(&mut headers, CACHE_CONTROL, "max-age=0"),
            _ => {}
        }
        Ok(Ready { method, target, route, headers, body: bytes })
    }

    /// The response, whole; or, where view and route agree on that, its beginning and the rest.
    async fn fetch(
        &self,
        ready: Ready,
        ask: &Ask,
        proof: HeaderMap,
    ) -> Result<Option<(Whole, Option<Incoming>)>, Failure> {
        let head = ready.method == Method::HEAD;
        let Some(arrived) = self.follow(ready, ask.redirect, proof, ask.credentials).await? else {
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
            if ask.stream && rules.streams {
                let patience = if is_endless(&headers) { Duration::ZERO } else { SOON };
                incoming.all_by(Instant::now() + patience, INLINE).await?
            } else {
                (incoming.all(rules.max_response).await?, None)
            }
        };
        Ok(Some((Whole { status, headers, bytes, target, redirected }, rest)))
    }

    /// Sends a request, and follows redirects by our own rules: every hop is judged as if the view had asked for it (FSE-6, RES-12).
    async fn follow(
        &self,
        mut ready: Ready,
        redirect: Redirect,
        proof: HeaderMap,
        send: Send,
    ) -> Result<Option<Arrived>, Failure> {
        for hop in 0..=MAX_HOPS {
            let response = self.backend.send(self.request_of(&ready, &proof, send)?).await?;
            let location =
                response.headers().get(LOCATION).filter(|_| is_redirect(response.status()));
            let Some(location) = location else {
                let Ready { target, route, .. } = ready;
                return Ok(Some(Arrived { response, target, route, redirected: hop > 0 }));
            };
            match redirect {
                Redirect::Manual => return Ok(None),
                Redirect::Error => {
                    return Err(Failure {
                        code: Code::Network,
                        words: "the response is a redirect",
                    });
                }
                Redirect::Follow => {}
            }
            let location =
                location.to_str().map_err(|_| Failure::protocol("a redirect leads nowhere"))?;
            let next = ready.target.redirected(&self.base, location)?;
            ready = self.hop(ready, response.status(), next)?;
        }
        Err(Failure { code: Code::Network, words: "there are too many redirects" })
    }

    /// The request that a redirect asks for.
    fn hop(&self, mut ready: Ready, status: StatusCode, target: Target) -> Result<Ready, Failure> {
        let post_moved = matches!(status.as_u16(), 301 | 302) && ready.method == Method::POST;
        let see_other = status == StatusCode::SEE_OTHER
            && ready.method != Method::GET
            && ready.method != Method::HEAD;
        if post_moved || see_other {
            ready.method = Method::GET;
            ready.body = Bytes::new();
            for name in OF_BODIES {
                ready.headers.remove(name);
            }
        }
        ready.route = self.route(&ready.method, &target)?;
        check_body(&self.routes[ready.route], &ready.headers, &ready.body)?;
        Ok(Ready { target, ..ready })
    }

    /// The request as it is sent. What the server sets comes last, and so it always wins (REQ-2, DEF-3).
    fn request_of(
        &self,
        ready: &Ready,
        proof: &HeaderMap,
        send: Send,
    ) -> Result<Request<Bytes>, Failure> {
        let mut request = Request::new(ready.body.clone());
        *request.method_mut() = ready.method.clone();
        let address = match self.backend {
            Backend::Upstream(_) => ready.target.url().as_str(),
            Backend::Tower(_) => ready.target.relative(),
        };
        *request.uri_mut() =
            address.parse().map_err(|_| Failure::bad_request("the address is none"))?;
        let headers = request.headers_mut();
        headers.clone_from(&ready.headers);
        match self.backend {
            Backend::Upstream(_) => {
                drop(headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip")))
            }
            Backend::Tower(_) => {
                drop(headers.insert("host", HeaderValue::from_static("localhost")))
            }
        }
        let proof = (send != Send::Omit).then_some(proof);
        for (name, value) in self.own.iter().chain(proof.into_iter().flatten()) {
            headers.insert(name, value.clone());
        }
        Ok(request)
    }
}

/// A body is within the route's size and of a type that it accepts (FSE-5).
fn check_body(route: &Route, headers: &HeaderMap, body: &Bytes) -> Result<(), Failure> {
    if body.len() > route.max_request {
        return Err(Failure::too_large("the request's body is larger than this route takes"));
    }
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !body.is_empty() && !route.accepts_type(content_type) {
        return Err(Failure::blocked("this route does not accept bodies of this content type"));
    }
    Ok(())
}

fn prefer(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.entry(name).or_insert(HeaderValue::from_static(value));
}

/// Types that are read as they come, whatever is there already (STR-12).
fn is_endless(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    ["text/event-stream", "application/x-ndjson", "application/jsonl", "application/json-seq"]
        .contains(&essence.as_str())
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// RES-12.
const MAX_HOPS: usize = 20;
/// What does not come so soon, or is larger, is a stream: nobody waits for the end of what has begun (STR-2).
const SOON: Duration = Duration::from_millis(100);
const INLINE: usize = super::stream::CHUNK as usize;
/// What a request loses with its body.
const OF_BODIES: [&str; 4] =
    ["content-encoding", "content-language", "content-location", "content-type"];
