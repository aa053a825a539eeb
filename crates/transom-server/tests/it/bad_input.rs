//! Bad input: an error in words, and the server goes on.

use rmcp::model::{CallToolRequestParams, ErrorCode, ReadResourceRequestParams};
use rmcp::{ErrorData, ServerHandler, ServiceError};
use serde_json::json;
use transom_server::{RenderCx, View, ViewDef, Views};

use crate::board::{Board, Incidents};
use crate::clients::{Client, Connected, ERAS, Era};

struct Plain;
impl ServerHandler for Plain {}

#[track_caller]
fn words<T: std::fmt::Debug>(answer: Result<T, ServiceError>) -> ErrorData {
    match answer {
        Err(ServiceError::McpError(error)) => error,
        other => panic!("{other:?}"),
    }
}

async fn read(client: &Connected, uri: &str) -> ErrorData {
    words(client.read_resource(ReadResourceRequestParams::new(uri)).await)
}

#[tokio::test]
async fn an_unknown_view_is_not_found_and_the_known_ones_are_named() {
    for era in ERAS {
        let server = Views::wrap(Incidents).view::<Board>().build().expect("it is sound");
        let client = Client::with_views().connect(server, era).await;
        let error = read(&client, "ui://incidents/bored").await;
        let code = match era {
            Era::Handshake => ErrorCode::RESOURCE_NOT_FOUND,
            Era::Stateless => ErrorCode::INVALID_PARAMS,
        };
        assert_eq!(error.code, code);
        assert!(error.message.contains("no view at \"ui://incidents/bored\""), "{error}");
        assert!(error.message.contains("ui://incidents/board"), "{error}");
        let endless = format!("ui://{}", "x".repeat(100_000));
        assert!(read(&client, &endless).await.message.len() < 400);
        assert!(client.list_all_tools().await.is_ok(), "the server goes on");
    }
}

#[tokio::test]
async fn an_unknown_template_parameter_is_an_error_in_words() {
    let def = ViewDef::new("ui://report/{id}").render(|cx: &RenderCx| {
        Box::pin(async move { Ok(format!("<!doctype html>{}", cx.param("name")?)) })
    });
    let server = Views::wrap(Plain).declare(def).build().expect("it is sound");
    let client = Client::with_views().connect(server, Era::Handshake).await;
    let error = read(&client, "ui://report/7").await;
    assert_eq!(error.code, ErrorCode::INTERNAL_ERROR);
    assert!(error.message.contains("has no parameter {name}"), "{error}");
    // An address that fits no template.
    for uri in ["ui://report/", "ui://report/7/8", "ui://report/%ff"] {
        assert_eq!(read(&client, uri).await.code, ErrorCode::RESOURCE_NOT_FOUND, "{uri}");
    }
}

#[derive(askama::Template, View)]
#[template(source = "<!doctype html>{{ Self::fail()? }}", ext = "html")]
#[view(uri = "ui://failing", template)]
struct Failing;

impl Failing {
    fn fail() -> Result<String, std::fmt::Error> {
        Err(std::fmt::Error)
    }
}

#[tokio::test]
async fn a_template_that_fails_is_an_error_in_words() {
    let server = Views::wrap(Plain).view::<Failing>().build().expect("it is sound");
    let client = Client::with_views().connect(server, Era::Handshake).await;
    for _ in 0..2 {
        let error = read(&client, "ui://failing").await;
        assert_eq!(error.code, ErrorCode::INTERNAL_ERROR);
        assert!(error.message.contains("the template of ui://failing failed"), "{error}");
    }
}

#[tokio::test]
async fn an_argument_that_does_not_fit_the_schema_is_refused_by_name() {
    for era in ERAS {
        let server = Views::wrap(Incidents).view::<Board>().build().expect("it is sound");
        let client = Client::with_views().connect(server, era).await;
        for arguments in [json!({}), json!({ "team": 7 })] {
            let arguments = arguments.as_object().cloned().expect("an object");
            let call = CallToolRequestParams::new("show").with_arguments(arguments);
            // rmcp's answer, as the revision of 2025-11-25 has it: the model can do something about it.
            let result = client.call_tool(call).await.expect("a result that says what is wrong");
            let words = &result.content[0].as_text().expect("words").text;
            assert_eq!(result.is_error, Some(true));
            assert!(words.contains("`team`") || words.contains("expected a string"), "{words}");
        }
        assert!(client.call_tool(CallToolRequestParams::new("hello")).await.is_ok());
    }
}
