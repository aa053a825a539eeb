//! Who answers: a server somewhere else, or a service in this process.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use tower::ServiceExt;
use tower::util::BoxCloneSyncService;
use url::Url;

use super::address::{Judged, Lookup, Near};
use super::failure::Failure;

/// An error of any kind.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A response's body, as it comes.
pub(crate) type Coming = http_body_util::combinators::UnsyncBoxBody<Bytes, BoxError>;

/// Who answers.
#[derive(Clone)]
pub(crate) enum Backend {
    Upstream(reqwest::Client),
    Tower(BoxCloneSyncService<Request<Full<Bytes>>, Response<Coming>, BoxError>),
}

impl Backend {
    /// Connects to a server. It follows no redirect, asks no proxy and keeps no cookie: all of that would be decided elsewhere.
    pub(crate) fn upstream(url: &Url, private: bool, lookup: Lookup) -> Result<Self, String> {
        // One TLS without a C compiler; who has chosen another has done so before us.
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let near = Near::of(url, private);
        // reqwest looks no literal up. The author named it, so it is what they meant.
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT)
            .tcp_nodelay(true)
            .dns_resolver(Arc::new(Judged { near, lookup }))
            .build();
        client.map(Self::Upstream).map_err(|error| error.to_string())
    }

    /// Asks a service in this process.
    pub(crate) fn tower<S, B>(service: S) -> Self
    where
        S: tower::Service<Request<Full<Bytes>>, Response = Response<B>>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let service = service
            .map_response(|response| response.map(|body| body.map_err(Into::into).boxed_unsync()))
            .map_err(Into::into);
        Self::Tower(BoxCloneSyncService::new(service))
    }

    /// Sends one request. Dropping the future, or the body of its answer, ends it at the backend too (ERR-5). `reached` becomes true as
    /// soon as the backend may have it.
    pub(crate) async fn send(
        &self,
        request: Request<Bytes>,
        reached: &mut bool,
    ) -> Result<Response<Coming>, Failure> {
        let before = std::mem::replace(reached, true);
        match self {
            Self::Upstream(client) => {
                let request = reqwest::Request::try_from(request)
                    .map_err(|error| Failure::network(&error))?;
                let response = client.execute(request).await.map_err(|error| {
                    if error.is_connect() {
                        *reached = before;
                    }
                    Failure::network(&chain(&error))
                })?;
                let response: Response<reqwest::Body> = response.into();
                Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()))
            }
            Self::Tower(service) => {
                let request = request.map(Full::new);
                service.clone().oneshot(request).await.map_err(|error| Failure::network(&error))
            }
        }
    }
}

/// An error with what caused it, for the log.
fn chain(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}

const CONNECT: Duration = Duration::from_secs(10);
