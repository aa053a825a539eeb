//! Requests: a name, a path, and one of the pages that were prepared, or nothing.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{ALLOW, CONTENT_SECURITY_POLICY, HOST};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri};

use transom::quoted::Quoted;

use super::errors;
use super::page::{ServedPage, common};
use super::reports;
use super::sites::{Found, Sites};

/// Answers for all names, or for one only.
pub(super) fn router(sites: Arc<Sites>, only: Option<String>) -> Router {
    let only: Option<Arc<str>> = only.map(Into::into);
    Router::new().fallback(move |request: Request| {
        let (sites, only) = (sites.clone(), only.clone());
        async move { hear(answer(&sites, only.as_deref(), &request), request).await }
    })
}

/// What a request gets.
enum Answer {
    Response(Response<Body>),
    /// A report on this page, which is heard first.
    Report(Arc<ServedPage>),
}

async fn hear(answer: Answer, request: Request) -> Response<Body> {
    let page = match answer {
        Answer::Response(response) => return response,
        Answer::Report(page) => page,
    };
    if let Some(reports) = page.reports() {
        reports.take(request.into_body()).await;
    }
    // Whatever became of it: whoever sends one learns nothing.
    refuse(StatusCode::NO_CONTENT)
}

fn answer(sites: &Sites, only: Option<&str>, request: &Request) -> Answer {
    let no = |status| Answer::Response(refuse(status));
    let Some(name) = name(request.uri(), request.headers()) else {
        return no(StatusCode::MISDIRECTED_REQUEST);
    };
    if only.is_some_and(|only| only != name) {
        return no(StatusCode::MISDIRECTED_REQUEST);
    }
    match sites.find(name, request.uri().path()) {
        // DNS rebinding ends here: a name that we did not make is no view's.
        Found::NoSuchName => no(StatusCode::MISDIRECTED_REQUEST),
        Found::Page(page) if page.is_withheld() => no(StatusCode::NOT_FOUND),
        Found::Page(page) if is_report(&page, request) => Answer::Report(page),
        _ if !matches!(*request.method(), Method::GET | Method::HEAD) => {
            let mut refusal = refuse(StatusCode::METHOD_NOT_ALLOWED);
            refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            Answer::Response(refusal)
        }
        Found::Page(page) if let Some(words) = error(&page, request) => {
            if let Some(reports) = page.reports() {
                reports.hear_error(words);
            }
            no(StatusCode::NO_CONTENT)
        }
        Found::NoSuchPath => no(StatusCode::NOT_FOUND),
        // P-12: outside a frame, neither its sandbox attribute nor its embedder's policy holds.
        Found::Page(_) if !is_for_frame(request.headers()) => no(StatusCode::FORBIDDEN),
        Found::Page(page) => Answer::Response(serve(&page, request.method())),
    }
}

/// Whether a page wants to hear this.
fn is_report(page: &ServedPage, request: &Request) -> bool {
    page.reports().is_some()
        && *request.method() == Method::POST
        && reports::is_report(request.headers())
}

/// What the script in a watched document says: it asks for a picture.
fn error(page: &ServedPage, request: &Request) -> Option<Quoted> {
    let query = request.uri().query().filter(|_| page.reports().is_some())?;
    let mut wanted = request.headers().get_all("sec-fetch-dest").iter();
    wanted.all(|wanted| wanted == "image").then(|| errors::words(query)).flatten()
}

/// The name a request is for, compared later as it stands: whatever is not exactly a name of ours
/// is no name.
fn name<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next().map(HeaderValue::to_str).transpose().ok()?;
    // HTTP/2 has the name in its address. Two names that differ are an attempt at something.
    match (uri.authority().map(|authority| authority.as_str()), host) {
        _ if hosts.next().is_some() => None,
        (Some(address), Some(host)) if address != host => None,
        (address, host) => host.or(address),
    }
}

/// Browsers say what an answer is for. An old one says nothing, and gets it.
fn is_for_frame(headers: &HeaderMap) -> bool {
    headers.get_all("sec-fetch-dest").iter().all(|wanted| wanted == "iframe")
}

fn serve(page: &ServedPage, method: &Method) -> Response<Body> {
    let body = if *method == Method::HEAD { Body::empty() } else { Body::from(page.body()) };
    let mut response = Response::new(body);
    *response.headers_mut() = page.headers();
    response
}

/// Says no, and nothing else.
fn refuse(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response.headers_mut().extend(common());
    let nothing = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, nothing);
    response
}
