//! HTTP requests that a tool makes for a view: which ones it says it takes, and which of them one call asks for.
//!
//! A tool declares its routes in `_meta` under [`DECLARED`]. Whoever declares some takes the arguments `method`, `url`, `body` and `bodyType` of
//! `http_request`, whatever its name. Hosts judge by them, and servers open by the same patterns: there is one reader for both.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde_json::{Value, value::RawValue};

use crate::{
    printed::{Printed, reads_as},
    quoted::Quoted,
    wire::Finding,
};

mod address;
mod handling;
mod pattern;

pub use address::Address;
pub use handling::{HANDLES, Handling};
pub use pattern::Pattern;

/// What a tool declares: the first route that takes a request decides about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes(Vec<Declared>);

/// One route that a tool declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    methods: Vec<String>,
    pattern: Pattern,
    effect: Effect,
}

/// Whether a route only reads: the server's claim, which is believed as `readOnlyHint` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It changes nothing.
    Reads,
    /// It changes something, or does not say.
    Writes,
}

/// A request that a call asks for, as far as it is judged, asked about and written down. Never a body, never a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method, in capitals.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// How many bytes its body has.
    pub size: usize,
}

/// A rule's requests: `POST /api/cart`, or `* /admin/{*rest}` for every method.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoutePattern {
    method: String,
    pattern: Pattern,
}

impl Routes {
    /// Reads what a tool declares. A route that cannot be read is left out, and said. Its requests may fall to a later one, of
    /// which it is therefore not believed that it only reads.
    pub(crate) fn read(declared: &Value, findings: &mut Vec<Finding>) -> Self {
        let unreadable = |got: &Value| Finding::Unreadable {
            key: DECLARED,
            expected: "routes of the form {\"methods\": [\"GET\"], \"path\": \"/a/{id}\", \"effect\": \"reads\"}",
            got: Quoted::new(&got.to_string()),
        };
        let Some(all) = declared.get("routes").and_then(Value::as_array) else {
            findings.push(unreadable(declared));
            return Self::default();
        };
        let (mut routes, mut all_read) = (vec![], true);
        for (index, one) in all.iter().enumerate() {
            match Declared::read(one).filter(|_| index < MOST) {
                Some(route) if all_read => routes.push(route),
                Some(route) => routes.push(Declared { effect: Effect::Writes, ..route }),
                None => {
                    all_read = false;
                    findings.push(unreadable(one));
                }
            }
        }
        Self(routes)
    }

    /// The route that decides about a request: the first that takes it. Where that one only reads, and one before it writes
    /// and could take it too in the eyes of a careless backend, it is that one.
    pub(crate) fn find(&self, request: &HttpRequest) -> Option<&Declared> {
        let HttpRequest { method, path, .. } = request;
        let takes = |route: &Declared| route.methods.contains(method) && route.pattern.takes(path);
        let at = self.0.iter().position(takes)?;
        let writes = self.0[..at].iter().find(|route| {
            let method = route.methods.iter().any(|own| own == method || is_head_of(method, own));
            route.effect == Effect::Writes && method && route.pattern.could_take(path)
        });
        Some(writes.filter(|_| self.0[at].effect == Effect::Reads).unwrap_or(&self.0[at]))
    }

    /// What stands for them when they are compared with what they were.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for Declared { methods, pattern, effect } in &self.0 {
            text.push_str(&format!("{} {pattern} {effect:?}\n", methods.join(",")));
        }
        text
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Declared> {
        self.0.iter()
    }
}

impl Declared {
    fn read(value: &Value) -> Option<Self> {
        let methods = value.get("methods")?.as_array()?.iter();
        let methods: Option<Vec<String>> =
            methods.map(|method| method.as_str().and_then(method_of)).collect();
        let pattern = Pattern::parse(value.get("path")?.as_str()?).ok()?;
        let effect = match value.get("effect").and_then(Value::as_str) {
            Some("reads") => Effect::Reads,
            _ => Effect::Writes,
        };
        Some(Self { methods: methods?, pattern, effect })
    }

    /// Its methods, in capitals.
    pub fn methods(&self) -> &[String] {
        &self.methods
    }

    /// The paths that it takes.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// What it claims.
    pub fn effect(&self) -> Effect {
        self.effect
    }
}

impl HttpRequest {
    /// Reads the arguments of a call; if it cannot, why.
    pub fn read(arguments: Option<&Printed>) -> Result<Self, &'static str> {
        let arguments = arguments.map_or("{}", Printed::get);
        let members: BTreeMap<&str, &RawValue> =
            serde_json::from_str(arguments).map_err(|_| "a name of the arguments is escaped")?;
        // A reader that minds no capital letters would take another value than we do.
        let twin =
            |name: &&&str| READ.iter().any(|known| reads_as(name, known) && **name != *known);
        if members.keys().find(twin).is_some() {
            return Err("a name of the arguments passes for another one");
        }
        let text = |name: &str| match members.get(name).map(|value| value.get()) {
            None | Some("null") => Ok(None),
            Some(value) => serde_json::from_str::<String>(value)
                .map(Some)
                .map_err(|_| "method, url and bodyType should be texts"),
        };
        let method = match text("method")? {
            Some(method) => method_of(&method).ok_or("the method is none")?,
            None => "GET".to_owned(),
        };
        let url = text("url")?.ok_or("it has no url")?;
        let path = Address::parse(&url)?.path;
        let base64 = text("bodyType")?.as_deref() == Some("base64");
        let size = members.get("body").map_or(0, |body| size_of(body.get(), base64));
        Ok(Self { method, path, size })
    }
}

impl fmt::Display for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

/// How many bytes a body has, as the server will write it.
fn size_of(body: &str, base64: bool) -> usize {
    match serde_json::from_str::<String>(body) {
        Ok(text) if base64 => text.trim_end_matches('=').len() * 3 / 4,
        Ok(text) => text.len(),
        Err(_) if body == "null" => 0,
        Err(_) => body.len(),
    }
}

/// A method as it is compared: no page can send one in another case that means another one.
fn method_of(text: &str) -> Option<String> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let sound = (1..=32).contains(&text.len()) && text.bytes().all(is_token);
    sound.then(|| text.to_ascii_uppercase())
}

/// Servers answer the one as the other, without its body.
fn is_head_of(method: &str, other: &str) -> bool {
    method == "HEAD" && other == "GET"
}

impl RoutePattern {
    /// Whether a careless backend could take a request for one of the rule's.
    pub fn could_take(&self, request: &HttpRequest) -> bool {
        let method = self.method == ANY
            || self.method == request.method
            || is_head_of(&request.method, &self.method);
        method && self.pattern.could_take(&request.path)
    }

    /// Whether the rule is about a request.
    pub fn takes(&self, request: &HttpRequest) -> bool {
        let method = self.method == ANY || self.method == request.method;
        method && self.pattern.takes(&request.path)
    }
}

impl FromStr for RoutePattern {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (method, path) = text.split_once(' ').ok_or("there is no method before the path")?;
        let method = if method == ANY { Some(ANY.to_owned()) } else { method_of(method) };
        let method = method.ok_or("the method is none")?;
        Ok(Self { method, pattern: Pattern::parse(path)? })
    }
}

impl fmt::Display for RoutePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.pattern)
    }
}

/// The member of a tool's `_meta` that declares its routes.
pub const DECLARED: &str = "transom/http";
/// The arguments that a request is read from.
const READ: [&str; 4] = ["method", "url", "body", "bodyType"];
const ANY: &str = "*";
/// The most routes that are read of one tool.
const MOST: usize = 1_000;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(arguments: Value) -> Result<HttpRequest, &'static str> {
        HttpRequest::read(Some(&Printed::parse(&arguments.to_string()).unwrap()))
    }

    #[test]
    fn a_request_is_read_as_the_server_reads_it() {
        #[rustfmt::skip]
        let table = [
            (json!({ "url": "/a" }),                                                "GET /a", 0),
            (json!({ "url": "/a?secret=1", "method": "post", "body": "käse" }),     "POST /a", 5),
            (json!({ "url": "/%61", "method": null, "body": null }),                "GET /a", 0),
            (json!({ "url": "/a", "method": "PUT", "body": "AAEC", "bodyType": "base64" }), "PUT /a", 3),
            (json!({ "url": "/a", "method": "PUT", "body": "AAE=", "bodyType": "base64" }), "PUT /a", 2),
            (json!({ "url": "/a", "method": "PUT", "body": { "x": 1 } }),           "PUT /a", 7),
        ];
        for (arguments, words, size) in table {
            let read = request(arguments).unwrap();
            assert_eq!((read.to_string().as_str(), read.size), (words, size));
        }
    }

    #[test]
    fn a_request_that_two_readers_would_read_differently_is_none() {
        let table = [
            json!({}),
            json!({ "url": 7 }),
            json!({ "url": ["/a"] }),
            json!({ "url": "/a", "method": 7 }),
            json!({ "url": "/a", "method": "GET /b" }),
            json!({ "url": "/a", "method": "" }),
            json!({ "url": "/a", "URL": "/b" }),
            json!({ "url": "/a", "ur\u{4c}": "/b" }),
            json!({ "url": "/a", "Method": "DELETE" }),
            json!({ "url": "https://evil.test/a" }),
            json!({ "url": "//evil.test/a" }),
            json!({ "url": "/a/../b" }),
            json!({ "url": "/a/%2e%2e/b" }),
            json!({ "url": "/a#b" }),
        ];
        for arguments in table {
            assert!(request(arguments.clone()).is_err(), "{arguments}");
        }
        assert!(HttpRequest::read(None).is_err());
    }

    #[test]
    fn what_is_declared_is_read_or_left_out_and_said() {
        let mut findings = vec![];
        let routes = Routes::read(
            &json!({ "routes": [
                { "methods": ["get", "HEAD"], "path": "/a/{id}", "effect": "reads" },
                { "methods": ["POST"], "path": "/a/{id}" },
                { "methods": ["POST"], "path": "a", "effect": "reads" },
                { "methods": "POST", "path": "/b" },
                { "methods": ["P ST"], "path": "/b" },
                { "methods": [], "path": "/c", "effect": "reads" },
                7,
            ] }),
            &mut findings,
        );
        assert_eq!(findings.len(), 4, "{findings:?}");
        let found = |method: &str, path: &str| {
            let request = HttpRequest { method: method.into(), path: path.into(), size: 0 };
            routes.find(&request).map(Declared::effect)
        };
        assert_eq!(found("GET", "/a/7"), Some(Effect::Reads));
        assert_eq!(found("POST", "/a/7"), Some(Effect::Writes));
        assert_eq!(found("DELETE", "/a/7"), None);
        assert_eq!(found("GET", "/a/7/8"), None);
        assert_eq!(found("GET", "/c"), None);
        for odd in [json!(null), json!([]), json!({ "routes": {} }), json!(true)] {
            let mut findings = vec![];
            assert_eq!(Routes::read(&odd, &mut findings), Routes::default());
            assert_eq!(findings.len(), 1);
        }
        let many: Vec<Value> =
            vec![json!({ "methods": ["GET"], "path": "/", "effect": "reads" }); MOST + 3];
        assert_eq!(Routes::read(&json!({ "routes": many }), &mut vec![]).iter().count(), MOST);
    }

    #[test]
    fn a_route_that_writes_is_not_passed_by_another_spelling() {
        let routes = |first: Value| {
            let rest = json!({ "methods": ["GET", "HEAD"], "path": "/{*rest}", "effect": "reads" });
            Routes::read(&json!({ "routes": [first, rest] }), &mut vec![])
        };
        let found = |routes: &Routes, method: &str, path: &str| {
            let request = HttpRequest { method: method.into(), path: path.into(), size: 0 };
            routes.find(&request).map(Declared::effect)
        };
        let counts = routes(json!({ "methods": ["GET"], "path": "/count", "effect": "writes" }));
        for path in ["/count", "/Count", "/count/", "/count;x", "/count%3Bx", "/count.json"] {
            assert_eq!(found(&counts, "GET", path), Some(Effect::Writes), "{path}");
            assert_eq!(found(&counts, "HEAD", path), Some(Effect::Writes), "{path}");
        }
        assert_eq!(found(&counts, "GET", "/counts"), Some(Effect::Reads));
        // What could not be read may have been meant for it.
        let odd = routes(json!({ "methods": ["GET"], "path": "/pay%20now", "effect": "writes" }));
        assert_eq!(found(&odd, "GET", "/pay%20now"), Some(Effect::Writes));
    }

    #[test]
    fn a_rule_names_a_method_and_a_path() {
        let request = |method: &str, path: &str| HttpRequest {
            method: method.to_owned(),
            path: path.to_owned(),
            size: 0,
        };
        let rule: RoutePattern = "post /api/{id}".parse().unwrap();
        assert_eq!(rule.to_string(), "POST /api/{id}");
        assert!(rule.takes(&request("POST", "/api/7")));
        assert!(!rule.takes(&request("GET", "/api/7")) && !rule.takes(&request("POST", "/api")));
        let any: RoutePattern = "* /admin/{*rest}".parse().unwrap();
        assert!(any.takes(&request("GET", "/admin/a/b")) && any.takes(&request("PUT", "/admin/a")));
        for odd in ["/api", "POST", "POST api", "P*ST /api", " /api", "POST  /api"] {
            assert!(odd.parse::<RoutePattern>().is_err(), "{odd}");
        }
    }
}
