use std::sync::Mutex;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use transom::{
    csp::Grant,
    policy::Stance,
    wire::{MIME, ResourcePermissions},
};

use super::*;
use crate::{
    Agreement, demo,
    grants::permissions,
    sandbox::Reports,
    server::Standing,
    upstream::{CallOptions, InProcess, Request, Target},
};

async fn ready(host: &Host) {
    let mut seen = None;
    loop {
        let (version, states) = host.servers(seen, Duration::from_secs(60)).await;
        if states.iter().all(|server| server.state == Standing::Ready && server.unseen == 0) {
            return;
        }
        seen = Some(version);
    }
}

/// A server with one view, whose two places for metadata say what they are given.
/// Nobody is told what is blocked.
fn unheard() -> Reports {
    Reports::new(|_| {})
}

fn declaring(listing: Value, item: Value) -> Target {
    let (listing, item) = (Arc::new(listing), Arc::new(item));
    Target::InProcess(InProcess::new("declaring", move || {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (listing, item) = (Arc::clone(&listing), Arc::clone(&item));
        tokio::spawn(async move {
            let (reader, mut writer) = tokio::io::split(theirs);
            let mut lines = BufReader::new(reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).unwrap();
                let result = match message["method"].as_str().unwrap() {
                    "initialize" => {
                        json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "resources": {}}})
                    }
                    "tools/list" => {
                        json!({"tools": [{"name": "show", "_meta": {"ui": {"resourceUri": "ui://a/b"}}}]})
                    }
                    // On a page of its own, after one that does not have it.
                    "resources/list" if message["params"]["cursor"].is_null() => {
                        json!({"resources": [{"uri": "file:///x"}], "nextCursor": "2"})
                    }
                    "resources/list" => {
                        json!({"resources": [{"uri": "ui://a/b", "_meta": {"ui": *listing}}]})
                    }
                    "resources/read" => {
                        json!({"contents": [{"uri": "ui://a/b", "mimeType": MIME, "text": "<p>hello", "_meta": *item}]})
                    }
                    _ if message["id"].is_null() => continue,
                    _ => json!({}),
                };
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
                writer.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
            }
        });
        ours
    }))
}

#[tokio::test]
async fn a_server_is_ready_when_its_tools_are_listed_and_its_documents_are_read_beside() {
    let (sender, mut asked) = mpsc::unbounded_channel();
    let release = Arc::new(tokio::sync::Notify::new());
    let target = slow_to_read(sender, Arc::clone(&release));
    let origin = Origin::parse("http://localhost:7420").unwrap();
    let host = Host::builder(vec![origin], Naming::Localhost { port: 7421 })
        .server("slow", target)
        .build()
        .unwrap();
    let mut seen = None;
    let state = loop {
        let (version, mut states) = host.servers(seen, Duration::from_secs(60)).await;
        seen = Some(version);
        let state = states.remove(0);
        if state.state == Standing::Ready {
            break state;
        }
    };
    assert_eq!((state.words.as_str(), state.unseen), ("6 tools, 6 views", 6));
    // Several at a time, and not all.
    for _ in 0..4 {
        asked.recv().await.unwrap();
    }
    assert!(asked.try_recv().is_err());
    // Meanwhile it is a server like others.
    let server = host.servers.get("slow").unwrap();
    let call = server.start(&Request::new("ping"), CallOptions::default()).unwrap();
    call.outcome().await.unwrap();
    release.notify_one();
    asked.recv().await.unwrap();
    for _ in 0..5 {
        release.notify_one();
        tokio::task::yield_now().await;
    }
    while host.servers(seen, Duration::from_secs(60)).await.1[0].unseen > 0 {
        release.notify_one();
        seen = Some(host.servers(None, Duration::ZERO).await.0);
    }
}

/// A server with six views, which says when a document is asked for, and answers one for each word.
fn slow_to_read(asked: mpsc::UnboundedSender<()>, release: Arc<tokio::sync::Notify>) -> Target {
    Target::InProcess(InProcess::new("slow", move || {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (asked, release) = (asked.clone(), Arc::clone(&release));
        tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(theirs);
            let writer = Arc::new(tokio::sync::Mutex::new(writer));
            let mut lines = BufReader::new(reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).unwrap();
                let tool = |at| json!({"name": format!("show{at}"), "_meta": {"ui": {"resourceUri": format!("ui://a/{at}")}}});
                let result = match message["method"].as_str().unwrap() {
                    "initialize" => {
                        json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "resources": {}}})
                    }
                    "tools/list" => json!({"tools": (0..6).map(tool).collect::<Vec<_>>()}),
                    "resources/list" => json!({"resources": []}),
                    "resources/templates/list" => json!({"resourceTemplates": []}),
                    "resources/read" => {
                        json!({"contents": [{"uri": message["params"]["uri"], "mimeType": MIME, "text": "<p>hello"}]})
                    }
                    _ if message["id"].is_null() => continue,
                    _ => json!({}),
                };
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
                let (writer, asked, release) =
                    (Arc::clone(&writer), asked.clone(), Arc::clone(&release));
                let waits = message["method"] == "resources/read";
                tokio::spawn(async move {
                    if waits {
                        let _ = asked.send(());
                        release.notified().await;
                    }
                    let line = format!("{answer}\n");
                    writer.lock().await.write_all(line.as_bytes()).await.unwrap();
                });
            }
        });
        ours
    }))
}

#[tokio::test]
async fn h_21_h_22_the_listing_counts_where_the_document_says_nothing() {
    let listed = json!({"csp": {"connectDomains": ["https://listed.test"]}});
    let own = json!({"ui": {"csp": {"connectDomains": ["https://own.test"]}}});
    let other = json!({"ui": {"prefersBorder": true}});
    #[rustfmt::skip]
    let table = [
        (json!({}), Some("https://listed.test")),
        (own,       Some("https://own.test")),
        // Whole, not field by field.
        (other,     None),
    ];
    for (item, expected) in table {
        let row = item.to_string();
        let origin = Origin::parse("http://localhost:7420").unwrap();
        let host = Host::builder(vec![origin], Naming::Localhost { port: 7421 })
            .server("declaring", declaring(listed.clone(), item))
            .build()
            .unwrap();
        ready(&host).await;
        let server = host.servers.get("declaring").unwrap();
        let csp = server
            .prepare("show", &host.sandbox, None, unheard())
            .await
            .unwrap()
            .mounted
            .csp
            .to_string();
        for source in ["https://listed.test", "https://own.test"] {
            assert_eq!(csp.contains(source), Some(source) == expected, "{row}: {csp}");
        }
    }
}

#[tokio::test]
async fn a_permission_is_refused_visibly_until_it_is_granted() {
    let item = json!({"ui": {"permissions": {"camera": {}, "geolocation": {}}}});
    let granted = ResourcePermissions { camera: true, microphone: true, ..Default::default() };
    let own = Agreement { permissions: granted, ..Agreement::default() };
    let origin = Origin::parse("http://localhost:7420").unwrap();
    let host = Host::builder(vec![origin], Naming::Localhost { port: 7421 })
        .server("plain", declaring(json!({}), item.clone()))
        .server_with("own", declaring(json!({}), item), own)
        .build()
        .unwrap();
    ready(&host).await;
    let (_, states) = host.servers(None, Duration::ZERO).await;
    #[rustfmt::skip]
    let table = [
        ("plain", "",       "asks for camera, geolocation, which is not granted"),
        // What it has and did not ask for, it does not get.
        ("own",   "camera", "asks for geolocation, which is not granted"),
    ];
    for (name, allowed, words) in table {
        let server = host.servers.get(name).unwrap();
        let prepared = server.prepare("show", &host.sandbox, None, unheard()).await.unwrap();
        assert_eq!(permissions(prepared.mounted.permissions).join(" "), allowed, "{name}");
        assert_eq!(prepared.mounted.allow.split(' ').next().unwrap(), allowed, "{name}");
        assert!(
            prepared.warnings().iter().any(|warning| warning.as_str().contains(words)),
            "{name}"
        );
        let state = states.iter().find(|state| state.name == name).unwrap();
        assert!(state.findings.iter().any(|found| found.words.as_str().contains(words)), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_said_to_be_silent_long_before_it_is_given_up() {
    let pipes = Arc::new(Mutex::new(vec![]));
    let silent = InProcess::new("silent", move || {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        pipes.lock().unwrap().push(theirs);
        ours
    });
    let origin = Origin::parse("http://localhost:7420").unwrap();
    let host = Host::builder(vec![origin], Naming::Localhost { port: 7421 })
        .server("silent", Target::InProcess(silent))
        .build()
        .unwrap();
    let (mut seen, mut told) = (None, vec![]);
    while told.last().is_none_or(|(standing, _)| *standing != Standing::Gone) {
        let (version, mut states) = host.servers(seen, Duration::from_secs(600)).await;
        let state = states.pop().unwrap();
        told.push((state.state, state.words));
        seen = Some(version);
    }
    let words = "no answer after 4 s; waiting for up to 60 s…";
    assert_eq!(told[0], (Standing::Connecting, "connecting…".to_owned()));
    assert_eq!(told[1], (Standing::Connecting, words.to_owned()));
    assert_eq!(told.len(), 3, "{told:?}");
    let log = host.log().after(0, Duration::ZERO).await;
    assert!(log.iter().any(|line| line.who.as_str() == "silent" && line.words == words));
}

#[tokio::test]
async fn each_server_has_its_own_agreement() {
    let demo = || Target::InProcess(demo::server());
    let policy = Policy { downloads: Stance::Deny, ..Policy::default() };
    let grants = vec![Grant::Wasm];
    let own = Agreement { policy: Some(policy), grants, ..Agreement::default() };
    let origin = Origin::parse("http://localhost:7420").unwrap();
    let host = Host::builder(vec![origin], Naming::Localhost { port: 7421 })
        .policy(Policy { downloads: Stance::Allow, ..Policy::default() })
        .server("plain", demo())
        .server_with("own", demo(), own)
        .build()
        .unwrap();
    ready(&host).await;
    for (name, downloads, wasm) in [("plain", Stance::Allow, false), ("own", Stance::Deny, true)] {
        let server = host.servers.get(name).unwrap();
        assert_eq!(server.policy().downloads, downloads, "{name}");
        let prepared =
            server.prepare("show_weather", &host.sandbox, None, unheard()).await.unwrap();
        let csp = prepared.mounted.csp.to_string();
        assert_eq!(csp.contains("'wasm-unsafe-eval'"), wasm, "{name}: {csp}");
    }
}
