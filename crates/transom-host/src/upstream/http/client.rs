//! The HTTP client of a server: its headers, redirects, and to whom a token may go.

use std::time::Duration;

use reqwest::{
    RequestBuilder, Response, StatusCode,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
    redirect::{Attempt, Policy},
};
use transom::{policy::Reach, violation::Quoted};
use url::{Host, Url};

use crate::upstream::{ConnectError, Endpoint, HttpError, NetworkError};

pub(super) fn configured(endpoint: &Endpoint) -> Result<HeaderMap, ConnectError> {
    let mut headers = HeaderMap::new();
    for (name, secret) in &endpoint.headers {
        let bad = || ConnectError::Header(Quoted::new(name));
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        let mut value = HeaderValue::from_str(&secret.reveal()?).map_err(|_| bad())?;
        value.set_sensitive(true);
        headers.append(key, value);
    }
    Ok(headers)
}

pub(super) async fn send_as(
    token: Option<&HeaderValue>,
    request: RequestBuilder,
) -> Result<Response, HttpError> {
    let request = token
        .into_iter()
        .fold(request, |request, token| request.header(AUTHORIZATION, token.clone()));
    request.send().await.map_err(HttpError::of)
}

/// One TLS without a C compiler; an embedder who has chosen another has done so before us.
pub(crate) fn prepare_tls() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

pub(super) fn client(url: &Url) -> Result<reqwest::Client, ConnectError> {
    prepare_tls();
    let mut builder = reqwest::Client::builder()
        .redirect(Policy::custom(stay))
        .connect_timeout(CONNECT)
        .tcp_nodelay(true);
    // A proxy on the way to our own machine is a misunderstanding.
    if is_machine(url) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| ConnectError::Client(NetworkError(error)))
}

/// Follows a server that moved within its origin and says to ask there the same. Any other might be
/// sent a token that is none of theirs.
pub(super) fn stay(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let same = attempt.previous().first().map(Url::origin) == Some(attempt.url().origin());
    let again = [StatusCode::TEMPORARY_REDIRECT, StatusCode::PERMANENT_REDIRECT];
    if same && again.contains(&attempt.status()) && attempt.previous().len() <= MAX_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

pub(crate) fn is_machine(url: &Url) -> bool {
    url.host_str().map(Reach::of) == Some(Reach::Machine)
}

/// Whether only this machine can answer, so that a token may go there in the clear. It is stricter than
/// [`Reach::Machine`]: where `localdomain` or `0.0.0.0` leads is up to the resolver and the system.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

pub(super) const CONNECT: Duration = Duration::from_secs(10);

pub(super) const MAX_REDIRECTS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_the_clear_a_token_goes_to_what_is_surely_this_machine() {
        #[rustfmt::skip]
        let table = [
            // address                          token, no proxy
            ("http://localhost:1",              true,  true),
            ("http://a.localhost",              true,  true),
            ("http://127.9.9.9",                true,  true),
            ("http://[::1]:1",                  true,  true),
            ("http://0.0.0.0",                  false, true),
            ("http://localhost.localdomain",    false, true),
            ("http://[::ffff:127.0.0.1]",       false, true),
            ("http://laptop",                   false, false),
            ("http://192.168.1.2",              false, false),
            ("http://localhost.example.com",    false, false),
        ];
        for (address, token, machine) in table {
            let url: Url = address.parse().unwrap();
            assert_eq!((is_loopback(&url), is_machine(&url)), (token, machine), "{address}");
        }
    }
}
