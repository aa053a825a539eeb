//! A recorded client for a server that runs: it is asked again what it was asked, and its answers are compared.

use std::{collections::HashMap, process::ExitCode};

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use serde_json::Value;
use transom_host::{
    timeline::{Exchange, Trace, exchanges},
    upstream::{CallError, CallOptions, Options, Request, Upstream},
};

use crate::{
    arguments::ReplayArguments,
    config::{self, Config, Surroundings},
    interrupts::Interrupts,
    terminal::{self, clean},
};

/// Asks, prints in what the answers differ, and says by the exit code whether they do.
pub(super) fn ask_again(
    trace: &Trace,
    server: &str,
    arguments: &ReplayArguments,
    around: &Surroundings<'_>,
) -> Result<ExitCode> {
    let config = Config::of_servers(&arguments.servers, around)?;
    config::warn(&config.servers);
    let [live] = &*config.servers else {
        bail!("name one server to ask, not {}", config.servers.len())
    };
    let asked = exchanges(trace, server);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcomes = runtime.block_on(async {
        let mut interrupts = Interrupts::listen().context("cannot listen for Ctrl-C")?;
        let asking = async {
            let connecting = Upstream::connect(live.target.clone(), Options::default());
            let upstream = connecting.await.map_err(|error| anyhow::anyhow!(error.advice()))?;
            let outcomes = ask_all(&upstream, &asked, arguments.all).await;
            upstream.close().await;
            Ok(outcomes)
        };
        tokio::select! {
            outcomes = asking => outcomes,
            _ = interrupts.next() => bail!("interrupted"),
        }
    })?;
    print(&outcomes, arguments.json)?;
    Ok(ExitCode::from(u8::from(outcomes.iter().any(Outcome::differs))))
}

/// What came of one request.
#[derive(Serialize)]
struct Outcome {
    method: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    verdict: Verdict,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    differences: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Same,
    Differs,
    NotAsked,
}

impl Outcome {
    fn differs(&self) -> bool {
        self.verdict == Verdict::Differs
    }
}

async fn ask_all(upstream: &Upstream, asked: &[Exchange], all: bool) -> Vec<Outcome> {
    let reads = reading_tools(upstream).await;
    let mut outcomes = vec![];
    for exchange in asked.iter().filter(|exchange| !OURS.contains(&exchange.method.as_str())) {
        let name = exchange.params["name"].as_str();
        let name = name.or_else(|| exchange.params["uri"].as_str());
        let name = name.unwrap_or_default().to_owned();
        let method = exchange.method.clone();
        let may_change = method == "tools/call" && !reads.get(&name).copied().unwrap_or(false);
        let (verdict, differences) = if may_change && !all {
            (Verdict::NotAsked, vec![])
        } else {
            let answer = ask(upstream, exchange).await;
            let mut differences = vec![];
            compare("", &outcome_of(&exchange.outcome), &outcome_of(&answer), &mut differences);
            let same = differences.is_empty();
            (if same { Verdict::Same } else { Verdict::Differs }, differences)
        };
        outcomes.push(Outcome { method, name, verdict, differences });
    }
    outcomes
}

/// The tools that say that they only read: calling another one again might do something twice.
async fn reading_tools(upstream: &Upstream) -> HashMap<String, bool> {
    let reads = |raw: &str| {
        let tool: Value = serde_json::from_str(raw).unwrap_or_default();
        tool["annotations"]["readOnlyHint"] == true
    };
    upstream.tools().iter().map(|(name, tool)| (name.to_owned(), reads(tool.raw.get()))).collect()
}

async fn ask(upstream: &Upstream, exchange: &Exchange) -> Result<Value, Value> {
    let words = |words: String| Value::from(words);
    let params = serde_json::value::to_raw_value(&exchange.params);
    let params = params.map_err(|error| words(error.to_string()))?;
    let request = Request::with_params(&exchange.method, &params);
    let request = request.map_err(|error| words(error.to_string()))?;
    let call = upstream.call(&request, CallOptions::default());
    let answer = call.map_err(|error| words(error.to_string()))?.outcome().await;
    match answer {
        Ok(result) => serde_json::from_str(result.get()).map_err(|error| words(error.to_string())),
        Err(CallError::Refused(refusal)) => Err(Value::from(refusal.code)),
        Err(error) => Err(words(error.to_string())),
    }
}

/// An outcome to compare: of an error its code alone, since its words may be others.
fn outcome_of(outcome: &Result<Value, Value>) -> Value {
    match outcome {
        Ok(result) => serde_json::json!({ "result": result }),
        Err(error) => serde_json::json!({ "error": error.get("code").unwrap_or(error) }),
    }
}

fn compare(path: &str, before: &Value, after: &Value, found: &mut Vec<String>) {
    if before == after || found.len() >= MOST {
        return;
    }
    match (before, after) {
        (Value::Object(one), Value::Object(other)) => {
            let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(*name)));
            for name in names {
                let of = |all: &serde_json::Map<String, Value>| {
                    all.get(name).cloned().unwrap_or_default()
                };
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                compare(&path, &of(one), &of(other), found);
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            for at in 0..one.len().max(other.len()) {
                let of = |all: &[Value]| all.get(at).cloned().unwrap_or_default();
                compare(&format!("{path}[{at}]"), &of(one), &of(other), found);
            }
        }
        // What was taken out of the trace cannot be compared.
        (Value::String(before), _) if before.contains('…') => {}
        _ => found.push(format!("{path}: was {}, is {}", short(before), short(after))),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn print(outcomes: &[Outcome], json: bool) -> Result<()> {
    if json {
        return Ok(terminal::print(&format!("{}\n", serde_json::to_string_pretty(outcomes)?))?);
    }
    let count = |verdict| outcomes.iter().filter(|outcome| outcome.verdict == verdict).count();
    let mut text = String::new();
    for outcome in outcomes.iter().filter(|outcome| outcome.differs()) {
        text += &format!("{} {}\n", clean(&outcome.method), clean(&outcome.name));
        for difference in &outcome.differences {
            text += &format!("  {}\n", clean(difference));
        }
    }
    let not_asked = count(Verdict::NotAsked);
    text += &format!("{} the same, {} that differ", count(Verdict::Same), count(Verdict::Differs));
    if not_asked > 0 {
        text += &format!(
            ", {not_asked} not called again, because their tools do not say that they only read; --all calls them"
        );
    }
    Ok(terminal::print(&format!("{text}\n"))?)
}

/// What a connection asks by itself, and differs by itself.
const OURS: [&str; 5] =
    ["initialize", "server/discover", "ping", "subscriptions/listen", "logging/setLevel"];
/// How many differences of one answer are told, and how much of each.
const MOST: usize = 20;
const LONGEST: usize = 120;
