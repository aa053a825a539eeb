//! Scripts: what they import, and how one is written into a document.
//!
//! Both need to know what is code and what is only text in it, so a script is cut into tokens. Whether a
//! slash divides or begins a regular expression cannot be told without a grammar; the word before it tells
//! nearly always.

use std::borrow::Cow;

/// Another module that a script names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Import<'a> {
    /// By a declaration: without it the script does not begin.
    Declared(&'a str),
    /// By `import(…)`, when the script gets there.
    Called(&'a str),
}

/// Every module that a script imports by a literal name.
pub(super) fn imports<'a>(script: &'a str) -> Vec<Import<'a>> {
    let is_code = |token: &Token<'_>| !matches!(token.kind, Kind::Space | Kind::Comment);
    let code: Vec<Token<'a>> = Tokens::new(script).filter(is_code).collect();
    let at = |n: Option<usize>| n.and_then(|n| code.get(n)).map_or("", |token| token.text);
    let name = |(n, token): (usize, &Token<'a>)| {
        let quoted = |quote| token.text.strip_prefix(quote)?.strip_suffix(quote);
        let name = quoted('"').or_else(|| quoted('\''))?;
        // `x.import` and `x.from` are names of the script's own.
        let own = |back: usize| at(n.checked_sub(back)) == ".";
        match (at(n.checked_sub(1)), at(n.checked_sub(2))) {
            ("import" | "from", _) if !own(2) => Some(Import::Declared(name)),
            ("(", "import") if !own(3) => Some(Import::Called(name)),
            _ => None,
        }
    };
    code.iter().enumerate().filter_map(name).collect()
}

/// Whether a text stands in a script as a text, and not only in what is said about it.
pub(super) fn mentions(script: &str, text: &str) -> bool {
    Tokens::new(script).any(|token| token.kind == Kind::Text && token.text.contains(text))
}

/// A script as it can stand between `<script>` and `</script>`, where a parser of HTML looks for three
/// words whatever they mean to the script.
pub(super) fn embeddable(script: &str) -> Cow<'_, str> {
    if !script.match_indices('<').any(|(at, _)| is_danger(&script[at..])) {
        return Cow::Borrowed(script);
    }
    let mut written = String::with_capacity(script.len() + 64);
    let mut rest = script;
    for token in Tokens::new(script) {
        // The comment of old ends with its line, as one of today does.
        let old = token.text.starts_with("<!--");
        let skipped = if old { "<!--".len() } else { 0 };
        if old {
            written.push_str("//");
        }
        for (at, c) in token.text.char_indices().skip(skipped) {
            // A word of HTML may span tokens of the script.
            if c != '<' || !is_danger(&rest[at..]) {
                written.push(c);
                continue;
            }
            match token.kind {
                Kind::Text => {
                    let escapes = token.text[..at].bytes().rev().take_while(|b| *b == b'\\');
                    let escaped = escapes.count() % 2 == 1;
                    written.push_str(if escaped { "x3c" } else { "\\x3c" });
                }
                _ => written.push_str("< "),
            }
        }
        rest = &rest[token.text.len()..];
    }
    Cow::Owned(written)
}

fn is_danger(text: &str) -> bool {
    ["<!--", "<script", "</script"].iter().any(|word| starts_with(text, word))
}

/// Whether a text starts with a word, in whatever case.
pub(super) fn starts_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|front| front.eq_ignore_ascii_case(word))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Space,
    Comment,
    /// A string, a piece of a template, or a regular expression.
    Text,
    /// A name, a keyword or a number.
    Word,
    /// One character of any other kind.
    Mark,
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
}

/// A script, token by token. Together they are the whole of it.
struct Tokens<'a> {
    rest: &'a str,
    /// The last one that is code.
    last: Option<Token<'a>>,
    /// Whether that one and the one before are one operator, `++` or `--`.
    doubled: bool,
    /// What is open. Of a parenthesis: whether a condition stands in it. Of a brace: whether a template goes
    /// on behind it.
    open: Vec<bool>,
    /// Whether the parenthesis that was closed last had a condition in it.
    condition: bool,
}

impl<'a> Tokens<'a> {
    fn new(script: &'a str) -> Self {
        Self { rest: script, last: None, doubled: false, open: vec![], condition: false }
    }

    /// What kind of token stands at the front, and its length.
    fn front(&mut self) -> (Kind, usize) {
        let text = self.rest;
        let first = text.chars().next().unwrap_or(' ');
        let whole = |end: Option<usize>| end.unwrap_or(text.len());
        if first.is_whitespace() || first == '\u{feff}' {
            let end = text.find(|c: char| !c.is_whitespace() && c != '\u{feff}');
            return (Kind::Space, whole(end));
        }
        if let Some(rest) = text.strip_prefix("/*") {
            return (Kind::Comment, whole(rest.find("*/").map(|end| end + 4)));
        }
        if text.starts_with("//")
            || text.starts_with("<!--")
            || text.starts_with("#!") && self.last.is_none()
        {
            return (Kind::Comment, whole(text.find(is_newline)));
        }
        match first {
            '"' | '\'' => (Kind::Text, string(text, first)),
            '`' => (Kind::Text, self.template(1)),
            '}' if self.open.pop() == Some(true) => (Kind::Text, self.template(1)),
            '/' if self.expects_value() => (Kind::Text, regex(text)),
            c if is_name(c) => (Kind::Word, whole(text.find(|c| !is_name(c)))),
            c => {
                self.mark(c);
                (Kind::Mark, c.len_utf8())
            }
        }
    }

    fn mark(&mut self, mark: char) {
        match mark {
            '(' => {
                let before = self.last.map_or("", |token| token.text);
                self.open.push(matches!(before, "if" | "while" | "for" | "with"));
            }
            '{' => self.open.push(false),
            ')' => self.condition = self.open.pop().unwrap_or(false),
            _ => {}
        }
    }

    /// The length of a template up to its end or to the next `${`.
    fn template(&mut self, from: usize) -> usize {
        let bytes = self.rest.as_bytes();
        let mut at = from;
        while at < bytes.len() {
            match bytes[at] {
                b'\\' => at += 1,
                b'`' => return at + 1,
                b'$' if bytes.get(at + 1) == Some(&b'{') => {
                    self.open.push(true);
                    return at + 2;
                }
                _ => {}
            }
            at += 1;
        }
        bytes.len()
    }

    /// Whether a value comes next, so that a slash begins a regular expression.
    fn expects_value(&self) -> bool {
        let Some(last) = self.last else { return true };
        match (last.kind, last.text) {
            (Kind::Word, word) => BEFORE_VALUES.contains(&word),
            (Kind::Mark, ")") => self.condition,
            (Kind::Mark, "]") => false,
            (Kind::Mark, _) => !self.doubled,
            // The piece of a template in front of a value ends with `${`.
            (_, text) => text.ends_with("${") && text.starts_with(['`', '}']),
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let (kind, length) = self.front();
        // A backslash at the very end can point behind it, and one before a wide character into it.
        let length = self.rest.ceil_char_boundary(length.min(self.rest.len()));
        let (text, rest) = self.rest.split_at(length);
        let token = Token { kind, text };
        self.rest = rest;
        if !matches!(kind, Kind::Space | Kind::Comment) {
            let twice =
                matches!(text, "+" | "-") && self.last.is_some_and(|last| last.text == text);
            self.doubled = twice && !self.doubled;
            self.last = Some(token);
        }
        Some(token)
    }
}

/// The length of a string; it ends with its line if nothing else ends it.
fn string(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            '\n' => return at,
            _ => {}
        }
    }
    text.len()
}

/// The length of a regular expression; a slash within brackets is one of its characters.
fn regex(text: &str) -> usize {
    let (mut escaped, mut class) = (false, false);
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return 1,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '/' if !class => return at + 1,
            _ => {}
        }
    }
    1
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '#' | '\u{200c}' | '\u{200d}')
}

fn is_newline(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// Keywords with a value behind them.
const BEFORE_VALUES: [&str; 15] = [
    "return",
    "typeof",
    "case",
    "in",
    "of",
    "delete",
    "void",
    "throw",
    "new",
    "instanceof",
    "else",
    "do",
    "yield",
    "await",
    "default",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_is_one_only_in_code() {
        use Import::{Called, Declared};
        #[rustfmt::skip]
        let table: &[(&str, &[Import<'_>])] = &[
            ("import './a.js'",                             &[Declared("./a.js")]),
            ("import{a}from\"./a.js\";export*from'b'",      &[Declared("./a.js"), Declared("b")]),
            ("import /* here */ a from // there\n './a.js'", &[Declared("./a.js")]),
            ("const a = await import( './a.js' )",          &[Called("./a.js")]),
            ("`${await import('./a.js')}`",                 &[Called("./a.js")]),
            ("a = b / c; import './a.js' /* / */",          &[Declared("./a.js")]),
            ("if (a) /'/.test(b); import './a.js'",         &[Declared("./a.js")]),
            ("i++ / 2; import './a.js' // '",               &[Declared("./a.js")]),
            ("x = /[/']/; import './a.js'",                 &[Declared("./a.js")]),
            ("x = 'it\\'s'; import './a.js'",               &[Declared("./a.js")]),
            ("\u{feff}import './a.js'",                     &[Declared("./a.js")]),
            ("// import './a.js'",                          &[]),
            ("/* import './a.js' */",                       &[]),
            ("<!-- import './a.js'",                        &[]),
            ("x = \"import './a.js'\"",                     &[]),
            ("x = `import './a.js' ${1} from './b.js'`",    &[]),
            ("x = /import '.a'/",                           &[]),
            ("x = { import: './a.js', from: './b.js' }",    &[]),
            ("Array.from('./a'); x.import('./a')",          &[]),
            ("import.meta.url; important('./a.js')",        &[]),
            ("import('./' + name)",                         &[Called("./")]),
            ("/* never closed import './a.js'",             &[]),
            ("'never closed import\nimport './a.js'",       &[Declared("./a.js")]),
        ];
        for (script, expected) in table {
            assert_eq!(imports(script), *expected, "{script}");
        }
    }

    #[test]
    fn no_word_of_a_script_ends_it() {
        #[rustfmt::skip]
        let table = [
            ("a('</script>')",               "a('\\x3c/script>')"),
            ("a(\"</SCRIPT >\")",            "a(\"\\x3c/SCRIPT >\")"),
            ("a(`<!--<script>`)",            "a(`\\x3c!--\\x3cscript>`)"),
            ("a('\\</script>')",             "a('\\x3c/script>')"),
            ("a('\\\\</script>')",           "a('\\\\\\x3c/script>')"),
            ("a(/<script/)",                 "a(/\\x3cscript/)"),
            ("// </script>\nb()",            "// < /script>\nb()"),
            ("/* <!-- <script> */ b()",      "/* < !-- < script> */ b()"),
            ("a<script&&b",                  "a< script&&b"),
            ("a</script/.exec(b)",           "a< /script/.exec(b)"),
            ("<!-- old\nb()",                "// old\nb()"),
            ("a < b && '<b>' </b/.x",        "a < b && '<b>' </b/.x"),
        ];
        for (script, expected) in table {
            assert_eq!(embeddable(script), expected, "{script}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_script_panics_and_none_ends_early(script in "(import|from|<!--|</?script>?|[`'\"/*\\\\${}()\\[\\] \n+<é;x-]){0,16}") {
            let _ = imports(&script);
            let all: String = Tokens::new(&script).map(|token| token.text).collect();
            proptest::prop_assert_eq!(&all, &script);
            let written = embeddable(&script).to_ascii_lowercase();
            proptest::prop_assert!(!written.contains("</script"), "{}", written);
            proptest::prop_assert!(!written.contains("<script"), "{}", written);
        }
    }
}
