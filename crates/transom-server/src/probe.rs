//! Asking a server for its tools before a client is connected.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use rmcp::model::{
    ClientCapabilities, Implementation, InitializeRequestParams, PaginatedRequestParams,
    ProtocolVersion, RequestId, Resource, Tool,
};
use rmcp::service::{Peer, RequestContext, serve_directly};
use rmcp::{RoleServer, ServerHandler};
use tokio::runtime::{Builder, Handle};
use transom::wire::{EXTENSION, UiCapability};

/// The tools and resources that a server lists by itself to a client that shows views.
///
/// Each is `None` where the server has to wait for something before it can say: it is asked once, without
/// waiting, since no other task is there to do the work it would wait for.
pub(crate) struct Probe {
    pub(crate) tools: Option<Vec<Tool>>,
    pub(crate) resources: Option<Vec<Resource>>,
}

pub(crate) fn probe<S: ServerHandler>(server: &S) -> Probe {
    if Handle::try_current().is_ok() {
        return ask(server, &peer());
    }
    // Outside of a runtime, as in a test or before `main` starts one. A handler may expect to be in one.
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime without threads needs only memory");
    let probe = {
        let _inside = runtime.enter();
        ask(server, &peer())
    };
    runtime.shutdown_background();
    probe
}

fn ask<S: ServerHandler>(server: &S, peer: &Peer<RoleServer>) -> Probe {
    let context = || RequestContext::new(RequestId::Number(0), peer.clone());
    let tools = pages(|page| {
        let result = now(server.list_tools(page, context()))?.ok()?;
        Some((result.tools, result.next_cursor))
    });
    let resources = pages(|page| {
        let result = now(server.list_resources(page, context()))?.ok()?;
        Some((result.resources, result.next_cursor))
    });
    Probe { tools, resources }
}

/// Every page of a list.
fn pages<T>(
    mut page: impl FnMut(Option<PaginatedRequestParams>) -> Option<(Vec<T>, Option<String>)>,
) -> Option<Vec<T>> {
    let mut all = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let request =
            cursor.take().map(|at| PaginatedRequestParams::default().with_cursor(Some(at)));
        let (mut items, next) = page(request)?;
        all.append(&mut items);
        cursor = next;
        if cursor.is_none() {
            return Some(all);
        }
    }
    None
}

/// The future's answer, if it has one already.
fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => Some(answer),
        Poll::Pending => None,
    }
}

/// A client that shows views, is connected to nothing, and hears nothing.
fn peer() -> Peer<RoleServer> {
    struct Unconnected;
    impl ServerHandler for Unconnected {}
    let ui = serde_json::to_value(UiCapability::default()).expect("a list of strings");
    let ui = ui.as_object().cloned().expect("it is an object");
    let mut capabilities = ClientCapabilities::default();
    capabilities.extensions = Some([(EXTENSION.to_owned(), ui)].into());
    let client = Implementation::new("transom-server", env!("CARGO_PKG_VERSION"));
    let mut hello = InitializeRequestParams::new(capabilities, client);
    hello.protocol_version = ProtocolVersion::V_2025_11_25;
    let nowhere = (tokio::io::empty(), tokio::io::sink());
    serve_directly(Unconnected, nowhere, Some(hello)).peer().clone()
}

const MAX_PAGES: usize = 100;
