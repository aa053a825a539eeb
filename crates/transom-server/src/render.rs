//! Documents made for one request.

use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use crate::host_ui::HostUi;
use crate::template::Params;

/// A future that is boxed and may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a function that makes a document knows about the request.
///
/// `S` is the type of the wrapped server.
pub struct RenderCx<S = ()> {
    server: Arc<S>,
    request: Arc<Request>,
}

/// The request, for a server of any type.
pub(crate) struct Request {
    pub(crate) uri: String,
    pub(crate) params: Params,
    pub(crate) context: RequestContext<RoleServer>,
    pub(crate) ui: HostUi,
}

impl<S> RenderCx<S> {
    /// Returns the wrapped server.
    pub fn server(&self) -> &S {
        &self.server
    }

    /// Returns the address that was asked for.
    pub fn uri(&self) -> &str {
        &self.request.uri
    }

    /// Returns a parameter of the address, decoded.
    ///
    /// # Errors
    ///
    /// The template has no parameter of that name.
    pub fn param(&self, name: &str) -> Result<&str, ErrorData> {
        let found = self.request.params.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).ok_or_else(|| {
            let message = format!("the address of this view has no parameter {{{name}}}");
            ErrorData::internal_error(message, None)
        })
    }

    /// Tells whether the client shows views.
    pub fn ui(&self) -> HostUi {
        self.request.ui
    }

    /// Returns the request as rmcp has it: peer, `_meta`, HTTP parts, extensions.
    pub fn context(&self) -> &RequestContext<RoleServer> {
        &self.request.context
    }
}

impl<S> fmt::Debug for RenderCx<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RenderCx").field("uri", &self.request.uri).finish_non_exhaustive()
    }
}

/// A function that makes documents, with the type of its server set aside.
#[derive(Clone)]
pub(crate) struct Renderer {
    pub(crate) state: TypeId,
    pub(crate) state_name: &'static str,
    render: Arc<Erased>,
}

type Erased =
    dyn Fn(Arc<dyn Any + Send + Sync>, Request) -> BoxFuture<'static, Rendered> + Send + Sync;
type Rendered = Result<String, ErrorData>;

impl Renderer {
    pub(crate) fn new<S, F>(render: Arc<F>) -> Self
    where
        S: Send + Sync + 'static,
        F: for<'a> Fn(&'a RenderCx<S>) -> BoxFuture<'a, Rendered> + Send + Sync + 'static,
    {
        let erased = move |server: Arc<dyn Any + Send + Sync>, request| -> BoxFuture<'static, _> {
            let render = Arc::clone(&render);
            Box::pin(async move {
                let server = server.downcast::<S>().map_err(|_| wrong_state::<S>())?;
                render(&RenderCx { server, request: Arc::new(request) }).await
            })
        };
        Self { state: TypeId::of::<S>(), state_name: type_name::<S>(), render: Arc::new(erased) }
    }

    /// Tells whether the function needs nothing of the server.
    pub(crate) fn is_stateless(&self) -> bool {
        self.state == TypeId::of::<()>()
    }

    pub(crate) async fn run<S: Send + Sync + 'static>(
        &self,
        server: &Arc<S>,
        request: Request,
    ) -> Rendered {
        let server: Arc<dyn Any + Send + Sync> =
            if self.is_stateless() { Arc::new(()) } else { Arc::clone(server) as _ };
        (self.render)(server, request).await
    }
}

impl fmt::Debug for Renderer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Renderer for {}", self.state_name)
    }
}

/// `build()` compares the types, so this is for a [`Renderer`] that came by another way.
fn wrong_state<S>() -> ErrorData {
    let message = format!("this view is rendered from {}, another server", type_name::<S>());
    ErrorData::internal_error(message, None)
}
