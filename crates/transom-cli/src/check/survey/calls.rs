//! The tools that are called, so that something is known of their results.
//!
//! A tool may do anything; only one that calls itself read-only is called unasked, and only if it opens a view.

use serde_json::{Map, Value, json, value::to_raw_value};
use transom_host::upstream::{CallError, CallOptions, Request, Upstream};

use super::{
    lists::Listed,
    tool::{is_for_model, link},
};
use crate::{arguments::Given, check::finding::Unchecked};

/// Which tools are called.
#[derive(Clone, Debug, Default)]
pub(in crate::check) struct Calls {
    /// None at all, however harmless.
    pub(in crate::check) none: bool,
    /// These in any case.
    pub(in crate::check) given: Vec<Given>,
}

/// A call that was made.
#[derive(Clone, Debug)]
pub(in crate::check) struct Called {
    pub(in crate::check) tool: String,
    arguments: Map<String, Value>,
    /// Its result, or why there is none.
    pub(in crate::check) result: Result<Value, String>,
}

impl Calls {
    /// Calls what may be called, and says what was not.
    pub(super) async fn make(
        &self,
        host: &Upstream,
        tools: &Listed,
        unchecked: &mut Vec<Unchecked>,
    ) -> Vec<Called> {
        let mut made = vec![];
        for given in &self.given {
            made.push(Called::make(host, &given.tool, given.arguments.clone()).await);
        }
        let mut left: Vec<(String, String)> = vec![];
        for tool in tools.items.iter().filter(|tool| link(tool).is_some() && is_for_model(tool)) {
            let Some(name) = tool["name"].as_str() else { continue };
            if made.iter().any(|call| call.tool == name) {
                continue;
            }
            match self.harmless(tool) {
                Ok(_) if made.len() >= MAX_CALLS => {
                    left.push((name.to_owned(), "enough were called".to_owned()))
                }
                Ok(arguments) => made.push(Called::make(host, name, arguments).await),
                Err(why) => left.push((name.to_owned(), why)),
            }
        }
        for (name, why) in left {
            let name = transom::violation::Quoted::new(&name);
            let why = format!("{name} was not called: {why}");
            unchecked.push(Unchecked {
                rules: vec!["server-14", "server-15", "server-16", "server-20"],
                why,
            });
        }
        made
    }

    /// The arguments to call a tool with unasked, or why it is not.
    fn harmless(&self, tool: &Value) -> Result<Map<String, Value>, String> {
        if self.none {
            return Err("--no-call".to_owned());
        }
        if tool["annotations"]["readOnlyHint"] != true {
            return Err("it does not say that it only reads; --call NAME calls it".to_owned());
        }
        arguments(&tool["inputSchema"])
            .map_err(|missing| format!("it wants {missing:?}; --call 'NAME={{…}}' gives it"))
    }
}

impl Called {
    async fn make(upstream: &Upstream, tool: &str, arguments: Map<String, Value>) -> Self {
        let result = call(upstream, tool, &Value::Object(arguments.clone())).await;
        let result = result.map_err(|error| error.story());
        Self { tool: tool.to_owned(), arguments, result }
    }

    /// The same call on another connection.
    pub(super) async fn again(&self, upstream: &Upstream) -> Self {
        Self::make(upstream, &self.tool, self.arguments.clone()).await
    }
}

/// Calls a tool.
pub(super) async fn call(
    upstream: &Upstream,
    tool: &str,
    arguments: &Value,
) -> Result<Value, CallError> {
    let params =
        to_raw_value(&json!({ "name": tool, "arguments": arguments })).expect("values are JSON");
    let request =
        Request::with_params("tools/call", &params).expect("an object without doubled members");
    let result = upstream.call(&request, CallOptions::default())?.outcome().await?;
    // A result that is nested deeper than serde reads counts as empty: no client could use it.
    Ok(serde_json::from_str(result.get()).unwrap_or_default())
}

/// What a schema itself offers for each thing it requires; else the first for which it offers nothing.
fn arguments(schema: &Value) -> Result<Map<String, Value>, String> {
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut arguments = Map::new();
    for key in required.iter().filter_map(Value::as_str) {
        let property = &schema["properties"][key];
        let offers = [
            &property["default"],
            &property["const"],
            &property["examples"][0],
            &property["enum"][0],
        ];
        let offer = offers.into_iter().find(|offer| !offer.is_null());
        arguments.insert(key.to_owned(), offer.ok_or(key)?.clone());
    }
    Ok(arguments)
}

const MAX_CALLS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_what_the_schema_itself_offers() {
        let schema = |required: Value| {
            json!({ "required": required, "properties": {
                "a": { "type": "string", "default": "x" }, "b": { "enum": ["y", "z"] },
                "c": { "examples": [3] }, "d": { "type": "string" },
            } })
        };
        let found = arguments(&schema(json!(["a", "b", "c"]))).unwrap();
        assert_eq!(Value::Object(found), json!({ "a": "x", "b": "y", "c": 3 }));
        assert_eq!(arguments(&schema(json!(["a", "d"]))), Err("d".to_owned()));
        assert_eq!(arguments(&json!({})), Ok(Map::new()));
        assert_eq!(arguments(&json!({ "required": ["gone"] })), Err("gone".to_owned()));
    }
}
