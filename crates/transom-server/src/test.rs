//! A client for tests of servers: it lists, calls and reads as a host does, or as a client that shows no views.
//!
//! ```
//! # use rmcp::{ServerHandler, tool_handler, tool_router, schemars};
//! # use serde::Serialize;
//! # use transom_server::{Shown, View, Views};
//! # #[derive(View)]
//! # #[view(uri = "ui://votes/board", html = "<!doctype html><title>Votes</title><p></p>", title = "Votes")]
//! # struct Board;
//! # #[derive(Serialize, schemars::JsonSchema)]
//! # struct Count { tea: u32 }
//! # struct Votes;
//! # #[tool_router]
//! # impl Votes {
//! #     /// Show how the votes stand.
//! #     #[transom_server::tool(view = Board)]
//! #     fn show(&self) -> Shown<Count> { Shown::new("2 votes for tea", Count { tea: 2 }) }
//! #     /// Count one vote.
//! #     #[transom_server::tool(view = Board, only(app))]
//! #     fn vote(&self) -> Shown<Count> { Shown::new("counted", Count { tea: 3 }) }
//! # }
//! # #[tool_handler(name = "votes")]
//! # impl ServerHandler for Votes {}
//! use serde_json::json;
//! use transom_server::test::{Client, Error};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
//! let server = Views::wrap(Votes).view::<Board>().build().expect("every link leads to a view");
//! let host = Client::host(server.clone()).await?;
//! let shown = host.call("show", json!({})).await?;
//! assert_eq!(shown.data()["tea"], 2);
//! assert!(host.open(&shown).await?.html().contains("<title>Votes"));
//! assert_eq!(host.call_from_view("vote", json!({})).await?.data()["tea"], 3);
//!
//! let plain = Client::plain(server).await?;
//! assert_eq!(plain.tools().await?, ["show"]);
//! assert_eq!(plain.call("show", json!({})).await?.to_string(), "2 votes for tea");
//! # Ok(()) }
//! ```

mod answer;
mod error;
mod person;

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CallToolRequestParams, JsonObject, ProtocolVersion, ReadResourceRequestParams, Resource,
    ResourceContents, Tool,
};
use rmcp::service::RunningService;
use rmcp::{
    ClientLifecycleMode, ClientServiceExt as _, RoleClient, ServerHandler, ServiceExt as _,
};
use serde_json::Value;
use transom::wire::{Compat, ToolMeta, Visibilities, Visibility, is_app_mime};

pub use self::answer::{Answer, Document, Told};
pub use self::error::Error;
use self::person::Person;

/// A client of a server that runs in the same process, over a pipe.
#[derive(Debug)]
pub struct Client {
    running: RunningService<RoleClient, Person>,
    shows_views: bool,
    heard: Arc<Mutex<Vec<Told>>>,
}

/// Which revision of MCP a client speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Era {
    /// 2025-11-25: a greeting, then requests.
    Greeting,
    /// 2026-07-28: every request by itself.
    #[default]
    Stateless,
}

/// A client that is not connected yet.
#[derive(Debug, Default)]
pub struct Setup {
    shows_views: bool,
    era: Era,
    person: Person,
}

impl Client {
    /// Connects as a host: it shows views, and keeps from the model what is for views alone.
    ///
    /// # Errors
    ///
    /// The server does not take the client.
    pub async fn host(server: impl ServerHandler) -> Result<Self, Error> {
        Self::as_host().connect(server).await
    }

    /// Connects as a client that shows no views.
    ///
    /// # Errors
    ///
    /// The server does not take the client.
    pub async fn plain(server: impl ServerHandler) -> Result<Self, Error> {
        Self::as_plain().connect(server).await
    }

    /// A host that is told more before it connects.
    pub fn as_host() -> Setup {
        Setup { shows_views: true, ..Setup::default() }
    }

    /// A client without views that is told more before it connects.
    pub fn as_plain() -> Setup {
        Setup::default()
    }

    /// Lists the names of the tools that a model gets.
    ///
    /// # Errors
    ///
    /// The server does not list its tools.
    pub async fn tools(&self) -> Result<Vec<String>, Error> {
        self.names(Visibility::Model).await
    }

    /// Lists the names of the tools that a view may call; a client without views calls none that way.
    ///
    /// # Errors
    ///
    /// The server does not list its tools.
    pub async fn view_tools(&self) -> Result<Vec<String>, Error> {
        if self.shows_views { self.names(Visibility::App).await } else { Ok(Vec::new()) }
    }

    /// Returns a tool as it is listed.
    ///
    /// # Errors
    ///
    /// There is none of that name; the words say which there are.
    pub async fn tool(&self, name: &str) -> Result<Tool, Error> {
        let mut tools = self.running.list_all_tools().await?;
        match tools.iter().position(|tool| tool.name == name) {
            Some(at) => Ok(tools.swap_remove(at)),
            None => Err(Error::missing("tool", name, tools.iter().map(|tool| &*tool.name))),
        }
    }

    /// Lists the addresses of the views, those with parameters last.
    ///
    /// # Errors
    ///
    /// The server does not list its resources.
    pub async fn views(&self) -> Result<Vec<String>, Error> {
        let is_view = |mime: &Option<String>| {
            mime.as_deref().is_some_and(|mime| is_app_mime(mime, Compat::default()))
        };
        let fixed = self.running.list_all_resources().await?;
        let fixed = fixed.into_iter().filter(|view: &Resource| is_view(&view.mime_type));
        let templates = self.running.list_all_resource_templates().await?;
        let templates = templates.into_iter().filter(|view| is_view(&view.mime_type));
        Ok(fixed.map(|view| view.uri).chain(templates.map(|view| view.uri_template)).collect())
    }

    /// Calls a tool as the model does. `arguments` is an object.
    ///
    /// # Errors
    ///
    /// There is no such tool, it is for views alone, or the server refuses. A tool that fails in its own words is an
    /// answer: [`Answer::is_error`].
    pub async fn call(&self, name: &str, arguments: Value) -> Result<Answer, Error> {
        self.call_as(Visibility::Model, name, arguments).await
    }

    /// Calls a tool as a view does.
    ///
    /// # Errors
    ///
    /// As [`Client::call`]; and this client shows no views, or the tool is for the model alone.
    pub async fn call_from_view(&self, name: &str, arguments: Value) -> Result<Answer, Error> {
        if !self.shows_views {
            return Err(Error::not_shown("call tools from"));
        }
        self.call_as(Visibility::App, name, arguments).await
    }

    /// Reads the view that a host opens for an answer.
    ///
    /// # Errors
    ///
    /// The answer's tool has no view, this client shows none, or the view cannot be read.
    pub async fn open(&self, answer: &Answer) -> Result<Document, Error> {
        if !self.shows_views {
            return Err(Error::not_shown("open"));
        }
        match answer.view() {
            Some(uri) => self.read(uri).await,
            None => Err(Error::no_view(answer.tool())),
        }
    }

    /// Reads a view.
    ///
    /// # Errors
    ///
    /// There is none at that address; the words say which there are. Or what is there is no view.
    pub async fn read(&self, uri: &str) -> Result<Document, Error> {
        let asked = ReadResourceRequestParams::new(uri);
        let read = match self.running.read_resource(asked).await {
            Ok(read) => read,
            Err(error) => {
                let views = self.views().await.unwrap_or_default();
                let known = views.iter().any(|view| view == uri || view.contains('{'));
                let missing = || Error::missing("view", uri, views.iter().map(String::as_str));
                return Err(if known { error.into() } else { missing() });
            }
        };
        let Some(ResourceContents::TextResourceContents { text, mime_type, meta, .. }) =
            read.contents.into_iter().next()
        else {
            return Err(Error::no_document(uri, "nothing that is text"));
        };
        let mime = mime_type.unwrap_or_default();
        if !is_app_mime(&mime, Compat::default()) {
            return Err(Error::no_document(uri, &format!("the type {mime:?}")));
        }
        Ok(Document::new(uri, text, meta))
    }

    /// Returns what tools told of their progress since this was last asked, oldest first.
    pub fn progress(&self) -> Vec<Told> {
        std::mem::take(&mut *self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns rmcp's own client, for everything else: prompts, resources, tasks, completion.
    pub fn peer(&self) -> &RunningService<RoleClient, impl rmcp::ClientHandler + use<>> {
        &self.running
    }

    async fn names(&self, who: Visibility) -> Result<Vec<String>, Error> {
        let tools = self.running.list_all_tools().await?;
        let visible = tools.into_iter().filter(|tool| self.may(who, tool));
        Ok(visible.map(|tool| tool.name.into_owned()).collect())
    }

    /// Whether a model or a view may call a tool. A client without views does not know that others may not.
    fn may(&self, who: Visibility, tool: &Tool) -> bool {
        !self.shows_views || read_meta(tool).visibility.contains(who)
    }

    async fn call_as(
        &self,
        who: Visibility,
        name: &str,
        arguments: Value,
    ) -> Result<Answer, Error> {
        let arguments: JsonObject = match arguments {
            Value::Object(arguments) => arguments,
            other => return Err(Error::no_object(name, &other)),
        };
        let tool = self.tool(name).await?;
        if !self.may(who, &tool) {
            return Err(Error::not_for(name, who));
        }
        let call = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        let result = self.running.call_tool(call).await?;
        let view = read_meta(&tool).resource_uri.filter(|_| self.shows_views);
        Ok(Answer::new(tool, view.map(|uri| uri.as_str().to_owned()), result))
    }
}

impl Setup {
    /// Speaks another revision of MCP.
    pub fn era(mut self, era: Era) -> Self {
        self.era = era;
        self
    }

    /// Answers what servers ask the person (elicitation): data for the form, or `None` to decline.
    pub fn person(
        mut self,
        answer: impl Fn(&str) -> Option<Value> + Send + Sync + 'static,
    ) -> Self {
        self.person.answer = Some(Box::new(answer));
        self
    }

    /// Answers what servers ask the model (sampling): from the last words of the request.
    pub fn model(mut self, answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.person.model = Some(Box::new(answer));
        self
    }

    /// Takes tasks where a tool makes one; [`Client::peer`] asks how they are.
    pub fn tasks(mut self) -> Self {
        self.person.tasks = true;
        self
    }

    /// Connects.
    ///
    /// # Errors
    ///
    /// The server does not take the client.
    pub async fn connect(mut self, server: impl ServerHandler) -> Result<Client, Error> {
        let (ours, theirs) = tokio::io::duplex(PIPE);
        // Ends when the client is dropped and its end of the pipe with it.
        tokio::spawn(async move {
            if let Ok(running) = server.serve(theirs).await {
                let _ = running.waiting().await;
            }
        });
        self.person.shows_views = self.shows_views;
        let heard = Arc::clone(&self.person.heard);
        let mode = match self.era {
            Era::Greeting => ClientLifecycleMode::Initialize,
            Era::Stateless => ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        };
        let running = self.person.serve_with_lifecycle(ours, mode).await;
        let running = running.map_err(|error| Error::refused(&error))?;
        Ok(Client { running, shows_views: self.shows_views, heard })
    }
}

fn read_meta(tool: &Tool) -> ToolMeta {
    let both = || ToolMeta { resource_uri: None, visibility: Visibilities::BOTH };
    let meta = tool.meta.as_ref();
    meta.map_or_else(both, |meta| ToolMeta::read(&meta.0, Compat::default(), &mut Vec::new()))
}

const PIPE: usize = 64 << 10;
