//! A dashboard that keeps itself up to date: the model opens it, and the view polls a tool of its own.

use std::time::{SystemTime, UNIX_EPOCH};

use rmcp::{ServerHandler, handler::server::wrapper::Parameters, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transom_server::{ServeError, Shown, View, Views};

#[derive(View)]
#[view(uri = "ui://dashboard/service", file = "views/dashboard.html", title = "Service dashboard")]
struct Dashboard;

#[derive(Serialize, JsonSchema)]
struct Opened {
    service: String,
    measures: Vec<Measure>,
    next: u64,
}

#[derive(Deserialize, JsonSchema)]
struct After {
    /// `next` of the last answer
    after: u64,
}

#[derive(Serialize, JsonSchema)]
struct News {
    measures: Vec<Measure>,
    next: u64,
}

#[derive(Serialize, JsonSchema)]
struct Measure {
    id: String,
    title: String,
    unit: String,
    limit: Option<f64>,
    points: Vec<f64>,
}

#[derive(Clone)]
struct Service;

#[tool_router]
impl Service {
    /// Show how the service is doing.
    #[transom_server::tool(view = Dashboard, title = "Service dashboard", annotations(read_only_hint = true))]
    fn show_dashboard(&self) -> Shown<Opened> {
        let next = now();
        let measures = measures(next.saturating_sub(KEPT), next);
        let last = |measure: &Measure| {
            format!("{} {:.1} {}", measure.title, measure.points[0], measure.unit)
        };
        let words: Vec<String> = measures.iter().map(last).collect();
        let opened = Opened { service: "Checkout".into(), measures, next };
        Shown::new(
            format!("The dashboard of Checkout is open. {} (made up)", words.join(", ")),
            opened,
        )
    }

    /// What was measured since the last poll.
    // The model has no use for it, so it is not in the model's list.
    #[transom_server::tool(view = Dashboard, only(app), annotations(read_only_hint = true))]
    fn poll(&self, Parameters(After { after }): Parameters<After>) -> Shown<News> {
        let next = now();
        // A view that slept for a day wants the last minute, and one from the future nothing.
        let news =
            News { measures: measures(after.clamp(next.saturating_sub(KEPT), next), next), next };
        Shown::new("measured", news)
    }
}

#[tool_handler(name = "dashboard", version = "1.0.0")]
impl ServerHandler for Service {}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    Views::wrap(Service).view::<Dashboard>().serve().await
}

/// Points between two moments, and the newest in any case.
fn measures(after: u64, next: u64) -> Vec<Measure> {
    let measure = |id: &str, title: &str, unit: &str, limit, base: f64, swing: f64| Measure {
        id: id.into(),
        title: title.into(),
        unit: unit.into(),
        limit,
        points: (after.min(next - 1)..next).map(|at| wave(at, id.len(), base, swing)).collect(),
    };
    vec![
        measure("requests", "Requests", "/s", None, 420.0, 130.0),
        measure("latency", "Latency, 95 %", "ms", Some(260.0), 180.0, 90.0),
        measure("errors", "Errors", "%", Some(2.0), 1.1, 1.0),
    ]
}

/// Made up, but the same for every client that asks at the same moment.
fn wave(at: u64, phase: usize, base: f64, swing: f64) -> f64 {
    let at = at as f64 / 4.0 + phase as f64;
    base + swing * (0.5 * (at / 7.0).sin() + 0.3 * (at / 2.3).sin() + 0.2 * (at * 1.7).sin())
}

/// Quarters of a second.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis() / 250).unwrap_or(u64::MAX)
}

const KEPT: u64 = 60;
