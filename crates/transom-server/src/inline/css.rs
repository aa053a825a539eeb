//! Style sheets: imports, images and fonts written into them.

pub(super) mod font;
mod tokens;

use cssparser::Token;
use data_encoding::BASE64;
use transom::csp::List;

use self::font::{Face, Font};
use self::tokens::Tokens;
use super::references::References;

/// Writes into a sheet what it refers to. `None` if there is nothing to write.
pub(super) fn inline(
    sheet: &str,
    from: &str,
    references: &mut References<'_>,
    fonts: &mut Vec<Font>,
) -> Option<String> {
    let written = Sheet { from, depth: 0, references, fonts }.write(sheet);
    (written != sheet).then_some(written)
}

struct Sheet<'s, 'w, 'a> {
    from: &'s str,
    /// How many imports lead here.
    depth: usize,
    references: &'w mut References<'a>,
    fonts: &'w mut Vec<Font>,
}

impl Sheet<'_, '_, '_> {
    fn write(&mut self, sheet: &str) -> String {
        let mut written = String::with_capacity(sheet.len());
        let mut tokens = Tokens::new(sheet);
        // Of each open parenthesis: whether texts in it are addresses.
        let mut open: Vec<bool> = Vec::new();
        loop {
            let rest = tokens.rest();
            let Some(piece) = tokens.next() else { return written };
            let text = match &piece.token {
                Token::AtKeyword(name) => self.rule(name, &mut tokens),
                Token::UnquotedUrl(_) | Token::BadUrl(_) => self.url(&piece.token, &mut tokens),
                Token::Function(name) if name.eq_ignore_ascii_case("url") => {
                    self.url(&piece.token, &mut tokens)
                }
                Token::QuotedString(address) if open.last() == Some(&true) => {
                    self.references.data_uri(address, self.from).map(|data| format!("\"{data}\""))
                }
                Token::Function(name) => {
                    open.push(IMAGE_SETS.iter().any(|set| name.eq_ignore_ascii_case(set)));
                    None
                }
                Token::ParenthesisBlock => {
                    open.push(false);
                    None
                }
                Token::CloseParenthesis => {
                    open.pop();
                    None
                }
                _ => None,
            };
            let read = &rest[..rest.len() - tokens.rest().len()];
            written.push_str(text.as_deref().unwrap_or(read));
        }
    }

    /// What is written in place of an address, which is read to its end.
    fn url(&mut self, token: &Token<'_>, tokens: &mut Tokens<'_>) -> Option<String> {
        let address = tokens.address(token)?;
        let data = self.references.data_uri(&address, self.from)?;
        Some(format!("url({data})"))
    }

    /// What is written in place of an at-rule. One that says something of files is read to its end.
    fn rule(&mut self, name: &str, tokens: &mut Tokens<'_>) -> Option<String> {
        match name.to_ascii_lowercase().as_str() {
            "import" => self.import(tokens.until(is_semicolon)),
            "font-face" => {
                tokens.until(|token| *token == Token::CurlyBracketBlock);
                self.font(tokens.until(|token| *token == Token::CloseCurlyBracket))
            }
            "namespace" => {
                // Its address is a name; nothing is loaded from it.
                tokens.until(is_semicolon);
                None
            }
            _ => None,
        }
    }

    fn import(&mut self, argument: &str) -> Option<String> {
        let mut tokens = Tokens::new(argument);
        let address = match tokens.significant()? {
            Token::QuotedString(address) => address.as_ref().to_owned(),
            token => tokens.address(&token)?,
        };
        let name = self.references.local(&address, self.from, List::Resource)?;
        if self.depth == MAX_DEPTH {
            self.references.refuse(format!("{name} is imported in a circle, or too deep"));
            return Some(String::new());
        }
        let Some(sheet) = self.references.read(&name) else { return Some(String::new()) };
        let mut inner = Sheet {
            from: &name,
            depth: self.depth + 1,
            references: self.references,
            fonts: self.fonts,
        };
        let written = inner.write(&sheet);
        Some(under(tokens.rest().trim(), &written))
    }

    fn font(&mut self, body: &str) -> Option<String> {
        let face = Face::read(body);
        let name = self.references.local(face.address.as_deref()?, self.from, List::Resource)?;
        match self.references.files.map(|files| files.bytes(&name)) {
            Some(Ok(bytes)) => {
                self.fonts.push(Font { face, bytes: BASE64.encode(&bytes) });
            }
            Some(Err(error)) => self.references.unread(&name, &error),
            None => {}
        }
        Some(String::new())
    }
}

/// A sheet under the conditions of its import, in their order: a layer, what must be supported, media.
fn under(conditions: &str, sheet: &str) -> String {
    let (mut opened, mut closed) = (String::new(), String::new());
    let mut open = |rule: &str, words: &str| {
        opened.push_str(&format!("@{rule} {words}{{"));
        closed.push('}');
    };
    let mut rest = conditions;
    let mut tokens = Tokens::new(rest);
    match tokens.next().map(|piece| piece.token) {
        Some(Token::Function(name)) if name.eq_ignore_ascii_case("layer") => {
            open("layer", tokens.until(is_close).trim());
            rest = tokens.rest().trim_start();
        }
        Some(Token::Ident(name)) if name.eq_ignore_ascii_case("layer") => {
            open("layer", "");
            rest = tokens.rest().trim_start();
        }
        _ => {}
    }
    let mut tokens = Tokens::new(rest);
    if let Some(Token::Function(name)) = tokens.next().map(|piece| piece.token)
        && name.eq_ignore_ascii_case("supports")
    {
        let words = tokens.until(is_close).trim();
        open("supports", &condition(words));
        rest = tokens.rest().trim_start();
    }
    if !rest.is_empty() {
        open("media", rest);
    }
    opened + sheet + &closed
}

/// What must be supported, as the rule wants it: a declaration alone gets parentheses; a condition has them.
fn condition(words: &str) -> String {
    let telling = |token: &Token<'_>| {
        matches!(token, Token::Colon | Token::Function(_) | Token::ParenthesisBlock)
    };
    match Tokens::new(words).map(|piece| piece.token).find(telling) {
        Some(Token::Colon) => format!("({words})"),
        _ => words.to_owned(),
    }
}

fn is_semicolon(token: &Token<'_>) -> bool {
    *token == Token::Semicolon
}

fn is_close(token: &Token<'_>) -> bool {
    *token == Token::CloseParenthesis
}

/// Functions in which a text is an address.
const IMAGE_SETS: [&str; 2] = ["image-set", "-webkit-image-set"];
const MAX_DEPTH: usize = 8;
