//! Calls that a person starts and that take long: what they are told, and how they take one back.

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use super::*;
use crate::{
    Agreement,
    upstream::{InProcess, Times},
};

/// A server whose tool answers when a test says so. What it hears is told; what the test sends, it writes.
pub(super) struct Slow {
    pub(super) target: Target,
    heard: mpsc::UnboundedReceiver<Value>,
    says: mpsc::UnboundedSender<Value>,
}

pub(super) fn slow() -> Slow {
    let (tell, heard) = mpsc::unbounded_channel();
    let (says, said) = mpsc::unbounded_channel::<Value>();
    let said = Arc::new(tokio::sync::Mutex::new(said));
    let target = Target::InProcess(InProcess::new("slow", move || {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (tell, said) = (tell.clone(), Arc::clone(&said));
        tokio::spawn(async move {
            let (reader, mut writer) = tokio::io::split(theirs);
            let (mut lines, mut said) = (BufReader::new(reader).lines(), said.lock().await);
            loop {
                let message = tokio::select! {
                    Some(message) = said.recv() => message,
                    line = lines.next_line() => match line {
                        Ok(Some(line)) => match reply(&line, &tell) {
                            Some(answer) => answer,
                            None => continue,
                        },
                        _ => return,
                    },
                };
                if writer.write_all(format!("{message}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        ours
    }));
    Slow { target, heard, says }
}

fn reply(line: &str, tell: &mpsc::UnboundedSender<Value>) -> Option<Value> {
    let message: Value = serde_json::from_str(line).unwrap();
    let _ = tell.send(message.clone());
    let result = match message["method"].as_str().unwrap() {
        "initialize" => {
            json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {}, "resources": {} } })
        }
        "tools/list" => {
            let plain = json!({ "name": "plain", "annotations": { "readOnlyHint": true } });
            json!({ "tools": [showing("show"), plain] })
        }
        "resources/list" => json!({ "resources": [] }),
        "resources/read" => return linked::file(&message),
        "ping" => json!({}),
        _ => return None,
    };
    Some(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}

impl Slow {
    /// The next message of this method.
    pub(super) async fn expect(&mut self, method: &str) -> Value {
        loop {
            let heard = tokio::time::timeout(Duration::from_secs(3_600), self.heard.recv()).await;
            let message = heard.expect("it says it some time").expect("the server runs");
            if message["method"] == method {
                return message;
            }
        }
    }

    fn progress(&self, call: &Value, mut params: Value) {
        params["progressToken"] = call["params"]["_meta"]["progressToken"].clone();
        let method = "notifications/progress";
        self.says.send(json!({ "jsonrpc": "2.0", "method": method, "params": params })).unwrap();
    }

    pub(super) fn answer(&self, call: &Value, text: &str) {
        let result = json!({ "content": [{ "type": "text", "text": text }] });
        self.says.send(json!({ "jsonrpc": "2.0", "id": call["id"], "result": result })).unwrap();
    }
}

pub(super) async fn open(page: &mut Load<'_>, view: &str, tool: &str) {
    let tool = json!({ "server": "slow", "name": tool, "arguments": {} });
    page.say(view, "open", json!({ "lanes": [], "modes": [], "tool": tool })).await;
}

pub(super) async fn stage(target: Target, times: Times) -> Stage {
    let agreement = Agreement { times, ..Agreement::default() };
    Stage::with(|builder| builder.server_with("slow", target, agreement)).await
}

#[tokio::test(start_paused = true)]
async fn a_person_is_told_how_a_long_call_gets_on_and_a_page_that_is_loaded_anew_too() {
    let mut slow = slow();
    let stage = stage(slow.target.clone(), Times::default()).await;
    let mut page = stage.load("p1", 1).await;
    open(&mut page, "v1", "show").await;
    let call = slow.expect("tools/call").await;
    let running = page.hear("v1", "progress").await;
    assert_eq!(
        running,
        json!({ "text": "The tool is running." }),
        "before its server says anything"
    );
    slow.progress(&call, json!({ "progress": 2, "total": 8, "message": "digging\u{202e}" }));
    let dug = json!({ "text": r#"The tool is running: 2 of 8, "digging\u{202e}""#, "part": 0.25 });
    assert_eq!(page.hear("v1", "progress").await, dug);

    let mut again = stage.load("p2", 2).await;
    again.say("v1", "open", json!({ "lanes": [], "modes": [] })).await;
    assert_eq!(again.hear("v1", "progress").await, dug);
    again.greet("v1").await;
    assert_eq!(again.told("v1").await.0, "tool-input");
    slow.answer(&call, "found");
    assert_eq!(again.hear("v1", "settled").await, json!({ "text": "" }));
    assert_eq!(again.told("v1").await.0, "tool-result");
    assert_eq!(stage.logged("answered in").await, 1);
    assert_eq!(stage.logged("digging").await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_answered_soon_is_told_of_by_its_answer_alone() {
    let mut slow = slow();
    let stage = stage(slow.target.clone(), Times::default()).await;
    let mut page = stage.load("p1", 1).await;
    open(&mut page, "v1", "plain").await;
    let call = slow.expect("tools/call").await;
    slow.answer(&call, "found");
    let mut kinds = vec![];
    loop {
        let (_, kind, payload) = page.next().await.unwrap();
        kinds.push(kind.clone());
        if payload["text"] == "found" {
            break;
        }
    }
    assert!(kinds.iter().all(|kind| kind == "text"), "{kinds:?}");
}

#[tokio::test(start_paused = true)]
async fn progress_keeps_a_call_alive_and_not_for_ever() {
    let secs = Duration::from_secs;
    let patience = transom::calls::Patience { idle: secs(5), total: secs(30) };
    let times = Times { call: patience, ..Times::default() };
    let mut slow = slow();
    let stage = stage(slow.target.clone(), times).await;
    let mut page = stage.load("p1", 1).await;
    for (signs, after) in [(0, 5), (100, 30)] {
        let begun = Instant::now();
        open(&mut page, "v1", "plain").await;
        let call = slow.expect("tools/call").await;
        for sign in 0..signs {
            slow.progress(&call, json!({ "progress": sign }));
            tokio::time::sleep(secs(1)).await;
            if begun.elapsed() > secs(after) {
                break;
            }
        }
        let answer = loop {
            let said = page.hear("v1", "text").await;
            if let Some(text) = said["text"].as_str() {
                break text.to_owned();
            }
        };
        assert!(answer.contains("no answer from the server in time"), "{answer}");
        assert!(answer.contains("[limits.time] of transom.toml"), "{answer}");
        let cancelled = slow.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], call["id"]);
        page.hear("v1", "close").await;
    }
    assert_eq!(stage.logged("failed after 5000 ms").await, 1);
    assert_eq!(stage.logged("failed after 30000 ms").await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_person_takes_a_call_back_once_and_what_is_still_answered_changes_nothing() {
    let mut slow = slow();
    let stage = stage(slow.target.clone(), Times::default()).await;
    let mut page = stage.load("p1", 1).await;
    open(&mut page, "v1", "show").await;
    let call = slow.expect("tools/call").await;
    page.hear("v1", "progress").await;
    page.greet("v1").await;
    page.say("v1", "cancel", json!({})).await;
    page.say("v1", "cancel", json!({})).await;
    let params = slow.expect("notifications/cancelled").await["params"].clone();
    assert_eq!(params["requestId"], call["id"]);
    assert_eq!(params["reason"], "the person cancelled the call");
    let words = page.hear("v1", "settled").await["text"].as_str().unwrap().to_owned();
    assert!(words.starts_with("You cancelled the call."), "{words}");
    // It may come from the pipe, or be on its way to the loop already.
    slow.answer(&call, "too late");
    let outcome = Ok(RawValue::from_string(r#"{"content":[]}"#.to_owned()).unwrap());
    let (view, news) = (ViewId::parse("v1").unwrap(), event::News::Called(outcome));
    stage.send(Event::Opening { view, turn: 1, news }).await;
    let mut told = vec![];
    page.request("v1", 9, "ping", json!({})).await;
    loop {
        let message = page.hear("v1", "message").await;
        if message["id"] == 9 {
            break;
        }
        told.extend(message["method"].as_str().map(ToOwned::to_owned));
    }
    assert_eq!(told, ["ui/notifications/tool-cancelled"]);
    assert_eq!(stage.logged("cancelled by you after").await, 1);
    assert_eq!(stage.logged("ignored").await, 2, "the second click, and the answer");
}

#[tokio::test(start_paused = true)]
async fn a_call_without_a_view_is_taken_back_in_words() {
    let mut slow = slow();
    let stage = stage(slow.target.clone(), Times::default()).await;
    let mut page = stage.load("p1", 1).await;
    open(&mut page, "v1", "plain").await;
    slow.expect("tools/call").await;
    page.hear("v1", "progress").await;
    page.say("v1", "cancel", json!({})).await;
    slow.expect("notifications/cancelled").await;
    let text = page.hear("v1", "text").await["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with("You cancelled the call."), "{text}");
    page.hear("v1", "close").await;
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_progress_is_a_few_words_a_second_and_the_newest_counts() {
    let mut slow = slow();
    let stage = stage(slow.target.clone(), Times::default()).await;
    let mut page = stage.load("p1", 1).await;
    open(&mut page, "v1", "show").await;
    let call = slow.expect("tools/call").await;
    for sign in 0..20_000 {
        slow.progress(
            &call,
            json!({ "progress": sign, "total": 20_000, "message": "x".repeat(50) }),
        );
    }
    slow.progress(&call, json!({ "progress": 20_000, "total": 20_000, "message": "the last" }));
    let begun = Instant::now();
    let mut heard = 0;
    loop {
        heard += 1;
        if page.hear("v1", "progress").await["part"] == 1.0 {
            break;
        }
    }
    let most = 2 + begun.elapsed().as_millis() / 250;
    assert!(heard <= most, "{heard} in {:?}", begun.elapsed());
    assert!(stage.logged("The tool is running").await <= 2 + begun.elapsed().as_secs() as usize);
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_progress_for_a_view_is_passed_on_at_a_pace_with_its_last_word() {
    let mut slow = slow();
    let stage = stage(slow.target.clone(), Times::default()).await;
    let mut page = stage.load("p1", 1).await;
    open(&mut page, "v1", "show").await;
    let opening = slow.expect("tools/call").await;
    slow.answer(&opening, "here");
    page.hear("v1", "open").await;
    page.greet("v1").await;
    let params = json!({ "name": "plain", "_meta": { "progressToken": "mine" } });
    page.request("v1", 5, "tools/call", params).await;
    let call = slow.expect("tools/call").await;
    for sign in 0..20_000 {
        slow.progress(&call, json!({ "progress": sign }));
    }
    slow.progress(&call, json!({ "progress": 20_000 }));
    slow.answer(&call, "done");
    let mut heard = vec![];
    loop {
        let message = page.hear("v1", "message").await;
        if message["id"] == 5 {
            break;
        }
        if message["method"] == "notifications/progress" {
            heard.push(message["params"].clone());
        }
    }
    assert!(heard.len() < 200, "{} of them", heard.len());
    let last = heard.last().unwrap();
    assert_eq!((&last["progress"], &last["progressToken"]), (&json!(20_000), &json!("mine")));
}
