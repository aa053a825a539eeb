//! What clients get that do not show views.

use std::fmt;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{Implementation, ProtocolVersion};
use rmcp::service::RequestContext;

use crate::host_ui::HostUi;

/// What a server does for clients that do not show views.
///
/// | policy | a client that shows views, or may | a client that does not |
/// |---|---|---|
/// | `Auto` | everything | tools keep their links, which do no harm; app-only tools are hidden and refused |
/// | `Strict` | everything | links, `ui://` resources and app-only tools are hidden and refused |
/// | `Off` | everything | everything |
/// | `By` | as the function says | as the function says |
///
/// `Auto` keeps the links because there are hosts that show views and forget to say so. App-only tools
/// stay in the lists of clients that show views: hosts look there before they let a view call one.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Fallback {
    /// Hides what only a view can call.
    #[default]
    Auto,
    /// Hides everything about views.
    Strict,
    /// Hides nothing.
    Off,
    /// Asks a function, for each request.
    By(Arc<dyn Fn(&ClientFacts<'_>) -> Mode + Send + Sync>),
}

/// How much of its views a server shows to one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// Everything.
    Everything,
    /// All but app-only tools.
    NoAppTools,
    /// Nothing: no links, no `ui://` resources, no app-only tools.
    NoViews,
}

/// What is known about the client of a request.
#[derive(Debug)]
pub struct ClientFacts<'a> {
    ui: HostUi,
    context: &'a RequestContext<RoleServer>,
}

impl Fallback {
    /// Decides by a function.
    pub fn by(decide: impl Fn(&ClientFacts<'_>) -> Mode + Send + Sync + 'static) -> Self {
        Self::By(Arc::new(decide))
    }

    pub(crate) fn mode(&self, ui: HostUi, context: &RequestContext<RoleServer>) -> Mode {
        match self {
            Self::Off => Mode::Everything,
            Self::By(decide) => decide(&ClientFacts { ui, context }),
            Self::Auto | Self::Strict if ui.renders() => Mode::Everything,
            Self::Auto => Mode::NoAppTools,
            Self::Strict => Mode::NoViews,
        }
    }

    /// Whether two clients may get different answers.
    pub(crate) fn varies(&self) -> bool {
        !matches!(self, Self::Off)
    }
}

impl ClientFacts<'_> {
    /// Tells whether it shows views.
    pub fn ui(&self) -> HostUi {
        self.ui
    }

    /// Returns the name and version by which it introduced itself.
    pub fn client(&self) -> Option<Implementation> {
        self.context.client_info()
    }

    /// Returns the revision of the protocol it speaks.
    pub fn protocol_version(&self) -> Option<ProtocolVersion> {
        self.context.protocol_version()
    }

    /// Returns the request as rmcp has it.
    pub fn context(&self) -> &RequestContext<RoleServer> {
        self.context
    }
}

impl fmt::Debug for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "Auto",
            Self::Strict => "Strict",
            Self::Off => "Off",
            Self::By(_) => "By(…)",
        })
    }
}
