//! Files that a view only names, and that its server has.

use super::{
    long_calls::{Slow, open, slow, stage},
    *,
};
use crate::upstream::Times;

/// What the server gives at an address: nothing at all for the last one.
pub(super) fn file(message: &Value) -> Option<Value> {
    let uri = message["params"]["uri"].as_str().unwrap();
    let content = match uri {
        "ui://a/b" => json!({ "mimeType": transom::wire::MIME, "text": "<p>hello" }),
        "file:///a/report.csv" => json!({ "mimeType": "text/csv", "text": "a,b" }),
        "file:///pixel.png" => json!({ "mimeType": "image/png", "blob": "aGk=" }),
        "file:///huge.txt" => json!({ "text": "x".repeat(13 << 20) }),
        "file:///odd" => json!({ "text": 7 }),
        "file:///late.txt" => return None,
        _ => {
            let error = json!({ "code": -32002, "message": "there is \u{202e} nothing" });
            return Some(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }));
        }
    };
    let mut content = content;
    content["uri"] = uri.into();
    let result = json!({ "contents": [content] });
    Some(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}

fn link(uri: &str) -> Value {
    json!({ "type": "resource_link", "uri": uri, "name": "a name" })
}

/// A view that wants these saved; with the question about it.
async fn wanting<'a>(stage: &'a Stage, slow: &mut Slow, files: Value) -> (Load<'a>, Value) {
    let mut page = stage.load("p1", 1).await;
    open(&mut page, "v1", "show").await;
    let call = slow.expect("tools/call").await;
    slow.answer(&call, "shown");
    page.greet("v1").await;
    page.request("v1", 7, "ui/download-file", json!({ "contents": files })).await;
    let ask = page.hear("v1", "ask").await;
    (page, ask)
}

async fn yes(page: &mut Load<'_>, ask: &Value) {
    page.say("v1", "answer", json!({ "id": ask["id"], "choice": "allow" })).await;
}

#[tokio::test(start_paused = true)]
async fn h_97_a_file_that_the_server_has_is_read_after_a_yes_and_saved() {
    let mut slow = slow();
    let stage = stage(slow.target.clone(), Times::default()).await;
    let own = json!({ "uri": "file:///own.txt", "text": "mine" });
    let files = json!([
        link("file:///a/report.csv"),
        { "type": "resource", "resource": own },
        link("file:///pixel.png"),
    ]);
    let (mut page, ask) = wanting(&stage, &mut slow, files).await;
    let shown = ask["contents"][0]["name"].as_str().unwrap();
    assert!(shown.contains(r#"from "file:///a/report.csv", read by its server"#), "{ask}");
    yes(&mut page, &ask).await;
    let first = slow.expect("resources/read").await;
    assert_eq!(first["params"]["uri"], "file:///a/report.csv", "none was read before the yes");
    let deed = page.hear("v1", "do").await;
    let saved = &deed["contents"];
    assert_eq!(saved[0]["text"], "a,b", "{deed}");
    assert_eq!(saved[0]["mimeType"], "text/csv", "as its server says");
    assert_eq!(saved[1]["text"], "mine");
    assert_eq!(saved[2]["blob"], "aGk=");
    page.say("v1", "did", json!({ "id": deed["id"], "done": true })).await;
    assert_eq!(page.answer_to("v1", 7).await["result"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn h_97_a_file_that_the_server_does_not_give_is_an_error_and_nothing_is_saved() {
    for (uri, words) in [
        ("file:///none", "the server did not give"),
        ("http://169.254.169.254/latest", "the server did not give"),
        ("file:///odd", "is no file of the server"),
        ("file:///huge.txt", "more than 12582912 bytes"),
    ] {
        let mut slow = slow();
        let stage = stage(slow.target.clone(), Times::default()).await;
        let files = json!([link("file:///a/report.csv"), link(uri)]);
        let (mut page, ask) = wanting(&stage, &mut slow, files).await;
        yes(&mut page, &ask).await;
        let answer = page.answer_to("v1", 7).await;
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(words), "{uri}: {answer}");
        assert!(!message.contains('\u{202e}'), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_that_the_view_no_longer_wants_is_taken_back_at_the_server() {
    let mut slow = slow();
    let stage = stage(slow.target.clone(), Times::default()).await;
    let (mut page, ask) = wanting(&stage, &mut slow, json!([link("file:///late.txt")])).await;
    yes(&mut page, &ask).await;
    let read = loop {
        let read = slow.expect("resources/read").await;
        if read["params"]["uri"] == "file:///late.txt" {
            break read;
        }
    };
    let params = json!({ "requestId": 7 });
    page.post("v1", json!({ "method": "notifications/cancelled", "params": params })).await;
    let cancelled = slow.expect("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], read["id"]);
}
