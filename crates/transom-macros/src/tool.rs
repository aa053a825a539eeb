//! `#[tool]`: rmcp's attribute, with a link to a view.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens as _, format_ident, quote};
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Error, FnArg, Ident, ImplItemFn, Path, Result, ReturnType, Token, Type};

use crate::argument::{Argument, Value};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let arguments = Punctuated::<Argument, Token![,]>::parse_terminated.parse2(attribute)?;
    let mut method: ImplItemFn = syn::parse2(item)?;
    // rmcp takes the description from the words that stand last: another attribute behind them would take it away.
    method.attrs.sort_by_key(|attribute| matches!(&attribute.meta, syn::Meta::NameValue(value) if value.path.is_ident("doc")));
    let (mut view, mut audience, mut meta) = (None, None, None);
    let (mut input, mut output) = (taken(&method), returned(&method.sig.output));
    let (mut passed, mut named) = (Vec::new(), false);
    for argument in arguments {
        match (argument.name.to_string().as_str(), &argument.value) {
            ("view", Value::Is(path)) => {
                view = Some(syn::parse2::<Path>(path.to_token_stream()).map_err(|_| {
                    Error::new_spanned(path, "expected the type of a view, as in `view = Board`")
                })?)
            }
            ("only", Value::List(list)) => audience = Some(only(list)?),
            ("view", _) => {
                return Err(Error::new(
                    argument.name.span(),
                    "write `view = Board`, a type with #[derive(View)]",
                ));
            }
            ("only", _) => {
                return Err(Error::new(argument.name.span(), "write `only(app)` or `only(model)`"));
            }
            ("visibility", _) => {
                let words = "write `only(app)` or `only(model)`; without it both may call the tool";
                return Err(Error::new(argument.name.span(), words));
            }
            ("csp" | "allow" | "border" | "domain" | "permissions", _) => {
                let words =
                    "this belongs to the view, where hosts read it: move it into #[view(…)]";
                return Err(Error::new(argument.name.span(), words));
            }
            ("meta", Value::Is(expression)) => meta = Some(expression.to_token_stream()),
            (name, _) => {
                match name {
                    "input_schema" => input = None,
                    "output_schema" => output = None,
                    "name" => named = true,
                    _ => {}
                }
                passed.push(argument.into_token_stream());
            }
        }
    }
    let meta = with_link(meta, link(view.as_ref(), audience));
    passed.extend(meta.map(|meta| quote!(meta = #meta)));
    passed.extend(input.map(|input| quote!(input_schema = #input)));
    let (plain, output) = match output {
        Some(output) => typed(&method, &passed, named, &output),
        None => (TokenStream::new(), TokenStream::new()),
    };
    Ok(quote! {
        #plain
        #[::rmcp::tool(#(#passed,)* #output)]
        #method
    })
}

/// The argument with which rmcp is given the schema of what a tool returns. Whether its type has one is known only when
/// types are: so the tool is declared without a schema beside it, and that declaration is taken where there is none.
fn typed(
    method: &ImplItemFn,
    passed: &[TokenStream],
    named: bool,
    output: &Type,
) -> (TokenStream, TokenStream) {
    let name = &method.sig.ident;
    let plain = format_ident!("__{name}_without_schema");
    let declared = format_ident!("{plain}_tool_attr");
    let docs = method.attrs.iter().filter(|attribute| attribute.path().is_ident("doc"));
    let tool_name = (!named).then(|| {
        let name = name.to_string();
        quote!(name = #name)
    });
    let twin = quote! {
        #[allow(dead_code, non_snake_case)]
        #(#docs)*
        #[::rmcp::tool(#(#passed,)* #tool_name)]
        fn #plain() {}
    };
    let schema = quote! {
        output_schema = {
            #[allow(unused_imports)]
            use ::transom_server::Untyped as _;
            match ::transom_server::Returned::<#output>::schema() {
                ::core::option::Option::Some(schema) => schema,
                ::core::option::Option::None => return Self::#declared(),
            }
        }
    };
    (twin, schema)
}

/// The `_meta` of a tool: what the author wrote, and the link.
fn with_link(meta: Option<TokenStream>, link: Option<TokenStream>) -> Option<TokenStream> {
    match (meta, link) {
        (Some(meta), Some(link)) => Some(quote!(::transom_server::with_link(#meta, #link))),
        (meta, link) => meta.or(link),
    }
}

fn only(list: &TokenStream) -> Result<TokenStream> {
    let who: Ident = syn::parse2(list.clone()).map_err(|_| {
        Error::new_spanned(list, "write `only(app)` or `only(model)`: both is the default")
    })?;
    match who.to_string().as_str() {
        "app" => Ok(quote!(App)),
        "model" => Ok(quote!(Model)),
        _ => Err(Error::new(
            who.span(),
            "a tool is for apps or for models: write `only(app)` or `only(model)`",
        )),
    }
}

fn link(view: Option<&Path>, audience: Option<TokenStream>) -> Option<TokenStream> {
    if view.is_none() && audience.is_none() {
        return None;
    }
    let audience = audience.unwrap_or_else(|| quote!(Both));
    let uri = match view {
        Some(view) => quote!(::core::option::Option::Some(<#view as ::transom_server::View>::URI)),
        None => quote!(::core::option::Option::None),
    };
    Some(quote!(::transom_server::link_meta(#uri, ::transom_server::Audience::#audience)))
}

/// The schema of what a method takes: that of the first argument which is rmcp's `Parameters<T>`, whatever it is called.
fn taken(method: &ImplItemFn) -> Option<TokenStream> {
    let types: Vec<&Type> = method
        .sig
        .inputs
        .iter()
        .filter_map(|input| match input {
            FnArg::Typed(input) if can_be_named(&input.ty) => Some(&*input.ty),
            _ => None,
        })
        .collect();
    if types.is_empty() {
        return None;
    }
    Some(quote! {{
        #[allow(unused_imports)]
        use ::transom_server::Untyped as _;
        ::core::option::Option::None
            #(.or_else(|| ::transom_server::Taken::<#types>::schema()))*
            .unwrap_or_else(::transom_server::no_input)
    }})
}

/// The type that a method returns, if it can be named elsewhere.
fn returned(output: &ReturnType) -> Option<Type> {
    let ReturnType::Type(_, output) = output else { return None };
    can_be_named(output).then(|| (**output).clone())
}

/// Whether a type means the same outside of its method's signature: `impl Trait` does not.
fn can_be_named(of: &Type) -> bool {
    !of.to_token_stream().into_iter().any(is_impl)
}

fn is_impl(token: TokenTree) -> bool {
    match token {
        TokenTree::Ident(word) => word == "impl",
        TokenTree::Group(group) => group.stream().into_iter().any(is_impl),
        _ => false,
    }
}
