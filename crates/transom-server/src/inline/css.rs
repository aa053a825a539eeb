//! Style sheets: imports, images and fonts written into them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use transom::csp::List;

use super::Work;
use super::script::starts_with;
use crate::source::SourceError;

/// A font of the folder, to be handed to the page as bytes.
///
/// The policy that hosts must apply has no `data:` for fonts, so one cannot be an address in the sheet;
/// a `FontFace` made of bytes is not loaded from anywhere and needs no permission.
pub(super) struct Font {
    family: String,
    bytes: String,
    descriptors: Map<String, Value>,
}

/// Writes into a sheet what it refers to. `None` if there is nothing to write.
pub(super) fn inline(sheet: &str, from: &str, work: &mut Work<'_>) -> Option<String> {
    let written = Sheet { from, depth: 0, work }.write(sheet);
    (written != sheet).then_some(written)
}

/// The script that gives the page its fonts.
pub(super) fn font_script(fonts: &[Font]) -> String {
    let list: Vec<_> =
        fonts.iter().map(|font| json!([font.family, font.bytes, font.descriptors])).collect();
    let list = Value::Array(list).to_string().replace('<', "\\u003c");
    format!(
        "<script>for(const[f,b,d]of {list})document.fonts.add(new FontFace(f,\
         Uint8Array.from(atob(b),c=>c.charCodeAt(0)),d))</script>"
    )
}

struct Sheet<'s, 'w, 'a> {
    from: &'s str,
    depth: usize,
    work: &'w mut Work<'a>,
}

impl Sheet<'_, '_, '_> {
    fn write(&mut self, sheet: &str) -> String {
        let mut written = String::with_capacity(sheet.len());
        let mut rest = sheet;
        while let Some(at) = rest.find(['/', '"', '\'', '@', 'u', 'U']) {
            written.push_str(&rest[..at]);
            let named = written.ends_with(is_name);
            rest = &rest[at..];
            let (text, length) = self.token(rest, named);
            written.push_str(&text);
            rest = &rest[length..];
        }
        written.push_str(rest);
        written
    }

    /// What stands at the front of the text, as it is to be written, and how much of the text it was.
    fn token(&mut self, text: &str, named: bool) -> (String, usize) {
        let verbatim = |length: usize| (text[..length].to_owned(), length);
        if text.starts_with("/*") {
            return verbatim(comment(text));
        }
        if text.starts_with(['"', '\'']) {
            return verbatim(string(text).1);
        }
        if is_rule(text, "@import") {
            return self.import(text);
        }
        if is_rule(text, "@font-face") {
            return self.font(text);
        }
        if is_rule(text, "@namespace") {
            // Its address is a name; nothing is loaded from it.
            return verbatim(rule(text));
        }
        if starts_with(text, "url(") && !named {
            let (address, length) = url(text);
            return match self.work.data_uri(&address, self.from) {
                Some(data) => (format!("url({data})"), length),
                None => verbatim(length),
            };
        }
        verbatim(text.chars().next().map_or(0, char::len_utf8))
    }

    fn import(&mut self, text: &str) -> (String, usize) {
        let end = rule(text);
        let argument = text["@import".len()..end].trim_end_matches(';').trim_start();
        let (address, length) =
            if starts_with(argument, "url(") { url(argument) } else { string(argument) };
        let conditions = argument[length..].trim();
        let Some(name) = self.work.local(&address, self.from, List::Resource) else {
            return (text[..end].to_owned(), end);
        };
        if self.depth == MAX_DEPTH {
            self.work.refuse(format!("{name} is imported in a circle, or too deep"));
            return (String::new(), end);
        }
        let Some(sheet) = self.work.read(&name) else { return (String::new(), end) };
        let mut inner = Sheet { from: &name, depth: self.depth + 1, work: self.work };
        let written = inner.write(&sheet);
        (under(conditions, written), end)
    }

    fn font(&mut self, text: &str) -> (String, usize) {
        let end = block(text);
        let face = &text[..end];
        let body = face.split_once('{').map_or("", |(_, body)| body).trim_end_matches('}');
        let body = without_comments(body);
        let mut descriptors = Map::new();
        let (mut family, mut source) = (String::new(), String::new());
        for declaration in split(&body, ';') {
            let Some((key, value)) = declaration.split_once(':') else { continue };
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "font-family" if value.starts_with(['"', '\'']) => family = string(value).0,
                "font-family" => family = value.to_owned(),
                // The last one counts: those before it are for browsers of old.
                "src" => source = value.to_owned(),
                key => {
                    let name = camel_case(key.strip_prefix("font-").unwrap_or(key));
                    descriptors.insert(name, json!(value));
                }
            }
        }
        let mut addresses = split(&source, ',').into_iter().filter_map(font_address);
        let Some(address) = addresses.next() else { return (face.to_owned(), end) };
        let Some(name) = self.work.local(&address, self.from, List::Resource) else {
            return (face.to_owned(), end);
        };
        match self.work.files.map(|files| files.bytes(&name)) {
            Some(Ok(bytes)) => {
                let bytes = STANDARD.encode(bytes);
                self.work.fonts.push(Font { family, bytes, descriptors });
            }
            Some(Err(error)) => self.unread(&name, &error),
            None => {}
        }
        (String::new(), end)
    }

    fn unread(&mut self, name: &str, error: &SourceError) {
        self.work.unread(name, error);
    }
}

/// A sheet under the conditions of its import, in their order: a layer, what must be supported, media.
fn under(conditions: &str, sheet: String) -> String {
    let mut rest = conditions;
    let (mut opened, mut closed) = (String::new(), String::new());
    let mut open = |rule: &str, words: &str| {
        opened.push_str(&format!("@{rule} {words}{{"));
        closed.push('}');
    };
    if starts_with(rest, "layer(") {
        let length = parenthesis(rest);
        open("layer", inside(&rest[..length]));
        rest = rest[length..].trim_start();
    } else if starts_with(rest, "layer") && !rest["layer".len()..].starts_with(is_name) {
        open("layer", "");
        rest = rest["layer".len()..].trim_start();
    }
    if starts_with(rest, "supports(") {
        let length = parenthesis(rest);
        let words = inside(&rest[..length]);
        // A declaration alone gets parentheses; a condition has them.
        let alone = words.find([':', '(']).is_some_and(|at| words[at..].starts_with(':'));
        open("supports", &if alone { format!("({words})") } else { words.to_owned() });
        rest = rest[length..].trim_start();
    }
    if !rest.is_empty() {
        open("media", rest);
    }
    opened + &sheet + &closed
}

/// What stands between the parentheses behind a name.
fn inside(text: &str) -> &str {
    let inside = text.split_once('(').map_or("", |(_, inside)| inside);
    inside.strip_suffix(')').unwrap_or(inside).trim()
}

/// The address of one source of a font, unless browsers of today cannot read its format.
fn font_address(source: &str) -> Option<String> {
    let source = source.trim();
    if !starts_with(source, "url(") {
        return None;
    }
    let (address, length) = url(source);
    let format = source[length..].to_ascii_lowercase();
    let path = address.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let old = format.contains("embedded-opentype") || format.contains("svg");
    let old = old || path.ends_with(".eot") || path.ends_with(".svg");
    (!old).then_some(address)
}

/// The length of a rule without a block: up to its semicolon.
fn rule(text: &str) -> usize {
    walk(text, |c, depth| depth == 0 && c == ';')
}

/// The length of a rule with a block.
fn block(text: &str) -> usize {
    walk(text, |c, _| c == '}')
}

/// The length of a name with its parentheses.
fn parenthesis(text: &str) -> usize {
    walk(text, |c, depth| depth == 0 && c == ')')
}

/// How long a text is up to the first character that ends it and stands in no string, comment or address.
fn walk(text: &str, ends: impl Fn(char, usize) -> bool) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if c == ')' {
            depth = depth.saturating_sub(1);
        }
        if ends(c, depth) {
            return at + c.len_utf8();
        }
        at += match c {
            '"' | '\'' => string(rest).1,
            '/' if rest.starts_with("/*") => comment(rest),
            'u' | 'U' if starts_with(rest, "url(") => url(rest).1,
            '\\' => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            '(' => {
                depth += 1;
                1
            }
            c => c.len_utf8(),
        };
    }
    text.len()
}

/// Splits a text where a character stands outside of strings, comments, addresses and parentheses.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = walk(rest, |c, depth| depth == 0 && c == separator);
        found.push(rest[..end].strip_suffix(separator).unwrap_or(&rest[..end]));
        rest = &rest[end..];
    }
    found
}

fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"', '\'']) {
        let token = &rest[at..];
        kept.push_str(&rest[..at]);
        let length = match token.as_bytes() {
            [b'/', b'*', ..] => comment(token),
            [b'/', ..] => {
                kept.push('/');
                1
            }
            _ => {
                let length = string(token).1;
                kept.push_str(&token[..length]);
                length
            }
        };
        rest = &token[length..];
    }
    kept + rest
}

/// The length of the comment at the front of the text.
fn comment(text: &str) -> usize {
    text[2..].find("*/").map_or(text.len(), |end| end + 4)
}

/// The address in `url(…)` at the front of the text, and the length of the whole.
fn url(text: &str) -> (String, usize) {
    let inner = &text["url(".len()..];
    let trimmed = inner.trim_start();
    let skipped = text.len() - trimmed.len();
    let (address, used) = if trimmed.starts_with(['"', '\'']) {
        string(trimmed)
    } else {
        unescape(trimmed, |c| c == ')')
    };
    let close = trimmed[used..].find(')').map_or(trimmed.len(), |close| used + close + 1);
    (address.trim().to_owned(), skipped + close)
}

/// The string at the front of the text, without quotes, and its length with them.
fn string(text: &str) -> (String, usize) {
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return (String::new(), 0);
    };
    // One that is not closed ends with its line.
    let (value, length) = unescape(&text[1..], |c| c == quote || c == '\n');
    let closed = text[1 + length..].starts_with(quote);
    (value, 1 + length + usize::from(closed))
}

/// A text up to the character that ends it, with its escapes read, and its length without that character.
fn unescape(text: &str, ends: impl Fn(char) -> bool) -> (String, usize) {
    let mut value = String::new();
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        if ends(c) {
            return (value, at);
        }
        if c != '\\' {
            value.push(c);
            continue;
        }
        let mut number = String::new();
        while let Some((_, digit)) =
            characters.next_if(|(_, c)| c.is_ascii_hexdigit() && number.len() < MAX_DIGITS)
        {
            number.push(digit);
        }
        if number.is_empty() {
            // A line that goes on on the next one, or any other character as itself.
            value.extend(characters.next().map(|(_, c)| c).filter(|c| *c != '\n'));
            continue;
        }
        let number = u32::from_str_radix(&number, 16).ok().and_then(char::from_u32);
        value.push(number.filter(|c| *c != '\0').unwrap_or('\u{fffd}'));
        characters.next_if(|(_, c)| c.is_ascii_whitespace());
    }
    (value, text.len())
}

fn is_rule(text: &str, name: &str) -> bool {
    starts_with(text, name) && !text[name.len()..].starts_with(is_name)
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_')
}

fn camel_case(kebab: &str) -> String {
    let mut parts = kebab.split('-');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        let mut letters = part.chars();
        let initial = letters.next().map(|c| c.to_ascii_uppercase());
        name + &initial.into_iter().chain(letters).collect::<String>()
    })
}

const MAX_DEPTH: usize = 8;
/// Of the number of a character, as CSS says.
const MAX_DIGITS: usize = 6;
