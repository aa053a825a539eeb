//! What stands in an attribute: `name = value`, `name(…)` or `name`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Ident, Result, Token, parenthesized};

/// One of the things between the commas.
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) value: Value,
}

pub(crate) enum Value {
    Flag,
    Is(Expr),
    List(TokenStream),
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name: Ident = input.parse()?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Value::Is(input.parse()?)
        } else if input.peek(syn::token::Paren) {
            let inner;
            parenthesized!(inner in input);
            Value::List(inner.parse()?)
        } else {
            Value::Flag
        };
        Ok(Self { name, value })
    }
}

impl ToTokens for Argument {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let name = &self.name;
        tokens.extend(match &self.value {
            Value::Flag => quote!(#name),
            Value::Is(value) => quote!(#name = #value),
            Value::List(list) => quote!(#name(#list)),
        });
    }
}
