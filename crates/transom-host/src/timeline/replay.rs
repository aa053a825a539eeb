//! A server from a trace: it answers what it was asked there as it did there.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use serde_json::{Map, Value, json};
use transom::rpc::Id;

use super::{Moment, Party, Trace, redacted};

/// One exchange of a trace: what a server was asked, and what it answered.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The method.
    pub method: String,
    /// The params, without what a connection adds to them.
    pub params: Value,
    /// The result, or the error.
    pub outcome: Result<Value, Value>,
    /// How long it took.
    pub took: Duration,
    /// What it said of its progress, without the token.
    progress: Vec<Map<String, Value>>,
}

/// A server from a trace.
#[derive(Debug)]
pub struct Recorded {
    answers: HashMap<(String, String), VecDeque<Exchange>>,
    /// The same by method and name alone.
    named: HashMap<(String, String), VecDeque<Exchange>>,
    /// Whether a call with other arguments gets the answer that another one got.
    loose: bool,
}

/// What a recorded server says to something, and how long it took then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// How long it took in the trace.
    pub after: Duration,
    /// The message.
    pub text: String,
}

/// The exchanges of one server, in the order of their requests.
pub fn exchanges(trace: &Trace, server: &str) -> Vec<Exchange> {
    let mut open: HashMap<Id, (usize, u64, Option<Value>)> = HashMap::new();
    let mut found: Vec<Option<Exchange>> = vec![];
    let ours = |moment: &&Moment| moment.server == server && moment.view.is_none();
    for moment in trace.moments.iter().filter(ours) {
        let Some(message) = moment.said().and_then(|text| serde_json::from_str(text).ok()) else {
            continue;
        };
        let Value::Object(mut message) = message else { continue };
        let id = message.get("id").and_then(|id| serde_json::from_value::<Id>(id.clone()).ok());
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        if moment.is_said(Party::Gate, Party::Server) {
            let (Some(id), Some(method)) = (id, method) else { continue };
            let params = message.remove("params").unwrap_or_else(|| json!({}));
            let token = params.pointer("/_meta/progressToken").cloned();
            open.insert(id, (found.len(), moment.at, token));
            let outcome =
                Err(json!({ "code": -32000, "message": "the trace has no answer to this" }));
            let params = without_meta(params);
            let (took, progress) = (Duration::ZERO, vec![]);
            found.push(Some(Exchange { method, params, outcome, took, progress }));
        } else if let (Some(id), None) = (&id, &method) {
            let Some((at, since, _)) = open.remove(id) else { continue };
            let Some(Some(exchange)) = found.get_mut(at) else { continue };
            exchange.took = Duration::from_micros(moment.at.saturating_sub(since));
            exchange.outcome = match (message.remove("result"), message.remove("error")) {
                (Some(result), _) => Ok(result),
                (None, error) => Err(error.unwrap_or_default()),
            };
        } else if method.as_deref() == Some("notifications/progress")
            && let Some(Value::Object(mut params)) = message.remove("params")
        {
            let token = params.remove("progressToken");
            let of = |(_, _, its): &&(usize, u64, Option<Value>)| its.is_some() && *its == token;
            let Some((at, ..)) = open.values().find(of) else { continue };
            if let Some(Some(exchange)) = found.get_mut(*at) {
                exchange.progress.push(params);
            }
        }
    }
    found.into_iter().flatten().collect()
}

impl Recorded {
    /// The server of this name; with `loose`, a call with other arguments gets the next answer that the same tool gave.
    pub fn new(trace: &Trace, server: &str, loose: bool) -> Self {
        let (mut answers, mut named) =
            (HashMap::<_, VecDeque<_>>::new(), HashMap::<_, VecDeque<_>>::new());
        for exchange in exchanges(trace, server) {
            let Exchange { method, params, .. } = &exchange;
            let key = (method.clone(), key_of(method, params));
            let name = (method.clone(), name_of(method, params));
            answers.entry(key).or_default().push_back(exchange.clone());
            named.entry(name).or_default().push_back(exchange);
        }
        Self { answers, named, loose }
    }

    /// Whether it has anything to say.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// What it says to a message; nothing to what is no request.
    pub fn answer(&mut self, text: &str) -> Vec<Reply> {
        let Ok(Value::Object(mut message)) = serde_json::from_str(text) else { return vec![] };
        let Some(id) = message.remove("id").filter(|id| id.is_string() || id.is_i64()) else {
            return vec![];
        };
        let Some(method) = message.get("method").and_then(Value::as_str).map(str::to_owned) else {
            return vec![];
        };
        let params = message.remove("params").unwrap_or_else(|| json!({}));
        let token = params["_meta"]["progressToken"].clone();
        // Secrets are not in the trace, and so not in what is looked for either.
        let plain = without_meta(params).to_string();
        let params = serde_json::from_str(&redacted(&plain).0).unwrap_or_default();
        let Some(exchange) = self.find(&method, &params) else {
            let outcome = self.without_trace(&method, &params);
            return vec![Reply { after: Duration::ZERO, text: print(&id, &outcome) }];
        };
        let mut replies = vec![];
        for mut params in exchange.progress {
            if token.is_string() || token.is_i64() {
                params.insert("progressToken".to_owned(), token.clone());
                let text = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
                replies.push(Reply { after: Duration::ZERO, text: text.to_string() });
            }
        }
        replies.push(Reply { after: exchange.took, text: print(&id, &exchange.outcome) });
        replies
    }

    /// The next answer to this; the last one again, when there are no others.
    fn find(&mut self, method: &str, params: &Value) -> Option<Exchange> {
        let key = (method.to_owned(), key_of(method, params));
        let name = (method.to_owned(), name_of(method, params));
        let exact = self.answers.get_mut(&key);
        let found = match exact {
            Some(found) => found,
            None if self.loose || BY_NAME.contains(&method) => self.named.get_mut(&name)?,
            None => return None,
        };
        if found.len() > 1 { found.pop_front() } else { found.front().cloned() }
    }

    /// What is said to what nobody asked when the trace was recorded.
    fn without_trace(&self, method: &str, params: &Value) -> Result<Value, Value> {
        let name = name_of(method, params);
        let others = self.named.get(&(method.to_owned(), name.clone())).map_or(0, VecDeque::len);
        match method {
            "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => {
                Ok(json!({}))
            }
            "initialize" => self.greeting(),
            _ if others > 0 => Err(error(
                -32602,
                &format!(
                    "the trace has {others} answers to {method} {name}, but with other arguments"
                ),
            )),
            "tools/call" | "resources/read" | "prompts/get" => {
                Err(error(-32602, &format!("the trace has no answer to {method} {name}")))
            }
            _ => Err(error(-32601, &format!("the trace has no answer to {method}"))),
        }
    }

    /// A greeting for clients of the older era, where the server was asked in the newer one.
    fn greeting(&self) -> Result<Value, Value> {
        let discovered = self.named.iter().find(|((method, _), _)| method == "server/discover");
        let result = discovered.and_then(|(_, all)| all.front()?.outcome.as_ref().ok());
        let Some(result) = result else {
            return Err(error(-32601, "the trace does not have the greeting of this server"));
        };
        let capabilities = result.get("capabilities").cloned().unwrap_or_else(|| json!({}));
        let info = result.get("serverInfo").cloned();
        let info = info.unwrap_or_else(|| json!({ "name": "recorded", "version": "0" }));
        Ok(
            json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info }),
        )
    }
}

/// What tells one request from others of its method.
fn key_of(method: &str, params: &Value) -> String {
    match method {
        // Who asks is another one each time.
        "initialize" | "server/discover" => String::new(),
        _ => canonical(params),
    }
}

fn name_of(method: &str, params: &Value) -> String {
    let name = match method {
        "resources/read" => &params["uri"],
        _ => &params["name"],
    };
    name.as_str().unwrap_or_default().to_owned()
}

/// The value with the members of its objects in order.
fn canonical(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(sorted).collect(),
            Value::Object(members) => {
                let mut names: Vec<_> = members.iter().collect();
                names.sort_by_key(|(name, _)| name.as_str());
                names.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect()
            }
            other => other.clone(),
        }
    }
    sorted(value).to_string()
}

fn without_meta(mut params: Value) -> Value {
    if let Value::Object(members) = &mut params {
        members.remove("_meta");
    }
    params
}

fn error(code: i32, message: &str) -> Value {
    json!({ "code": code, "message": message })
}

fn print(id: &Value, outcome: &Result<Value, Value>) -> String {
    match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
    }
    .to_string()
}

/// Methods whose params only say where to go on.
const BY_NAME: [&str; 2] = ["initialize", "server/discover"];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(from: &str, at: u64, message: &str) -> String {
        let to = if from == "gate" { "server" } else { "gate" };
        format!(
            r#"{{"n":{at},"at":{at},"kind":"message","server":"s","from":"{from}","to":"{to}","message":{message}}}"#
        )
    }

    fn trace() -> Trace {
        let lines = [
            r#"{"transom":"trace","version":1,"program":"t","run":"a","began":1}"#.to_owned(),
            said(
                "gate",
                1,
                r#"{"id":1,"method":"initialize","params":{"clientInfo":{"name":"x"}}}"#,
            ),
            said("server", 2, r#"{"id":1,"result":{"protocolVersion":"2025-11-25"}}"#),
            said(
                "gate",
                3,
                r#"{"id":2,"method":"tools/call","params":{"name":"a","arguments":{"x":1,"y":2},"_meta":{"progressToken":2}}}"#,
            ),
            said(
                "server",
                4,
                r#"{"method":"notifications/progress","params":{"progressToken":2,"progress":1}}"#,
            ),
            said("server", 2003, r#"{"id":2,"result":{"n":1}}"#),
            said(
                "gate",
                2004,
                r#"{"id":3,"method":"tools/call","params":{"name":"a","arguments":{"y":2,"x":1}}}"#,
            ),
            said("server", 2005, r#"{"id":3,"result":{"n":2}}"#),
            said(
                "gate",
                2006,
                r#"{"id":4,"method":"tools/call","params":{"name":"b","arguments":{"token":"…"}}}"#,
            ),
            said("server", 2007, r#"{"id":4,"error":{"code":-1,"message":"no"}}"#),
        ];
        Trace::read(lines.join("\n").as_bytes()).unwrap()
    }

    fn ask(recorded: &mut Recorded, message: Value) -> Value {
        let replies = recorded.answer(&message.to_string());
        serde_json::from_str(&replies.last().expect("an answer").text).unwrap()
    }

    fn call(name: &str, arguments: &Value) -> Value {
        json!({ "id": "q", "method": "tools/call", "params": { "name": name, "arguments": arguments } })
    }

    #[test]
    fn it_answers_in_turn_what_it_answered_then_and_the_last_again() {
        let mut recorded = Recorded::new(&trace(), "s", false);
        let same = json!({ "x": 1, "y": 2 });
        for n in [1, 2, 2] {
            let answer = ask(&mut recorded, call("a", &same));
            assert_eq!((&answer["id"], &answer["result"]["n"]), (&json!("q"), &json!(n)));
        }
        assert_eq!(
            ask(&mut recorded, call("b", &json!({ "token": "mine" })))["error"]["message"],
            "no"
        );
    }

    #[test]
    fn a_greeting_is_answered_whoever_asks_and_progress_has_the_callers_token() {
        let mut recorded = Recorded::new(&trace(), "s", false);
        let hello =
            json!({ "id": 0, "method": "initialize", "params": { "clientInfo": { "name": "z" } } });
        assert_eq!(ask(&mut recorded, hello)["result"]["protocolVersion"], "2025-11-25");
        let mut asked = call("a", &json!({ "x": 1, "y": 2 }));
        asked["params"]["_meta"] = json!({ "progressToken": "mine" });
        let replies = recorded.answer(&asked.to_string());
        assert_eq!(replies.len(), 2);
        assert!(replies[0].text.contains(r#""progressToken":"mine""#));
        assert_eq!(replies[1].after, Duration::from_micros(2_000));
    }

    #[test]
    fn what_nobody_asked_is_refused_with_words_unless_it_is_loose() {
        let mut recorded = Recorded::new(&trace(), "s", false);
        let other = call("a", &json!({ "x": 9 }));
        let words =
            ask(&mut recorded, other.clone())["error"]["message"].as_str().unwrap().to_owned();
        assert!(words.contains("2 answers to tools/call a, but with other arguments"), "{words}");
        assert_eq!(
            ask(&mut recorded, json!({ "id": 1, "method": "x/y" }))["error"]["code"],
            -32601
        );
        assert_eq!(ask(&mut recorded, json!({ "id": 1, "method": "ping" }))["result"], json!({}));
        let mut loose = Recorded::new(&trace(), "s", true);
        assert_eq!(ask(&mut loose, other)["result"]["n"], 1);
        assert!(Recorded::new(&trace(), "nobody", false).is_empty());
    }

    #[test]
    fn what_is_wrong_with_a_trace_is_said_and_the_rest_is_read() {
        assert_eq!(trace().troubles, ["it has no end: it was cut off"]);
        assert_eq!((trace().moments.len(), trace().servers()), (9, vec!["s"]));
        let newer = r#"{"transom":"trace","version":7}
            {"kind":"from the future","n":1,"strange":[]}
            nothing"#;
        let newer = Trace::read(newer.as_bytes()).unwrap();
        assert_eq!(newer.moments.len(), 1);
        assert!(
            newer.troubles[0].contains("format 7") && newer.troubles[1].contains("1 of its lines")
        );
        assert!(Trace::read(&b"\xff\xfe"[..]).unwrap().moments.is_empty());
    }

    proptest! {
        #[test]
        fn whatever_is_read_and_asked_nothing_panics(lines in prop::collection::vec(line(), 0..12), asked in any_message()) {
            let trace = Trace::read(lines.join("\n").as_bytes()).unwrap();
            let mut recorded = Recorded::new(&trace, "s", true);
            for reply in recorded.answer(&asked) {
                prop_assert!(serde_json::from_str::<Value>(&reply.text).is_ok());
                prop_assert!(!reply.text.contains('\n'));
            }
        }
    }

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            ".{0,40}",
            any_message().prop_map(|message| said("gate", 3, &message)),
            any_message().prop_map(|message| said("server", 4, &message)),
            Just(
                r#"{"kind":"message","server":"s","from":"gate","to":"server","text":"{"}"#
                    .to_owned()
            ),
            Just(r#"{"kind":"end","sha256":7}"#.to_owned()),
        ]
    }

    fn any_message() -> impl Strategy<Value = String> {
        let id = prop_oneof![Just("1"), Just("\"a\""), Just("null"), Just("{}"), Just("1e300")];
        let method = prop_oneof![
            Just("initialize"),
            Just("tools/call"),
            Just("notifications/progress"),
            Just("resources/read")
        ];
        let params = prop_oneof![
            Just("{}"),
            Just("[]"),
            Just("null"),
            Just(r#"{"name":7,"_meta":[]}"#),
            Just(r#"{"uri":"a","_meta":{"progressToken":1}}"#)
        ];
        (id, method, params, any::<bool>()).prop_map(|(id, method, params, answer)| match answer {
            true => format!(r#"{{"id":{id},"result":{params}}}"#),
            false => format!(r#"{{"id":{id},"method":"{method}","params":{params}}}"#),
        })
    }
}
