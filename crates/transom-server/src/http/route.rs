//! What a proxy opens: methods, paths, kinds of content and sizes. Everything else stays closed.

use std::num::NonZeroU32;

use http::Method;
use serde_json::{Value, json};
use transom::routes::Pattern;

use super::path::Target;

/// One thing that views may ask a backend for (FSE-5).
///
/// A path is a list of segments, as in axum: `{id}` stands for one segment, `{*rest}` at the end for one or more.
/// A request with a body needs a content type that the route accepts, and without [`accepts`](Self::accepts) there is none.
///
/// ```
/// use transom_server::Route;
/// let read = Route::get("/api/items/{id}");
/// let buy = Route::post("/api/cart").accepts("application/json").max_request(4_096);
/// let upload = Route::put("/files/{*path}").accepts("image/*").rate(6);
/// # let _ = (read, buy, upload);
/// ```
#[derive(Clone, Debug)]
pub struct Route {
    pub(crate) methods: Vec<Method>,
    path: String,
    pattern: Result<Pattern, &'static str>,
    wrong: Option<&'static str>,
    accepts: Vec<String>,
    pub(crate) effect: Effect,
    pub(crate) max_request: usize,
    pub(crate) max_response: usize,
    pub(crate) rate: Option<NonZeroU32>,
    pub(crate) headers: Vec<String>,
    pub(crate) streams: bool,
    /// Whether it opens WebSockets, and nothing else.
    pub(crate) sockets: bool,
}

/// Whether a route only reads, or changes something: the server's claim, which hosts believe as they believe `readOnlyHint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    Reads,
    Writes,
}

impl Route {
    /// Opens a path for `GET` and `HEAD`.
    pub fn get(path: &str) -> Self {
        let mut route = Self::new([Method::GET, Method::HEAD], path);
        route.effect = Effect::Reads;
        route
    }

    /// Opens a path for `POST`.
    pub fn post(path: &str) -> Self {
        Self::new([Method::POST], path)
    }

    /// Opens a path for `PUT`.
    pub fn put(path: &str) -> Self {
        Self::new([Method::PUT], path)
    }

    /// Opens a path for `PATCH`.
    pub fn patch(path: &str) -> Self {
        Self::new([Method::PATCH], path)
    }

    /// Opens a path for `DELETE`.
    pub fn delete(path: &str) -> Self {
        Self::new([Method::DELETE], path)
    }

    /// Opens a path for WebSockets, and for nothing else. Hosts are told that it writes: they may ask when a connection is opened, and
    /// then about none of its messages.
    ///
    /// [`max_request`](Self::max_request) limits a message of the view's, [`max_response`](Self::max_response) one of the backend's,
    /// which is never more than 1 MiB.
    pub fn socket(path: &str) -> Self {
        let mut route = Self::new([Method::GET], path);
        route.sockets = true;
        route
    }

    /// Opens a path for these methods. Hosts are told that it writes, unless [`reads`](Self::reads) says otherwise.
    pub fn new(methods: impl IntoIterator<Item = Method>, path: &str) -> Self {
        Self {
            methods: methods.into_iter().collect(),
            path: path.to_owned(),
            pattern: Pattern::parse(path),
            wrong: None,
            accepts: Vec::new(),
            effect: Effect::Writes,
            max_request: MAX_REQUEST,
            max_response: MAX_RESPONSE,
            rate: None,
            headers: Vec::new(),
            streams: false,
            sockets: false,
        }
    }

    /// Accepts bodies of a content type: `application/json`, `image/*`, or `*/*` for any, also for none.
    pub fn accepts(mut self, content_type: &str) -> Self {
        self.accepts.push(content_type.to_ascii_lowercase());
        self
    }

    /// Says that it changes nothing, as a search by `POST` does: hosts then let it pass without a question.
    pub fn reads(mut self) -> Self {
        self.effect = Effect::Reads;
        self
    }

    /// Says that it changes something, as a `GET` that counts does: hosts then ask.
    pub fn writes(mut self) -> Self {
        self.effect = Effect::Writes;
        self
    }

    /// Limits a request's body, in bytes; 1 MiB unless said.
    pub fn max_request(mut self, bytes: usize) -> Self {
        self.max_request = bytes;
        self
    }

    /// Limits a response's body, in bytes after decompression; 10 MiB unless said.
    pub fn max_response(mut self, bytes: usize) -> Self {
        self.max_response = bytes;
        self
    }

    /// Limits how many requests of one app it takes in a minute.
    pub fn rate(mut self, per_minute: u32) -> Self {
        self.rate = NonZeroU32::new(per_minute);
        self.wrong = self
            .wrong
            .or_else(|| (per_minute == 0).then_some("has a rate of nothing: leave the route out"));
        self
    }

    /// Lets a view send a header that is the server's business elsewhere, such as `authorization` (REQ-1).
    ///
    /// `x-http-method-override` opens the same said in another way too: `_method` in a query, a form or a JSON object.
    pub fn allow_header(mut self, name: &str) -> Self {
        self.headers.push(name.to_ascii_lowercase());
        self
    }

    /// Lets responses arrive bit by bit: events, downloads, whatever takes longer or is larger than one answer holds.
    ///
    /// [`max_response`](Self::max_response) does not count for them; a view reads as fast as it likes, up to
    /// [`HttpProxy::bytes`](crate::HttpProxy::bytes).
    pub fn streams(mut self) -> Self {
        self.streams = true;
        self
    }

    /// What is wrong with it, if anything.
    pub(crate) fn wrong(&self) -> Option<String> {
        if let Some(wrong) = self.pattern.as_ref().err().copied().or(self.wrong) {
            return Some(format!("the route {:?} {wrong}", self.path));
        }
        let banned = self.methods.iter().find(|method| is_never_sent(method.as_str()));
        banned.map(|method| {
            format!("the route {:?} opens {method}, which no page can send", self.path)
        })
    }

    pub(crate) fn takes(&self, method: &Method, target: &Target) -> bool {
        let pattern = self.pattern.as_ref();
        self.methods.contains(method) && pattern.is_ok_and(|it| it.takes(target.path()))
    }

    /// Whether a backend that minds no capital letters, slashes at the end or semicolons could take it for one of its own.
    pub(crate) fn could_take(&self, method: &Method, target: &Target) -> bool {
        let method = self.methods.contains(method)
            || *method == Method::HEAD && self.methods.contains(&Method::GET);
        method && self.pattern.as_ref().is_ok_and(|it| it.could_take(target.path()))
    }

    /// Whether a view may name another method beside its own.
    pub(crate) fn opens_override(&self) -> bool {
        self.headers.iter().any(|name| name == "x-http-method-override")
    }

    pub(crate) fn only_reads(&self) -> bool {
        self.effect == Effect::Reads
    }

    /// Whether it accepts a body of this type. Parameters such as a charset do not count.
    pub(crate) fn accepts_type(&self, content_type: Option<&str>) -> bool {
        let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
        let essence = essence.trim().to_ascii_lowercase();
        self.accepts.iter().any(|accepted| match accepted.strip_suffix('*') {
            Some("*/") => true,
            Some(group) => essence.starts_with(group),
            None => *accepted == essence,
        })
    }

    /// As the tool's `_meta` declares it.
    pub(crate) fn declared(&self) -> Value {
        let methods: Vec<_> = self.methods.iter().map(Method::as_str).collect();
        let effect = if self.effect == Effect::Reads { "reads" } else { "writes" };
        json!({ "methods": methods, "path": self.path, "effect": effect })
    }
}

/// FSE-11: these are never sent, whatever a route says.
pub(crate) fn is_never_sent(method: &str) -> bool {
    ["CONNECT", "TRACE", "TRACK"].iter().any(|never| method.eq_ignore_ascii_case(never))
}

const MAX_REQUEST: usize = 1 << 20;
const MAX_RESPONSE: usize = 10 << 20;

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    fn target(path: &str) -> Target {
        Target::parse(&Url::parse("http://localhost").expect("it is one"), path).expect(path)
    }

    // FSE-5: the patterns are tested where they are read; here, that methods count too.
    #[test]
    fn fse_5_a_route_is_a_method_and_a_path() {
        let route = Route::get("/api/{id}");
        assert!(route.takes(&Method::GET, &target("/api/7?x=1")));
        assert!(route.takes(&Method::HEAD, &target("/api/7")));
        assert!(!route.takes(&Method::POST, &target("/api/7")));
        assert!(!route.takes(&Method::GET, &target("/api/7/8")));
    }

    #[test]
    fn a_route_that_says_nothing_sound_is_refused() {
        for pattern in
            ["api", "", "/a//b", "/{*rest}/x", "/a*", "/a?x", "/a#b", "/a%20b", "/{a", "/a\\b"]
        {
            assert!(Route::get(pattern).wrong().is_some(), "{pattern}");
        }
        assert!(Route::new([Method::TRACE], "/x").wrong().is_some());
        assert!(Route::get("/x").rate(0).wrong().is_some());
    }

    #[test]
    fn bodies_need_a_type_that_is_accepted() {
        let json = Route::post("/x").accepts("application/json").accepts("image/*");
        assert!(json.accepts_type(Some("Application/JSON; charset=utf-8")));
        assert!(json.accepts_type(Some("image/png")));
        assert!(!json.accepts_type(Some("application/jsonp")));
        assert!(!json.accepts_type(Some("text/plain")));
        assert!(!json.accepts_type(None));
        assert!(!Route::post("/x").accepts_type(Some("text/plain")));
        assert!(Route::post("/x").accepts("*/*").accepts_type(None));
    }
}
