//! A style sheet cut into tokens, in the order in which they stand.

use cssparser::{Parser, ParserInput, Token};

/// One token, and its text in the sheet.
#[derive(Clone, Debug)]
pub(super) struct Piece<'a> {
    pub(super) token: Token<'a>,
    pub(super) text: &'a str,
}

/// A sheet, token by token. Together their texts are the whole of it.
///
/// Blocks are not nested here: an opening and a closing bracket are tokens as all others are, so the depth
/// of a sheet costs no stack.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(sheet: &'a str) -> Self {
        Self { rest: sheet }
    }

    /// What has not been read yet.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Reads up to the first token outside of parentheses that ends it, or else to the end of the sheet.
    /// Gives the text in front of that token.
    pub(super) fn until(&mut self, ends: impl Fn(&Token<'_>) -> bool) -> &'a str {
        let from = self.rest;
        let (mut depth, mut read) = (0_usize, 0);
        for piece in self.by_ref() {
            if depth == 0 && ends(&piece.token) {
                return &from[..read];
            }
            match piece.token {
                Token::Function(_) | Token::ParenthesisBlock => depth += 1,
                Token::CloseParenthesis => depth = depth.saturating_sub(1),
                _ => {}
            }
            read += piece.text.len();
        }
        from
    }

    /// Reads the next token that is neither space nor a comment.
    pub(super) fn significant(&mut self) -> Option<Token<'a>> {
        let is_space =
            |token: &Token<'_>| matches!(token, Token::WhiteSpace(_) | Token::Comment(_));
        self.map(|piece| piece.token).find(|token| !is_space(token))
    }

    /// The address that a token stands for, as `url(…)`. Reads what of it comes behind the token.
    pub(super) fn address(&mut self, token: &Token<'_>) -> Option<String> {
        match token {
            // One with a space or a quote in it loads nothing in a browser; the author may mean a file by it.
            Token::UnquotedUrl(address) | Token::BadUrl(address) => Some(address.trim().to_owned()),
            Token::Function(name) if name.eq_ignore_ascii_case("url") => {
                let argument = self.until(|token| *token == Token::CloseParenthesis);
                match Tokens::new(argument).significant()? {
                    Token::QuotedString(address) => Some(address.trim().to_owned()),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        // The parser skips what stands in a block unless it is told to enter. A new one does not know of blocks.
        let mut input = ParserInput::new(self.rest);
        let mut parser = Parser::new(&mut input);
        let start = parser.position();
        let token = parser.next_including_whitespace_and_comments().ok()?.clone();
        let text = parser.slice_from(start);
        self.rest = &self.rest[text.len()..];
        Some(Piece { token, text })
    }
}

/// The pieces of a text between those that stand outside of parentheses and are such a token.
pub(super) fn split<'a>(text: &'a str, separator: &Token<'_>) -> Vec<&'a str> {
    let mut tokens = Tokens::new(text);
    let mut found = Vec::new();
    while !tokens.rest().is_empty() {
        found.push(tokens.until(|token| token == separator));
    }
    found
}

pub(super) fn without_comments(text: &str) -> String {
    let kept = Tokens::new(text).filter(|piece| !matches!(piece.token, Token::Comment(_)));
    kept.map(|piece| piece.text).collect()
}
