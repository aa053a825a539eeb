//! The end, announced, and what is counted until then.

use axum::{body::Body, http::Request as HttpRequest};
use tower::ServiceExt as _;

use super::{
    long_calls::{open, slow},
    *,
};
use crate::{
    Operators,
    audit::{Audit, Head, Row, Sink, SinkError},
    upstream::Times,
};

/// An audit whose rows of effects are kept when a test says so, and all others at once.
struct Gated {
    rows: mpsc::UnboundedSender<Vec<Row>>,
    go: mpsc::UnboundedReceiver<()>,
}

impl Sink for Gated {
    async fn write(&mut self, rows: &[Row]) -> Result<(), SinkError> {
        self.rows.send(rows.to_vec()).unwrap();
        if !rows.iter().any(|row| row.body.contains(EFFECT)) {
            return Ok(());
        }
        self.go.recv().await.ok_or_else(|| SinkError("the store is gone".to_owned()))
    }
}

const EFFECT: &str = r#""kind":"effect""#;

/// The audit, what it is given, and how it goes on.
async fn gated() -> (Audit, mpsc::UnboundedReceiver<Vec<Row>>, mpsc::UnboundedSender<()>) {
    let (rows, given) = mpsc::unbounded_channel();
    let (let_go, go) = mpsc::unbounded_channel();
    let audit = Audit::kept_by(Gated { rows, go }, Head::GENESIS).await.unwrap();
    (audit, given, let_go)
}

async fn asked(stage: &Stage, path: &str) -> (u16, String) {
    let router = stage.host.operator_router(Operators::default()).unwrap();
    let request = HttpRequest::get(path).header("host", "127.0.0.1:9464").body(Body::empty());
    let response = router.oneshot(request.unwrap()).await.unwrap();
    let status = response.status().as_u16();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

/// Waits until the loop has heard of the end.
async fn announced(stage: &Stage) {
    while asked(stage, "/readyz").await.0 == 200 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_being_closed_opens_no_view_and_finishes_what_is_under_way() {
    let mut slow = slow();
    let stage = long_calls::stage(slow.target.clone(), Times::default()).await;
    let mut page = stage.load("p1", 1).await;
    open(&mut page, "v1", "plain").await;
    let call = slow.expect("tools/call").await;
    assert_eq!(asked(&stage, "/readyz").await, (200, "ready\n".to_owned()));
    let drained = async {
        tokio::join!(stage.host.drain(Duration::from_secs(60)), stage.host.drain(Duration::MAX))
    };
    let work = async {
        announced(&stage).await;
        assert_eq!(asked(&stage, "/readyz").await, (503, "it is being closed\n".to_owned()));
        assert_eq!(asked(&stage, "/healthz").await.0, 200);
        open(&mut page, "v2", "plain").await;
        let words = page.hear("v2", "text").await["why"].as_str().unwrap().to_owned();
        assert!(words.contains("opens no new views"), "{words}");
        page.hear("v2", "close").await;
        slow.answer(&call, "found");
        while page.hear("v1", "text").await["text"] != "found" {}
    };
    let (both, ()) = tokio::join!(drained, work);
    assert_eq!(both, (true, true), "who asked twice is told twice");
    stage.host.close().await;
    assert_eq!(asked(&stage, "/healthz").await.0, 503);
    assert!(stage.host.drain(Duration::ZERO).await, "nothing is under way");
}

#[tokio::test(start_paused = true)]
async fn what_never_ends_is_not_waited_for_for_ever() {
    let mut slow = slow();
    let stage = long_calls::stage(slow.target.clone(), Times::default()).await;
    let mut page = stage.load("p1", 1).await;
    open(&mut page, "v1", "plain").await;
    slow.expect("tools/call").await;
    let begun = Instant::now();
    assert!(!stage.host.drain(Duration::from_secs(20)).await);
    assert_eq!(begun.elapsed().as_secs(), 20);
    stage.host.close().await;
    slow.expect("notifications/cancelled").await;
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_is_not_waited_for_and_an_answer_in_time_counts() {
    let stage = Stage::new().await;
    let mut page = stage.load("p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    let question = ask_save(&mut page, "v1", 1).await;
    assert!(stage.host.drain(Duration::from_secs(60)).await, "though it is open");
    page.say("v1", "answer", json!({ "id": question["id"], "choice": "allow-until-end" })).await;
    let answer = page.answer_to("v1", 1).await;
    assert!(answer["result"].is_object(), "{answer}");
    let question = ask_link(&mut page, 2).await;
    let closed = async {
        // The view has its time to save, and then its question is taken from the page.
        assert_eq!(page.told("v1").await.0, "resource-teardown");
        assert_eq!(page.hear("v1", "withdraw").await["id"], question);
    };
    tokio::join!(stage.host.close(), closed);
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_waits_for_its_row_is_under_way() {
    let (audit, mut given, let_go) = gated().await;
    let stage = Stage::with(|builder| builder.audit(audit)).await;
    let mut page = stage.load("p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    page.request("v1", 1, "tools/call", json!({ "name": "refresh", "arguments": {} })).await;
    while !given.recv().await.unwrap().iter().any(|row| row.body.contains(EFFECT)) {}
    assert!(!stage.host.drain(Duration::from_secs(5)).await, "its effect waits");
    assert_eq!(stage.logged("answered in").await, 1, "the tool that opened it, and nothing else");
    let drained = stage.host.drain(Duration::from_secs(5));
    let go = async {
        let_go.send(()).unwrap();
        page.answer_to("v1", 1).await
    };
    let (drained, answer) = tokio::join!(drained, go);
    assert!(drained && answer["result"].is_object(), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn an_own_sink_that_fails_or_panics_lets_nothing_happen_and_says_so() {
    struct Bad(u32, bool);
    impl Sink for Bad {
        async fn write(&mut self, _: &[Row]) -> Result<(), SinkError> {
            self.0 += 1;
            assert!(self.0 < 2 || !self.1, "as a bug would");
            if self.0 < 2 { Ok(()) } else { Err(SinkError("the store is gone".to_owned())) }
        }
    }
    for (panics, why) in [(false, "the store is gone"), (true, "whoever keeps its rows has ended")]
    {
        let audit = Audit::kept_by(Bad(0, panics), Head::GENESIS).await.unwrap();
        let stage = Stage::with(|builder| builder.audit(audit)).await;
        let mut page = stage.load("p1", 1).await;
        page.open_of("demo", "v1").await;
        let said = page.hear("v1", "text").await["why"].as_str().unwrap().to_owned();
        assert!(said.contains(why), "{said}");
        assert_eq!(stage.logged("tools/call").await, 0, "its tool was not called");
        assert_eq!(
            asked(&stage, "/readyz").await,
            (503, "the audit cannot be written\n".to_owned())
        );
        let numbers = asked(&stage, "/metrics").await.1;
        assert!(numbers.contains("\ntransom_audit_failed 1\n"), "{numbers}");
        assert!(numbers.contains("\ntransom_ready 0\n"), "{numbers}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_happened_is_counted_under_names_of_the_operators_own() {
    let (audit, mut given, let_go) = gated().await;
    let_go.send(()).unwrap();
    let stage = Stage::with(|builder| builder.audit(audit)).await;
    let mut page = stage.load("p1", 1).await;
    for view in ["v1", "v2"] {
        page.open(view).await;
        page.greet(view).await;
    }
    page.say("v2", "close", json!({ "reason": "gone" })).await;
    page.hear("v2", "close").await;
    assert!(
        page.ask("v1", 1, "tools/call", json!({ "name": "refresh" })).await["result"].is_object()
    );
    let hush = json!({ "name": "hush\"} 1\n", "arguments": { "hush": "hush" } });
    assert!(page.ask("v1", 2, "tools/call", hush).await["error"].is_object());
    let question = ask_save(&mut page, "v1", 3).await;
    page.say("v1", "answer", json!({ "id": question["id"], "choice": "deny" })).await;
    assert!(page.answer_to("v1", 3).await["error"].is_object());
    let (status, numbers) = asked(&stage, "/metrics").await;
    assert_eq!(status, 200);
    for line in [
        r#"transom_server_state{server="demo",state="ready"} 1"#,
        r#"transom_server_state{server="demo",state="gone"} 0"#,
        r#"transom_views{server="demo"} 1"#,
        r#"transom_views{server="other"} 0"#,
        r#"transom_opened_views_total{server="demo"} 2"#,
        r#"transom_questions_total{server="demo"} 1"#,
        r#"transom_answers_total{server="demo"} 1"#,
        r#"transom_verdicts_total{server="demo",verdict="allowed"} 3"#,
        r#"transom_verdicts_total{server="demo",verdict="asked"} 1"#,
        r#"transom_verdicts_total{server="demo",verdict="refused"} 2"#,
        r#"transom_verdicts_total{server="other",verdict="refused"} 0"#,
        r#"transom_limits_total{server="demo",limit="calls"} 0"#,
        r#"transom_calls_total{server="demo",outcome="answered"} 3"#,
        r#"transom_call_seconds_count{server="demo"} 3"#,
        r#"transom_call_seconds_bucket{le="+Inf",server="demo"} 3"#,
        "transom_audit_failed 0",
        "transom_ready 1",
        r#"transom_build_info{version="0.1.0"} 1"#,
        "# EOF",
    ] {
        assert!(numbers.lines().any(|got| got == line), "{line}\n{numbers}");
    }
    assert!(!numbers.contains("hush"), "{numbers}");
    let kept = std::iter::from_fn(|| given.try_recv().ok()).flatten().count();
    let counted =
        numbers.lines().find(|line| line.starts_with("transom_audit_rows_total ")).unwrap();
    assert_eq!(counted, format!("transom_audit_rows_total {kept}"));
    assert_eq!(
        numbers
            .lines()
            .filter(|line| line.contains("server=\"")
                && !line.contains("\"demo\"")
                && !line.contains("\"other\""))
            .count(),
        0
    );
}
