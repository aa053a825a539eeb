//! What servers and views ask of the person and of the model: elicitation and sampling.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};
use tokio::{
    sync::{Semaphore, oneshot},
    time::Instant,
};
use transom::quoted::{Quoted, legible};
use url::Url;

use super::{
    fits::fits,
    gate::{Sampler, Sampling},
    model::{Delta, Finish, Model, Prompt, Turn},
    questions::{Pending, Questions, TalkAnswer},
};
use crate::{
    envelope::Ask as Question,
    log::{LineKind, Log},
    upstream::{Answer, Ask, Refusal, is_loopback},
    words,
};

/// The person and the model, for whoever asks.
pub(crate) struct Desk {
    pub(super) questions: Arc<Questions>,
    pub(super) model: Arc<Model>,
    log: Arc<Log>,
    /// How many samplings run at a time.
    room: Semaphore,
    lately: Mutex<Vec<Instant>>,
}

/// The same, for one server.
pub(crate) struct Asked {
    desk: Arc<Desk>,
    server: String,
}

impl Desk {
    pub(super) fn new(questions: Arc<Questions>, model: Arc<Model>, log: Arc<Log>) -> Arc<Self> {
        let (room, lately) = (Semaphore::new(AT_ONCE), Mutex::default());
        Arc::new(Self { questions, model, log, room, lately })
    }

    pub(crate) fn for_server(self: &Arc<Self>, server: &str) -> Arc<dyn Ask> {
        Arc::new(Asked { desk: Arc::clone(self), server: server.to_owned() })
    }

    /// Has the model write something, within limits.
    async fn write(&self, params: &str) -> Result<Box<RawValue>, String> {
        let prompt = Wished::read(params)?;
        let _runs = self.room.try_acquire().map_err(|_| "the model is busy with other requests")?;
        self.count()?;
        let (mut text, limit) = (String::new(), SAMPLE);
        let mut hear = |delta| match delta {
            Delta::Text(more) if text.len() < limit => text.push_str(&more),
            _ => {}
        };
        let said = tokio::time::timeout(LONGEST, self.model.answer(&prompt, &mut hear)).await;
        let finish = said.map_err(|_| "the model took too long".to_owned())?;
        let finish = finish.map_err(|error| error.to_string())?;
        let reason = match finish {
            Finish::Cut => "maxTokens",
            Finish::Said | Finish::Withheld => "endTurn",
        };
        let result = json!({
            "role": "assistant", "content": { "type": "text", "text": text },
            "model": self.model.name(), "stopReason": reason,
        });
        Ok(serde_json::value::to_raw_value(&result).expect("it is JSON"))
    }

    fn count(&self) -> Result<(), String> {
        let now = Instant::now();
        let mut lately = self.lately.lock().unwrap_or_else(PoisonError::into_inner);
        lately.retain(|at| now.duration_since(*at) < MINUTE);
        if lately.len() >= A_MINUTE {
            return Err(format!("the model is asked at most {A_MINUTE} times a minute"));
        }
        lately.push(now);
        Ok(())
    }
}

/// Views are asked about by their session, which the person has answered.
impl Sampler for Arc<Desk> {
    fn sample(&self, who: &str, params: &str) -> Sampling {
        let words = words!("the model writes something for {}", Quoted::new(who));
        self.log.write(LineKind::Message, who, words);
        let (desk, params) = (Self::clone(self), params.to_owned());
        Box::pin(async move { desk.write(&params).await })
    }
}

impl Ask for Asked {
    fn capabilities(&self) -> Map<String, Value> {
        let mut all = Map::new();
        all.insert("elicitation".to_owned(), json!({ "form": {}, "url": {} }));
        if self.desk.model.is_real() {
            all.insert("sampling".to_owned(), json!({}));
        }
        all
    }

    fn ask(&self, method: &str, params: Option<&RawValue>) -> Answer {
        let (desk, server) = (Arc::clone(&self.desk), self.server.clone());
        let params = params.map_or_else(|| "{}".to_owned(), |params| params.get().to_owned());
        match method {
            "elicitation/create" => Box::pin(async move { elicit(&desk, &server, &params).await }),
            "sampling/createMessage" if desk.model.is_real() => {
                Box::pin(async move { sample(&desk, &server, &params).await })
            }
            method => {
                let refusal = Refusal::no_such_method(method);
                Box::pin(async move { Err(refusal) })
            }
        }
    }
}

fn refusal(code: i64, message: impl Into<String>) -> Refusal {
    Refusal { code, message: message.into(), data: None }
}

/// A question that is withdrawn when nobody waits for its answer any more.
struct Put {
    questions: Arc<Questions>,
    id: String,
}

impl Drop for Put {
    fn drop(&mut self) {
        self.questions.withdraw(&self.id);
    }
}

impl Desk {
    async fn put(
        self: &Arc<Self>,
        pending: Pending,
        check: impl Fn(&TalkAnswer) -> Result<(), String> + Send + 'static,
    ) -> Option<TalkAnswer> {
        let (done, answered) = oneshot::channel();
        let mut done = Some(done);
        let id = pending.ask.id.clone();
        let _put = Put { questions: Arc::clone(&self.questions), id };
        let take = move |answer: &TalkAnswer| {
            check(answer)?;
            let TalkAnswer { ask, choice, content } = answer;
            let (ask, choice, content) = (ask.clone(), choice.clone(), content.clone());
            if let Some(done) = done.take() {
                let _ = done.send(TalkAnswer { ask, choice, content });
            }
            Ok(())
        };
        self.questions.put(pending, Box::new(take));
        tokio::time::timeout(PATIENCE, answered).await.ok()?.ok()
    }
}

async fn elicit(desk: &Arc<Desk>, server: &str, params: &str) -> Result<Box<RawValue>, Refusal> {
    let wanted: Elicitation =
        serde_json::from_str(params).map_err(|_| refusal(INVALID, "these are no params"))?;
    desk.questions.may_ask(server).map_err(|words| refusal(DENIED, words.as_str()))?;
    let (name, id) = (Quoted::new(server), desk.questions.fresh("elicit"));
    let ask = Question {
        id,
        server: name.clone(),
        who: words!("Server {}", name),
        choices: vec!["accept", "decline", "cancel"],
        kind: "elicitation",
        text: words!("{} wants to know something from you:", name),
        ..Question::default()
    };
    let message = Some(shown(&wanted.message));
    let pending = match (&wanted.url, wanted.requested_schema.clone()) {
        (Some(url), _) => {
            let url =
                allowed(url).ok_or_else(|| refusal(INVALID, "an address that is not opened"))?;
            let host = url.host_str().map(str::to_owned);
            let text = words!("{} wants you to open an address:", name);
            let ask = Question { text, ..ask };
            Pending { ask, form: None, url: Some(url.into()), host, message }
        }
        (None, Some(form)) if form.is_object() && params.len() <= FORM => {
            Pending { ask, form: Some(form), url: None, host: None, message }
        }
        _ => return Err(refusal(INVALID, "there is no schema, or it is too large")),
    };
    desk.log.write(LineKind::Asked, server, pending.ask.text.clone());
    let form = pending.form.clone();
    let check = move |answer: &TalkAnswer| match (&form, answer.choice.as_str()) {
        (Some(form), "accept") => {
            let content = answer.content.as_deref().map_or("{}", RawValue::get);
            let content: Value =
                serde_json::from_str(content).map_err(|error| error.to_string())?;
            fits(form, &content)
        }
        _ => Ok(()),
    };
    let answer = desk.put(pending, check).await;
    let action = answer.as_ref().map_or("cancel", |answer| answer.choice.as_str());
    desk.log.write(LineKind::Answer, server, words!("{}", Quoted::new(action)));
    let mut result = json!({ "action": action });
    let content = answer.as_ref().and_then(|answer| answer.content.as_ref());
    if let ("accept", None, Some(content)) = (action, &wanted.url, content) {
        result["content"] = serde_json::from_str(content.get()).unwrap_or_default();
    }
    Ok(serde_json::value::to_raw_value(&result).expect("it is JSON"))
}

async fn sample(desk: &Arc<Desk>, server: &str, params: &str) -> Result<Box<RawValue>, Refusal> {
    let prompt = Wished::read(params).map_err(|words| refusal(INVALID, words))?;
    desk.questions.may_ask(server).map_err(|words| refusal(DENIED, words.as_str()))?;
    let (name, id) = (Quoted::new(server), desk.questions.fresh("sample"));
    let mut preview = String::new();
    for turn in &prompt.turns {
        let (who, text) = match turn {
            Turn::User(text) => ("user", text),
            Turn::Assistant { text, .. } => ("assistant", text),
            Turn::Results(_) => continue,
        };
        preview.push_str(&format!("{who}: {text}\n"));
    }
    let ask = Question {
        id,
        server: name.clone(),
        who: words!("Server {}", name),
        choices: vec!["allow", "deny"],
        kind: "sampling",
        text: words!("{} wants to use the model:", name),
        preview: Some(shown(&preview)),
        ..Question::default()
    };
    desk.log.write(LineKind::Asked, server, ask.text.clone());
    let pending = Pending { ask, form: None, url: None, host: None, message: None };
    let answer = desk.put(pending, |_| Ok(())).await;
    let choice = answer.as_ref().map_or("deny", |answer| answer.choice.as_str());
    desk.log.write(LineKind::Answer, server, words!("{}", Quoted::new(choice)));
    if choice != "allow" {
        return Err(refusal(REJECTED, "the user rejected the sampling request"));
    }
    desk.write(params).await.map_err(|words| refusal(DENIED, words))
}

/// A stranger's text as it is drawn: nothing in it is hidden, and it is not endless.
fn shown(text: &str) -> String {
    let end = text.floor_char_boundary(MESSAGE.min(text.len()));
    legible(&text[..end]).into_owned()
}

/// An address that may be opened for a person who was shown it.
fn allowed(url: &str) -> Option<Url> {
    let url = Url::parse(url).ok().filter(|url| url.as_str().len() <= MESSAGE)?;
    let plain = url.username().is_empty() && url.password().is_none();
    let scheme = url.scheme() == "https" || url.scheme() == "http" && is_loopback(&url);
    (plain && scheme).then_some(url)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Elicitation {
    #[serde(default)]
    message: String,
    requested_schema: Option<Value>,
    url: Option<String>,
}

/// The params of `sampling/createMessage`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wished {
    messages: Vec<Message>,
    system_prompt: Option<String>,
    max_tokens: Option<f64>,
    temperature: Option<f64>,
    tools: Option<Value>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: Value,
}

impl Wished {
    fn read(params: &str) -> Result<Prompt, String> {
        if params.len() > ASKED {
            return Err(format!("the model reads at most {ASKED} bytes here"));
        }
        let wished: Self = serde_json::from_str(params)
            .map_err(|error| format!("these are no params: {error}"))?;
        if wished.tools.is_some() {
            return Err("the model is offered no tools here".to_owned());
        }
        let turn = |message: &Message| {
            let text = text_of(&message.content)?;
            match message.role.as_str() {
                "user" => Ok(Turn::User(text)),
                "assistant" => Ok(Turn::Assistant { text, calls: vec![] }),
                _ => Err("a role is user or assistant".to_owned()),
            }
        };
        let turns = wished.messages.iter().map(turn).collect::<Result<Vec<_>, String>>()?;
        if turns.is_empty() {
            return Err("there are no messages".to_owned());
        }
        let tokens = wished.max_tokens.filter(|tokens| *tokens >= 1.0).unwrap_or(1_024.0);
        Ok(Prompt {
            system: wished.system_prompt.unwrap_or_default(),
            turns,
            max_tokens: Some(tokens.min(TOKENS) as u32),
            temperature: wished.temperature.filter(|it| (0.0..=2.0).contains(it)),
            ..Prompt::default()
        })
    }
}

fn text_of(content: &Value) -> Result<String, String> {
    let blocks = match content {
        Value::Array(blocks) => blocks.iter().collect(),
        Value::String(text) => return Ok(text.clone()),
        block => vec![block],
    };
    let texts =
        blocks.iter().map(|block| block["text"].as_str().filter(|_| block["type"] == "text"));
    let texts: Option<Vec<&str>> = texts.collect();
    texts.map(|texts| texts.join("\n")).ok_or_else(|| "the model reads text alone here".to_owned())
}

const INVALID: i64 = -32602;
const DENIED: i64 = -32000;
/// What MCP says where the person would not.
const REJECTED: i64 = -1;
/// How long a person may take.
const PATIENCE: Duration = Duration::from_secs(600);
const LONGEST: Duration = Duration::from_secs(300);
const MINUTE: Duration = Duration::from_secs(60);
const A_MINUTE: usize = 10;
const AT_ONCE: usize = 2;
const TOKENS: f64 = 4_096.0;
const ASKED: usize = 256 << 10;
const SAMPLE: usize = 1 << 20;
const FORM: usize = 64 << 10;
const MESSAGE: usize = 8 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn desk() -> Arc<Desk> {
        let questions = Questions::new(tokio::sync::watch::channel(0).0);
        Desk::new(questions, Arc::new(Model::script()), Arc::default())
    }

    fn answer(desk: &Desk, choice: &str, content: Option<&str>) -> Result<(), String> {
        let (_, shown) = desk.questions.shown();
        let content = content.map(|text| RawValue::from_string(text.to_owned()).unwrap());
        let ask = shown[0].ask.id.clone();
        desk.questions.answer(&TalkAnswer { ask, choice: choice.to_owned(), content })
    }

    #[tokio::test]
    async fn a_form_is_filled_in_declined_or_refused() {
        let desk = desk();
        let asked = desk.for_server("demo");
        let params = json!({
            "message": "How many?\u{202e}",
            "requestedSchema": { "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] },
        });
        let params = serde_json::value::to_raw_value(&params).unwrap();
        let waits = tokio::spawn(asked.ask("elicitation/create", Some(&params)));
        while desk.questions.shown().1.is_empty() {
            tokio::task::yield_now().await;
        }
        assert!(!desk.questions.shown().1[0].message.as_ref().unwrap().contains('\u{202e}'));
        assert!(answer(&desk, "accept", Some("{}")).unwrap_err().contains("lacks \"n\""));
        assert!(answer(&desk, "accept", Some(r#"{"n":2}"#)).is_ok());
        let result = waits.await.unwrap().unwrap();
        assert_eq!(result.get(), r#"{"action":"accept","content":{"n":2}}"#);
    }

    #[tokio::test]
    async fn a_question_that_nobody_waits_for_is_gone() {
        let desk = desk();
        let asked = desk.for_server("demo");
        let params =
            RawValue::from_string(r#"{"message":"m","requestedSchema":{}}"#.into()).unwrap();
        let waits = tokio::spawn(asked.ask("elicitation/create", Some(&params)));
        while desk.questions.shown().1.is_empty() {
            tokio::task::yield_now().await;
        }
        waits.abort();
        let _ = waits.await;
        assert!(desk.questions.shown().1.is_empty());
    }

    #[test]
    fn only_addresses_that_a_person_can_read_are_opened() {
        for url in ["javascript:alert(1)", "http://a.test", "https://me@a.test", "file:///x", "x"] {
            assert_eq!(allowed(url), None, "{url}");
        }
        assert_eq!(allowed("https://аррӏе.com/").unwrap().host_str(), Some("xn--80ak6aa92e.com"));
        assert!(allowed("http://localhost:1/x").is_some());
    }

    #[test]
    fn sampling_is_text_and_bounded() {
        let read = |params: Value| Wished::read(&params.to_string());
        let message = json!({ "role": "user", "content": { "type": "text", "text": "hi" } });
        let prompt = read(json!({ "messages": [message], "maxTokens": 1e9 })).unwrap();
        assert_eq!(prompt.max_tokens, Some(4_096));
        let image = json!({ "role": "user", "content": { "type": "image", "data": "" } });
        assert!(read(json!({ "messages": [image], "maxTokens": 1 })).is_err());
        assert!(read(json!({ "messages": [] , "maxTokens": 1 })).is_err());
        assert!(read(json!({ "messages": [message], "tools": [] })).is_err());
        assert!(Wished::read(&"x".repeat(ASKED + 1)).is_err());
    }
}
