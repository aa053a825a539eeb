//! `transom check` as a program: what it prints, how it ends, and that nobody can hold it up.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
};

use serde_json::{Value, json};

use crate::{
    bad_server::App,
    node::{self, Listening},
    transom::{Place, binary},
};

fn check(words: &[&str]) -> (i32, String, String) {
    Place::new().transom(&[&["check"], words].concat())
}

/// A server with one finding of each level.
fn three_levels() -> App {
    App::with(|app| {
        app.tools[0]["_meta"]["ui"]["csp"] = json!({});
        app.tools[0]["name"] = json!("show me");
        app.tools[0]["annotations"] = json!({ "destructiveHint": false });
        app.contents[0]["text"] =
            json!(crate::bad_server::html("<button onclick=\"x()\">x</button>"));
    })
}

#[test]
fn the_text_is_ranked_and_says_why_and_what_to_do() {
    let server = three_levels().listen();
    let (code, out, err) = check(&[&server.url]);
    assert_eq!(code, 1, "{out}{err}");
    let parts = [
        "rmcp ",
        "2 tools, 1 view, 0 calls made",
        "error    server-10  policy and permissions stand on the resource",
        "     tool show me: has _meta.ui.csp",
        "     why  hosts ignore csp",
        "     fix  move them",
        "warning  server-21",
        "note     document-03",
        "ui://clean/view.html, line 7: handles events in attributes",
        "not checked  server-14, server-15, server-16, server-20: \"show me\" was not called: it does not say that it only reads",
        "1 error, 1 warning, 1 note",
    ];
    let mut rest = &*out;
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part} in\n{out}"));
        rest = &rest[at..];
    }
    assert!(!out.contains('\x1b'), "no colour where nobody looks: {out}");
}

#[test]
fn the_level_says_what_counts() {
    let server = three_levels().listen();
    let note = App::with_body("<button onclick=\"x()\">x</button>").listen();
    #[rustfmt::skip]
    let table: [(&[&str], i32); 7] = [
        (&[&server.url], 1),
        (&[&server.url, "--ignore", "server-10,SERVER-21"], 0),
        (&[&server.url, "--ignore", "server-10", "--level", "error"], 0),
        (&[&server.url, "--ignore", "server-10", "--ignore", "server-21", "--level", "note"], 1),
        (&[&note.url], 0),
        (&[&note.url, "--level", "note"], 1),
        (&[&note.url, "http://127.0.0.1:9/mcp"], 2),
    ];
    for (words, expected) in table {
        let (code, out, err) = check(words);
        assert_eq!(code, expected, "{words:?} {out}{err}");
    }
}

#[test]
fn a_call_that_is_asked_for_is_made_and_one_that_is_not_wanted_is_not() {
    let app = App::with(|app| {
        app.tools[0]["annotations"] = json!({ "readOnlyHint": false });
        app.result["content"] = json!([]);
    });
    let server = app.listen();
    assert_eq!(check(&[&server.url]).0, 0);
    let (code, out, _) = check(&[&server.url, "--call", "show={\"a\": 1}"]);
    assert_eq!(code, 1);
    assert!(out.contains("1 call made") && out.contains("server-14"), "{out}");
    let reading = App::with(|app| app.result["content"] = json!([])).listen();
    assert_eq!(check(&[&reading.url]).0, 1);
    let (code, out, _) = check(&[&reading.url, "--no-call"]);
    assert_eq!(code, 0);
    assert!(out.contains("was not called: --no-call"), "{out}");
}

#[test]
fn the_rules_are_listed() {
    let (code, out, _) = check(&["--rules"]);
    assert_eq!(code, 0);
    assert_eq!(out.lines().count(), 37 * 3);
    assert!(out.contains("error    server-05  the MIME type is exactly"), "{out}");
}

#[test]
fn wrong_words_end_with_2() {
    for (words, expected) in [
        (&["--ignore", "no-such-rule"][..], "--rules lists them"),
        (&["--call", "show={"], "NAME={\"key\": \"value\"}"),
        (&["--level", "danger"], "note, warning, error"),
        (&["--json", "--sarif"], "cannot be used with"),
        (&["--timeout", "0"], "0 is not in 1.."),
        (&["--", "no-such-program-here"], "is it installed"),
    ] {
        let (code, out, err) = check(words);
        assert_eq!((code, &*out), (2, ""), "{words:?}");
        assert!(err.contains(expected), "{words:?} {err}");
    }
}

/// The members that the published schema requires, wherever we write such an object.
fn assert_sarif(log: &Value) {
    let has = |object: &Value, keys: &[&str]| {
        for key in keys {
            assert!(object.get(key).is_some(), "{key} in {object}");
        }
    };
    has(log, &["version", "runs"]);
    assert_eq!(log["version"], "2.1.0");
    for run in log["runs"].as_array().unwrap() {
        has(run, &["tool", "results"]);
        has(&run["tool"]["driver"], &["name", "rules"]);
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        for rule in rules {
            has(rule, &["id"]);
            has(&rule["shortDescription"], &["text"]);
            assert!(
                ["error", "warning", "note"]
                    .contains(&rule["defaultConfiguration"]["level"].as_str().unwrap())
            );
        }
        for invocation in run["invocations"].as_array().unwrap() {
            assert!(invocation["executionSuccessful"].is_boolean());
            for told in invocation["toolExecutionNotifications"].as_array().unwrap() {
                assert!(told["message"]["text"].is_string());
            }
        }
        for result in run["results"].as_array().unwrap() {
            assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()));
            let index = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(rules[index]["id"], result["ruleId"]);
            assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
            for location in result["locations"].as_array().unwrap() {
                assert!(location["logicalLocations"][0]["fullyQualifiedName"].is_string());
                let physical = &location["physicalLocation"];
                assert!(physical.is_null() || physical["artifactLocation"]["uri"].is_string());
                let line = &physical["region"]["startLine"];
                assert!(line.is_null() || line.as_u64().unwrap() >= 1);
            }
        }
    }
}

#[test]
fn a_sarif_log_is_one() {
    let server = three_levels().listen();
    let (code, out, _) = check(&["--sarif", &server.url, "http://127.0.0.1:9/mcp"]);
    assert_eq!(code, 2);
    let log: Value = serde_json::from_str(&out).unwrap();
    assert_sarif(&log);
    let [seen, failed] = [&log["runs"][0], &log["runs"][1]];
    assert_eq!(seen["results"].as_array().unwrap().len(), 3);
    assert_eq!(seen["results"][2]["locations"][0]["physicalLocation"]["region"]["startLine"], 7);
    assert_eq!(failed["invocations"][0]["executionSuccessful"], false);
}

/// A server in a few lines of shell, which answers what it knows and nothing else.
fn scripted(answers: &[(&str, &str)]) -> String {
    let answer = |(method, result): &(&str, &str)| {
        format!(
            "*'\"{method}\"'*) printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}}\\n' \"$id\" '{result}' ;;\n"
        )
    };
    let refuse = r#"*'"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;"#;
    format!(
        "while read -r line; do\nid=$(printf '%s' \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\ncase \"$line\" in\n{}{refuse}\nesac\ndone\n",
        answers.iter().map(answer).collect::<String>()
    )
}

const HELLO: (&str, &str) = (
    "initialize",
    r#"{"protocolVersion":"2025-11-25","serverInfo":{"name":"x\u001b[2J\u202e","version":"1"},"capabilities":{"tools":{},"resources":{}}}"#,
);

#[test]
fn a_server_that_never_answers_ends_with_2() {
    for script in [
        "cat > /dev/null".to_owned(),
        scripted(&[HELLO]),
        "yes".to_owned(),
        "echo '{'; cat >/dev/null".to_owned(),
    ] {
        let (code, out, err) = check(&["--timeout", "1", "--", "sh", "-c", &script]);
        assert_eq!((code, &*out), (2, ""), "{script}: {err}");
        // Which of its silences is noticed first is a matter of luck.
        assert!(
            err.lines().any(|line| line.starts_with("transom: sh: ") && line.contains("server")),
            "{script}: {err}"
        );
    }
}

#[test]
fn a_server_that_goes_away_ends_with_2_and_its_last_words() {
    let (code, _, err) = check(&["--", "sh", "-c", "echo sorry >&2; exit 3"]);
    assert_eq!(code, 2);
    assert!(err.contains("sorry"), "{err}");
}

#[test]
fn what_is_no_list_is_a_finding() {
    for (tools, words) in [
        (r#"{"tools":7}"#, "the answer to tools/list is not a list"),
        (r#"{}"#, "the answer to tools/list has no list"),
        (r#"{"tools":[7,null,{"name":"a"}]}"#, "2 entries of the list of tools are no tools"),
        (r#"{"tools":[],"nextCursor":"a"}"#, "the pages of its list repeat"),
    ] {
        let script =
            scripted(&[HELLO, ("tools/list", tools), ("resources/list", r#"{"resources":[]}"#)]);
        let (code, out, err) = check(&["--", "sh", "-c", &script]);
        assert_eq!(code, 1, "{tools}: {out}{err}");
        assert!(out.contains(words), "{tools}: {out}");
    }
}

#[test]
fn what_is_no_message_on_standard_output_is_a_finding() {
    let answers =
        [HELLO, ("tools/list", r#"{"tools":[]}"#), ("resources/list", r#"{"resources":[]}"#)];
    let quiet = scripted(&answers);
    let (code, out, err) = check(&["--", "sh", "-c", &quiet]);
    assert_eq!((code, out.contains("server-26")), (0, false), "{out}{err}");
    let loud = format!("echo 'Ready on port 3000'; echo; echo '{{\"a\":1}}'; {quiet}");
    let (code, out, err) = check(&["--", "sh", "-c", &loud]);
    let words = "wrote 2 lines to its standard output, beginning with \"Ready on port 3000\"";
    assert_eq!((code, out.contains(words)), (1, true), "{out}{err}");
}

#[test]
fn a_strangers_words_move_no_cursor() {
    let tools = r#"{"tools":[{"name":"a\u001b[2Jb\nc\u202e","inputSchema":{},"_meta":{"ui":{"resourceUri":"x\u001b]0;t\u0007","visibility":["\u001b[31m"]}}}]}"#;
    let script =
        scripted(&[HELLO, ("tools/list", tools), ("resources/list", r#"{"resources":[]}"#)]);
    let (code, out, err) = check(&["--", "sh", "-c", &script]);
    assert_eq!(code, 1, "{err}");
    assert!(
        out.contains("server-04") && out.contains("server-08") && out.contains("server-21"),
        "{out}"
    );
    let strange = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
    assert!(!out.contains(strange) && !err.contains(strange), "{out:?}");
    for format in ["--json", "--sarif"] {
        let (_, out, _) = check(&[format, "--", "sh", "-c", &script]);
        assert!(!out.contains(|c: char| c != '\n' && c.is_control()), "{out:?}");
        assert!(serde_json::from_str::<Value>(&out).is_ok());
    }
}

#[test]
fn a_server_that_says_too_much_ends_with_2() {
    // One line that never ends; what is read of it is bounded.
    let script = "printf '{\"a\":\"'; yes | tr -d '\\n'";
    let (code, _, err) = check(&["--timeout", "2", "--", "sh", "-c", script]);
    assert_eq!(code, 2, "{err}");
}

#[test]
fn http_that_is_no_mcp_ends_with_2() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().take(20) {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut line, mut length) = (String::new(), 0);
            while reader.read_line(&mut line).is_ok_and(|_| !line.trim().is_empty()) {
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            // Closing with something unread would break the connection before the answer is there.
            let _ = reader.read_exact(&mut vec![0; length]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello");
        }
    });
    let (code, out, err) = check(&["--timeout", "5", &url]);
    assert_eq!((code, &*out), (2, ""), "{err}");
    assert!(err.contains("neither JSON nor an event stream"), "{err}");
}

#[test]
fn the_demo_is_clean() {
    let binary = binary();
    let (code, out, err) =
        check(&["--level", "note", "--", binary.to_str().unwrap(), "demo-server"]);
    assert_eq!(code, 0, "{out}{err}");
}

/// Ids that are found at a server, without the level.
fn ids(words: &[&str]) -> Vec<String> {
    let (code, out, err) = check(&[&["--json"], words].concat());
    assert!(code < 2, "{out}{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    let findings = report["servers"][0]["findings"].as_array().unwrap();
    let mut ids: Vec<String> =
        findings.iter().map(|it| it["rule"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids.dedup();
    ids
}

#[test]
fn published_servers_are_told_the_same_over_stdio_and_http() {
    let Some(script) = node::script("server-basic-vanillajs") else { return };
    let http = Listening::start(&script);
    let over_http = ids(&[&http.url]);
    let over_stdio = ids(&["--", "node", &script, "--stdio"]);
    assert_eq!(over_stdio, over_http);
    // The official helpers do not advertise the extension, and this server does not annotate its tool.
    assert!(
        over_stdio.contains(&"server-01".to_owned())
            && over_stdio.contains(&"server-21".to_owned()),
        "{over_stdio:?}"
    );
    for id in [
        "server-02",
        "server-03",
        "server-04",
        "server-05",
        "server-06",
        "server-07",
        "server-08",
        "server-10",
        "server-18",
        "document-02",
        "document-07",
        "document-10",
    ] {
        assert!(!over_stdio.contains(&id.to_owned()), "{id} in {over_stdio:?}");
    }
}

#[test]
fn published_servers_with_app_only_tools() {
    let Some(script) = node::script("server-system-monitor") else { return };
    let found = ids(&["--", "node", &script, "--stdio"]);
    assert!(found.contains(&"server-19".to_owned()), "{found:?}");
    assert!(!found.contains(&"document-07".to_owned()), "{found:?}");
}

#[test]
fn published_servers_without_views() {
    let Some(script) = node::script("server-everything") else { return };
    let found = ids(&["--", "node", &script, "stdio"]);
    assert!(!found.iter().any(|id| id != "server-21"), "{found:?}");
}

/// A server that says by its name what it was given: variables of its environment.
const TELLS: &str = r#"
while read -r line; do
  case "$line" in
    *'"initialize"'*)
      id=${line#*\"id\":}; id=${id%%[,\}]*}
      printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"[%s][%s][%s]","version":"1"},"capabilities":{"tools":{}}}}\n' "$id" "$TOKEN" "$CARGO_HOME" "$HTTPS_PROXY" ;;
    *'"tools/list"'*)
      id=${line#*\"id\":}; id=${id%%[,\}]*}
      printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}\n' "$id" ;;
    *'"id"'*)
      id=${line#*\"id\":}; id=${id%%[,\}]*}
      printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
  esac
done
"#;

#[test]
fn a_server_gets_where_tools_lie_and_else_only_what_is_said() {
    let place = Place::new();
    let name = |words: &[&str]| {
        let all = [&["check", "--json"], words, &["--", "bash", "-c", TELLS]].concat();
        let mut command = place.command(&all);
        command.env("CARGO_HOME", "/tools").env("TOKEN", "hush");
        command.env("HTTPS_PROXY", "http://me:hush@127.0.0.1:1");
        let output = command.output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        report["servers"][0]["server"]["name"].as_str().unwrap().to_owned()
    };
    assert_eq!(name(&[]), "[][/tools][]");
    assert_eq!(name(&["--env", "TOKEN"]), "[hush][/tools][]");
    let words = ["--env", "TOKEN=a=b", "--env", "HTTPS_PROXY"];
    assert_eq!(name(&words), "[a=b][/tools][http://me:hush@127.0.0.1:1]");
    for (word, expected) in [
        ("NOBODY_SET_THIS", "not set in your environment"),
        ("A B=1", "is no name of a variable"),
        ("=1", "is no name of a variable"),
    ] {
        let (code, _, err) = check(&["--env", word, "--", "true"]);
        assert_eq!(code, 2, "{word}");
        assert!(err.contains(expected), "{word}: {err}");
    }
}
