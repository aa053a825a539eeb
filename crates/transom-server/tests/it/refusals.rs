//! What `build()` refuses, and that it names the fix.

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use transom_server::{Audience, RenderCx, Rule, ViewDef, Views};

use crate::board::{Board, Incidents};

/// A hand-written server with one tool.
struct Hand {
    meta: Option<Value>,
    schema: Option<Value>,
    resource: Option<&'static str>,
}

impl Hand {
    fn new() -> Self {
        Self { meta: None, schema: None, resource: None }
    }

    fn meta(meta: Value) -> Self {
        Self { meta: Some(meta), ..Self::new() }
    }
}

impl ServerHandler for Hand {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_resources().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let object = |value: &Value| value.as_object().cloned().expect("an object");
        let mut tool = Tool::new("show", "Shows", object(&json!({ "type": "object" })));
        tool.meta = self.meta.as_ref().map(|meta| MetaObject(object(meta)));
        tool.output_schema = self.schema.as_ref().map(|schema| object(schema).into());
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let own = self.resource.iter().map(|uri| Resource::new(*uri, "own")).collect();
        Ok(ListResourcesResult::with_all_items(own))
    }
}

fn def(uri: &'static str) -> ViewDef {
    ViewDef::new(uri).html("<!doctype html><title>x</title>")
}

fn page(html: &'static str) -> ViewDef {
    ViewDef::new("ui://a").html(html)
}

#[track_caller]
fn refused(views: Views<impl ServerHandler>, rule: Rule, fix: &str) {
    let error = views.build().expect_err(fix);
    let found = error
        .refusals()
        .iter()
        .any(|refusal| refusal.rule() == rule && refusal.words().contains(fix));
    assert!(found, "{error}");
}

// S-01; S-05; S-07.
#[test]
fn declarations_that_could_not_work_are_refused_with_the_fix() {
    let wrap = |def| Views::wrap(Hand::new()).declare(def);
    #[rustfmt::skip]
    let table = [
        (def("https://board"),                                Rule::Server04, "begin it with ui://"),
        (def("ui://a b"),                                     Rule::Server04, "begin it with ui://"),
        (def("ui://report/{id"),                              Rule::Server04, "a brace without its counterpart"),
        (def("ui://report/{?q}"),                             Rule::Server04, "write {name}"),
        (ViewDef::new("ui://a"),                              Rule::Server06, "say `file`, `dir`, `html` or `render`"),
        (def("ui://a").connect("api.example.com"),            Rule::Server11, "write an origin, as in https://"),
        (def("ui://a").connect("*"),                          Rule::Server11, "write an origin, as in https://"),
        (def("ui://a").resource("data:"),                     Rule::Server11, "write an origin, as in https://"),
        (def("ui://a").resource("https://x.com/path"),        Rule::Server11, "write an origin, as in https://"),
        (def("ui://a").resource("https://x.com; script-src *"), Rule::Server11, "write an origin, as in https://"),
        (def("ui://a").connect("http://x.com"),               Rule::Server11, "write https://"),
        (def("ui://a").connect("ws://x.com"),                 Rule::Server11, "write wss://"),
        (def("ui://a").domain("https://x.com"),               Rule::Server12, "or leave `domain` out"),
        (page("<p>fragment"),                                 Rule::Document02, "put <!doctype html> in front"),
        (page("<!doctype html><script src=app.js></script>"), Rule::Document02, "declare its folder with `dir`"),
        (page("<!doctype html><script src=https://cdn.x.com/a.js></script>"), Rule::Document02, "csp(resource = \"https://cdn.x.com\")"),
        (page("<!doctype html><link rel=stylesheet href=//cdn.x.com/a.css>"), Rule::Document02, "csp(resource = \"https://cdn.x.com\")"),
        (page("<!doctype html><style>@import 'https://x.com/a.css';</style>"), Rule::Document02, "csp(resource = \"https://x.com\")"),
        (page("<!doctype html><p style='background:url(https://x.com/a.png)'>"), Rule::Document02, "csp(resource = \"https://x.com\")"),
        (page("<!doctype html><iframe src=https://x.com></iframe>"), Rule::Document02, "csp(frame = \"https://x.com\")"),
        (page("<!doctype html><img srcset='https://x.com/a.png 1x, b.png 2x'>"), Rule::Document02, "csp(resource = \"https://x.com\")"),
    ];
    for (def, rule, fix) in table {
        refused(wrap(def), rule, fix);
    }
    refused(wrap(def("ui://a")).declare(def("ui://a")), Rule::Server04, "register it once");
}

#[test]
fn what_is_declared_may_be_used() {
    let html = "<!doctype html><script src=https://cdn.x.com/a.js></script><img src='data:image/png;base64,'>
        <a href=https://elsewhere.test>out</a><img src=http://127.0.0.1:8080/a.png><use href='#a'>";
    let def = page(html).resource("https://*.x.com").resource("http://127.0.0.1:8080");
    Views::wrap(Hand::new()).declare(def).build().expect("it is declared");
}

// S-02, server-03; S-11, S-13.
#[test]
fn tools_that_could_not_work_are_refused_with_the_fix() {
    let link = |uri: &str| json!({ "ui": { "resourceUri": uri } });
    #[rustfmt::skip]
    let table = [
        (link("ui://missing"),                              Rule::Server03, "add `.view::<…>()`"),
        (json!({ "ui/resourceUri": "ui://missing" }),       Rule::Server03, "add `.view::<…>()`"),
        (link("https://x.com"),                             Rule::Server04, "begin it with ui://"),
        (json!({ "ui": { "visibility": [] } }),             Rule::Server08, "say only(app) or only(model)"),
        (json!({ "ui": { "visibility": ["everyone"] } }),   Rule::Server08, "write \"model\", \"app\" or both"),
        (json!({ "ui": { "resourceUri": "ui://a", "csp": {} } }), Rule::Server10, "declare it with the view"),
        (json!({ "ui": { "permissions": {} } }),            Rule::Server10, "declare it with the view"),
        (link("ui://report/{id}"),                          Rule::Server03, "link it to a view with a fixed address"),
        (json!({ "ui": { "resourceUri": "ui://a" }, "ui/resourceUri": "ui://b" }), Rule::Server03, "link it to one view"),
    ];
    for (meta, rule, fix) in table {
        let views =
            Views::wrap(Hand::meta(meta)).declare(def("ui://a")).declare(def("ui://report/{id}"));
        refused(views, rule, fix);
    }

    let list = Hand { schema: Some(json!({ "type": "array" })), ..Hand::meta(link("ui://a")) };
    refused(Views::wrap(list).declare(def("ui://a")), Rule::Server15, "a field of a struct");
    let unknown = def("ui://a").tool("sohw", Audience::Both);
    refused(Views::wrap(Hand::new()).declare(unknown), Rule::Server03, "correct the name");
    let twice = || def("ui://a").tool("show", Audience::Both);
    refused(
        Views::wrap(Hand::new()).declare(twice().tool("show", Audience::App)),
        Rule::Server03,
        "a tool has one view",
    );
    let template = def("ui://report/{id}").tool("show", Audience::Both);
    refused(Views::wrap(Hand::new()).declare(template), Rule::Server03, "a fixed address");
}

// A tool that names a view type compiles; whether the view is served is known only here.
#[test]
fn a_view_that_nobody_registered_is_refused() {
    refused(Views::wrap(Incidents), Rule::Server03, "add `.view::<…>()`");
    Views::wrap(Incidents).view::<Board>().build().expect("it is registered");
}

#[test]
fn a_server_may_have_views_of_its_own() {
    let own = Hand {
        resource: Some("ui://own"),
        ..Hand::meta(json!({ "ui": { "resourceUri": "ui://own" } }))
    };
    Views::wrap(own).build().expect("the server serves it");
}

#[test]
fn a_function_for_another_server_is_refused() {
    let def =
        ViewDef::new("ui://a").render(|_: &RenderCx<String>| Box::pin(async { Ok(String::new()) }));
    refused(Views::wrap(Hand::new()).declare(def), Rule::Server06, "take &RenderCx<");
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let views =
        Views::wrap(Hand::new()).declare(def("http://a")).declare(def("ui://b").connect("x"));
    let error = views.build().expect_err("two things are wrong");
    assert_eq!(error.refusals().len(), 2, "{error}");
    let words = error.to_string();
    assert!(
        words.contains("server-04 view http://a: ") && words.contains("server-11 view ui://b: "),
        "{words}"
    );
}

// Links by name, for servers that use no macro of ours.
#[tokio::test]
async fn a_hand_written_server_is_linked_by_name() {
    use crate::clients::{Client, Era};
    let def = def("ui://a").tool("show", Audience::App);
    let server =
        Views::wrap(Hand::meta(json!({ "own": 1 }))).declare(def).build().expect("it is sound");
    let client = Client::with_views().connect(server.clone(), Era::Handshake).await;
    let tools = client.list_all_tools().await.expect("there is a list");
    let expected = json!({
        "own": 1, "ui/resourceUri": "ui://a", "ui": { "resourceUri": "ui://a", "visibility": ["app"] },
    });
    assert_eq!(json!(tools[0].meta), expected);
    let client = Client::without_views().connect(server, Era::Handshake).await;
    assert!(client.list_all_tools().await.expect("there is a list").is_empty());
}

// server-07: a server from before the link moved is brought up to date.
#[tokio::test]
async fn server_07_a_flat_link_is_also_written_where_hosts_of_today_look() {
    use crate::clients::{Client, Era};
    let server =
        Views::wrap(Hand::meta(json!({ "ui/resourceUri": "ui://a" }))).declare(def("ui://a"));
    let client =
        Client::with_views().connect(server.build().expect("it is sound"), Era::Handshake).await;
    let tools = client.list_all_tools().await.expect("there is a list");
    let expected = json!({ "ui/resourceUri": "ui://a", "ui": { "resourceUri": "ui://a" } });
    assert_eq!(json!(tools[0].meta), expected);
}

// server-01: nothing is said about views where there are none.
#[test]
fn server_01_a_server_without_views_says_nothing() {
    let server = Views::wrap(Hand::new()).build().expect("it is sound");
    assert_eq!(server.get_info().capabilities.extensions, None);
}

#[test]
fn build_works_outside_of_a_runtime_and_does_not_wait_for_a_slow_server() {
    struct Slow;
    impl ServerHandler for Slow {
        async fn list_tools(
            &self,
            _: Option<PaginatedRequestParams>,
            _: RequestContext<RoleServer>,
        ) -> Result<ListToolsResult, ErrorData> {
            std::future::pending().await
        }
    }
    Views::wrap(Slow).view::<Board>().build().expect("it is asked again when it lists its tools");
}
