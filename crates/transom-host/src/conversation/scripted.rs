//! The built-in script: what stands in a model's place where none is set. It reads simple words, calls tools that they name, and
//! says its answer and its arguments piece by piece, as a model does.

use std::time::Duration;

use serde_json::{Map, Value};

use super::model::{Delta, Finish, ModelError, ModelTool, Prompt, Turn};

pub(super) async fn answer(
    prompt: &Prompt,
    say: &mut (dyn FnMut(Delta) + Send),
) -> Result<Finish, ModelError> {
    for delta in script(prompt) {
        tokio::time::sleep(PAUSE).await;
        say(delta);
    }
    Ok(Finish::Said)
}

/// All that it will say.
fn script(prompt: &Prompt) -> Vec<Delta> {
    let mut deltas = vec![];
    match prompt.turns.last() {
        Some(Turn::Results(results)) => {
            for result in results {
                let how = if result.failed { "It did not work" } else { "The tool answered" };
                let lines = result.text.lines().take(12).map(|line| format!("> {line}"));
                let text = lines.collect::<Vec<_>>().join("\n");
                speak(&mut deltas, &format!("{how}:\n\n{text}\n\n"));
            }
        }
        Some(Turn::User(text)) => {
            // What views said stands before it.
            let text = text.rsplit_once("\n\n").map_or(text.as_str(), |(_, own)| own);
            let calls: Vec<_> =
                parts(text).filter_map(|part| Some((find(&prompt.tools, part)?, part))).collect();
            if calls.is_empty() {
                speak(&mut deltas, &help(&prompt.tools));
            }
            for (at, (tool, part)) in calls.into_iter().enumerate() {
                let at = at as u64;
                if at == 0 {
                    speak(&mut deltas, "I use a tool for that. ");
                }
                let (id, name) = (format!("script_{}_{at}", prompt.turns.len()), tool.name.clone());
                deltas.push(Delta::Call { at, id, name });
                for text in pieces(&arguments(tool, part)) {
                    deltas.push(Delta::Piece { at, text });
                }
            }
        }
        _ => speak(&mut deltas, "There is nothing to answer."),
    }
    deltas
}

fn speak(deltas: &mut Vec<Delta>, text: &str) {
    deltas.extend(pieces(text).into_iter().map(Delta::Text));
}

/// A few characters each, as models say them.
fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(PIECE).map(|piece| piece.iter().collect()).collect()
}

/// A wish may be several: `weather in Rome and weather in Oslo`.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let whole = text.contains('{');
    let several = text.split([';', '\n']).flat_map(|part| part.split(" and "));
    let several: Vec<&str> = if whole { vec![text] } else { several.collect() };
    several.into_iter().filter(|part| !part.trim().is_empty())
}

/// The tool whose name has most words of the wish.
fn find<'a>(tools: &'a [ModelTool], wish: &str) -> Option<&'a ModelTool> {
    let wish = words(wish);
    let score = |tool: &ModelTool| {
        let name = tool.name.split_once("__").map_or(tool.name.as_str(), |(_, name)| name);
        let names = words(name);
        if wish.contains(&tool.name.to_lowercase()) {
            return 100;
        }
        names.iter().filter(|word| wish.contains(word)).count() * 4
            + usize::from(names.iter().all(|word| wish.contains(word)))
    };
    let best = tools.iter().rev().max_by_key(|tool| score(tool))?;
    (score(best) > 0).then_some(best)
}

fn words(text: &str) -> Vec<String> {
    let split = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let mut all: Vec<String> = vec![];
    for word in split.filter(|word| !word.is_empty()) {
        all.extend(word.split('_').map(str::to_lowercase));
        all.push(word.to_lowercase());
    }
    all.retain(|word| word.len() > 2);
    all
}

/// JSON that stands in the wish, or what follows `in`, `for`, `about` or a colon as the first text that the tool takes.
fn arguments(tool: &ModelTool, wish: &str) -> String {
    if let (Some(from), Some(to)) = (wish.find('{'), wish.rfind('}'))
        && from < to
    {
        return wish[from..=to].to_owned();
    }
    let schema: Value = serde_json::from_str(tool.schema.get()).unwrap_or_default();
    let empty = Map::new();
    let takes = schema["properties"].as_object().unwrap_or(&empty);
    let needed = |name: &str| {
        schema["required"].as_array().is_some_and(|all| all.iter().any(|it| it == name))
    };
    let text = takes.iter().filter(|(_, about)| about["type"] == "string");
    let slot = text.clone().find(|(name, _)| needed(name)).or_else(|| text.clone().next());
    let mut given = Map::new();
    if let (Some((name, _)), Some(value)) = (slot, value_of(wish)) {
        given.insert(name.clone(), value.into());
    }
    Value::Object(given).to_string()
}

fn value_of(wish: &str) -> Option<String> {
    let after = [": ", " in ", " for ", " about "].iter().find_map(|word| {
        let (_, after) = wish.split_once(word)?;
        Some(after)
    })?;
    let value = after.trim().trim_end_matches(['.', '!', '?']).trim();
    (!value.is_empty()).then(|| value.to_owned())
}

fn help(tools: &[ModelTool]) -> String {
    if tools.is_empty() {
        return "No model is set, and no server has a tool for one. I am a script that calls tools by simple words."
            .to_owned();
    }
    let mut text = "No model is set, so I am a script that calls tools by simple words, such as *show the weather in \
                    Lisbon*. These are there:\n\n"
        .to_owned();
    for tool in tools.iter().take(12) {
        text.push_str(&format!("- `{}`\n", tool.name));
    }
    if tools.len() > 12 {
        text.push_str(&format!("- and {} more\n", tools.len() - 12));
    }
    text.push_str("\nWith `--model NAME --model-url URL` a real one answers.");
    text
}

const PAUSE: Duration = Duration::from_millis(8);
const PIECE: usize = 5;

#[cfg(test)]
mod tests {
    use serde_json::{json, value::to_raw_value};

    use super::*;

    fn tool(name: &str, takes: &str) -> ModelTool {
        let schema = json!({ "type": "object", "properties": { takes: { "type": "string" } } });
        let schema = to_raw_value(&schema).unwrap();
        ModelTool { name: name.to_owned(), description: String::new(), schema }
    }

    fn calls(text: &str) -> Vec<(String, String)> {
        let tools = vec![tool("demo__show_weather", "city"), tool("demo__save_note", "text")];
        let turns = vec![Turn::User(text.to_owned())];
        let mut calls: Vec<(String, String)> = vec![];
        for delta in script(&Prompt { turns, tools, ..Prompt::default() }) {
            match delta {
                Delta::Call { name, .. } => calls.push((name, String::new())),
                Delta::Piece { at, text } => calls[at as usize].1.push_str(&text),
                _ => {}
            }
        }
        calls
    }

    #[test]
    fn simple_words_call_tools() {
        let of = |name: &str, arguments: &str| (format!("demo__{name}"), arguments.to_owned());
        assert_eq!(
            calls("Show the weather in Rome and weather in Oslo"),
            [of("show_weather", r#"{"city":"Rome"}"#), of("show_weather", r#"{"city":"Oslo"}"#)]
        );
        assert_eq!(calls("save a note: buy milk"), [of("save_note", r#"{"text":"buy milk"}"#)]);
        assert_eq!(
            calls(r#"demo__save_note {"text":"a and b"}"#),
            [of("save_note", r#"{"text":"a and b"}"#)]
        );
        assert_eq!(calls("hello"), []);
    }
}
