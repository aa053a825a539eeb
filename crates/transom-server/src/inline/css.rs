//! Style sheets: imports, images and fonts written into them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use transom::csp::List;

use super::Work;
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
            let named = written.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_'));
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
            return verbatim(text.find("*/").map_or(text.len(), |end| end + 2));
        }
        if text.starts_with(['"', '\'']) {
            return verbatim(string(text).1);
        }
        if starts_with(text, "@import") {
            return self.import(text);
        }
        if starts_with(text, "@font-face") {
            return self.font(text);
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
        let end = text.find(';').map_or(text.len(), |end| end + 1);
        let rule = text[..end].trim_end_matches(';');
        let argument = rule["@import".len()..].trim_start();
        let (address, length) =
            if starts_with(argument, "url(") { url(argument) } else { string(argument) };
        let media = argument[length..].trim();
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
        let written =
            if media.is_empty() { written } else { format!("@media {media}{{{written}}}") };
        (written, end)
    }

    fn font(&mut self, text: &str) -> (String, usize) {
        let end = text.find('}').map_or(text.len(), |end| end + 1);
        let rule = &text[..end];
        let body = rule.split_once('{').map_or("", |(_, body)| body).trim_end_matches('}');
        let mut descriptors = Map::new();
        let (mut family, mut source) = (String::new(), None);
        for declaration in declarations(body) {
            let Some((key, value)) = declaration.split_once(':') else { continue };
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "font-family" => family = value.trim_matches(['"', '\'']).to_owned(),
                "src" => source = Some(value.to_owned()),
                key => {
                    let name = key.strip_prefix("font-").unwrap_or(key);
                    let name = camel_case(if key == "font-display" { "display" } else { name });
                    descriptors.insert(name, json!(value));
                }
            }
        }
        let Some(source) = source else { return (rule.to_owned(), end) };
        let Some(at) = source.to_ascii_lowercase().find("url(") else {
            return (rule.to_owned(), end);
        };
        let (address, _) = url(&source[at..]);
        let Some(name) = self.work.local(&address, self.from, List::Resource) else {
            return (rule.to_owned(), end);
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

/// Splits declarations at semicolons that stand outside of strings and parentheses.
fn declarations(body: &str) -> Vec<&str> {
    let (mut depth, mut quote, mut start) = (0usize, None, 0);
    let mut found = Vec::new();
    for (at, c) in body.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, ';') if depth == 0 => {
                found.push(&body[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&body[start..]);
    found
}

/// The address in `url(…)` at the front of the text, and the length of the whole.
fn url(text: &str) -> (String, usize) {
    let inner = &text["url(".len()..];
    let trimmed = inner.trim_start();
    let skipped = text.len() - trimmed.len();
    let (address, used) = if trimmed.starts_with(['"', '\'']) {
        string(trimmed)
    } else {
        let end = trimmed.find(')').unwrap_or(trimmed.len());
        (trimmed[..end].trim().to_owned(), end)
    };
    let close = trimmed[used..].find(')').map_or(trimmed.len(), |close| used + close + 1);
    (address, skipped + close)
}

/// The string at the front of the text, without quotes, and its length with them.
fn string(text: &str) -> (String, usize) {
    let mut characters = text.char_indices();
    let Some((_, quote)) = characters.next().filter(|(_, c)| matches!(c, '"' | '\'')) else {
        return (String::new(), 0);
    };
    let mut value = String::new();
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => value.extend(characters.next().map(|(_, c)| c)),
            c if c == quote => return (value, at + c.len_utf8()),
            c => value.push(c),
        }
    }
    (value, text.len())
}

fn starts_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|front| front.eq_ignore_ascii_case(word))
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
