//! What a proxy opens: methods, paths, kinds of content and sizes. Everything else stays closed.

use std::num::NonZeroU32;

use http::Method;
use serde_json::{Value, json};

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
    pattern: String,
    segments: Vec<Segment>,
    wrong: Option<&'static str>,
    accepts: Vec<String>,
    effect: Effect,
    pub(crate) max_request: usize,
    pub(crate) max_response: usize,
    pub(crate) rate: Option<NonZeroU32>,
    pub(crate) headers: Vec<String>,
    pub(crate) streams: bool,
}

/// Whether a route only reads, or changes something: the server's claim, which hosts believe as they believe `readOnlyHint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Reads,
    Writes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Exactly(String),
    One,
    Rest,
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

    /// Opens a path for these methods. Hosts are told that it writes, unless [`reads`](Self::reads) says otherwise.
    pub fn new(methods: impl IntoIterator<Item = Method>, path: &str) -> Self {
        let (segments, wrong) = match parse(path) {
            Ok(segments) => (segments, None),
            Err(wrong) => (Vec::new(), Some(wrong)),
        };
        Self {
            methods: methods.into_iter().collect(),
            pattern: path.to_owned(),
            segments,
            wrong,
            accepts: Vec::new(),
            effect: Effect::Writes,
            max_request: MAX_REQUEST,
            max_response: MAX_RESPONSE,
            rate: None,
            headers: Vec::new(),
            streams: false,
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
        if let Some(wrong) = self.wrong {
            return Some(format!("the route {:?} {wrong}", self.pattern));
        }
        let banned = self.methods.iter().find(|method| is_never_sent(method.as_str()));
        banned.map(|method| {
            format!("the route {:?} opens {method}, which no page can send", self.pattern)
        })
    }

    pub(crate) fn takes(&self, method: &Method, target: &Target) -> bool {
        self.methods.contains(method) && self.leads_to(target)
    }

    pub(crate) fn leads_to(&self, target: &Target) -> bool {
        let mut wanted = self.segments.iter();
        let mut given = target.segments();
        loop {
            match (wanted.next(), given.next()) {
                (None, None) => return true,
                (Some(Segment::Rest), Some(first)) => return !first.is_empty(),
                (Some(Segment::One), Some(segment)) if !segment.is_empty() => {}
                (Some(Segment::Exactly(text)), Some(segment)) if text == segment => {}
                _ => return false,
            }
        }
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
        json!({ "methods": methods, "path": self.pattern, "effect": effect })
    }
}

/// FSE-11: these are never sent, whatever a route says.
pub(crate) fn is_never_sent(method: &str) -> bool {
    ["CONNECT", "TRACE", "TRACK"].iter().any(|never| method.eq_ignore_ascii_case(never))
}

fn parse(path: &str) -> Result<Vec<Segment>, &'static str> {
    let rest = path.strip_prefix('/').ok_or("does not begin with a slash")?;
    let parts: Vec<_> = rest.split('/').collect();
    let last = parts.len() - 1;
    let parse = |(at, part): (usize, &&str)| match part
        .strip_prefix('{')
        .and_then(|part| part.strip_suffix('}'))
    {
        Some(name) if name.starts_with('*') && at == last => Ok(Segment::Rest),
        Some(name) if name.starts_with('*') => Err("has {*…} before its end"),
        Some(_) => Ok(Segment::One),
        None if part.contains(['{', '}', '*', '?', '#', '%', '\\']) => {
            Err("has a segment that is neither plain text nor {name}")
        }
        None if part.is_empty() && at != last => Err("has an empty segment"),
        // As an address has it, which is what it is compared with.
        None => {
            let mut url = url::Url::parse("http://localhost").expect("it is one");
            url.set_path(part);
            Ok(Segment::Exactly(url.path()[1..].to_owned()))
        }
    };
    parts.iter().enumerate().map(parse).collect()
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

    // FSE-5, DEF-2, INS-4: segments, and never a bare prefix.
    #[test]
    fn fse_5_a_route_is_matched_by_whole_segments() {
        #[rustfmt::skip]
        let table = [
            ("/api",            "/api",          true),
            ("/api",            "/api?x=1",      true),
            ("/api",            "/apikeys",      false),
            ("/api",            "/api/x",        false),
            ("/api",            "/api/",         false),
            ("/api/",           "/api/",         true),
            ("/api/{id}",       "/api/7",        true),
            ("/api/{id}",       "/api/",         false),
            ("/api/{id}",       "/api/7/x",      false),
            ("/api/{id}/lines", "/api/7/lines",  true),
            ("/api/{*rest}",    "/api/7/lines",  true),
            ("/api/{*rest}",    "/api/7/",       true),
            ("/api/{*rest}",    "/api/",         false),
            ("/api/{*rest}",    "/api",          false),
            ("/{*rest}",        "/",             false),
            ("/",               "/",             true),
            ("/k\u{e4}se",      "/k%C3%A4se",    true),
            ("/admin",          "/%61dmin",      true),
            ("/API",            "/api",          false),
        ];
        for (pattern, path, expected) in table {
            let route = Route::get(pattern);
            assert_eq!(route.wrong(), None);
            assert_eq!(route.takes(&Method::GET, &target(path)), expected, "{pattern} {path}");
            assert!(!route.takes(&Method::POST, &target(path)));
        }
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
