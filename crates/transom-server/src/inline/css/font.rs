//! Fonts of the folder, handed to the page as bytes.

use cssparser::Token;
use serde_json::{Map, Value, json};

use super::tokens::{Tokens, split, without_comments};

/// A font of the folder, to be handed to the page as bytes.
///
/// The policy that hosts must apply has no `data:` for fonts, so one cannot be an address in the sheet;
/// a `FontFace` made of bytes is not loaded from anywhere and needs no permission.
pub(in crate::inline) struct Font {
    pub(super) face: Face,
    /// In base64.
    pub(super) bytes: String,
}

/// What an `@font-face` says.
#[derive(Debug, Default)]
pub(super) struct Face {
    family: String,
    descriptors: Map<String, Value>,
    /// The source that browsers of today can read.
    pub(super) address: Option<String>,
}

impl Face {
    /// Reads the declarations between the braces.
    pub(super) fn read(body: &str) -> Self {
        let body = without_comments(body);
        let mut face = Self::default();
        for declaration in split(&body, &Token::Semicolon) {
            let Some((key, value)) = declaration.split_once(':') else { continue };
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "font-family" => face.family = family(value),
                // The last one counts: those before it are for browsers of old.
                "src" => face.address = split(value, &Token::Comma).into_iter().find_map(address),
                key => {
                    let name = camel_case(key.strip_prefix("font-").unwrap_or(key));
                    face.descriptors.insert(name, json!(value));
                }
            }
        }
        face
    }
}

/// The script that gives the page its fonts.
pub(in crate::inline) fn script(fonts: &[Font]) -> String {
    let one = |font: &Font| json!([font.face.family, font.bytes, font.face.descriptors]);
    let list = Value::Array(fonts.iter().map(one).collect()).to_string().replace('<', "\\u003c");
    format!(
        "<script>for(const[f,b,d]of {list})document.fonts.add(new FontFace(f,\
         Uint8Array.from(atob(b),c=>c.charCodeAt(0)),d))</script>"
    )
}

fn family(value: &str) -> String {
    match Tokens::new(value).significant() {
        Some(Token::QuotedString(name)) => name.as_ref().to_owned(),
        _ => value.to_owned(),
    }
}

/// The address of one source, unless browsers of today cannot read its format.
fn address(source: &str) -> Option<String> {
    let mut tokens = Tokens::new(source);
    let first = tokens.significant()?;
    let address = tokens.address(&first)?;
    let format = tokens.rest().to_ascii_lowercase();
    let path = address.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let old = format.contains("embedded-opentype") || format.contains("svg");
    let old = old || path.ends_with(".eot") || path.ends_with(".svg");
    (!old).then_some(address)
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
