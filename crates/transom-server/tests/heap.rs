//! Reading a view copies it once: into the answer, which rmcp wants to own.

use rmcp::ServerHandler;
use rmcp::model::{ReadResourceRequestParams, RequestId};
use rmcp::service::{RequestContext, serve_directly};
use transom_server::{ViewDef, Views};

// Counting is for the whole process, so this test has one of its own.
#[global_allocator]
static HEAP: dhat::Alloc = dhat::Alloc;

struct Plain;
impl ServerHandler for Plain {}

#[test]
fn reading_a_megabyte_copies_it_once() {
    let _profiler = dhat::Profiler::builder().testing().build();
    let html = format!("<!doctype html><title>Large</title><p>{}", "x".repeat(MEGABYTE));
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("a runtime without threads needs only memory");
    runtime.block_on(async {
        let server = Views::wrap(Plain).declare(ViewDef::new("ui://large").html(html)).build();
        let server = server.expect("it is sound");
        let nowhere = (tokio::io::empty(), tokio::io::sink());
        let peer = serve_directly(Plain, nowhere, None).peer().clone();
        let read = || {
            let context = RequestContext::new(RequestId::Number(1), peer.clone());
            server.read_resource(ReadResourceRequestParams::new("ui://large"), context)
        };
        read().await.expect("it can be read");

        let before = dhat::HeapStats::get().total_bytes;
        let answer = read().await.expect("it can be read");
        let allocated = dhat::HeapStats::get().total_bytes - before;
        drop(answer);
        let once = (MEGABYTE + 64 * 1024) as u64;
        assert!(allocated <= once, "{allocated} bytes for a document of {MEGABYTE}");
    });
}

const MEGABYTE: usize = 1 << 20;
