//! The MCP Apps protocol as values.
//!
//! No socket, clock, file, thread or log: messages and the time go in, messages and decisions come out.
//! So the gate of a host can be tested without a browser, and driven from any loop.
//!
//! ```text
//!   view                                                          MCP server
//!    │  text                                                          ▲
//!    ▼                                                                │
//!  sandbox ──▶ host page ──▶ host::Session ──▶ policy ──▶ Output::Perform
//!                              │    ▲            │
//!                 Output::Send │    │            └──▶ Output::Ask ──▶ a person
//!                              ▼    │                                   │
//!                             view  └───────── Input::Decision ◀────────┘
//! ```
//!
//! # A message is judged
//!
//! One view, one server, one call. The host has no loop here: the lines below are what a loop does.
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//!
//! use serde_json::value::RawValue;
//! use transom::host::{Input, Opening, Output, ServerLimits, Session, Setup, Share, Task, Tools};
//! use transom::wire::ListChanged;
//!
//! // The server has one tool. It says that it only reads, so the usual policy allows it.
//! let tool = r#"{"name":"now","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#;
//! let tool = RawValue::from_string(tool.to_owned())?;
//! let mut opening = Opening::default();
//! opening.tools = Arc::new(Tools::read([&*tool], &mut Vec::new()));
//!
//! // The host passes tool calls on, and says so.
//! let mut setup = Setup::default();
//! setup.capabilities.server_tools = Some(ListChanged::default());
//!
//! let now = Duration::ZERO; // the caller's clock
//! let mut share = Share::new(now, ServerLimits::default());
//! let mut session = Session::start(now, Arc::new(setup), opening);
//!
//! // What the view says, as it came.
//! for text in [
//!     r#"{"jsonrpc":"2.0","id":1,"method":"ui/initialize","params":{"protocolVersion":"2026-01-26","appInfo":{"name":"clock","version":"1"},"appCapabilities":{}}}"#,
//!     r#"{"jsonrpc":"2.0","method":"ui/notifications/initialized"}"#,
//!     r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"now"}}"#,
//! ] {
//!     session.hear(now, text, &mut share)?;
//! }
//!
//! // What is to be done, oldest first.
//! let mut sent = Vec::new();
//! let mut performed = None;
//! while let Some(output) = session.poll() {
//!     match output {
//!         Output::Send(text) => sent.push(text),
//!         Output::Perform { call, task: Task::CallTool(tool) } => performed = Some((call, tool.name)),
//!         _ => {} // verdicts for the log, sizes for the page
//!     }
//! }
//! let (call, name) = performed.expect("the policy allows what only reads");
//! assert_eq!(name, "now");
//!
//! // The server's answer goes back to the view.
//! let result = RawValue::from_string(r#"{"content":[]}"#.to_owned())?;
//! session.handle(now, Input::Answer { call, outcome: Ok(&result) })?;
//! let Some(Output::Send(answer)) = session.poll() else { panic!("the view gets its answer") };
//! assert!(answer.contains(r#""id":2"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to look
//!
//! | module | holds |
//! |---|---|
//! | [`host`] | the host's end of one view's life: it judges every message of the view |
//! | [`view`] | the view's end, for views in Rust and for tests |
//! | [`policy`] | may this view do that? Allow, deny with a reason, or ask a person |
//! | [`routes`] | the HTTP requests that a tool says it makes for views |
//! | [`csp`], [`permissions`] | what a document declares, turned into headers and attributes |
//! | [`rpc`], [`calls`], [`wire`] | messages: their form, the requests that wait for an answer, the types of the specification |
//! | [`script`] | scripts, read without running them |
//! | [`origin`], [`partial`], [`printed`], [`quoted`], [`violation`] | values that the others are made of |
//!
//! The feature `machines`, which is on unless turned off, has `host`, `view`, `policy`, `calls` and `partial`. A server declares
//! and reads, and judges nothing: without them it builds in half the time.
//!
//! `transom-host` puts a loop, sockets and a page around this crate; most programs want that one. Ids such as `H-24` in the
//! documentation are rules of MCP Apps, and `D7` is a decision of this project: `docs/reference/` and `docs/decisions.md` of
//! the repository define them.

#![cfg_attr(
    not(feature = "machines"),
    allow(dead_code, reason = "the machines use more of the values than those who declare")
)]

#[cfg(feature = "machines")]
pub mod calls;
pub mod csp;
#[cfg(feature = "machines")]
pub mod host;
pub mod origin;
#[cfg(feature = "machines")]
pub mod partial;
pub mod permissions;
#[cfg(feature = "machines")]
pub mod policy;
pub mod printed;
pub mod quoted;
mod reach;
pub mod routes;
pub mod rpc;
mod scan;
pub mod script;
#[cfg(feature = "machines")]
pub mod view;
pub mod violation;
pub mod wire;
