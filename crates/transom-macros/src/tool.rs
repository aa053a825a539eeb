//! `#[tool]`: rmcp's attribute, with a link to a view.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Error, FnArg, Ident, ImplItemFn, Path, Result, ReturnType, Token, Type};

use crate::argument::{Argument, Value};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let arguments = Punctuated::<Argument, Token![,]>::parse_terminated.parse2(attribute)?;
    let method: ImplItemFn = syn::parse2(item)?;
    let (mut view, mut audience, mut meta) = (None, None, None);
    let (mut input, mut output) = (parameters(&method), shown(&method.sig.output));
    let mut passed = Vec::new();
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
                    _ => {}
                }
                passed.push(argument.into_token_stream());
            }
        }
    }
    let link = link(view.as_ref(), audience);
    let meta = match (meta, link) {
        (Some(meta), Some(link)) => Some(quote!(::transom_server::with_link(#meta, #link))),
        (meta, link) => meta.or(link),
    };
    passed.extend(meta.map(|meta| quote!(meta = #meta)));
    passed.extend(
        input.map(|taken| quote!(input_schema = ::transom_server::input_schema::<#taken>())),
    );
    passed.extend(
        output.map(|data| quote!(output_schema = ::transom_server::output_schema::<#data>())),
    );
    Ok(quote! {
        #[::rmcp::tool(#(#passed),*)]
        #method
    })
}

fn only(list: &TokenStream) -> Result<TokenStream> {
    let who: Ident = syn::parse2(list.clone()).map_err(|_| {
        Error::new_spanned(list, "write `only(app)` or `only(model)`: both is the default")
    })?;
    match who.to_string().as_str() {
        "app" => Ok(quote!(App)),
        "model" => Ok(quote!(Model)),
        _ => {
            Err(Error::new(who.span(), "nobody is called that: write `only(app)` or `only(model)`"))
        }
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

/// The type of the argument in which a method takes its parameters: rmcp's `Parameters<T>`.
fn parameters(method: &ImplItemFn) -> Option<Type> {
    method.sig.inputs.iter().find_map(|input| match input {
        FnArg::Typed(input) => argument(&input.ty, "Parameters").map(|_| (*input.ty).clone()),
        FnArg::Receiver(_) => None,
    })
}

/// The `T` of a method that returns `Shown<T>` or `Result<Shown<T>, _>`.
fn shown(output: &ReturnType) -> Option<Type> {
    let ReturnType::Type(_, output) = output else { return None };
    let data =
        argument(output, "Shown").or_else(|| argument(&argument(output, "Result")?, "Shown"))?;
    // Nothing for the view has no schema.
    (!matches!(&data, Type::Tuple(unit) if unit.elems.is_empty())).then_some(data)
}

/// The first type argument of a type of that name.
fn argument(of: &Type, name: &str) -> Option<Type> {
    let Type::Path(path) = of else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == name)?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        syn::GenericArgument::Type(data) => Some(data.clone()),
        _ => None,
    })
}
