//! Documents made for one request: functions, askama templates, addresses with parameters.

use askama::Template;
use rmcp::model::{CacheScope, ReadResourceRequestParams, ReadResourceResult, ResourceContents};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{json, to_value};
use transom_server::{RenderCx, View, ViewDef, Views};

use crate::clients::{Client, Connected, ERAS, Era};

#[derive(Clone)]
struct Shop {
    motto: &'static str,
}

impl ServerHandler for Shop {}

#[derive(View)]
#[view(uri = "ui://shop/front", html = Self::page)]
struct Front;

impl Front {
    async fn page(cx: &RenderCx<Shop>) -> Result<String, ErrorData> {
        tokio::task::yield_now().await;
        Ok(format!("<!doctype html><p>{} {:?}", cx.server().motto, cx.ui()))
    }
}

#[derive(Template, View)]
#[template(
    source = "<!doctype html><html><head><title>{{ id }}</title></head><body>{{ motto }}</body></html>",
    ext = "html"
)]
#[view(uri = "ui://report/{id}", template, load = Self::load, border = false)]
struct Report {
    id: String,
    motto: String,
}

impl Report {
    async fn load(cx: &RenderCx<Shop>) -> Result<Self, ErrorData> {
        let id = cx.param("id")?.to_owned();
        if id == "none" {
            return Err(ErrorData::resource_not_found("there is no report of that name", None));
        }
        Ok(Self { id, motto: cx.server().motto.to_owned() })
    }
}

#[derive(Template, View)]
#[template(
    source = "<!doctype html><title>Plain</title>{{ transom_server::runtime()|safe }}<p>Plain",
    ext = "html"
)]
#[view(uri = "ui://shop/plain", template)]
struct Plain;

async fn client(era: Era) -> Connected {
    let views = Views::wrap(Shop { motto: "fine & <good>" });
    let server = views.view::<Front>().view::<Report>().view::<Plain>().build();
    Client::with_views().connect(server.expect("it is sound"), era).await
}

async fn read(client: &Connected, uri: &str) -> ReadResourceResult {
    client.read_resource(ReadResourceRequestParams::new(uri)).await.expect("it can be read")
}

fn html(result: &ReadResourceResult) -> &str {
    let ResourceContents::TextResourceContents { text, .. } = &result.contents[0] else {
        panic!("{result:?}")
    };
    text
}

#[tokio::test]
async fn a_function_sees_its_server_and_the_client() {
    for era in ERAS {
        let client = client(era).await;
        let result = read(&client, "ui://shop/front").await;
        assert!(html(&result).ends_with("<p>fine & <good> Yes"));
        assert!(
            html(&result).starts_with("<!doctype html><script>"),
            "the view script is in front"
        );
        // What was made for one user must not reach another one.
        let private = (era == Era::Stateless).then_some(CacheScope::Private);
        assert_eq!(result.cache_scope.filter(|_| era == Era::Stateless), private);
    }
}

#[tokio::test]
async fn an_address_with_parameters_is_listed_as_a_template_and_read_as_a_document() {
    for era in ERAS {
        let client = client(era).await;
        let templates = client.list_all_resource_templates().await.expect("there is a list");
        let expected = json!([{
            "uriTemplate": "ui://report/{id}", "name": "report", "mimeType": "text/html;profile=mcp-app",
            "_meta": { "ui": { "prefersBorder": false } },
        }]);
        assert_eq!(to_value(&templates).expect("it is JSON"), expected);
        let resources = client.list_all_resources().await.expect("there is a list");
        assert!(resources.iter().all(|resource| !resource.uri.contains('{')));

        let result = read(&client, "ui://report/a%2Fb%3Cc").await;
        assert!(html(&result).contains("<title>a/b&#60;c</title>"), "{}", html(&result));
        assert!(html(&result).contains("<body>fine &#38; &#60;good&#62;</body>"));
        let wire = to_value(&result.contents[0]).expect("it is JSON");
        assert_eq!(wire["uri"], "ui://report/a%2Fb%3Cc", "S-06: as it was asked for");
        assert_eq!(wire["_meta"], json!({ "ui": { "prefersBorder": false } }));
    }
}

#[tokio::test]
async fn a_template_that_has_the_view_script_gets_no_second_one() {
    let client = client(Era::Handshake).await;
    let result = read(&client, "ui://shop/plain").await;
    assert!(html(&result).starts_with("<!doctype html><title>Plain</title><script>"));
    assert_eq!(
        html(&result).matches("ui/initialize").count(),
        html(&result_of_runtime()).matches("ui/initialize").count()
    );
}

fn result_of_runtime() -> ReadResourceResult {
    ReadResourceResult::new(vec![ResourceContents::text(transom_server::runtime(), "ui://x")])
}

#[tokio::test]
async fn a_document_may_say_that_it_needs_no_view_script() {
    let page = "<!doctype html><meta name=\"transom\" content=\"off\"><p>Still";
    let def = ViewDef::new("ui://still").html(page);
    let server = Views::wrap(Shop { motto: "" }).declare(def).build().expect("it is sound");
    let client = Client::with_views().connect(server, Era::Handshake).await;
    assert_eq!(html(&read(&client, "ui://still").await), page);
}
