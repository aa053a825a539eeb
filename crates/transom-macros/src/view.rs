//! `#[derive(View)]`.

use std::path::{Path, PathBuf};

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{
    Data, DeriveInput, Error, Expr, ExprLit, Fields, Ident, Lit, LitBool, LitStr, Result, Token,
};

use crate::argument::{Argument, Value};
use crate::origin;

pub(crate) fn derive(input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let mut view = Declared::default();
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("view")) {
        let items =
            attribute.parse_args_with(Punctuated::<Argument, Token![,]>::parse_terminated)?;
        items.into_iter().try_for_each(|item| view.take(item))?;
    }
    let name = &input.ident;
    let missing = |what| Error::new(name.span(), what);
    let uri = view
        .uri
        .as_ref()
        .ok_or_else(|| missing("a view has an address: #[view(uri = \"ui://…\", file = \"…\")]"))?;
    let html = match &view.html {
        Some(html) => html.call(&input)?,
        None => {
            return Err(missing(
                "say where its HTML comes from: file, dir, bundle, html or template",
            ));
        }
    };
    if let Some(load) =
        view.load.as_ref().filter(|_| !matches!(view.html, Some(Html::Template(..))))
    {
        return Err(Error::new_spanned(load, "`load` fills a `template`, which this view has not"));
    }
    let built = view.built(name)?;
    let calls = &view.calls;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    Ok(quote! {
        impl #impl_generics ::transom_server::View for #name #type_generics #where_clause {
            const URI: &'static str = #uri;
            fn def() -> ::transom_server::ViewDef {
                ::transom_server::ViewDef::new(<Self as ::transom_server::View>::URI) #html #built #(#calls)*
            }
        }
    })
}

/// What an attribute said.
#[derive(Default)]
struct Declared {
    uri: Option<LitStr>,
    html: Option<Html>,
    load: Option<Expr>,
    build: Option<LitStr>,
    sources: Option<LitStr>,
    calls: Vec<TokenStream>,
}

enum Html {
    File(LitStr),
    Dir(LitStr),
    Text(LitStr),
    Function(Expr),
    Template(Span, Option<Expr>),
}

impl Declared {
    fn take(&mut self, Argument { name, value }: Argument) -> Result<()> {
        let wrong = |words: &str| Err(Error::new(name.span(), words));
        match (name.to_string().as_str(), value) {
            ("uri", Value::Is(value)) => self.uri = Some(address(value)?),
            ("file", Value::Is(value)) => {
                let path = file(value, "no such file below the crate's folder")?;
                self.set_html(&name, Html::File(path))?;
            }
            ("bundle", Value::Is(value)) => {
                let path = file(value, NOT_BUILT)?;
                self.set_html(&name, Html::File(path))?;
            }
            ("dir", Value::Is(value)) => {
                let path = folder(value)?;
                self.set_html(&name, Html::Dir(path))?;
            }
            ("html", Value::Is(Expr::Lit(ExprLit { lit: Lit::Str(text), .. }))) => {
                self.set_html(&name, Html::Text(text))?;
            }
            ("html", Value::Is(function)) => self.set_html(&name, Html::Function(function))?,
            ("template", Value::Flag) => {
                let load = self.load.clone();
                self.set_html(&name, Html::Template(name.span(), load))?;
            }
            ("load", Value::Is(function)) => {
                self.load = Some(function.clone());
                if let Some(Html::Template(_, load)) = &mut self.html {
                    *load = Some(function);
                }
            }
            ("build", Value::Is(value)) => self.build = Some(string(value)?),
            ("sources", Value::Is(value)) => self.sources = Some(string(value)?),
            ("title" | "name" | "description", Value::Is(value)) => {
                let text = string(value)?;
                self.calls.push(quote!(.#name(#text)));
            }
            ("domain", Value::Is(value)) => {
                let domain = host_name(value)?;
                self.calls.push(quote!(.domain(#domain)));
            }
            ("border", Value::Is(Expr::Lit(ExprLit { lit: Lit::Bool(border), .. }))) => {
                self.border(&border);
            }
            ("border", Value::Flag) => self.border(&LitBool::new(true, name.span())),
            ("csp", Value::List(list)) => self.csp(list)?,
            ("allow", Value::List(list)) => self.allow(list)?,
            (name, _) => return wrong(expected(name)),
        }
        Ok(())
    }

    fn set_html(&mut self, name: &Ident, html: Html) -> Result<()> {
        if self.html.is_some() {
            return Err(Error::new(
                name.span(),
                "the HTML comes from one place: keep one of the two",
            ));
        }
        self.html = Some(html);
        Ok(())
    }

    /// How dev mode makes the bundle.
    fn built(&self, name: &Ident) -> Result<TokenStream> {
        let both = "`build` and `sources` go together: \
                    build = \"npm --prefix ui run build\", sources = \"ui/src\"";
        match (&self.build, &self.sources) {
            (None, None) => Ok(TokenStream::new()),
            (Some(build), Some(sources)) if matches!(self.html, Some(Html::File(_))) => {
                Ok(quote!(.built_by(
                    #build,
                    ::transom_server::on_disk!(#sources),
                    ::transom_server::on_disk!(""),
                )))
            }
            (Some(_), Some(_)) => {
                Err(Error::new(name.span(), "`build` makes a `bundle`, which this view has not"))
            }
            (Some(one), None) | (None, Some(one)) => Err(Error::new(one.span(), both)),
        }
    }

    fn border(&mut self, border: &LitBool) {
        self.calls.push(quote!(.border(#border)));
    }

    fn csp(&mut self, list: TokenStream) -> Result<()> {
        for Argument { name, value } in
            Punctuated::<Argument, Token![,]>::parse_terminated.parse2(list)?
        {
            let method = match name.to_string().as_str() {
                "connect" => quote!(connect),
                "resource" | "img" | "script" | "style" | "font" | "media" => quote!(resource),
                "frame" => quote!(frame),
                "base" => quote!(base),
                _ => {
                    return Err(Error::new(
                        name.span(),
                        "unknown; csp has connect, resource, img, script, style, font, media, frame and base",
                    ));
                }
            };
            let Value::Is(value) = value else {
                return Err(Error::new(
                    name.span(),
                    "write an origin, or several: connect = [\"…\", \"…\"]",
                ));
            };
            for origin in strings(value)? {
                check_origin(&origin)?;
                self.calls.push(quote!(.#method(#origin)));
            }
        }
        Ok(())
    }

    fn allow(&mut self, list: TokenStream) -> Result<()> {
        for name in Punctuated::<Ident, Token![,]>::parse_terminated.parse2(list)? {
            let permission = match name.to_string().as_str() {
                "camera" => quote!(Camera),
                "microphone" => quote!(Microphone),
                "geolocation" => quote!(Geolocation),
                "clipboard_write" => quote!(ClipboardWrite),
                _ => {
                    return Err(Error::new(
                        name.span(),
                        "unknown; a view may ask for camera, microphone, geolocation and clipboard_write",
                    ));
                }
            };
            self.calls.push(quote!(.allow(::transom_server::Permission::#permission)));
        }
        Ok(())
    }
}

/// What should stand where something else does.
fn expected(name: &str) -> &'static str {
    match name {
        "csp" => "write csp(connect = \"https://api.example.com\")",
        "allow" => "write allow(clipboard_write)",
        "border" => "write border = true or border = false",
        "template" => {
            "write `template` alone; the address takes parameters by itself: \"ui://report/{id}\""
        }
        "uri" | "file" | "dir" | "bundle" | "build" | "sources" | "html" | "load" | "title"
        | "name" | "description" | "domain" => "a value is missing here",
        _ => {
            "unknown; a view has uri, file, dir, bundle, build, sources, html, template, load, name, title, \
             description, csp(…), allow(…), border and domain"
        }
    }
}

fn address(value: Expr) -> Result<LitStr> {
    let uri = string(value)?;
    match origin::is_view_address(&uri.value()) {
        true => Ok(uri),
        false => Err(Error::new(
            uri.span(),
            "a view's address begins with ui://, as in \"ui://weather/card\"",
        )),
    }
}

fn file(value: Expr, missing: &str) -> Result<LitStr> {
    let path = string(value)?;
    exists(&path, missing)?;
    Ok(path)
}

fn folder(value: Expr) -> Result<LitStr> {
    let path = string(value)?;
    let index = LitStr::new(&format!("{}/index.html", path.value()), path.span());
    exists(&index, "no index.html in this folder")?;
    Ok(path)
}

fn host_name(value: Expr) -> Result<LitStr> {
    let domain = string(value)?;
    let text = domain.value();
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    match text.is_empty() || !text.chars().all(is_part) {
        true => Err(Error::new(domain.span(), "a domain is a host name, without scheme or path")),
        false => Ok(domain),
    }
}

impl Html {
    fn call(&self, input: &DeriveInput) -> Result<TokenStream> {
        Ok(match self {
            Self::File(path) => quote!(.file(::transom_server::include_view!(#path))),
            Self::Dir(path) => {
                let files = files(path)?;
                quote!(.dir(::transom_server::on_disk!(#path), {
                    const FILES: &[::transom_server::Asset] = &[#(#files),*];
                    FILES
                }))
            }
            Self::Text(text) => quote!(.html(#text)),
            Self::Function(function) => {
                quote!(.render(|cx| ::std::boxed::Box::pin(async move { #function(cx).await })))
            }
            Self::Template(span, load) => {
                let (cx, view) = match load {
                    Some(load) => (quote!(cx), quote!(#load(cx).await?)),
                    None if is_unit(input) => {
                        (quote!(_: &::transom_server::RenderCx), quote!(Self))
                    }
                    None => {
                        let words = "its fields come from somewhere: add `load = Self::load`, an \
                                     async fn(&RenderCx<Server>) -> Result<Self, ErrorData>";
                        return Err(Error::new(*span, words));
                    }
                };
                quote!(.render(|#cx| ::std::boxed::Box::pin(async move {
                    let view: Self = #view;
                    ::askama::Template::render(&view).map_err(|error| {
                        ::transom_server::template_failed(<Self as ::transom_server::View>::URI, &error)
                    })
                })))
            }
        })
    }
}

/// Every file of a folder, compiled in.
fn files(folder: &LitStr) -> Result<Vec<TokenStream>> {
    let at = |error: std::io::Error| Error::new(folder.span(), format!("cannot be read: {error}"));
    let root = crate_folder().join(folder.value());
    let mut names = Vec::new();
    walk(&root, "", &mut names).map_err(at)?;
    names.sort();
    if names.len() > MAX_FILES {
        let words = format!("{} files in a view's folder, limit {MAX_FILES}", names.len());
        return Err(Error::new(folder.span(), words));
    }
    let prefix = folder.value();
    Ok(names.iter().map(|name| {
        let path = format!("/{prefix}/{name}");
        quote! {
            ::transom_server::Asset::new(
                #name,
                ::core::option::Option::None,
                ::core::include_bytes!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), #path)),
            )
        }
    }).collect())
}

fn walk(root: &Path, below: &str, names: &mut Vec<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(root.join(below))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let name = if below.is_empty() { name } else { format!("{below}/{name}") };
        if entry.file_type()?.is_dir() {
            walk(root, &name, names)?;
        } else {
            names.push(name);
        }
    }
    Ok(())
}

fn exists(path: &LitStr, otherwise: &str) -> Result<()> {
    if crate_folder().join(path.value()).is_file() {
        return Ok(());
    }
    Err(Error::new(path.span(), format!("{}: {otherwise}", path.value())))
}

fn crate_folder() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default()
}

/// server-11: what does not parse is refused where it stands.
fn check_origin(origin: &LitStr) -> Result<()> {
    origin::check(&origin.value()).map_err(|words| Error::new(origin.span(), words))
}

fn string(value: Expr) -> Result<LitStr> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(text),
        other => Err(Error::new_spanned(other, "expected a string literal")),
    }
}

/// One string, or a list of them.
fn strings(value: Expr) -> Result<Vec<LitStr>> {
    match value {
        Expr::Array(list) => list.elems.into_iter().map(string).collect(),
        other => Ok(vec![string(other)?]),
    }
}

fn is_unit(input: &DeriveInput) -> bool {
    matches!(&input.data, Data::Struct(data) if matches!(data.fields, Fields::Unit))
}

const MAX_FILES: usize = 500;

const NOT_BUILT: &str = "not built yet: run the bundler first, for instance `npm run build`";
