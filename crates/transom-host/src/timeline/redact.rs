//! Takes secrets out of a message before anybody reads it. Everything else stays as it travelled, to the byte.
//!
//! The rules, which `docs/trace.md` explains: a string or a number below a member whose name says that it is a secret; what an address
//! carries beside host and path, as in the audit; and words that look like a key or a token wherever they stand.

use std::borrow::Cow;

use crate::address::plain;

/// The message without its secrets, and how many there were.
pub(crate) fn redacted(text: &str) -> (Cow<'_, str>, u64) {
    let mut walk = Walk { text, from: 0, out: String::new(), stack: vec![], count: 0 };
    walk.run();
    match walk.count {
        0 => (Cow::Borrowed(text), 0),
        count => {
            walk.out.push_str(&text[walk.from..]);
            (Cow::Owned(walk.out), count)
        }
    }
}

/// One pass over the text of a message. It needs no grammar: what is no JSON is walked all the same, and its words are looked at.
struct Walk<'a> {
    text: &'a str,
    /// Up to where it is in `out`.
    from: usize,
    out: String,
    stack: Vec<Level>,
    count: u64,
}

/// One object or array that is open.
#[derive(Clone, Copy)]
struct Level {
    is_object: bool,
    /// Whether the next string is the name of a member.
    names: bool,
    /// Whether everything below is a secret.
    secret: bool,
    /// Whether its members are described, and not given: the `properties` of a schema.
    described: bool,
    /// What the last name says of its value.
    next: Next,
}

#[derive(Clone, Copy, PartialEq)]
enum Next {
    Plain,
    Secret,
    Described,
}

impl Walk<'_> {
    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        // A message that is no JSON is one text.
        if !bytes.trim_ascii_start().starts_with(b"{")
            && !bytes.trim_ascii_start().starts_with(b"[")
        {
            return self.words(0, bytes.len());
        }
        while at < bytes.len() {
            match bytes[at] {
                b'"' => at = self.string(at),
                b'{' | b'[' => {
                    self.open(bytes[at] == b'{');
                    at += 1;
                }
                b'}' | b']' => {
                    self.stack.pop();
                    at += 1;
                }
                b',' => {
                    self.next_member();
                    at += 1;
                }
                b'-' | b'0'..=b'9' => at = self.number(at),
                _ => at += 1,
            }
        }
    }

    fn open(&mut self, is_object: bool) {
        let (secret, described) = match self.stack.last() {
            None => (false, false),
            Some(Level { described: true, .. }) => (false, false),
            Some(level) => {
                (level.secret || level.next == Next::Secret, level.next == Next::Described)
            }
        };
        let described = described && is_object;
        self.stack.push(Level {
            is_object,
            names: is_object,
            secret,
            described,
            next: Next::Plain,
        });
    }

    fn next_member(&mut self) {
        if let Some(level) = self.stack.last_mut().filter(|level| level.is_object) {
            (level.names, level.next) = (true, Next::Plain);
        }
    }

    /// A string from its first quote; returns where what follows begins.
    fn string(&mut self, from: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = from + 1;
        let end = loop {
            match memchr::memchr2(b'"', b'\\', &bytes[at.min(bytes.len())..]) {
                Some(found) if bytes[at + found] == b'"' => break at + found,
                Some(found) => at += found + 2,
                // It never ends: the message was broken off.
                None => {
                    self.words(from + 1, bytes.len());
                    return bytes.len();
                }
            }
        };
        match self.stack.last_mut() {
            Some(level) if level.names => {
                level.names = false;
                level.next = next_of(&decoded(&self.text[from..=end]), level.described);
            }
            Some(level) if level.secret || (level.next == Next::Secret && !level.described) => {
                if end > from + 1 {
                    self.replace(from + 1, end, "…");
                }
            }
            _ => self.words(from + 1, end),
        }
        end + 1
    }

    fn number(&mut self, from: usize) -> usize {
        let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
        let length = self.text.as_bytes()[from..].iter().take_while(|byte| is_part(byte)).count();
        let secret =
            |level: &Level| level.secret || (level.next == Next::Secret && !level.described);
        if self.stack.last().is_some_and(secret) {
            self.replace(from, from + length, "\"…\"");
        }
        from + length
    }

    /// Looks at the words of a text, which is as it stands in JSON.
    fn words(&mut self, from: usize, to: usize) {
        let raw = &self.text[from..to];
        if !raw.contains("://")
            && !raw.contains("mailto:")
            && !TOKENS.iter().any(|it| raw.contains(it))
        {
            return;
        }
        let escaped = raw.contains('\\');
        let quoted = if escaped { format!("\"{raw}\"") } else { String::new() };
        let words = if escaped { decoded(&quoted) } else { raw.into() };
        if let Some(clean) = without_secrets(&words) {
            let quoted = serde_json::to_string(&clean).expect("a string is JSON");
            self.replace(from, to, &quoted[1..quoted.len() - 1]);
        }
    }

    fn replace(&mut self, from: usize, to: usize, with: &str) {
        self.out.push_str(&self.text[self.from..from]);
        self.out.push_str(with);
        self.from = to;
        self.count += 1;
    }
}

fn decoded(quoted: &str) -> Cow<'_, str> {
    if !quoted.contains('\\') {
        return quoted[1..quoted.len() - 1].into();
    }
    serde_json::from_str::<String>(quoted).map_or_else(|_| quoted.into(), Cow::Owned)
}

fn next_of(name: &str, described: bool) -> Next {
    match name {
        _ if described => Next::Plain,
        "properties" => Next::Described,
        _ if is_secret(name) => Next::Secret,
        _ => Next::Plain,
    }
}

/// Whether a member of this name holds a secret: by its words, so that `accessToken` is one and `progressToken` is not.
fn is_secret(name: &str) -> bool {
    if name.len() > LONGEST_NAME {
        return false;
    }
    let mut flat = String::with_capacity(name.len());
    flat.extend(name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()));
    !NOT_SECRET.contains(&flat.as_str()) && SECRET.iter().any(|word| flat.ends_with(word))
}

/// The text without addresses' queries and without tokens; nothing, if it has none.
fn without_secrets(text: &str) -> Option<String> {
    let addresses = match is_markup(text) {
        // A document is what a view runs: its addresses are part of it.
        true => None,
        false => by_words(text, &|c| c.is_whitespace() || "\"'<>()".contains(c), &|word| {
            let address = word.contains("://") || word.starts_with("mailto:");
            let clean = if address { plain(word) } else { word.to_owned() };
            (clean != word).then_some(clean)
        }),
    };
    let tokens = {
        let text = addresses.as_deref().unwrap_or(text);
        without_tokens(text)
    };
    tokens.or(addresses)
}

fn without_tokens(text: &str) -> Option<String> {
    let scheme = std::cell::Cell::new(false);
    let by_scheme = |word: &str| {
        scheme.replace(["bearer", "basic"].contains(&word.to_ascii_lowercase().as_str()))
    };
    by_words(text, &|c: char| !(c.is_ascii_alphanumeric() || "-_.+/=".contains(c)), &|word| {
        let announced = by_scheme(word);
        if announced && word.len() >= SHORTEST_ANNOUNCED {
            return Some("…".to_owned());
        }
        let token =
            TOKENS.iter().find(|it| word.starts_with(*it) && word.len() >= it.len() + SHORTEST)?;
        let jwt = *token == "eyJ" && word.matches('.').count() != 2;
        (!jwt).then(|| format!("{token}…"))
    })
}

/// The text with some words replaced; nothing, if none was.
fn by_words(
    text: &str,
    between: &dyn Fn(char) -> bool,
    replace: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let (mut out, mut from) = (String::new(), 0);
    let mut at = 0;
    for word in text.split(between) {
        if let Some(other) = replace(word) {
            out.push_str(&text[from..at]);
            out.push_str(&other);
            from = at + word.len();
        }
        at += word.len() + text[at + word.len()..].chars().next().map_or(0, char::len_utf8);
    }
    (from > 0).then(|| out + &text[from..])
}

/// Whether a text is a document and not prose.
fn is_markup(text: &str) -> bool {
    let head = text.trim_start();
    let begins =
        |with: &str| head.get(..with.len()).is_some_and(|it| it.eq_ignore_ascii_case(with));
    begins("<!doctype") || begins("<html") || begins("<!--") || begins("<script") || begins("<svg")
}

/// How the names of secrets end.
const SECRET: [&str; 17] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "authorization",
    "credential",
    "credentials",
    "privatekey",
    "accesskey",
    "secretkey",
    "cookie",
    "cookies",
    "sessionid",
    "pin",
    "otp",
];
/// What ends so and is none: numbers that the protocol gives, and words for other things.
const NOT_SECRET: [&str; 6] =
    ["progresstoken", "nexttoken", "maxtoken", "pagetoken", "pushpin", "spin"];
/// How tokens begin that are known by it.
const TOKENS: [&str; 15] = [
    "sk-",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
    "eyJ",
    "npm_",
    "Bearer",
    "Basic",
];
const SHORTEST: usize = 12;
const SHORTEST_ANNOUNCED: usize = 8;
const LONGEST_NAME: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_and_nothing_else_is_touched() {
        #[rustfmt::skip]
        let table = [
            (r#"{"a": 1e3,  "b":[1 , 2]}"#,                      r#"{"a": 1e3,  "b":[1 , 2]}"#),
            (r#"{"password":"hush","user":"me"}"#,               r#"{"password":"…","user":"me"}"#),
            (r#"{"api_key":"hush","API-Key":"hush"}"#,           r#"{"api_key":"…","API-Key":"…"}"#),
            (r#"{"accessToken":"hush","progressToken":"mine"}"#, r#"{"accessToken":"…","progressToken":"mine"}"#),
            (r#"{"_meta":{"progressToken":7},"token":7}"#,       r#"{"_meta":{"progressToken":7},"token":"…"}"#),
            (r#"{"pass\u0077ord":"hush"}"#,                      r#"{"pass\u0077ord":"…"}"#),
            (r#"{"secret":{"a":["hush",7,true]},"b":"c"}"#,      r#"{"secret":{"a":["…","…",true]},"b":"c"}"#),
            (r#"{"cookies":["a","b"],"x":"y"}"#,                 r#"{"cookies":["…","…"],"x":"y"}"#),
            (r#"{"properties":{"token":{"type":"string"}}}"#,    r#"{"properties":{"token":{"type":"string"}}}"#),
            (r#"{"url":"https://me:hush@a.test/b?k=hush"}"#,     r#"{"url":"https://…@a.test/b?…"}"#),
            (r#"{"text":"go to https://a.test/b?k=hush now"}"#,  r#"{"text":"go to https://a.test/b?… now"}"#),
            (r#"{"text":"a\nhttps://a.test/?hush\nb"}"#,         r#"{"text":"a\nhttps://a.test/?…\nb"}"#),
            (r#"{"h":"Bearer abcdefgh1234"}"#,                   r#"{"h":"Bearer …"}"#),
            (r#"{"t":"use ghp_abcdefghijklmnop please"}"#,       r#"{"t":"use ghp_… please"}"#),
            (r#"{"t":"eyJhbGciOiJIUzI1.eyJzdWIiOiIx.sflKxwRJ"}"#, r#"{"t":"eyJ…"}"#),
            (r#"{"t":"<!doctype html><a href='https://a.test/?x=1'>"}"#, r#"{"t":"<!doctype html><a href='https://a.test/?x=1'>"}"#),
            (r#"{"text":"broken off https://a.test/?hush"#,      r#"{"text":"broken off https://a.test/?…"#),
            ("listening with Bearer abcdefgh1234",               "listening with Bearer …"),
            (r#"[{"token":"hush"},"a"]"#,                        r#"[{"token":"…"},"a"]"#),
            (r#"{"token":""}"#,                                  r#"{"token":""}"#),
            ("",                                                 ""),
            ("]]}}\"",                                           "]]}}\""),
        ];
        for (text, expected) in table {
            let (clean, count) = redacted(text);
            assert_eq!(clean, expected, "{text}");
            assert_eq!(count > 0, text != expected, "{text}");
            assert_eq!(redacted(&clean).0, clean, "twice is once: {text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_walked_to_its_end(text in ".{0,200}") {
            let (clean, count) = redacted(&text);
            proptest::prop_assert!(count > 0 || clean == text);
        }

        #[test]
        fn what_was_json_is_json(key in "[a-z_]{1,12}", value in ".{0,60}", token in ".{0,30}") {
            let text = serde_json::json!({ key: value, "token": token, "n": [1, "https://a.test/?x"] }).to_string();
            let (clean, _) = redacted(&text);
            proptest::prop_assert!(serde_json::from_str::<serde_json::Value>(&clean).is_ok());
            let kept = format!("\"token\":{}", serde_json::json!(token));
            proptest::prop_assert!(token.is_empty() || token == "…" || !clean.contains(&kept));
        }
    }
}
