//! `transom.toml` as it is written.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt,
    ops::Range,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, de::Error as _};
use toml::{
    Spanned,
    de::{DeString, DeTable, DeValue},
};
use transom::{
    csp::Grant,
    policy::{HostPattern, Nearby, Stance},
    printed::is_reserved,
    routes::RoutePattern,
    wire::ResourcePermissions,
};
use transom_host::sandbox::Wildcard;
use url::Url;

use crate::{
    arguments::{self, SandboxMode},
    terminal::clean,
};

/// The whole file. A key that is not here is refused: a rule with a typing error is no rule.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    #[serde(default)]
    pub(crate) run: Run,
    #[serde(default)]
    pub(crate) policy: Rules,
    #[serde(default)]
    pub(crate) limits: LimitsTable,
    #[serde(default)]
    pub(crate) servers: BTreeMap<String, ServerTable>,
}

/// `[limits]` and `[servers.NAME.limits]`: what views may use up.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitsTable {
    /// Of the host; not for a server.
    pub(crate) views: Option<Spanned<u64>>,
    /// Of the host too.
    pub(crate) away: Option<Spanned<u64>>,
    #[serde(default)]
    pub(crate) time: TimeLimits,
    #[serde(default)]
    pub(crate) view: ViewLimits,
    #[serde(default)]
    pub(crate) server: ServerLimits,
    #[serde(default)]
    pub(crate) methods: BTreeMap<Spanned<String>, MethodLimits>,
}

/// How long a server may take, in seconds.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct TimeLimits {
    pub(crate) call: Option<Spanned<u64>>,
    pub(crate) call_idle: Option<Spanned<u64>>,
    pub(crate) list: Option<Spanned<u64>>,
}

/// Each view.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ViewLimits {
    pub(crate) messages: Option<Spanned<u64>>,
    pub(crate) messages_burst: Option<Spanned<u64>>,
    pub(crate) bytes: Option<Spanned<u64>>,
    pub(crate) bytes_burst: Option<Spanned<u64>>,
    pub(crate) message_size: Option<Spanned<u64>>,
    pub(crate) calls: Option<Spanned<u64>>,
    pub(crate) questions: Option<Spanned<u64>>,
    pub(crate) held: Option<Spanned<u64>>,
    pub(crate) queued: Option<Spanned<u64>>,
}

/// All views of one server together.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ServerLimits {
    pub(crate) views: Option<Spanned<u64>>,
    pub(crate) messages: Option<Spanned<u64>>,
    pub(crate) messages_burst: Option<Spanned<u64>>,
    pub(crate) bytes: Option<Spanned<u64>>,
    pub(crate) bytes_burst: Option<Spanned<u64>>,
    pub(crate) calls: Option<Spanned<u64>>,
    pub(crate) questions: Option<Spanned<u64>>,
    pub(crate) held: Option<Spanned<u64>>,
    pub(crate) queued: Option<Spanned<u64>>,
}

/// One method, for each view.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct MethodLimits {
    pub(crate) messages: Option<Spanned<u64>>,
    pub(crate) messages_burst: Option<Spanned<u64>>,
    pub(crate) size: Option<Spanned<u64>>,
}

/// `[run]`: what the command line can say too.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Run {
    pub(crate) port: Option<Spanned<u16>>,
    pub(crate) open: Option<Spanned<bool>>,
    pub(crate) json: Option<Spanned<bool>>,
    pub(crate) data_dir: Option<Spanned<PathBuf>>,
    pub(crate) no_data: Option<Spanned<bool>>,
    pub(crate) prefetch: Option<Spanned<bool>>,
    pub(crate) audit: Option<Spanned<bool>>,
    pub(crate) audit_sync: Option<Spanned<bool>>,
    pub(crate) audit_retain: Option<Spanned<u32>>,
    pub(crate) remember_days: Option<Spanned<u32>>,
    pub(crate) sandbox: Option<Spanned<SandboxMode>>,
    pub(crate) sandbox_domain: Option<Spanned<Domain>>,
    pub(crate) listen: Option<Spanned<String>>,
    pub(crate) public_origin: Option<Spanned<String>>,
    pub(crate) beyond_this_machine: Option<Spanned<bool>>,
    pub(crate) token_file: Option<Spanned<PathBuf>>,
    pub(crate) operate: Option<Spanned<String>>,
    pub(crate) operate_token_file: Option<Spanned<PathBuf>>,
    pub(crate) drain: Option<Spanned<u64>>,
    pub(crate) trace_calls: Option<Spanned<bool>>,
}

/// `[servers.NAME]`. Without a command or a url it says how to treat a server that is named elsewhere: in the file that it
/// says, or with `--name`.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ServerTable {
    pub(crate) command: Option<Spanned<String>>,
    /// The file with `mcpServers` that has it.
    pub(crate) from: Option<Spanned<PathBuf>>,
    pub(crate) args: Option<Spanned<Vec<String>>>,
    pub(crate) env: Option<Spanned<BTreeMap<String, String>>>,
    pub(crate) cwd: Option<Spanned<PathBuf>>,
    pub(crate) url: Option<Spanned<Address>>,
    pub(crate) headers: Option<Spanned<BTreeMap<String, String>>>,
    /// Once, when only scripts could be granted, it was called that.
    #[serde(alias = "scripts")]
    pub(crate) grants: Option<Spanned<Vec<Granted>>>,
    pub(crate) permissions: Option<Spanned<Vec<Permission>>>,
    pub(crate) private: Option<Spanned<Vec<Private>>>,
    pub(crate) oauth: Option<Spanned<OAuth>>,
    #[serde(default)]
    pub(crate) disabled: bool,
    #[serde(default)]
    pub(crate) policy: Rules,
    #[serde(default)]
    pub(crate) limits: LimitsTable,
}

/// `[servers.NAME.oauth]`: how we are known where people sign in.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct OAuth {
    pub(crate) client_id: Option<String>,
    /// The name of the variable that holds the secret; the secret itself has no place in a file.
    pub(crate) client_secret_env: Option<String>,
    #[serde(default)]
    pub(crate) scopes: Vec<String>,
}

/// `[policy]` and `[servers.NAME.policy]`: a stance for each kind of wish.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Rules {
    pub(crate) read_only_tools: Option<Spanned<Word>>,
    pub(crate) other_tools: Option<Spanned<Word>>,
    pub(crate) destructive_tools: Option<Spanned<Word>>,
    pub(crate) reads: Option<Spanned<Word>>,
    pub(crate) https_links: Option<Spanned<Word>>,
    pub(crate) http_links: Option<Spanned<Word>>,
    pub(crate) mailto_links: Option<Spanned<Word>>,
    pub(crate) downloads: Option<Spanned<Word>>,
    pub(crate) messages: Option<Spanned<Word>>,
    pub(crate) model_context: Option<Spanned<Word>>,
    pub(crate) sampling: Option<Spanned<Word>>,
    pub(crate) display_modes: Option<Spanned<Word>>,
    pub(crate) read_only_app_tools: Option<Spanned<Word>>,
    pub(crate) other_app_tools: Option<Spanned<Word>>,
    #[serde(default)]
    pub(crate) tools: BTreeMap<String, Spanned<Word>>,
    #[serde(default)]
    pub(crate) routes: BTreeMap<Route, Spanned<Word>>,
    #[serde(default)]
    pub(crate) links: BTreeMap<Hosts, Spanned<Word>>,
    pub(crate) allow_domains: Option<Spanned<Vec<Spanned<Hosts>>>>,
    pub(crate) block_domains: Option<Spanned<Vec<Spanned<Hosts>>>>,
}

/// A host, or every name below one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Hosts(pub(crate) HostPattern);

/// HTTP requests of tools: a method and paths.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Route(pub(crate) RoutePattern);

/// Something of this machine or its networks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Private(pub(crate) Nearby);

/// A stance as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum Word {
    Allow,
    Ask,
    Deny,
}

/// A grant as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Granted(pub(crate) Grant);

/// A permission as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Permission {
    Camera,
    Microphone,
    Geolocation,
    ClipboardWrite,
}

/// A server's address.
#[derive(Clone, PartialEq)]
pub(crate) struct Address(pub(crate) Url);

/// A domain for frames.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Domain(pub(crate) Wildcard);

/// What is wrong with a file, and in which line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}, line {line}: {words}", path.display())]
pub(crate) struct Problem {
    path: PathBuf,
    line: usize,
    words: String,
}

/// A file's text, for finding lines in it.
pub(crate) struct Text<'a> {
    pub(crate) path: &'a Path,
    pub(crate) text: &'a str,
}

/// A file that was read once: what it says, and all of its keys, to show a person what it does.
pub(crate) struct Parsed<'a> {
    pub(crate) file: File,
    pub(crate) table: DeTable<'a>,
}

impl Parsed<'_> {
    /// Whether it makes no difference. By what it says, never by what can be shown of it.
    pub(crate) fn does_nothing(&self) -> bool {
        self.file == File::default()
    }
}

impl<'a> Text<'a> {
    /// Reads the file.
    pub(crate) fn parse(&self) -> Result<Parsed<'a>, Problem> {
        let refused = |error: toml::de::Error| {
            let words = without_value(error.message());
            let words = format!("{words}; docs/transom.toml shows every key");
            self.problem(error.span().unwrap_or(0..0), words)
        };
        let table = DeTable::parse(self.text).map_err(refused)?;
        if let Some(key) = reserved(table.get_ref()) {
            let words = format!("the key {:?} is reserved; choose another name", key.get_ref());
            return Err(self.problem(key.span(), words));
        }
        let file = File::deserialize(toml::Deserializer::from(table.clone())).map_err(refused)?;
        Ok(Parsed { file, table: table.into_inner() })
    }

    /// Something that is wrong with what stands in a place.
    pub(crate) fn problem(&self, span: Range<usize>, words: impl Into<String>) -> Problem {
        // The words can hold a key of the file, and a stranger may have written the file.
        let words = clean(&words.into().replace('\n', " ")).into_owned();
        Problem { path: self.path.to_owned(), line: self.line(&span), words }
    }

    /// The number of a line, from 1.
    pub(crate) fn line(&self, span: &Range<usize>) -> usize {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }
}

/// The first key by which a reader of values speaks to itself. It has no place in a file.
fn reserved<'a, 'i>(table: &'a DeTable<'i>) -> Option<&'a Spanned<DeString<'i>>> {
    table.iter().find_map(|(key, value)| match is_reserved(key.get_ref()) {
        true => Some(key),
        false => reserved_in(value.get_ref()),
    })
}

fn reserved_in<'a, 'i>(value: &'a DeValue<'i>) -> Option<&'a Spanned<DeString<'i>>> {
    match value {
        DeValue::Table(table) => reserved(table),
        DeValue::Array(list) => list.iter().find_map(|item| reserved_in(item.get_ref())),
        _ => None,
    }
}

/// What was expected, without what was there: a secret may stand in the wrong place.
fn without_value(message: &str) -> Cow<'_, str> {
    let parts = message.strip_prefix("invalid type: ");
    let Some((got, expected)) = parts.and_then(|parts| parts.rsplit_once(", expected ")) else {
        return message.into();
    };
    let kind = got.split(' ').next().unwrap_or(got);
    format!("expected {expected}, got {kind}").into()
}

impl TryFrom<String> for Hosts {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let refused = |error| format!("expected a host as in x.com or *.x.com: {error}");
        text.parse().map(Self).map_err(refused)
    }
}

impl TryFrom<String> for Route {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let refused = |error| format!("expected a request as in POST /api/cart/{{id}}: {error}");
        text.parse().map(Self).map_err(refused)
    }
}

impl TryFrom<String> for Private {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let expected =
            "expected a private host as in localhost:3000 or 192.168.0.7, or \"loopback\"";
        text.parse().map(Self).map_err(|error| format!("{expected}: {error}"))
    }
}

impl TryFrom<String> for Word {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Ok(match &*text {
            "allow" => Self::Allow,
            "ask" => Self::Ask,
            "deny" => Self::Deny,
            _ => return Err("expected \"allow\", \"ask\" or \"deny\""),
        })
    }
}

impl From<Word> for Stance {
    fn from(word: Word) -> Self {
        match word {
            Word::Allow => Self::Allow,
            Word::Ask => Self::Ask,
            Word::Deny => Self::Deny,
        }
    }
}

impl TryFrom<String> for Granted {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let found = Grant::ALL.into_iter().find(|grant| grant.name() == text);
        found.map(Self).ok_or_else(|| {
            let names = Grant::ALL.map(|grant| format!("`{}`", grant.name()));
            format!("expected one of {}", names.join(", "))
        })
    }
}

impl Permission {
    /// Adds it to a set.
    pub(crate) fn grant(self, set: &mut ResourcePermissions) {
        match self {
            Self::Camera => set.camera = true,
            Self::Microphone => set.microphone = true,
            Self::Geolocation => set.geolocation = true,
            Self::ClipboardWrite => set.clipboard_write = true,
        }
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        arguments::address(&text).map(Self).map_err(D::Error::custom)
    }
}

impl fmt::Debug for Address {
    /// An address may hold a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Address(…)")
    }
}

impl<'de> Deserialize<'de> for Domain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Wildcard::parse(&text).map(Self).map_err(D::Error::custom)
    }
}
