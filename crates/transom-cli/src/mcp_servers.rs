//! The `mcpServers` file that people already have.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;
use transom::printed::has_reserved_name;
use transom_host::upstream::{Command, Endpoint, Secret, Target};

#[derive(Deserialize)]
struct File {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, Entry>,
}

/// One server; what other hosts put beside these keys is theirs.
#[derive(Deserialize)]
struct Entry {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<std::path::PathBuf>,
    url: Option<url::Url>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    disabled: bool,
}

/// Reads a file's text, once: its servers are those that people are shown. Editors write comments and commas at the end into
/// it, and some call the servers just that.
pub(crate) fn parse(path: &Path, text: &str) -> Result<Value> {
    let text = &plain(text);
    let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
    if is_json && has_reserved_name(text) {
        bail!("{} has a key that begins with $serde_json::, which is reserved", path.display());
    }
    let mut json: Value = serde_json::from_str(text)
        .with_context(|| format!("{} is not a file with mcpServers", path.display()))?;
    // Under one name, so that whoever shows the servers and whoever starts them read the same.
    if let Some(file) = json.as_object_mut()
        && let Some(servers) = file.remove("servers")
    {
        if file.contains_key(SERVERS) {
            bail!("{} has both {SERVERS} and servers; leave one of them", path.display());
        }
        file.insert(SERVERS.to_owned(), servers);
    }
    Ok(json)
}

/// JSON without comments, and without commas before a closing bracket. What is taken out becomes blanks, so that an error
/// names the line it is in.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    // Where the last comma is that nothing has followed yet.
    let mut comma = None;
    // Whether a value came last.
    let mut value = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = match c {
            '"' => string(rest),
            '/' => comment(rest),
            _ => c.len_utf8(),
        };
        let (piece, after) = rest.split_at(taken);
        rest = after;
        match c {
            '/' if taken > 1 => {
                plain.extend(piece.chars().map(|c| if c == '\n' { c } else { ' ' }));
                continue;
            }
            // Only one that ends something: the rest is for the parser to refuse.
            ',' => comma = value.then_some(plain.len()),
            ']' | '}' => {
                if let Some(at) = comma.take() {
                    plain.replace_range(at..=at, " ");
                }
            }
            c if c.is_whitespace() => {}
            _ => comma = None,
        }
        if !c.is_whitespace() {
            value = !matches!(c, '{' | '[' | ',' | ':');
        }
        plain.push_str(piece);
    }
    plain
}

/// How long the string is that a text begins with.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// How long the comment is that a text begins with; a slash that begins none is one character.
fn comment(text: &str) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    let end = text.strip_prefix("/*").and_then(|inner| inner.find("*/"));
    end.map_or(1, |end| end + 4)
}

/// The servers of a file.
pub(crate) fn read(path: &Path, json: &Value) -> Result<Vec<(String, Target)>> {
    let file = File::deserialize(json)
        .with_context(|| format!("{} is not a file with mcpServers", path.display()))?;
    let enabled = file.servers.into_iter().filter(|(_, entry)| !entry.disabled);
    enabled.map(|(name, entry)| Ok((name.clone(), target(&name, entry)?))).collect()
}

fn target(name: &str, entry: Entry) -> Result<Target> {
    match (entry.command, entry.url) {
        (Some(program), None) => {
            let env = entry.env.into_iter().map(|(key, value)| (key, secret(value))).collect();
            Ok(Target::Stdio(Command {
                program,
                args: entry.args,
                env,
                cwd: entry.cwd,
                ..Command::default()
            }))
        }
        (None, Some(url)) => {
            let headers = entry.headers.into_iter().map(|(key, value)| (key, secret(value)));
            Ok(Target::Http(Endpoint { headers: headers.collect(), ..Endpoint::new(url) }))
        }
        _ => bail!("server {name:?} needs either a command or a url"),
    }
}

/// `${NAME}` stands for an environment variable, so that no secret need stand in a file.
pub(crate) fn secret(value: String) -> Secret {
    let variable = |text: &str| Some(text.strip_prefix("${")?.strip_suffix('}')?.to_owned());
    if let Some(name) = variable(&value) {
        return Secret::Env(name);
    }
    match value.strip_prefix("Bearer ").and_then(variable) {
        Some(name) => Secret::BearerEnv(name),
        None => Secret::Value(value),
    }
}

const SERVERS: &str = "mcpServers";

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Result<Target> {
        target("x", serde_json::from_str(text)?)
    }

    #[test]
    fn a_server_is_a_command_or_an_address() {
        assert!(matches!(
            one(r#"{"command":"npx","args":["-y","x"],"type":"stdio"}"#),
            Ok(Target::Stdio(_))
        ));
        assert!(matches!(one(r#"{"url":"http://localhost:3001/mcp"}"#), Ok(Target::Http(_))));
        assert!(one("{}").is_err());
        assert!(one(r#"{"command":"x","url":"http://a.test"}"#).is_err());
        assert!(one(r#"{"url":"not an address"}"#).is_err());
    }

    #[test]
    fn a_file_is_read_as_editors_write_it() {
        let path = Path::new("mcp.json");
        let text = r#"{
            // Mine. "quoted", even
            "servers": {
                "a": { "command": "npx", "args": ["-y", "http://x/*y*/", "\\\"// no comment", ], }, /* the
                last */
            },
        }"#;
        let servers = read(path, &parse(path, text).unwrap()).unwrap();
        let [(name, Target::Stdio(command))] = &servers[..] else { panic!("{servers:?}") };
        assert_eq!((&**name, &*command.program), ("a", "npx"));
        assert_eq!(command.args, ["-y", "http://x/*y*/", "\\\"// no comment"]);
        #[rustfmt::skip]
        let bad = [
            // Which of the two would count?
            r#"{"servers":{"a":{"command":"x"}},"mcpServers":{"a":{"command":"y"}}}"#,
            r#"{"mcpServers":{,}}"#,
            r#"{"mcpServers":{}} , "#,
            r#"{"mcpServers":{"a":{"args":[1,,]}}}"#,
            r#"{"mcpServers":{} /* no end"#,
            r#"{"mcpServers":{} / }"#,
            r#"{"servers":[]}"#,
        ];
        for text in bad {
            let servers = parse(path, text).and_then(|json| read(path, &json));
            assert!(servers.is_err(), "{text}");
        }
        let error = parse(path, "{ // one\n /* two */ \"mcpServers\": nonsense }").unwrap_err();
        assert!(format!("{error:#}").contains("line 2"), "{error:#}");
    }

    #[test]
    fn secrets_may_stand_in_the_environment() {
        assert!(secret("${TOKEN}".to_owned()) == Secret::Env("TOKEN".to_owned()));
        assert!(secret("Bearer ${TOKEN}".to_owned()) == Secret::BearerEnv("TOKEN".to_owned()));
        assert!(secret("plain".to_owned()) == Secret::Value("plain".to_owned()));
    }

    #[test]
    fn no_key_of_a_file_means_something_else_to_whoever_shows_it() {
        for text in [
            r#"{"mcpServers":{"$serde_json::private::RawValue":{"disabled":true},"x":{"command":"x"}}}"#,
            r#"{"mcpServers":{"\u0024serde_json::private::RawValue":"{}"}}"#,
            r#"{"mcpServers":{"x":{"command":"x","env":{"$serde_json::private::RawValue":"{}"}}}}"#,
        ] {
            assert!(parse(Path::new("x.json"), text).is_err(), "{text}");
        }
        let shown = parse(Path::new("x.json"), r#"{"mcpServers":{"x":{"command":"x"}}}"#).unwrap();
        assert_eq!(read(Path::new("x.json"), &shown).unwrap().len(), 1);
    }
}
