//! The declaration of a view: everything that lists, reads, links and capabilities are made of.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::MetaObject;
use transom::wire::{ResourceCsp, ResourceMeta, ResourcePermissions, ToolMeta, UiUri};

use crate::built::Built;
use crate::render::{BoxFuture, RenderCx, Renderer};
use crate::source::{Asset, Source};

/// A view as a type, so that a tool that names a missing one does not compile.
///
/// `#[derive(View)]` implements it; by hand it is as short.
///
/// ```
/// use transom_server::{View, ViewDef};
/// struct Clock;
/// impl View for Clock {
///     const URI: &'static str = "ui://clock";
///     fn def() -> ViewDef {
///         ViewDef::new(Self::URI).html("<!doctype html><title>Clock</title>")
///     }
/// }
/// ```
pub trait View {
    /// The address of the view: `ui://…`, or a template such as `ui://report/{id}`.
    const URI: &'static str;

    /// Returns the declaration.
    fn def() -> ViewDef;
}

/// Who may call a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Audience {
    /// The model and the view.
    #[default]
    Both,
    /// The view alone: hidden from clients that show no views.
    App,
    /// The model alone.
    Model,
}

/// A permission that a view would like to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Permission {
    /// The camera.
    Camera,
    /// The microphone.
    Microphone,
    /// The user's position.
    Geolocation,
    /// Writing to the clipboard.
    ClipboardWrite,
}

/// The declaration of one view.
///
/// It is only written down here; [`Views::build`](crate::Views::build) verifies it.
#[derive(Clone, Debug)]
pub struct ViewDef {
    pub(crate) uri: Cow<'static, str>,
    pub(crate) name: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) meta: ResourceMeta,
    pub(crate) source: Source,
    pub(crate) built: Option<Built>,
    pub(crate) tools: Vec<(Cow<'static, str>, Audience)>,
}

impl ViewDef {
    /// Starts a declaration. The address is `ui://…`, or a template such as `ui://report/{id}`.
    pub fn new(uri: impl Into<Cow<'static, str>>) -> Self {
        Self {
            uri: uri.into(),
            name: None,
            title: None,
            description: None,
            meta: ResourceMeta::default(),
            source: Source::Missing,
            built: None,
            tools: Vec::new(),
        }
    }

    /// Shows this document.
    pub fn html(mut self, html: impl Into<Cow<'static, str>>) -> Self {
        self.source = Source::Text(html.into());
        self
    }

    /// Shows a file: as it was compiled in, or, in dev mode, as it is on disk.
    ///
    /// [`include_view!`](crate::include_view) makes the argument.
    pub fn file(mut self, file: Asset) -> Self {
        self.source = Source::File(file);
        self
    }

    /// Shows the `index.html` of a folder, with what it refers to written into it.
    ///
    /// `#[view(dir = "…")]` makes the arguments: the folder on disk where dev mode may read it, and
    /// the files as they were compiled in.
    pub fn dir(mut self, path: Option<&'static str>, files: &'static [Asset]) -> Self {
        self.source = Source::Dir { path, files };
        self
    }

    /// Says how dev mode makes a bundle when its sources change: a command, run in the crate's folder. Nothing is run
    /// outside of dev mode, nor by a release build, which does not know where the sources are.
    pub fn built_by(
        mut self,
        command: &'static str,
        sources: Option<&'static str>,
        folder: Option<&'static str>,
    ) -> Self {
        let places = sources.zip(folder);
        self.built = places
            .map(|(sources, folder)| Built::new(command, Path::new(sources), Path::new(folder)));
        self
    }

    /// Shows what a function makes of each request.
    ///
    /// `S` is the wrapped server's type, or `()` where the function needs no state. What differs
    /// from one user to another must not be kept for the next, so the answer is cache-private.
    ///
    /// ```
    /// use transom_server::{RenderCx, ViewDef};
    /// let def = ViewDef::new("ui://report/{id}").render(|cx: &RenderCx| {
    ///     Box::pin(async move { Ok(format!("<!doctype html><h1>Report {}</h1>", cx.param("id")?)) })
    /// });
    /// # let _ = def;
    /// ```
    pub fn render<S, F>(mut self, render: F) -> Self
    where
        S: Send + Sync + 'static,
        F: for<'a> Fn(&'a RenderCx<S>) -> BoxFuture<'a, Result<String, ErrorData>>
            + Send
            + Sync
            + 'static,
    {
        self.source = Source::Render(Renderer::new(Arc::new(render)));
        self
    }

    /// Names the resource in lists; otherwise the last part of its address does.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Gives it a title for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Says what it shows.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Lets it connect to an origin, by `fetch`, `EventSource` or `WebSocket`.
    pub fn connect(mut self, origin: impl Into<String>) -> Self {
        self.csp_mut().connect_domains.push(origin.into());
        self
    }

    /// Lets it load scripts, styles, images, fonts and media from an origin.
    pub fn resource(mut self, origin: impl Into<String>) -> Self {
        let origin = origin.into();
        let list = &mut self.csp_mut().resource_domains;
        if !list.contains(&origin) {
            list.push(origin);
        }
        self
    }

    /// Lets it frame an origin.
    pub fn frame(mut self, origin: impl Into<String>) -> Self {
        self.csp_mut().frame_domains.push(origin.into());
        self
    }

    /// Lets its `<base>` name an origin.
    pub fn base(mut self, origin: impl Into<String>) -> Self {
        self.csp_mut().base_uri_domains.push(origin.into());
        self
    }

    /// Asks for a permission.
    pub fn allow(mut self, permission: Permission) -> Self {
        let wanted = self.meta.permissions.get_or_insert_with(ResourcePermissions::default);
        match permission {
            Permission::Camera => wanted.camera = true,
            Permission::Microphone => wanted.microphone = true,
            Permission::Geolocation => wanted.geolocation = true,
            Permission::ClipboardWrite => wanted.clipboard_write = true,
        }
        self
    }

    /// Asks for a border, or for none; without it the host decides.
    pub fn border(mut self, border: bool) -> Self {
        self.meta.prefers_border = Some(border);
        self
    }

    /// Asks for a stable origin, in the format of the host it is meant for.
    ///
    /// A host that does not know the format may refuse to show the view at all: leave it out unless
    /// a host's documentation asks for it.
    pub fn domain(mut self, domain: impl Into<String>) -> Self {
        self.meta.domain = Some(domain.into());
        self
    }

    /// Links a tool to the view by name, for servers that do not use `#[transom_server::tool]`.
    pub fn tool(mut self, name: impl Into<Cow<'static, str>>, audience: Audience) -> Self {
        self.tools.push((name.into(), audience));
        self
    }

    /// What a tool's `_meta` says that is linked to this view.
    pub fn tool_meta(&self, audience: Audience) -> MetaObject {
        link_meta(Some(&self.uri), audience)
    }

    /// The name in lists: the one that was given, or the last part of the address that is no parameter.
    pub(crate) fn list_name(&self) -> &str {
        let uri = self.uri.strip_prefix("ui://").unwrap_or(&self.uri);
        let is_name = |part: &&str| !part.is_empty() && !part.contains('{');
        let last = || uri.rsplit('/').find(is_name).unwrap_or(uri);
        self.name.as_deref().unwrap_or_else(last)
    }

    fn csp_mut(&mut self) -> &mut ResourceCsp {
        self.meta.csp.get_or_insert_with(ResourceCsp::default)
    }
}

/// What `#[transom_server::tool]` writes into a tool's `_meta`.
///
/// The link is the view's address, nested and flat (S-12); a helper that belongs to no view has only an
/// audience (S-14).
pub fn link_meta(view: Option<&str>, audience: Audience) -> MetaObject {
    let meta =
        ToolMeta { resource_uri: view.and_then(UiUri::parse), visibility: audience.visibilities() };
    MetaObject(meta.to_meta())
}

impl Audience {
    pub(crate) fn visibilities(self) -> transom::wire::Visibilities {
        use transom::wire::Visibilities;
        match self {
            Self::Both => Visibilities::BOTH,
            Self::App => Visibilities::APP,
            Self::Model => Visibilities::MODEL,
        }
    }
}
