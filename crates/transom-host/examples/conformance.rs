//! A client for the scenarios of `@modelcontextprotocol/conformance`; see `scripts/conformance-client`.
//!
//! The runner starts it with the address of a server as the last argument and says in the environment
//! which scenario it is.

use std::{collections::BTreeMap, env, process::ExitCode, sync::Arc};

use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};
use transom::host::{List, ToolCall};
use transom_host::upstream::{
    Answer, Ask, CallError, CallOptions, Endpoint, Options, Refusal, Request, Target, Upstream,
};

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let address = env::args().next_back().ok_or("the last argument is the server's address")?;
    let options = Options { ask: Some(Arc::new(Person)), ..Options::default() };
    let upstream =
        Upstream::connect(Target::Http(Endpoint::new(address.parse()?)), options).await?;
    for call in calls(&upstream)? {
        let request = Request::call_tool(&call)?;
        let outcome = upstream.call(&request, CallOptions::default())?.outcome().await;
        report(&call.name, outcome);
    }
    for list in upstream.server().lists() {
        read_first(&upstream, list).await?;
    }
    upstream.close().await;
    Ok(())
}

/// What the scenario says to call, or else every tool with something in each argument.
fn calls(upstream: &Upstream) -> Result<Vec<ToolCall>, serde_json::Error> {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Context {
        tool_calls: Vec<Wanted>,
    }
    #[derive(Deserialize)]
    struct Wanted {
        name: String,
        arguments: Box<RawValue>,
    }
    let context = env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".to_owned());
    let context: Context = serde_json::from_str(&context).unwrap_or_default();
    if !context.tool_calls.is_empty() {
        let call = |wanted: Wanted| tool_call(wanted.name, wanted.arguments);
        return Ok(context.tool_calls.into_iter().map(call).collect());
    }
    upstream.tools().iter().map(|(name, tool)| made_up(upstream, name, &tool.raw)).collect()
}

fn made_up(upstream: &Upstream, name: &str, raw: &RawValue) -> Result<ToolCall, serde_json::Error> {
    let tool: Value = serde_json::from_str(raw.get())?;
    let empty = Map::new();
    let properties = tool["inputSchema"]["properties"].as_object().unwrap_or(&empty);
    let mut arguments = Map::new();
    for (key, schema) in properties {
        arguments.insert(key.clone(), example(upstream, key, schema)?);
    }
    Ok(tool_call(name.to_owned(), serde_json::value::to_raw_value(&arguments)?))
}

fn example(upstream: &Upstream, key: &str, schema: &Value) -> Result<Value, serde_json::Error> {
    Ok(match schema["type"].as_str() {
        Some("number" | "integer") => json!(2),
        Some("boolean") => json!(true),
        // One scenario wants to see what is left of the schema of its other tool.
        Some("object") if key == "schema" => {
            let listing = upstream.tools();
            let rich = listing.iter().find(|(_, tool)| tool.raw.get().contains("$defs"));
            let tool: BTreeMap<String, Box<RawValue>> = match rich {
                Some((_, tool)) => serde_json::from_str(tool.raw.get())?,
                None => BTreeMap::new(),
            };
            tool.get("inputSchema").map_or(Ok(json!({})), |raw| serde_json::from_str(raw.get()))?
        }
        Some("object") => json!({}),
        Some("array") => json!([]),
        _ => json!("text"),
    })
}

fn tool_call(name: String, arguments: Box<RawValue>) -> ToolCall {
    ToolCall { name, arguments: Some(arguments), meta: None, rest: vec![] }
}

/// Lists resources or prompts, and reads the first.
async fn read_first(upstream: &Upstream, list: List) -> Result<(), Box<dyn std::error::Error>> {
    let (method, members, read, key, name) = match list {
        List::Tools => return Ok(()),
        List::Resources => ("resources/list", "resources", "resources/read", "uri", "uri"),
        List::Prompts => ("prompts/list", "prompts", "prompts/get", "name", "name"),
    };
    let outcome = upstream.call(&Request::new(method), CallOptions::default())?.outcome().await?;
    let listed: Value = serde_json::from_str(outcome.get())?;
    if let Some(first) = listed[members][0][key].as_str() {
        let params = serde_json::value::to_raw_value(&json!({ name: first }))?;
        let request = Request::with_params(read, &params)?;
        let outcome = upstream.call(&request, CallOptions::default())?.outcome().await;
        report(first, outcome);
    }
    Ok(())
}

fn report(name: &str, outcome: Result<Box<RawValue>, CallError>) {
    match outcome {
        Ok(result) => println!("{name}: {} bytes", result.get().len()),
        Err(error) => println!("{name}: {}", error.story()),
    }
}

/// Accepts every question with the defaults it offers.
struct Person;

impl Ask for Person {
    fn capabilities(&self) -> Map<String, Value> {
        let offers =
            json!({"elicitation": {"form": {"applyDefaults": true}}, "roots": {}, "sampling": {}});
        offers.as_object().cloned().unwrap_or_default()
    }

    fn ask(&self, method: &str, params: Option<&RawValue>) -> Answer {
        let params = params.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let answer = match method {
            "elicitation/create" => Some(accept(&params.unwrap_or(Value::Null))),
            "roots/list" => Some(json!({"roots": []})),
            "sampling/createMessage" => Some(json!({
                "role": "assistant", "model": "none",
                "content": {"type": "text", "text": "nothing to say"},
            })),
            _ => None,
        };
        let answer = answer.and_then(|answer| serde_json::value::to_raw_value(&answer).ok());
        let answer = answer.ok_or_else(|| Refusal::no_such_method(method));
        Box::pin(async move { answer })
    }
}

fn accept(params: &Value) -> Value {
    let properties = params["requestedSchema"]["properties"].as_object().cloned();
    let content: Map<String, Value> = properties
        .unwrap_or_default()
        .into_iter()
        .map(|(name, schema)| {
            (name, schema.get("default").cloned().unwrap_or_else(|| json!("yes")))
        })
        .collect();
    json!({"action": "accept", "content": content})
}
