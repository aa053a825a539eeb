//! What a configuration file does if it counts, in words: what it starts, where it connects to, which variables of
//! the environment it takes, and everything else that it says.
//!
//! Read from the file's own keys, one line for each, so that no key can have an effect that is not shown.

use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};
use transom_host::{place::masked, upstream::Secret};

use super::{
    print::HIDDEN,
    rules::{Rules, word},
};
use crate::{mcp_servers::secret, terminal::clean};

/// What a file does.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    /// One for each thing. The gravest are last, next to the question that follows them.
    pub(crate) lines: Vec<String>,
    programs: usize,
    addresses: usize,
    variables: usize,
}

/// For whose eyes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Show {
    /// A person who decides about the file: everything that stands in it.
    Whole,
    /// A log: nothing that may be a secret.
    Masked,
}

impl Effects {
    /// What a `transom.toml` does: of the value that its effects are read from too, so that both see the same keys.
    pub(crate) fn of_toml(table: &DeTable<'_>, show: Show) -> Self {
        let mut file = object(table);
        let servers = file.shift_remove("servers");
        let mut effects = Self::default();
        effects.settings("", &Value::Object(file));
        effects.servers(servers.as_ref().and_then(Value::as_object), show);
        effects
    }

    /// What a file with `mcpServers` does.
    pub(crate) fn of_json(file: &Value, show: Show) -> Self {
        let mut effects = Self::default();
        effects.servers(file["mcpServers"].as_object(), show);
        effects
    }

    /// How much of the grave there is, in a few words.
    pub(crate) fn sum(&self) -> String {
        let counted = [
            (self.programs, "program", "programs"),
            (self.addresses, "address", "addresses"),
            (self.variables, "variable of your environment", "variables of your environment"),
        ];
        let counted = counted.into_iter().filter(|(count, ..)| *count > 0);
        let words = counted.map(|(count, one, many)| match count {
            1 => format!("1 {one}"),
            _ => format!("{count} {many}"),
        });
        let words: Vec<_> = words.collect();
        if words.is_empty() { "settings only".to_owned() } else { words.join(", ") }
    }

    /// Whether it starts anything.
    pub(crate) fn starts(&self) -> bool {
        self.programs > 0
    }

    fn servers(&mut self, servers: Option<&Map<String, Value>>, show: Show) {
        let mut grave = vec![];
        for (name, entry) in servers.into_iter().flatten() {
            let mut entry = entry.as_object().cloned().unwrap_or_default();
            let of = format!("server {}: ", plain(name));
            if entry.is_empty() {
                self.say(&format!("{of}nothing but its name"));
            }
            let keys = ["command", "args", "cwd", "url", "env", "headers", "oauth"];
            let taken = keys.map(|key| entry.shift_remove(key));
            self.settings(&of, &Value::Object(entry));
            grave.push((of, taken));
        }
        for (of, [command, args, cwd, url, env, headers, oauth]) in grave {
            self.start(&of, command.as_ref(), args.as_ref(), cwd.as_ref(), show);
            self.connect(&of, url.as_ref(), show);
            self.pass_on(&of, "gets", env.as_ref(), show);
            self.pass_on(&of, "is sent the header", headers.as_ref(), show);
            self.sign_in(&of, oauth.as_ref());
        }
    }

    fn start(
        &mut self,
        of: &str,
        command: Option<&Value>,
        args: Option<&Value>,
        cwd: Option<&Value>,
        show: Show,
    ) {
        let Some(command) = command.and_then(Value::as_str) else { return };
        let args: Vec<String> =
            args.and_then(Value::as_array).into_iter().flatten().map(text).collect();
        let args = if show == Show::Masked { masked(&args) } else { args };
        let words: Vec<_> =
            [command].into_iter().chain(args.iter().map(String::as_str)).map(plain).collect();
        let folder = cwd.map(|cwd| format!("   in the folder {}", plain(&text(cwd))));
        self.programs += 1;
        self.say(&format!("{of}starts {}{}", words.join(" "), folder.unwrap_or_default()));
    }

    fn connect(&mut self, of: &str, url: Option<&Value>, show: Show) {
        let Some(url) = url.and_then(Value::as_str) else { return };
        let shown = match show {
            Show::Whole => url.to_owned(),
            Show::Masked => url::Url::parse(url).map_or_else(
                |_| HIDDEN.to_owned(),
                |url| transom_host::upstream::Endpoint::new(url).plain_url(),
            ),
        };
        self.addresses += 1;
        self.say(&format!("{of}connects to {}", plain(&shown)));
    }

    /// What a server gets: variables, or headers.
    fn pass_on(&mut self, of: &str, gets: &str, table: Option<&Value>, show: Show) {
        for (name, value) in table.and_then(Value::as_object).into_iter().flatten() {
            let what = match secret(text(value)) {
                Secret::Env(variable) | Secret::BearerEnv(variable) => {
                    self.variables += 1;
                    format!("your variable {}", plain(&variable))
                }
                Secret::Value(_) if show == Show::Masked => HIDDEN.to_owned(),
                Secret::Value(value) => plain(&value),
            };
            self.say(&format!("{of}{gets} {} = {what}", plain(name)));
        }
    }

    fn sign_in(&mut self, of: &str, oauth: Option<&Value>) {
        for (key, value) in oauth.and_then(Value::as_object).into_iter().flatten() {
            match (key.as_str(), value.as_str()) {
                ("client-secret-env", Some(variable)) => {
                    self.variables += 1;
                    let variable = plain(variable);
                    self.say(&format!("{of}the sign-in is sent your variable {variable}"));
                }
                _ => self.say(&format!("{of}oauth.{} = {}", plain(key), shown(value))),
            }
        }
    }

    /// Everything else, key by key.
    fn settings(&mut self, of: &str, value: &Value) {
        let mut leaves = vec![];
        collect(&mut vec![], value, &mut leaves);
        for (path, value) in leaves {
            let words = loosened(&path, value);
            let words = words.unwrap_or_else(|| format!("{} = {}", path.join("."), shown(value)));
            self.say(&format!("{of}{words}"));
        }
    }

    /// Adds one line, cut to a length that people read.
    fn say(&mut self, line: &str) {
        self.lines.push(match line.char_indices().nth(LINE) {
            None => clean(line).into_owned(),
            Some((at, _)) => {
                // Of the whole line: what is cleaned is cut short too.
                let (head, more) = (clean(&line[..at]), line[at..].chars().count());
                format!("{head}… ({more} more characters; read the file)")
            }
        });
    }
}

/// A stance of the policy, beside the one that counts without the file.
fn loosened(path: &[String], value: &Value) -> Option<String> {
    let [table, kind] = path else { return None };
    let defaults = Rules::default();
    let (_, usual) = defaults.kinds().find(|(name, _)| table == "policy" && name == kind)?;
    let usual = usual.value;
    let rank = |stance: &str| ["allow", "ask", "deny"].iter().position(|known| *known == stance);
    let now = value.as_str()?;
    let verb = match rank(now)?.cmp(&rank(word(usual))?) {
        std::cmp::Ordering::Less => "LOOSENS",
        std::cmp::Ordering::Equal => "keeps",
        std::cmp::Ordering::Greater => "tightens",
    };
    Some(format!("{verb} the policy for {kind}: {now} (without the file: {})", word(usual)))
}

/// A table of the file, key by key. By hand: serde_json reads some keys as signs to itself.
fn object(table: &DeTable<'_>) -> Map<String, Value> {
    table.iter().map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref()))).collect()
}

fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Boolean(flag) => (*flag).into(),
        DeValue::Array(list) => list.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(table) => Value::Object(object(table)),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| number.to_string().into(), Value::from),
        DeValue::Float(number) => number.to_string().into(),
        DeValue::Datetime(time) => time.to_string().into(),
    }
}

/// Every value that is not a table, or is an empty one, with the way to it.
fn collect<'a>(path: &mut Vec<String>, value: &'a Value, into: &mut Vec<(Vec<String>, &'a Value)>) {
    let table = value.as_object().filter(|table| path.is_empty() || !table.is_empty());
    let Some(table) = table else { return into.push((path.clone(), value)) };
    for (key, value) in table {
        path.push(plain(key));
        collect(path, value, into);
        path.pop();
    }
}

/// A value as it is shown: a string in quotation marks, with nothing in it that a terminal would obey.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Array(list) => {
            format!("[{}]", list.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A word as it is, if a shell would take it so, and in quotation marks otherwise.
fn plain(word: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "_-./:=@,+%~".contains(c);
    let bare = !word.is_empty() && word.chars().all(harmless);
    if bare || word == HIDDEN { word.to_owned() } else { format!("{word:?}") }
}

/// The longest line, in characters.
const LINE: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn of_toml(text: &str, show: Show) -> Effects {
        Effects::of_toml(DeTable::parse(text).unwrap().get_ref(), show)
    }

    const FILE: &str = "[run]\naudit = false\n[policy]\ndownloads = 'allow'\nmessages = 'deny'\n\
        [servers.pdf]\ncommand = './pdf'\nargs = ['-c', 'rm -rf /', '--token=hush']\ncwd = 'x y'\n\
        env = { LD_PRELOAD = './hush.so', KEY = '${AWS_SECRET}' }\n\
        [servers.web]\nurl = 'https://a.test/mcp?key=hush'\ngrants = ['wasm']\n\
        headers = { Authorization = 'Bearer ${TOKEN}' }\noauth.client-secret-env = 'CLIENT'\n\
        [servers.web.policy.tools]\nerase = 'allow'\n";

    #[test]
    fn everything_that_a_file_does_is_said_and_the_gravest_last() {
        let effects = of_toml(FILE, Show::Whole);
        assert_eq!(
            effects.lines,
            [
                "LOOSENS the policy for downloads: allow (without the file: ask)",
                "tightens the policy for messages: deny (without the file: ask)",
                "run.audit = false",
                "server web: grants = [\"wasm\"]",
                "server web: policy.tools.erase = \"allow\"",
                "server pdf: starts ./pdf -c \"rm -rf /\" --token=hush   in the folder \"x y\"",
                "server pdf: gets KEY = your variable AWS_SECRET",
                "server pdf: gets LD_PRELOAD = ./hush.so",
                "server web: connects to \"https://a.test/mcp?key=hush\"",
                "server web: is sent the header Authorization = your variable TOKEN",
                "server web: the sign-in is sent your variable CLIENT",
            ]
        );
        assert_eq!(effects.sum(), "1 program, 1 address, 3 variables of your environment");
        let masked = of_toml(FILE, Show::Masked);
        assert_eq!(masked.lines.len(), effects.lines.len());
        assert!(!masked.lines.join("\n").contains("hush"), "{:#?}", masked.lines);
    }

    /// Every key of the example in the documentation.
    #[test]
    fn no_key_of_a_file_goes_unsaid() {
        let file = include_str!("../../../../docs/transom.toml");
        let said = of_toml(file, Show::Whole).lines.join("\n");
        let table: Value = toml::from_str(file).unwrap();
        let mut leaves = vec![];
        collect(&mut vec![], &table, &mut leaves);
        assert!(leaves.len() > 20);
        for (path, value) in leaves {
            let words = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
            for word in words.iter().map(text) {
                // A variable is shown by its name.
                let word = word.strip_prefix("Bearer ").unwrap_or(&word);
                let word = word.trim_start_matches("${").trim_end_matches('}');
                assert!(said.contains(word), "{}: {word} in\n{said}", path.join("."));
            }
        }
    }

    #[test]
    fn no_file_moves_the_cursor_or_hides_its_end() {
        let text = "[servers.\"a\\u001b[2J\\nstarts nothing\"]\ncommand = \"x\\u202e\"\nargs = [\"a\\nb\", \"\\r\"]";
        let lines = of_toml(text, Show::Whole).lines;
        assert_eq!(lines.len(), 1);
        assert!(lines[0].chars().all(|c| !c.is_control() && c != '\u{202e}'), "{lines:?}");
        let long = format!("[servers.a]\ncommand = \"x\"\nargs = [\"{}\"]", "y".repeat(5_000));
        let [line] = &*of_toml(&long, Show::Whole).lines else { panic!("one line") };
        assert!(line.ends_with("more characters; read the file)"), "{line}");
    }

    #[test]
    fn it_is_counted_how_much_of_a_line_is_not_shown() {
        let long = format!("[servers.a]\ncommand = \"x\"\nargs = [\"{}\"]", "y".repeat(50_000));
        let [line] = &*of_toml(&long, Show::Whole).lines else { panic!("one line") };
        let whole = "server a: starts x ".chars().count() + 50_000;
        let (shown, more) = line.split_once("… (").unwrap();
        assert_eq!(more, format!("{} more characters; read the file)", whole - shown.len()));
    }

    #[test]
    fn a_file_of_another_host_is_read_the_same_way() {
        let text =
            r#"{"mcpServers":{"a":{"command":"npx","args":["-y","x"],"env":{"K":"${HUSH}"}}}}"#;
        let effects = Effects::of_json(&serde_json::from_str(text).unwrap(), Show::Masked);
        assert_eq!(
            effects.lines,
            ["server a: starts npx -y x", "server a: gets K = your variable HUSH"]
        );
    }
}
