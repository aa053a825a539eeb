//! A tab that is closed, and a page that takes its views over.

use super::*;

impl Stage {
    /// The views that another page is offered.
    fn left(&self) -> Vec<(String, String)> {
        let left = self.host.left();
        left.into_iter().map(|left| (left.view, left.title.to_string())).collect()
    }

    async fn lose(&self, page: &str, connection: u64) {
        self.send(Event::Lost { page: page.to_owned(), connection }).await;
    }
}

const TITLE: &str = r#""show_weather" from "demo""#;
const MOMENT: Duration = Duration::from_secs(3);

#[tokio::test(start_paused = true)]
async fn the_views_of_a_closed_tab_can_be_taken_over_without_calling_their_tools_again() {
    let stage = Stage::new().await;
    let mut closed = stage.load_in("t1", "p1", 1).await;
    let mount = closed.open("v1").await;
    closed.greet("v1").await;
    closed.settled("v1").await;
    let mut other = stage.load_in("t2", "p2", 2).await;
    stage.lose("p1", 1).await;
    assert_eq!(stage.left(), [], "it may only be loading");
    tokio::time::sleep(MOMENT).await;
    assert_eq!(stage.left(), [("v1".to_owned(), TITLE.to_owned())]);

    other.say("v1", "open", json!({ "lanes": [], "modes": ["inline"] })).await;
    assert_eq!(other.hear("v1", "open").await["src"], mount["src"]);
    other.greet("v1").await;
    assert_eq!(other.told("v1").await.0, "tool-input");
    assert_eq!(other.told("v1").await.0, "tool-result");
    assert_eq!(other.settled("v1").await, [""; 0]);
    assert_eq!(stage.left(), []);
    assert_eq!(stage.logged("tools/call").await, 1, "its tool was called once");
    assert_eq!(stage.logged("taken over by another page").await, 1);

    // The first one was only asleep: it is told that it has nothing any more, and what it says is for nobody.
    let mut awake = stage.load_in("t1", "p1", 3).await;
    assert_eq!(awake.welcome, json!({ "version": 1, "resumed": false, "views": [] }));
    awake.say("v1", "open", json!({ "lanes": [], "modes": [] })).await;
    awake.open("v2").await;
    assert_eq!(other.settled("v1").await, [""; 0], "the view goes on where it is");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_was_away_keeps_the_views_that_nobody_took() {
    let stage = Stage::new().await;
    let mut page = stage.load_in("t1", "p1", 1).await;
    for view in ["v1", "v2"] {
        page.open(view).await;
        page.greet(view).await;
    }
    stage.lose("p1", 1).await;
    tokio::time::sleep(MOMENT).await;
    let mut other = stage.load_in("t2", "p2", 2).await;
    other.say("v1", "open", json!({ "lanes": [], "modes": [] })).await;
    other.hear("v1", "open").await;
    let mut back = stage.load_in("t1", "p1", 3).await;
    assert_eq!(back.welcome["views"], json!(["v2"]));
    back.say("v2", "open", json!({ "lanes": [], "modes": [] })).await;
    back.hear("v2", "open").await;
    back.greet("v2").await;
    assert_eq!(back.settled("v2").await, [""; 0]);
    assert_eq!(stage.left(), []);
}

#[tokio::test(start_paused = true)]
async fn nobody_takes_a_view_from_a_page_that_is_there_or_is_being_loaded() {
    let stage = Stage::new().await;
    let mut page = stage.load_in("t1", "p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    let mut other = stage.load_in("t2", "p2", 2).await;
    stage.lose("p1", 1).await;
    // Only just gone.
    other.say("v1", "open", json!({ "lanes": [], "modes": [] })).await;
    other.open("v2").await;
    let mut again = stage.load_in("t1", "p3", 3).await;
    tokio::time::sleep(MOMENT).await;
    assert_eq!(stage.left(), [], "its tab is there");
    again.say("v1", "open", json!({ "lanes": [], "modes": [] })).await;
    again.hear("v1", "open").await;
    again.greet("v1").await;
    assert_eq!(again.settled("v1").await, [""; 0]);
    assert_eq!(stage.logged("taken over").await, 0);
}

#[tokio::test(start_paused = true)]
async fn what_nobody_takes_over_ends_and_is_offered_no_more() {
    let stage = Stage::with(|builder| builder.away(Duration::from_secs(20))).await;
    let mut page = stage.load_in("t1", "p1", 1).await;
    page.open("v1").await;
    page.greet("v1").await;
    page.settled("v1").await;
    stage.lose("p1", 1).await;
    tokio::time::sleep(Duration::from_secs(19)).await;
    assert_eq!(stage.left().len(), 1);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(stage.left(), []);
    let mut other = stage.load_in("t2", "p2", 2).await;
    other.say("v1", "open", json!({ "lanes": [], "modes": [] })).await;
    assert_eq!(other.hear("v1", "close").await["reason"], "unknown");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_a_closed_tab_left_is_put_to_whoever_takes_over() {
    let near = json!({ "csp": { "connectDomains": ["http://localhost:3000"] } });
    let near = odd(json!([showing("show")]), near);
    let stage = Stage::with(|builder| builder.server("near", near)).await;
    let mut page = stage.load_in("t1", "p1", 1).await;
    open_odd(&mut page, "near", "show").await;
    let ask = page.hear("v1", "ask").await;
    stage.lose("p1", 1).await;
    tokio::time::sleep(MOMENT).await;
    let mut other = stage.load_in("t2", "p2", 2).await;
    other.say("v1", "open", json!({ "lanes": [], "modes": [] })).await;
    assert_eq!(other.hear("v1", "ask").await["id"], ask["id"]);
    other.say("v1", "answer", json!({ "id": ask["id"], "choice": "allow-until-end" })).await;
    other.hear("v1", "open").await;
}

#[tokio::test]
async fn a_fresh_token_takes_the_place_of_one_that_was_not_used() {
    let stage = Stage::new().await;
    let first = stage.host.token();
    let second = stage.host.fresh_token();
    assert_ne!(first, second);
    assert_eq!(stage.host.token(), second);
}
