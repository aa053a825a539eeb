//! `transom inspect`, on servers that are started for it.

use serde_json::Value;

use crate::transom::{Place, binary};

fn inspect(place: &Place, words: &[&str], server: &[&str]) -> (i32, String, String) {
    place.transom(&[&["inspect"], words, &["--"], server].concat())
}

#[test]
fn the_demo_is_shown_whole() {
    let place = Place::new();
    let binary = binary();
    let (code, out, err) = inspect(&place, &[], &[binary.to_str().unwrap(), "demo-server"]);
    assert_eq!(code, 0, "{err}");
    let has = |start: &str, part: &str| {
        let found = |line: &str| line.trim_start().starts_with(start) && line.contains(part);
        assert!(out.lines().any(found), "{start} {part}\n{out}");
    };
    has("transom ", "demo-server");
    has("server ", "demo 0.1.0");
    has("protocol ", "2025-11-25 (greeting era)");
    has("offers ", "tools, resources");
    has("offers ", "announces views");
    has("for both ", "save_note, show_weather");
    has("for apps ", "refresh");
    has("view ui://demo/weather.html", "");
    has("opened by ", "show_weather");
    has("size ", " kB");
    has("hash ", "sha256");
    has("policy ", "default-src 'none'; script-src 'self' 'unsafe-inline'");
    has("permissions ", "none asked for");
    has("in all ", "danger 0, ");
}

#[test]
fn the_same_as_json() {
    let place = Place::new();
    let (code, out, err) = place.transom(&["inspect", "--json"]);
    assert_eq!((code, &*err), (0, ""));
    let all: Value = serde_json::from_str(&out).unwrap();
    let demo = &all["servers"][0];
    assert_eq!(demo["name"], "demo");
    assert_eq!(demo["place"], "built in");
    assert_eq!(demo["protocol"]["version"], "2025-11-25");
    assert_eq!(demo["tools"]["app"][0], "refresh");
    let view = &demo["views"][0];
    assert_eq!(view["uri"], "ui://demo/weather.html");
    assert!(view["bytes"].as_u64().unwrap() > 1000);
    assert!(view["csp"].as_str().unwrap().contains("form-action 'none'"));
    assert!(view["findings"].is_array());
}

/// A server in a few lines of shell: it answers what a host asks, in the order a host asks it.
fn scripted(html: &str) -> String {
    scripted_with(html, "")
}

/// With more in the entry of its list of resources.
fn scripted_with(html: &str, listed: &str) -> String {
    let html = serde_json::to_string(html).unwrap();
    let meta = r#""_meta":{"ui":{"resourceUri":"ui://x/y"}}"#;
    let answer = |method: &str, result: &str| {
        let result = result.replace('\'', "'\\''");
        format!(
            "*'\"{method}\"'*) printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}}\\n' \"$id\" '{result}' ;;\n"
        )
    };
    let answers = [
        answer(
            "initialize",
            r#"{"protocolVersion":"2025-11-25","serverInfo":{"name":"x\u001b[2J","version":"1"},"capabilities":{"tools":{},"resources":{}}}"#,
        ),
        answer(
            "resources/templates/list",
            r#"{"resourceTemplates":[{"uriTemplate":"ui://report/{id}","name":"report"},{"uriTemplate":"file:///{path}","name":"f"}]}"#,
        ),
        answer("resources/list", &format!(r#"{{"resources":[{{"uri":"ui://x/y"{listed}}}]}}"#)),
        answer(
            "tools/list",
            &format!(r#"{{"tools":[{{"name":"show","inputSchema":{{"type":"object"}},{meta}}}]}}"#),
        ),
        answer(
            "resources/read",
            &format!(
                r#"{{"contents":[{{"uri":"ui://x/y","mimeType":"text/html;profile=mcp-app","text":{html}}}]}}"#
            ),
        ),
    ];
    let refuse = r#"*'"id"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;"#;
    format!(
        "while read -r line; do\nid=$(printf '%s' \"$line\" | sed -n 's/.*\"id\":\\(\"[^\"]*\"\\|[0-9]*\\).*/\\1/p')\ncase \"$line\" in\n{}{refuse}\nesac\ndone\n",
        answers.concat()
    )
}

#[test]
fn danger_ends_with_1() {
    let place = Place::new();
    let script = scripted("<form action='https://evil.test/'></form>");
    let (code, out, err) = inspect(&place, &[], &["sh", "-c", &script, "evil"]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("danger        has a form that posts to https://evil.test"), "{out}");
    // A stranger's escape sequence does not reach the terminal.
    assert!(!out.contains('\x1b'));
}

#[test]
fn a_missing_grant_is_said_with_its_line_until_it_is_given() {
    let script = scripted("<script>WebAssembly.instantiate(x)</script>");
    let toml = format!("[servers.\"x y\"]\ncommand = \"sh\"\nargs = [\"-c\", {script:?}]\n");
    let place = Place::new().with("transom.toml", &toml);
    let (code, out, err) = place.transom(&["inspect", "--toml", "transom.toml"]);
    assert_eq!(code, 0, "{err}");
    let line = "write under [servers.\"x y\"] in transom.toml, where its command or url stands: grants = [\"wasm\"]";
    assert!(out.contains(line), "{out}");
    let place = place.with("transom.toml", &format!("{toml}grants = [\"wasm\"]\n"));
    let (_, out, _) = place.transom(&["inspect", "--toml", "transom.toml"]);
    assert!(!out.contains("granted") && out.contains("'wasm-unsafe-eval'"), "{out}");
}

#[test]
fn h_21_what_only_the_listing_declares_counts() {
    let listed = r#","_meta":{"ui":{"csp":{"connectDomains":["https://api.test"]}}}"#;
    let script = scripted_with("<p>hello", listed);
    let (code, out, err) = inspect(&Place::new(), &[], &["sh", "-c", &script]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("connect-src 'self' https://api.test"), "{out}");
}

#[test]
fn addresses_with_parameters_are_shown_beside_the_views() {
    let script = scripted("<p>hello");
    let (code, out, err) = inspect(&Place::new(), &[], &["sh", "-c", &script]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("views at ui://report/{id}\n"), "{out}");
    assert!(out.contains("no tool; whoever knows the parameters reads one"), "{out}");
    assert!(!out.contains("views at file:///"), "{out}");
    let (_, out, _) = inspect(&Place::new(), &["--json"], &["sh", "-c", &script]);
    let all: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(all["servers"][0]["templates"], serde_json::json!(["ui://report/{id}"]));
}

#[test]
fn what_cannot_run_ends_with_2_and_says_what_to_do() {
    let place = Place::new();
    #[rustfmt::skip]
    let table: [(&[&str], &str); 4] = [
        (&["--", "no-such-program-here"], "is it installed, and its folder in PATH?"),
        (&["http://127.0.0.1:9/mcp"],     "is the server running, and is this its address?"),
        (&["--", "sh", "-c", "echo sorry >&2; exit 3"], "sorry"),
        (&["ftp://a.test"],               "such as http://localhost:3001/mcp"),
    ];
    for (words, expected) in table {
        let (code, out, err) = place.transom(&[&["inspect"], words].concat());
        assert_eq!((code, &*out), (2, ""), "{words:?}: {err}");
        assert!(err.contains(expected), "{words:?}: {err}");
    }
}

#[test]
fn a_slow_server_is_waited_for_aloud() {
    let place = Place::new();
    let script = format!("sleep 1.5\n{}", scripted("<p>hello"));
    let (code, _, err) = inspect(&place, &[], &["sh", "-c", &script]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("connecting… (1 s)"), "{err}");
}
