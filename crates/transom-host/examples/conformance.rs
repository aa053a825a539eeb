//! A client for the scenarios of `@modelcontextprotocol/conformance`; see `scripts/conformance-client`.
//!
//! The runner starts it with the address of a server as the last argument and says in the environment
//! which scenario it is.

use std::{collections::BTreeMap, env, error::Error, process::ExitCode, sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};
use transom::{
    host::{List, ToolCall},
    printed::Printed,
};
use transom_host::upstream::{
    Answer, Ask, CallOptions, Endpoint, OAuth, Options, Outcome, Refusal, Registration, Request,
    Return, Secret, Target, Tokens, Upstream,
};
use url::Url;

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

async fn run() -> Result<(), Box<dyn Error>> {
    let address = env::args().next_back().ok_or("the last argument is the server's address")?;
    let endpoint = Endpoint::new(address.parse()?);
    let redirect = "http://localhost:3000/callback".to_owned();
    let oauth = OAuth::new(&endpoint.url, registration(), redirect, Tokens::in_memory());
    let oauth = Arc::new(oauth);
    let upstream = connect(&Target::Http(endpoint), &oauth).await?;
    for call in calls(&upstream)? {
        let request = Request::call_tool(&call)?;
        report(&call.name, ask(&upstream, &request, &oauth).await?);
    }
    for list in upstream.server().lists() {
        read_first(&upstream, list).await?;
    }
    upstream.close().await;
    Ok(())
}

/// Connects, signing in if it must be.
async fn connect(target: &Target, oauth: &Arc<OAuth>) -> Result<Upstream, Box<dyn Error>> {
    for _ in 0..PATIENCE {
        let (ask, known) = (Some(Arc::new(Person) as Arc<dyn Ask>), Some(Arc::clone(oauth)));
        let options = Options { ask, oauth: known, ..Options::default() };
        match Upstream::connect(target.clone(), options).await {
            Err(error) if error.wants_oauth() => {}
            // It let us in and then refused its tools.
            Ok(upstream) if is_asked(oauth).await => upstream.close().await,
            connected => return Ok(connected?),
        }
        sign_in(oauth).await?;
    }
    Err("the server is never content".into())
}

/// Makes a request, again after signing in if the server asks for that.
async fn ask(
    upstream: &Upstream,
    request: &Request,
    oauth: &OAuth,
) -> Result<Outcome, Box<dyn Error>> {
    let mut outcome = upstream.call(request, CallOptions::default())?.outcome().await;
    for _ in 0..PATIENCE {
        if outcome.is_ok() || !is_asked(oauth).await {
            break;
        }
        sign_in(oauth).await?;
        outcome = upstream.call(request, CallOptions::default())?.outcome().await;
    }
    Ok(outcome)
}

async fn is_asked(oauth: &OAuth) -> bool {
    tokio::time::timeout(Duration::ZERO, oauth.asked()).await.is_ok()
}

/// The runner's sign-in page says yes by itself and sends the browser back.
async fn sign_in(oauth: &OAuth) -> Result<(), Box<dyn Error>> {
    let invitation = oauth.invite().await?;
    let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy();
    let response = browser.build()?.get(invitation.url.clone()).send().await?;
    let location = response.headers().get("location").ok_or("the browser was not sent back")?;
    let query = Url::parse(location.to_str()?)?.query().unwrap_or_default().to_owned();
    let returned = Return::parse(&query).ok_or("the browser came back with something else")?;
    Ok(oauth.complete(&returned).await.ok_or("it is not our invitation")??)
}

/// What the scenario says of who we are.
fn registration() -> Registration {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Known {
        client_id: Option<String>,
        client_secret: Option<String>,
    }
    let context = env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let known: Known = serde_json::from_str(&context).unwrap_or_default();
    let document = || "https://conformance-test.local/client-metadata.json".to_owned();
    Registration {
        client_id: Some(known.client_id.unwrap_or_else(document)),
        client_secret: known.client_secret.map(Secret::Value),
        scopes: vec![],
    }
}

/// How often a server may ask for a sign-in before it is left alone.
const PATIENCE: u32 = 3;

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
    let arguments = Printed::read(&arguments).ok();
    ToolCall { name, arguments, meta: None, request: None }
}

/// Lists resources or prompts, and reads the first.
async fn read_first(upstream: &Upstream, list: List) -> Result<(), Box<dyn Error>> {
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

fn report(name: &str, outcome: Outcome) {
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
