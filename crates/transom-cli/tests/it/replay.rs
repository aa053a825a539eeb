//! `transom replay`: a recorded server for a real client, and a recorded client for a real server.

use std::{fs, path::PathBuf, process::Stdio};

use rmcp::{
    ServiceExt as _,
    model::{CallToolRequestParams, ReadResourceRequestParams},
};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::transom::{Place, binary};

/// A trace of a server with a view and two tools.
fn trace(place: &Place, change: impl FnOnce(String) -> String) -> PathBuf {
    let schema = json!({ "type": "object" });
    let reads = json!({ "readOnlyHint": true });
    let said = [
        json!({ "id": 1, "method": "initialize", "params": {} }),
        json!({ "id": 1, "result": { "protocolVersion": "2025-11-25", "capabilities": { "tools": {}, "resources": {} }, "serverInfo": { "name": "kept", "version": "1" } } }),
        json!({ "id": 2, "method": "tools/list", "params": {} }),
        json!({ "id": 2, "result": { "tools": [{ "name": "show_weather", "inputSchema": schema, "annotations": reads }, { "name": "write", "inputSchema": schema }] } }),
        json!({ "id": 3, "method": "tools/call", "params": { "name": "write", "arguments": { "text": "hello" } } }),
        json!({ "id": 3, "result": { "content": [{ "type": "text", "text": "as it was" }] } }),
        json!({ "id": 4, "method": "resources/read", "params": { "uri": "ui://kept/view" } }),
        json!({ "id": 4, "result": { "contents": [{ "uri": "ui://kept/view", "text": "<p>kept</p>" }] } }),
    ];
    let mut text = "{\"transom\":\"trace\",\"version\":1}\n".to_owned();
    for (at, mut message) in (0_u64..).zip(said) {
        message["jsonrpc"] = "2.0".into();
        let (from, to) =
            if message["method"].is_string() { ("gate", "server") } else { ("server", "gate") };
        let line = json!({ "n": at + 1, "at": at, "kind": "message", "server": "kept", "from": from, "to": to, "message": message });
        text += &format!("{line}\n");
    }
    let file = place.path().join("kept.jsonl");
    fs::write(&file, change(text)).unwrap();
    file
}

#[tokio::test]
async fn a_recorded_server_answers_a_real_client() {
    let place = Place::new();
    let file = trace(&place, |text| text);
    let mut child = Command::new(binary())
        .args(["replay".as_ref(), file.as_os_str()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let client = ().serve(pipes).await.unwrap();
    assert_eq!(client.list_tools(None).await.unwrap().tools.len(), 2);
    let arguments = json!({ "text": "hello" }).as_object().cloned().unwrap();
    let call = CallToolRequestParams::new("write").with_arguments(arguments);
    let result = serde_json::to_value(client.call_tool(call).await.unwrap()).unwrap();
    assert_eq!(result["content"][0]["text"], "as it was");
    let read = ReadResourceRequestParams::new("ui://kept/view");
    let result = serde_json::to_value(client.read_resource(read).await.unwrap()).unwrap();
    assert_eq!(result["contents"][0]["text"], "<p>kept</p>");
    let other = json!({ "text": "something else" }).as_object().cloned().unwrap();
    let refused = client.call_tool(CallToolRequestParams::new("write").with_arguments(other)).await;
    assert!(refused.unwrap_err().to_string().contains("with other arguments"));
    client.cancel().await.unwrap();
    assert!(child.wait().await.unwrap().success(), "it ends with its client");
}

#[test]
fn a_server_is_asked_again_and_what_differs_is_said() {
    let place = Place::new();
    let file = trace(&place, |text| text);
    let (file, demo) = (file.to_str().unwrap(), binary());
    let server = ["--", demo.to_str().unwrap(), "demo-server"];
    let (code, out, err) = place.transom(&[&["replay", file], &server[..]].concat());
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("tools/list \n  result.tools"), "{out}");
    assert!(out.contains("1 not called again, because their tools do not say"), "{out}");
    let (_, out, _) = place.transom(&[&["replay", file, "--json", "--all"], &server[..]].concat());
    let outcomes: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(outcomes[1]["name"], "write");
    assert_eq!(outcomes[1]["verdict"], "differs");
}

#[test]
fn a_trace_that_is_none_or_broken_says_so() {
    let place = Place::new();
    let (code, _, err) = place.transom(&["replay", "nowhere.jsonl"]);
    assert!(code == 2 && err.contains("cannot open nowhere.jsonl"), "{err}");
    let file = trace(&place, |_| "hello\n".to_owned());
    let (code, _, err) = place.transom(&["replay", file.to_str().unwrap()]);
    assert!(code == 2 && err.contains("is no trace of Transom"), "{err}");
    let file = trace(&place, |text| text.replace("\"version\":1", "\"version\":9"));
    let (code, _, err) = place.transom(&["replay", file.to_str().unwrap()]);
    assert!(
        code == 0 && err.contains("newer version (format 9") && err.contains("cut off"),
        "{err}"
    );
    let file =
        trace(&place, |text| text.replacen("\"server\":\"kept\"", "\"server\":\"other\"", 1));
    let (code, _, err) = place.transom(&["replay", file.to_str().unwrap()]);
    assert!(code == 2 && err.contains("several servers") && err.contains("other, kept"), "{err}");
}
