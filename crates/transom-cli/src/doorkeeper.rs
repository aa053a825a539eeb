//! Servers that are added on the page: an address is taken as it is; what starts a program or hands out a variable of the
//! environment waits for a yes in the terminal, for a page that could do that by itself would be worth taking over.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Mutex,
};

use serde_json::{Value, json};
use tokio::sync::{Mutex as Turn, mpsc, oneshot};
use transom::quoted::is_deceptive;
use transom_host::{
    Addition, Agreement, Answer, Doorkeeper,
    upstream::{Secret, Target, Times},
};

use crate::{
    arguments::address,
    config::{Config, Keeping, effects_of},
    mcp_servers, names,
    terminal::clean,
};

/// A question for the person at the terminal.
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) answer: oneshot::Sender<bool>,
}

/// Decides for the person who started this process.
pub(crate) struct Keeper {
    /// How long the answers of an added server may take.
    times: Times,
    /// Whether programs may be started without a question.
    commands: bool,
    /// Where questions go; nobody hears them where there is no terminal.
    questions: mpsc::Sender<Question>,
    keeping: Turn<Keeping>,
    /// What was added, as it was written.
    added: Mutex<BTreeMap<String, Value>>,
}

impl Doorkeeper for Keeper {
    fn admit<'a>(&'a self, text: &'a str, taken: Vec<String>) -> Answer<'a, Vec<Addition>> {
        Box::pin(self.take(text, taken))
    }

    fn keep<'a>(&'a self, name: &'a str) -> Answer<'a, String> {
        Box::pin(async move { self.write(name).await })
    }
}

impl Keeper {
    /// The one for a run with this configuration.
    pub(crate) fn new(config: &Config, questions: mpsc::Sender<Question>) -> Self {
        Self {
            times: config.caps.times().times(),
            commands: config.allow_commands,
            questions,
            keeping: Turn::new(config.keeping.clone()),
            added: Mutex::default(),
        }
    }

    async fn take(&self, text: &str, taken: Vec<String>) -> Result<Vec<Addition>, String> {
        let read = read(text, &taken)?;
        if read.iter().any(|(.., target)| is_grave(target)) && !self.commands {
            let servers: Value =
                read.iter().map(|(name, entry, _)| (name.clone(), entry.clone())).collect();
            let lines = effects_of(&json!({ "mcpServers": servers }));
            let lines: String = lines.iter().map(|line| format!("    {line}\n")).collect();
            self.ask(format!(
                "\nThe page wants to add a server. If you agree:\n\n{lines}\nAdd it? [y/N] "
            ))
            .await?;
        }
        let mut added = self.added.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let add = |(name, entry, target): (String, Value, Target)| {
            added.insert(name.clone(), entry);
            let agreement = Agreement { times: self.times, ..Agreement::default() };
            Addition { name, target, agreement }
        };
        Ok(read.into_iter().map(add).collect())
    }

    async fn write(&self, name: &str) -> Result<String, String> {
        let entry = self.entry(name).ok_or("it was not added on the page in this run")?;
        let mut keeping = self.keeping.lock().await;
        let path = keeping.path().ok_or("you run without transom.toml (--no-toml)")?;
        let path = clean(&path.display().to_string()).into_owned();
        let lines = Keeping::lines(name, &entry).map_err(|error| format!("{error:#}"))?;
        if !self.commands {
            let shown: String =
                lines.lines().map(|line| format!("    {}\n", clean(line))).collect();
            self.ask(format!(
                "\nThe page wants to write this at the end of {path}:\n\n{shown}\nWrite it? [y/N] "
            ))
            .await?;
        }
        keeping.write(&lines).map_err(|error| format!("{error:#}"))?;
        Ok(path)
    }

    fn entry(&self, name: &str) -> Option<Value> {
        let added = self.added.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        added.get(name).cloned()
    }

    /// Asks in the terminal; an error if there is nobody, or the answer is no.
    async fn ask(&self, text: String) -> Result<(), String> {
        let (answer, told) = oneshot::channel();
        self.questions.send(Question { text, answer }).await.map_err(|_| NO_TERMINAL)?;
        match told.await {
            Ok(true) => Ok(()),
            Ok(false) => Err("the person at the terminal did not agree".to_owned()),
            Err(_) => Err(NO_TERMINAL.to_owned()),
        }
    }
}

/// Reads an address, or what an `mcpServers` file says.
fn read(text: &str, taken: &[String]) -> Result<Vec<(String, Value, Target)>, String> {
    let mut taken: BTreeSet<String> = taken.iter().cloned().collect();
    let text = text.trim();
    let json = if text.starts_with('{') {
        mcp_servers::parse(Path::new("what you wrote"), text)
            .map_err(|error| format!("{error:#}"))?
    } else {
        let url = address(text)?;
        json!({ "mcpServers": { names::of_address(&url): { "url": url.as_str() } } })
    };
    let servers = mcp_servers::read(Path::new("what you wrote"), &json)
        .map_err(|error| format!("{error:#}"))?;
    if servers.is_empty() {
        return Err("there is no server in it".to_owned());
    }
    let mut read = vec![];
    for (name, target) in servers {
        if name.is_empty() || name.chars().count() > NAME || name.contains(is_deceptive) {
            return Err("a server's name has 1 to 80 characters that can be read".to_owned());
        }
        let entry = json["mcpServers"][&name].clone();
        let free = names::unique(name, &taken.iter().map(String::as_str).collect());
        taken.insert(free.clone());
        read.push((free, entry, target));
    }
    Ok(read)
}

/// Whether it starts something here, or is sent something of here.
fn is_grave(target: &Target) -> bool {
    match target {
        Target::Http(endpoint) => {
            endpoint.headers.iter().any(|(_, value)| !matches!(value, Secret::Value(_)))
        }
        _ => true,
    }
}

const NO_TERMINAL: &str = "this needs a yes in the terminal in which transom runs, and there is none; start it in a terminal, or with --allow-commands";
/// The longest name, in characters.
const NAME: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Result<Vec<(String, bool)>, String> {
        let read = read(text, &["a".to_owned()])?;
        Ok(read.into_iter().map(|(name, _, target)| (name, is_grave(&target))).collect())
    }

    #[test]
    fn an_address_is_taken_and_what_starts_or_takes_something_is_grave() {
        let one = |name: &str, grave| Ok(vec![(name.to_owned(), grave)]);
        let table = [
            (" http://localhost:3001/mcp\n", one("localhost-3001", false)),
            (
                r#"{"mcpServers":{"b":{"url":"https://b.test/mcp","headers":{"X":"plain"}}}}"#,
                one("b", false),
            ),
            (
                r#"{"servers":{"b":{"url":"https://b.test/mcp","headers":{"X":"Bearer ${HOME}"}}}}"#,
                one("b", true),
            ),
            (r#"{"mcpServers":{"a":{"command":"node"}}} // mine"#, one("a-2", true)),
        ];
        for (text, expected) in table {
            assert_eq!(names(text), expected, "{text}");
        }
        for text in [
            "",
            "node server.js",
            "file:///etc/passwd",
            "{}",
            r#"{"mcpServers":{}}"#,
            r#"{"mcpServers":{"":{"url":"http://a"}}}"#,
            "{\"mcpServers\":{\"a\u{202e}\":{\"url\":\"http://a\"}}}",
            r#"{"mcpServers":{"x":{"command":"a","url":"http://a"}}}"#,
        ] {
            assert!(names(text).is_err(), "{text}");
        }
    }
}
