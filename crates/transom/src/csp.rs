//! Content security policies: declarations in, headers out.
//!
//! Every word of a header is printed from a parsed value, and [`Csp::parse_header`] reads exactly
//! what we print: no entry of a stranger's can add a directive, end one, or widen another.

mod declaration;
mod grant;
mod script;
mod source;

use std::fmt;

pub use declaration::{Declaration, List, MAX_ENTRIES, Reason, Refused};
pub use grant::Grant;
pub use script::{Script, Token, TokenError};
pub use source::{Source, SourceError};

pub use crate::reach::Reach;

use crate::origin::Origin;
use crate::violation::Quoted;
use Directive::*;
use Keyword::*;

/// A content security policy: directives in the order they are printed, none of them twice.
///
/// ```
/// use transom::csp::Csp;
/// let policy = Csp::guest(None);
/// assert!(policy.to_string().starts_with("default-src 'none'; script-src 'self' 'unsafe-inline'"));
/// assert_eq!(Csp::parse_header(&policy.to_string()), Ok(policy));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csp {
    directives: Vec<(Directive, Values)>,
}

impl Csp {
    /// Builds the policy a document runs under, from what it declared.
    ///
    /// A document that declared nothing may not even connect to its own origin (H-24); an empty
    /// declaration may (Q4; docs/reference/mcp-apps.md §3.7).
    pub fn guest(declaration: Option<&Declaration>) -> Self {
        Self { directives: declaration.map_or_else(undeclared, declared) }
    }

    /// Builds the policy of the sandbox page: its own script, and one frame that stays where it is.
    ///
    /// A frame's navigation is judged by its embedder's `frame-src`, so naming exactly the guest
    /// is what keeps a view from walking off with its data (H-26).
    pub fn sandbox_page(scripts: &[Script], guest: &Origin, pages: &[Origin]) -> Self {
        let scripts = scripts.iter().cloned().map(Value::from).collect();
        let directives = vec![
            (DefaultSrc, vec![]),
            (ScriptSrc, scripts),
            (FrameSrc, vec![guest.clone().into()]),
            (ObjectSrc, vec![]),
            (BaseUri, vec![]),
            (FormAction, vec![]),
        ];
        Self { directives }.frame_ancestors(pages)
    }

    /// Builds the policy of the sandbox page in raw mode, which its inner document inherits.
    ///
    /// It is the most any document gets there; the one that arrives by message is tightened by a
    /// `<meta>` of its own ([`Csp::to_meta`]) and cannot be loosened by it (P-14, P-19). Inline
    /// scripts must run, so neither a nonce nor a hash may stand here: either would switch them off.
    pub fn raw_page(ceiling: &Ceiling, pages: &[Origin]) -> Self {
        let directives = match ceiling {
            Ceiling::Listed(declaration) => declared(declaration),
            Ceiling::AnyTls => form_b([
                vec![Https.into(), Wss.into()],
                vec![Https.into()],
                vec![Https.into()],
                vec![],
            ]),
        };
        Self { directives }.frame_ancestors(pages)
    }

    /// Names who may frame the document: every ancestor, since every one is checked. No page may, if it is empty.
    ///
    /// Chromium ignores an IPv6 address here as in every list, so a page served from one cannot
    /// frame anything.
    pub fn frame_ancestors(mut self, origins: &[Origin]) -> Self {
        self.directives.retain(|(directive, _)| *directive != FrameAncestors);
        let values = origins.iter().cloned().map(Value::from).collect();
        self.directives.push((FrameAncestors, values));
        self
    }

    /// Lets the host's own fonts load, through `font-src` and `style-src` only (Q5).
    pub fn fonts(mut self, origins: &[Origin]) -> Self {
        for origin in origins {
            self.add(StyleSrc, ScriptSrc, origin.clone().into());
            self.add(FontSrc, StyleSrc, origin.clone().into());
        }
        self
    }

    /// Adds what an operator or a person allows and no document can ask for.
    pub fn grant(mut self, grants: &[Grant]) -> Self {
        for grant in Grant::ALL.into_iter().filter(|grant| grants.contains(grant)) {
            let (directive, after, keyword) = grant.place();
            self.add(directive, after, keyword.into());
            if directive == ScriptSrc && matches!(keyword, Blob | Data) {
                // Spelled out: without it workers fall back to all that script-src lists.
                self.add(WorkerSrc, ScriptSrc, SelfOrigin.into());
                self.add(WorkerSrc, ScriptSrc, keyword.into());
            }
        }
        self
    }

    /// Has the browser tell this address of its own origin what it blocked: the origin, and a path of letters and digits.
    pub fn report_to(mut self, origin: &Origin, path: &str) -> Self {
        let address = format!("{origin}{path}");
        if let Some(report) = parse_report(&address) {
            self.directives.retain(|(directive, _)| *directive != ReportUri);
            self.directives.push((ReportUri, vec![report]));
        }
        self
    }

    /// Reads a header that we wrote; any other text is refused.
    pub fn parse_header(text: &str) -> Result<Self, HeaderError> {
        let mut directives: Vec<(Directive, Values)> = Vec::new();
        for part in text.split("; ") {
            let (directive, values) = parse_directive(part)?;
            if directives.iter().any(|(known, _)| *known == directive) {
                return Err(HeaderError::Twice(directive.name()));
            }
            directives.push((directive, values));
        }
        Ok(Self { directives })
    }

    /// Prints the policy for `<meta http-equiv>`, without `frame-ancestors` and `report-uri`, which are ignored there.
    ///
    /// The text holds no double quote, ampersand or angle bracket: it fits between double quotes.
    pub fn to_meta(&self) -> String {
        let counts = |directive| !matches!(directive, FrameAncestors | ReportUri);
        let directives = self.directives.iter().filter(|(directive, _)| counts(*directive));
        join(directives, "; ", |(directive, values)| print_directive(*directive, values))
    }

    /// Lists the directives: name, and values as printed.
    pub fn directives(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.directives.iter().map(|(directive, values)| (directive.name(), print_values(values)))
    }

    /// Adds a value to a directive, which is put behind `after` where it was missing.
    fn add(&mut self, directive: Directive, after: Directive, value: Value) {
        let at = match self.position(directive) {
            Some(at) => at,
            None => {
                let at = self.position(after).map_or(0, |at| at + 1);
                self.directives.insert(at, (directive, vec![]));
                at
            }
        };
        let values = &mut self.directives[at].1;
        if !values.contains(&value) {
            // The host's fonts come last, whoever was first.
            let is_last = |known: &Value| directive == FontSrc && matches!(known, Value::Source(_));
            let is_keyword = matches!(value, Value::Keyword(_));
            let at = values.iter().position(is_last).filter(|_| is_keyword);
            values.insert(at.unwrap_or(values.len()), value);
        }
    }

    fn position(&self, wanted: Directive) -> Option<usize> {
        self.directives.iter().position(|(directive, _)| *directive == wanted)
    }
}

impl fmt::Display for Csp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&join(&self.directives, "; ", |(directive, values)| {
            print_directive(*directive, values)
        }))
    }
}

/// The most a document in raw mode may be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ceiling {
    /// Nothing but these domains.
    Listed(Declaration),
    /// Any public host, as long as the connection is encrypted. The header names schemes alone and would let
    /// private hosts through; the page that writes the `<meta>` leaves those out.
    AnyTls,
}

impl Ceiling {
    /// What of this machine and its networks the operator lists, printed as sources.
    pub fn private(&self) -> Vec<String> {
        let Self::Listed(declaration) = self else { return vec![] };
        let all = List::ALL.into_iter().flat_map(|list| declaration.list(list));
        let mut private: Vec<String> =
            all.filter(|source| source.reach().is_private()).map(Source::to_string).collect();
        private.sort();
        private.dedup();
        private
    }
}

/// Why a text is not a header of ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// A directive that we do not write.
    #[error("unknown directive {0}")]
    Directive(Quoted),
    /// A directive that came before; a browser would ignore the second.
    #[error("{0} twice")]
    Twice(&'static str),
    /// A value that we do not write.
    #[error("unknown value {0}")]
    Value(Quoted),
}

/// The values of one directive; none of them means `'none'`.
type Values = Vec<Value>;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Keyword(Keyword),
    Token(Token),
    Source(Source),
    /// An origin with a path, where reports go.
    Address(Origin, String),
}

impl Value {
    fn parse(text: &str) -> Option<Self> {
        if let Some(keyword) = Keyword::ALL.into_iter().find(|keyword| keyword.name() == text) {
            return Some(Self::Keyword(keyword));
        }
        if let Some(token) = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
            return Token::parse(token).ok().map(Self::Token);
        }
        Source::parse(text).ok().map(Self::Source)
    }
}

impl From<Keyword> for Value {
    fn from(keyword: Keyword) -> Self {
        Self::Keyword(keyword)
    }
}

impl From<Origin> for Value {
    fn from(origin: Origin) -> Self {
        Self::Source(origin.into())
    }
}

impl From<Script> for Value {
    fn from(script: Script) -> Self {
        match script {
            Script::Own => Self::Keyword(SelfOrigin),
            Script::Token(token) => Self::Token(token),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keyword(keyword) => f.write_str(keyword.name()),
            Self::Token(token) => write!(f, "'{token}'"),
            Self::Source(source) => source.fmt(f),
            Self::Address(origin, path) => write!(f, "{origin}{path}"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keyword {
    SelfOrigin,
    UnsafeInline,
    UnsafeEval,
    WasmUnsafeEval,
    Blob,
    Data,
    Https,
    Wss,
}

impl Keyword {
    const ALL: [Self; 8] =
        [SelfOrigin, UnsafeInline, UnsafeEval, WasmUnsafeEval, Blob, Data, Https, Wss];

    fn name(self) -> &'static str {
        match self {
            SelfOrigin => "'self'",
            UnsafeInline => "'unsafe-inline'",
            UnsafeEval => "'unsafe-eval'",
            WasmUnsafeEval => "'wasm-unsafe-eval'",
            Blob => "blob:",
            Data => "data:",
            Https => "https:",
            Wss => "wss:",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Directive {
    DefaultSrc,
    ScriptSrc,
    WorkerSrc,
    StyleSrc,
    ConnectSrc,
    ImgSrc,
    FontSrc,
    MediaSrc,
    FrameSrc,
    ObjectSrc,
    BaseUri,
    FormAction,
    FrameAncestors,
    ReportUri,
}

impl Directive {
    #[rustfmt::skip]
    const ALL: [Self; 14] = [
        DefaultSrc, ScriptSrc, WorkerSrc, StyleSrc, ConnectSrc, ImgSrc, FontSrc, MediaSrc, FrameSrc,
        ObjectSrc, BaseUri, FormAction, FrameAncestors, ReportUri,
    ];

    fn name(self) -> &'static str {
        match self {
            DefaultSrc => "default-src",
            ScriptSrc => "script-src",
            WorkerSrc => "worker-src",
            StyleSrc => "style-src",
            ConnectSrc => "connect-src",
            ImgSrc => "img-src",
            FontSrc => "font-src",
            MediaSrc => "media-src",
            FrameSrc => "frame-src",
            ObjectSrc => "object-src",
            BaseUri => "base-uri",
            FormAction => "form-action",
            FrameAncestors => "frame-ancestors",
            ReportUri => "report-uri",
        }
    }
}

/// Form A of docs/reference/mcp-apps.md §3.7: no declaration at all. Fonts fall to `default-src`.
fn undeclared() -> Vec<(Directive, Values)> {
    let inline = [SelfOrigin, UnsafeInline].map(Value::from);
    let images = [SelfOrigin, Data].map(Value::from);
    vec![
        (DefaultSrc, vec![]),
        (ScriptSrc, inline.to_vec()),
        (StyleSrc, inline.to_vec()),
        (ImgSrc, images.to_vec()),
        (MediaSrc, images.to_vec()),
        (ObjectSrc, vec![]),
        (ConnectSrc, vec![]),
        (FrameSrc, vec![]),
        (BaseUri, vec![SelfOrigin.into()]),
        (FormAction, vec![]),
    ]
}

/// Form B of docs/reference/mcp-apps.md §3.7: a declaration, be it empty.
fn declared(declaration: &Declaration) -> Vec<(Directive, Values)> {
    form_b(
        List::ALL.map(|list| declaration.list(list).iter().cloned().map(Value::Source).collect()),
    )
}

fn form_b([connect, resource, frame, base_uri]: [Values; 4]) -> Vec<(Directive, Values)> {
    let with = |keywords: &[Keyword], values: &Values| -> Values {
        keywords.iter().copied().map(Value::from).chain(values.iter().cloned()).collect()
    };
    let base_uri = if base_uri.is_empty() { vec![SelfOrigin.into()] } else { base_uri };
    vec![
        (DefaultSrc, vec![]),
        (ScriptSrc, with(&[SelfOrigin, UnsafeInline], &resource)),
        (StyleSrc, with(&[SelfOrigin, UnsafeInline], &resource)),
        (ConnectSrc, with(&[SelfOrigin], &connect)),
        (ImgSrc, with(&[SelfOrigin, Data], &resource)),
        (FontSrc, with(&[SelfOrigin], &resource)),
        (MediaSrc, with(&[SelfOrigin, Data], &resource)),
        (FrameSrc, frame),
        (ObjectSrc, vec![]),
        (BaseUri, base_uri),
        // Without it a form could post anywhere: form-action does not fall back to default-src.
        (FormAction, vec![]),
    ]
}

fn print_directive(directive: Directive, values: &[Value]) -> String {
    format!("{} {}", directive.name(), print_values(values))
}

fn print_values(values: &[Value]) -> String {
    if values.is_empty() {
        return NONE.to_owned();
    }
    join(values, " ", Value::to_string)
}

fn join<T>(items: impl IntoIterator<Item = T>, by: &str, print: impl Fn(T) -> String) -> String {
    items.into_iter().map(print).collect::<Vec<_>>().join(by)
}

fn parse_directive(text: &str) -> Result<(Directive, Values), HeaderError> {
    let (name, values) = text.split_once(' ').unwrap_or((text, ""));
    let directive = Directive::ALL.into_iter().find(|directive| directive.name() == name);
    let directive = directive.ok_or_else(|| HeaderError::Directive(Quoted::new(name)))?;
    if values == NONE {
        return Ok((directive, vec![]));
    }
    let parse = |text| match directive {
        ReportUri => parse_report(text),
        _ => Value::parse(text),
    };
    let parse = |text| parse(text).ok_or_else(|| HeaderError::Value(Quoted::new(text)));
    Ok((directive, values.split(' ').map(parse).collect::<Result<_, _>>()?))
}

/// An origin with a path of one label, or of none.
fn parse_report(text: &str) -> Option<Value> {
    let (origin, label) = text.rsplit_once('/')?;
    let plain = label.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let origin = Origin::parse(origin).ok().filter(|_| plain)?;
    Some(Value::Address(origin, format!("/{label}")))
}

const NONE: &str = "'none'";
