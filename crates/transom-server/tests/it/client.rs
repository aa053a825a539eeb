//! The client for tests: what a host gets, what others get, and what is said when there is no such thing.

use serde_json::json;
use transom_server::test::{Client, Era, Error};
use transom_server::{Views, WithViews};

use crate::board::{Board, Card, Incidents};

fn server() -> WithViews<Incidents> {
    Views::wrap(Incidents).view::<Board>().view::<Card>().build().expect("it is sound")
}

#[tokio::test]
async fn a_host_and_a_plain_client_get_what_is_theirs() -> Result<(), Error> {
    for era in [Era::Greeting, Era::Stateless] {
        let host = Client::as_host().era(era).connect(server()).await?;
        assert_eq!(host.tools().await?, ["hello", "show"], "{era:?}");
        assert_eq!(host.view_tools().await?, ["ack", "hello", "show"]);
        assert_eq!(host.views().await?, ["ui://incidents/board", "ui://incidents/card"]);
        let shown = host.call("show", json!({ "team": "db" })).await?;
        assert_eq!(shown.text(), "3 open incidents for db, Yes");
        assert_eq!(shown.data()["count"], 3);
        assert_eq!(shown.private("thumbs"), &json!(["a", "b"]));
        assert_eq!(
            shown.to_string(),
            "[Incidents: a view, ui://incidents/board]\n3 open incidents for db, Yes"
        );
        let board = host.open(&shown).await?;
        assert!(board.html().contains("ui/initialize"), "the view library stands in it");
        assert_eq!(board.declared("csp")["connectDomains"], json!(["https://api.example.com"]));
        assert_eq!(host.call_from_view("ack", json!({})).await?.text(), "acknowledged");

        let plain = Client::as_plain().era(era).connect(server()).await?;
        assert_eq!(plain.tools().await?, ["hello", "show"]);
        assert!(plain.view_tools().await?.is_empty());
        let shown = plain.call("show", json!({ "team": "db" })).await?;
        assert_eq!((shown.to_string().as_str(), shown.view()), ("| db | 3 |", None));
        assert!(shown.private("thumbs").is_null());
    }
    Ok(())
}

#[tokio::test]
async fn what_is_not_there_is_answered_with_what_is() -> Result<(), Error> {
    let host = Client::host(server()).await?;
    let plain = Client::plain(server()).await?;
    let hello = host.call("hello", json!({})).await?;
    let none = json!({});
    #[rustfmt::skip]
    let table = [
        (host.call("shwo", none.clone()).await.map(drop),           "no tool \"shwo\" for this client; there is ack, hello, show"),
        (host.call("ack", none.clone()).await.map(drop),            "is for views alone, and a host keeps it from the model: use call_from_view"),
        (host.call("hello", json!([1])).await.map(drop),            "a tool takes an object: write json!({})"),
        (host.read("ui://incidents/bord").await.map(drop),          "no view \"ui://incidents/bord\" for this client; there is ui://incidents/board, ui://incidents/card"),
        (host.open(&hello).await.map(drop),                         "has no view: link it with #[transom_server::tool(view = …)]"),
        (hello.data_as::<u32>().map(drop),                          "are of another form"),
        (plain.call("ack", none.clone()).await.map(drop),           "no tool \"ack\" for this client; there is hello, show"),
        (plain.call_from_view("ack", none.clone()).await.map(drop), "connect with Client::host"),
    ];
    for (result, words) in table {
        let error = result.expect_err(words);
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(
            format!("{error:?}"),
            error.to_string(),
            "a test that fails prints the sentence"
        );
    }
    // Arguments that the tool does not take are its own failure, which the model reads.
    let failed = host.call("show", none).await?;
    assert!(failed.is_error() && failed.to_string().contains("[it failed]\n"), "{failed}");
    assert!(failed.text().contains("missing field `team`"), "{failed}");
    Ok(())
}
