//! A request on its way, hop by hop: each hop is a request of its own, judged as if the view had asked for it.

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_TYPE, LOCATION, PRAGMA};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use serde_json::Value;

use super::ask::{Ask, CacheMode, Redirect, Send};
use super::backend::{Backend, Coming};
use super::failure::{Code, Failure};
use super::path::Target;
use super::route::{Effect, Route};
use super::{Proxy, body, headers, named_method};

/// Who asks, and for what: all that a hop is made of again.
pub(super) struct Caller<'a> {
    pub(super) ask: &'a Ask,
    pub(super) person: &'a str,
    /// What proves it to the backend.
    pub(super) proof: &'a HeaderMap,
}

/// A request that is allowed, and ready to be sent.
pub(super) struct Ready {
    pub(super) method: Method,
    pub(super) target: Target,
    pub(super) route: usize,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Whether a redirect took its body away.
    stripped: bool,
}

/// A response whose body is still on its way.
pub(super) struct Arrived {
    pub(super) response: Response<Coming>,
    pub(super) target: Target,
    pub(super) route: usize,
    pub(super) redirected: bool,
}

impl Caller<'_> {
    /// What is sent of the proof: nothing, if the view wants to ask without credentials.
    pub(super) fn sent_proof(&self) -> &HeaderMap {
        static NONE: std::sync::LazyLock<HeaderMap> = std::sync::LazyLock::new(HeaderMap::new);
        if self.ask.credentials == Send::Omit { &NONE } else { self.proof }
    }
}

impl Proxy {
    /// What goes on of a request: its headers filtered, its body read and judged by the route.
    pub(super) fn prepare(
        &self,
        caller: &Caller<'_>,
        given: Value,
        method: Method,
        target: Target,
        route: usize,
    ) -> Result<Ready, Failure> {
        let rules = &self.routes[route];
        let mut headers = self.headers(caller, rules)?;
        let mut body = Bytes::new();
        // REQ-4: these have no body, whatever came.
        if method != Method::GET && method != Method::HEAD {
            let read = body::read(given, caller.ask.body_type, rules.max_request)?;
            if let Some(implied) =
                read.implied.filter(|_| read.overrules || !headers.contains_key(CONTENT_TYPE))
            {
                let implied = HeaderValue::from_str(&implied).expect("it is plain text of ours");
                headers.insert(CONTENT_TYPE, implied);
            }
            body = read.bytes;
        } else {
            headers.remove(CONTENT_TYPE);
        }
        check_body(rules, &headers, &body)?;
        let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if !rules.opens_override() && named_method::is_there(target.url().query(), kind, &body) {
            return Err(Failure::blocked("the request names another method (_method)"));
        }
        Ok(Ready { method, target, route, headers, body, stripped: false })
    }

    /// The view's headers, as far as a route lets them pass.
    fn headers(&self, caller: &Caller<'_>, rules: &Route) -> Result<HeaderMap, Failure> {
        let mut own = self.own.clone();
        own.extend(caller.proof.clone());
        let mut headers = headers::of_view(&caller.ask.headers, &rules.headers, &own)?;
        prefer(&mut headers, ACCEPT, "*/*");
        match caller.ask.cache {
            CacheMode::NoStore | CacheMode::Reload => {
                prefer(&mut headers, CACHE_CONTROL, "no-cache");
                prefer(&mut headers, PRAGMA, "no-cache");
            }
            CacheMode::NoCache => prefer(&mut headers, CACHE_CONTROL, "max-age=0"),
            _ => {}
        }
        Ok(headers)
    }

    /// Sends a request, and follows redirects by our own rules (FSE-6, RES-12).
    pub(super) async fn follow(
        &self,
        mut ready: Ready,
        caller: &Caller<'_>,
        reached: &mut bool,
    ) -> Result<Option<Arrived>, Failure> {
        for hop in 0..=MAX_HOPS {
            let request = self.request_of(&ready, caller)?;
            let response = self.backend.send(request, reached).await?;
            let location =
                response.headers().get(LOCATION).filter(|_| is_redirect(response.status()));
            let Some(location) = location else {
                let Ready { target, route, .. } = ready;
                return Ok(Some(Arrived { response, target, route, redirected: hop > 0 }));
            };
            match caller.ask.redirect {
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
            ready = self.hop(ready, caller, response.status(), next)?;
        }
        Err(Failure { code: Code::Network, words: "there are too many redirects" })
    }

    /// The request that a redirect asks for: with the headers that its own route lets pass, and only where the view could have asked
    /// for it without another question. A read never becomes a write, nor one write another one (FSE-16).
    fn hop(
        &self,
        mut ready: Ready,
        caller: &Caller<'_>,
        status: StatusCode,
        target: Target,
    ) -> Result<Ready, Failure> {
        let post_moved = matches!(status.as_u16(), 301 | 302) && ready.method == Method::POST;
        let see_other = status == StatusCode::SEE_OTHER
            && ready.method != Method::GET
            && ready.method != Method::HEAD;
        if post_moved || see_other {
            (ready.method, ready.body, ready.stripped) = (Method::GET, Bytes::new(), true);
        }
        let route = self.route(&ready.method, &target)?;
        let rules = &self.routes[route];
        if rules.effect == Effect::Writes && route != ready.route {
            return Err(Failure::blocked("a redirect leads to a route that writes"));
        }
        if route != ready.route && self.limits.go_on(caller.person, route).is_err() {
            return Err(Failure::blocked("a redirect leads to a route that was asked too often"));
        }
        let kind = ready.headers.get(CONTENT_TYPE).filter(|_| !ready.stripped).cloned();
        let mut headers = self.headers(caller, rules)?;
        headers.remove(CONTENT_TYPE);
        headers.extend(kind.map(|kind| (CONTENT_TYPE, kind)));
        if ready.stripped {
            OF_BODIES.iter().for_each(|name| drop(headers.remove(*name)));
        }
        check_body(rules, &headers, &ready.body)?;
        Ok(Ready { target, route, headers, ..ready })
    }

    /// The request as it is sent. What the server sets comes last, and so it always wins (REQ-2, DEF-3).
    fn request_of(&self, ready: &Ready, caller: &Caller<'_>) -> Result<Request<Bytes>, Failure> {
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
        for (name, value) in self.own.iter().chain(caller.sent_proof()) {
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

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// RES-12.
const MAX_HOPS: usize = 20;
/// What a request loses with its body.
const OF_BODIES: [&str; 4] =
    ["content-encoding", "content-language", "content-location", "content-type"];
