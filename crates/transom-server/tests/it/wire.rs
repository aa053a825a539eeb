//! One declaration feeds the list, the read, the link and the capability.

use rmcp::model::{CallToolRequestParams, ReadResourceRequestParams, ResourceContents};
use serde_json::{Value, json, to_value};
use transom_server::Views;

use crate::board::{Board, Card, Incidents};
use crate::clients::{Client, Connected, ERAS};

fn server() -> transom_server::WithViews<Incidents> {
    Views::wrap(Incidents).view::<Board>().view::<Card>().build().expect("it is sound")
}

pub(crate) async fn read(client: &Connected, uri: &str) -> (String, Value) {
    let result =
        client.read_resource(ReadResourceRequestParams::new(uri)).await.expect("it is there");
    let [contents] = &result.contents[..] else { panic!("{:?}", result.contents) };
    let ResourceContents::TextResourceContents { text, .. } = contents else {
        panic!("{contents:?}")
    };
    let mut wire = to_value(contents).expect("it is JSON");
    wire["text"] = Value::Null;
    (text.clone(), wire)
}

// server-01, S-22; server-07, S-12; server-09, S-10; S-03; S-04; S-06.
// S-08: no domain unless it is declared.
#[tokio::test]
async fn one_declaration_feeds_the_list_the_read_the_link_and_the_capability() {
    let ui = json!({
        "csp": {
            "connectDomains": ["https://api.example.com"],
            "resourceDomains": ["https://a.example.com", "https://b.example.com"],
        },
        "permissions": { "clipboardWrite": {} },
        "prefersBorder": true,
    });
    for era in ERAS {
        let client = Client::with_views().connect(server(), era).await;

        let info = client.peer_info().unwrap();
        let capabilities = to_value(&info.capabilities).unwrap();
        let expected = json!({ "mimeTypes": ["text/html;profile=mcp-app"] });
        assert_eq!(capabilities["extensions"]["io.modelcontextprotocol/ui"], expected);
        assert!(capabilities["resources"].is_object() && capabilities["tools"].is_object());

        let tools = client.list_all_tools().await.unwrap();
        let meta = |name: &str| {
            let tool = tools.iter().find(|tool| tool.name == name).unwrap();
            tool.meta.as_ref().map(|meta| Value::Object(meta.0.clone()))
        };
        let link = "ui://incidents/board";
        let both = json!({ "ui/resourceUri": link, "ui": { "resourceUri": link } });
        assert_eq!(meta("show"), Some(both), "{era:?}");
        let app =
            json!({ "ui/resourceUri": link, "ui": { "resourceUri": link, "visibility": ["app"] } });
        assert_eq!(meta("ack"), Some(app));
        assert_eq!(meta("hello"), None);

        let resources = client.list_all_resources().await.unwrap();
        let listed = to_value(&resources[0]).unwrap();
        let expected = json!({
            "uri": link, "name": "board", "title": "Incident board",
            "description": "Open incidents of one team",
            "mimeType": "text/html;profile=mcp-app", "_meta": { "ui": ui },
        });
        assert_eq!(listed, expected);
        assert_eq!(resources[1].uri, "ui://incidents/card");

        let (_, item) = read(&client, link).await;
        let expected = json!({
            "uri": link, "mimeType": "text/html;profile=mcp-app", "text": null, "_meta": { "ui": ui },
        });
        assert_eq!(item, expected);
    }
}

#[tokio::test]
async fn a_folder_becomes_one_document_with_the_view_script_in_front() {
    let client = Client::with_views().connect(server(), ERAS[0]).await;
    let (html, _) = read(&client, "ui://incidents/board").await;
    let (_, head) = html.split_once("<head>").unwrap();
    assert!(head.starts_with("<script>"), "{}", &head[..80]);
    let (runtime, rest) = head.split_once("</script>").unwrap();
    assert!(runtime.contains("ui/initialize"));
    assert!(
        !rest.contains("src=\"") || rest.contains("src=\"data:image/svg+xml;base64,"),
        "{rest}"
    );
    assert!(!rest.contains("href="), "{rest}");
    assert!(rest.contains(r#"window.early = "\x3c/script>";"#), "{rest}");
    assert!(rest.contains("@media screen{p::after { content: \"url(also-not.png)\""), "{rest}");
    assert!(
        rest.contains(
            "/* url(not-a-file.png) */\n.dot { background: url(data:image/svg+xml;base64,"
        ),
        "{rest}"
    );
    assert!(
        rest.contains("<body style=\"background-image: url(data:image/svg+xml;base64,"),
        "{rest}"
    );
    // `defer` waits for the whole document, so it goes behind it.
    assert!(rest.trim_end().ends_with("<script>window.late = true;\n</script>"), "{rest}");
}

// S-18, S-20; server-15.
#[tokio::test]
async fn a_result_has_words_data_and_something_private() {
    for era in ERAS {
        let arguments = json!({ "team": "db" }).as_object().cloned().unwrap();
        let call = CallToolRequestParams::new("show").with_arguments(arguments);
        let client = Client::with_views().connect(server(), era).await;
        let result = client.call_tool(call.clone()).await.unwrap();
        assert_eq!(result.content[0].as_text().unwrap().text, "3 open incidents for db, Yes");
        assert_eq!(result.structured_content, Some(json!({ "team": "db", "count": 3 })));
        assert_eq!(result.meta.unwrap().0.get("thumbs"), Some(&json!(["a", "b"])));

        // S-17: a client without views gets the words that were meant for it, and no private bulk.
        let client = Client::without_views().connect(server(), era).await;
        let result = client.call_tool(call).await.unwrap();
        assert_eq!(result.content[0].as_text().unwrap().text, "| db | 3 |");
        assert_eq!(result.structured_content, Some(json!({ "team": "db", "count": 3 })));
        assert!(result.meta.is_none_or(|meta| !meta.0.contains_key("thumbs")));
    }
}
