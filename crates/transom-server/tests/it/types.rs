//! Schemas come from types, by whatever name these go; and what is told while a tool runs.

use std::sync::Arc;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{ErrorData, Json, ServerHandler, schemars, tool_handler, tool_router};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Notify;
use transom_server::test::{Client, Era, Error};
use transom_server::{Cancelled, Progress, Shown, Views, WithViews};

use crate::board::Card;

#[derive(Serialize, schemars::JsonSchema)]
struct Count {
    tea: u32,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Loaves {
    loaves: u32,
}

type Answer<T> = Result<Shown<T>, ErrorData>;
type Counted = Answer<Count>;
type Given<T> = Parameters<T>;
type Baked = Json<Count>;

#[derive(Clone, Default)]
struct Baker {
    begun: Arc<Notify>,
    ended: Arc<Notify>,
}

#[tool_router]
impl Baker {
    /// An alias of a result.
    #[transom_server::tool(view = Card)]
    fn counted(&self) -> Counted {
        Ok(Shown::new("one", Count { tea: 1 }))
    }

    /// An alias with an argument, of what is taken too.
    #[transom_server::tool(title = "Generic")]
    async fn generic(&self, Parameters(given): Given<Loaves>) -> Answer<Count> {
        Ok(Shown::new("one", Count { tea: given.loaves }))
    }

    /// An alias of rmcp's own.
    #[transom_server::tool(name = "baked_bread")]
    fn baked(&self) -> Baked {
        Json(Count { tea: 1 })
    }

    /// Nothing for the view.
    #[transom_server::tool]
    fn nothing(&self) -> Answer<()> {
        Ok(Shown::new("nothing", ()))
    }

    /// Words alone.
    #[transom_server::tool]
    #[allow(clippy::unused_self, reason = "an attribute between the words and the tool")]
    fn words(&self) -> String {
        "words".to_owned()
    }

    /// A result without a type.
    #[transom_server::tool]
    async fn untyped(&self) -> Result<CallToolResult, ErrorData> {
        Ok(CallToolResult::success(vec![]))
    }

    /// Tells how far it is.
    #[transom_server::tool]
    async fn bake(&self, Parameters(given): Parameters<Loaves>, progress: Progress) -> Shown<()> {
        for loaf in 1..=given.loaves {
            progress.tell(loaf, given.loaves, format!("loaf {loaf}")).await;
        }
        progress.tell(1, given.loaves, "back again").await;
        progress.tell_so_far(f64::NAN, "nowhere").await;
        progress.tell_so_far(given.loaves + 1, "").await;
        Shown::new(format!("told: {}", progress.is_wanted()), ())
    }

    /// Goes on until nobody waits.
    #[transom_server::tool]
    async fn forever(&self, cancelled: Cancelled) -> Answer<()> {
        self.begun.notify_one();
        cancelled.check()?;
        cancelled.wait().await;
        self.ended.notify_one();
        cancelled.check()?;
        Ok(Shown::new("never said", ()))
    }
}

#[tool_handler(name = "baker")]
impl ServerHandler for Baker {}

fn server(baker: Baker) -> WithViews<Baker> {
    Views::wrap(baker).view::<Card>().build().expect("it is sound")
}

#[tokio::test]
async fn an_alias_has_the_schema_of_its_type() -> Result<(), Error> {
    let host = Client::host(server(Baker::default())).await?;
    let tea = json!({ "type": "integer", "minimum": 0 });
    #[rustfmt::skip]
    let table = [
        ("counted",     Some(&tea), "An alias of a result."),
        ("generic",     Some(&tea), "An alias with an argument, of what is taken too."),
        ("baked_bread", Some(&tea), "An alias of rmcp's own."),
        ("nothing",     None,       "Nothing for the view."),
        ("words",       None,       "Words alone."),
        ("untyped",     None,       "A result without a type."),
    ];
    for (name, expected, description) in table {
        let tool = host.tool(name).await?;
        let schema = tool.output_schema.map(|schema| Value::Object((*schema).clone()));
        assert_eq!(schema.as_ref().map(|schema| &schema["properties"]["tea"]), expected, "{name}");
        assert_eq!(tool.description.as_deref(), Some(description), "{name}");
    }
    let generic = host.tool("generic").await?;
    assert_eq!(generic.title.as_deref(), Some("Generic"));
    assert_eq!(generic.input_schema["properties"]["loaves"], tea);
    assert_eq!(host.call("generic", json!({ "loaves": 2 })).await?.data()["tea"], 2);
    let nothing = host.tool("nothing").await?;
    assert_eq!(nothing.input_schema["type"], "object");
    assert!(host.tool("counted").await?.meta.is_some_and(|meta| meta.0.contains_key("ui")));
    Ok(())
}

#[tokio::test]
async fn progress_is_told_forwards_and_to_those_who_ask() -> Result<(), Error> {
    for era in [Era::Greeting, Era::Stateless] {
        let host = Client::as_host().era(era).connect(server(Baker::default())).await?;
        let answer = host.call("bake", json!({ "loaves": 2 })).await?;
        assert_eq!(answer.text(), "told: true");
        let told: Vec<_> =
            host.progress().into_iter().map(|told| (told.done, told.total, told.words)).collect();
        let words = |words: &str| Some(words.to_owned());
        let expected = [
            (1.0, Some(2.0), words("loaf 1")),
            (2.0, Some(2.0), words("loaf 2")),
            (3.0, None, None),
        ];
        assert_eq!(told, expected, "{era:?}");
        assert!(host.progress().is_empty());
    }
    Ok(())
}

#[tokio::test]
async fn a_tool_hears_that_nobody_waits() -> Result<(), Error> {
    use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
    use rmcp::service::PeerRequestOptions;
    let baker = Baker::default();
    let host = Client::as_host().era(Era::Greeting).connect(server(baker.clone())).await?;
    let call = CallToolRequest::new(CallToolRequestParams::new("forever"));
    let call = ClientRequest::CallToolRequest(call);
    let options = PeerRequestOptions::no_options();
    let call = host.peer().send_cancellable_request(call, options).await?;
    baker.begun.notified().await;
    call.cancel(Some("the person left".to_owned())).await?;
    baker.ended.notified().await;
    Ok(())
}
