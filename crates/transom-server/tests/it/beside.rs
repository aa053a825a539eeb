//! What a server has beside its views reaches its clients: prompts, resources, tasks, who is asking, and questions
//! to the person and the model.

use rmcp::handler::server::tool::Extension;
use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, prompt, prompt_handler, prompt_router, tool_handler,
    tool_router,
};
use serde_json::json;
use transom_server::test::{Client, Era, Error};
use transom_server::{Views, WithViews};

use crate::board::Card;
use table::Restaurant;

#[path = "../../examples/table.rs"]
#[expect(dead_code, reason = "the example's main")]
mod table;

#[derive(Clone)]
struct Desk;

#[tool_router]
impl Desk {
    /// Takes long.
    #[transom_server::tool(view = Card)]
    fn long(&self) -> CallToolResponse {
        CallToolResponse::Task(CreateTaskResult::new(task()))
    }

    /// Tells who is asking.
    #[transom_server::tool]
    fn who(&self, Extension(parts): Extension<http::request::Parts>) -> String {
        let who = parts.headers.get("authorization").and_then(|who| who.to_str().ok());
        who.unwrap_or("nobody").to_owned()
    }
}

#[prompt_router]
impl Desk {
    /// Asks for a table.
    #[prompt]
    async fn table(&self) -> Vec<PromptMessage> {
        vec![PromptMessage::new_text(Role::User, "A table, please")]
    }
}

#[tool_handler(name = "desk")]
#[prompt_handler]
impl ServerHandler for Desk {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_tasks()
            .build();
        ServerConfig::new(capabilities)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![Resource::new("desk://menu", "menu")]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(ReadResourceResult::new(vec![ResourceContents::text("soup", request.uri)]).into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        assert_eq!(request.task_id, "7");
        Ok(GetTaskResult::new(DetailedTask::new(task(), TaskPayload::Working)))
    }
}

fn task() -> Task {
    Task::new("7", TaskStatus::Working, "2026-11-18T00:00:00Z", "2026-11-18T00:00:00Z")
}

fn server() -> WithViews<Desk> {
    Views::wrap(Desk).view::<Card>().build().expect("it is sound")
}

#[tokio::test]
async fn prompts_and_resources_stand_beside_views() -> Result<(), Error> {
    for era in [Era::Greeting, Era::Stateless] {
        let host = Client::as_host().era(era).connect(server()).await?;
        assert_eq!(host.views().await?, ["ui://incidents/card"]);
        let prompts = host.peer().list_all_prompts().await?;
        assert_eq!(prompts.iter().map(|prompt| &*prompt.name).collect::<Vec<_>>(), ["table"]);
        let prompt = host.peer().get_prompt(GetPromptRequestParams::new("table")).await?;
        assert_eq!(prompt.messages.len(), 1);
        let resources = host.peer().list_all_resources().await?;
        let uris: Vec<_> = resources.iter().map(|resource| &*resource.uri).collect();
        assert_eq!(uris, ["ui://incidents/card", "desk://menu"], "{era:?}");
        let menu = ReadResourceRequestParams::new("desk://menu");
        let menu = host.peer().read_resource(menu).await?;
        assert_eq!(serde_json::to_value(&menu.contents).unwrap_or_default()[0]["text"], "soup");
    }
    Ok(())
}

/// The example, asked by clients of both eras.
#[tokio::test]
async fn a_tool_with_a_view_asks_the_person_and_the_model() -> Result<(), Error> {
    let server = || Views::wrap(Restaurant).view::<table::Card>().build().expect("it is sound");
    for era in [Era::Greeting, Era::Stateless] {
        let four = |asked: &str| (asked == "For how many?").then(|| json!({ "guests": 4 }));
        let model = |asked: &str| format!("Welcome ({} words)", asked.split(' ').count());
        let host = Client::as_host().era(era).person(four).model(model);
        let booked = host.connect(server()).await?.call("book", json!({})).await?;
        assert_eq!(booked.data(), &json!({ "guests": 4, "line": "Welcome (12 words)" }), "{era:?}");
        assert_eq!(booked.view(), Some("ui://table/card"));
        let host = Client::as_host().era(era).person(|_| None).model(model);
        let declined = host.connect(server()).await?.call("book", json!({})).await?;
        assert!(declined.is_error() && declined.data().is_null(), "{declined}");
    }
    Ok(())
}

#[tokio::test]
async fn a_tool_with_a_view_may_become_a_task() -> Result<(), Error> {
    let host = Client::as_host().tasks().connect(server()).await?;
    let begun = host.peer().call_tool_once(CallToolRequestParams::new("long")).await?;
    let CallToolResponse::Task(begun) = begun else { panic!("{begun:?}") };
    let task = host.peer().get_task(GetTaskParams::new(begun.task.task_id)).await?;
    assert_eq!(task.task.status(), TaskStatus::Working);
    Ok(())
}

/// Whoever checks tokens does so in front of the server, or in it: what came with the request is there.
#[tokio::test]
async fn what_a_request_brings_along_reaches_the_tool() {
    let http = crate::clients::Http::serve(server(), false).await;
    let said = http.post_as("Bearer of news", "who").await;
    assert!(said.contains("Bearer of news"), "{said}");
}
