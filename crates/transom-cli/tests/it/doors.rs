//! Where `transom run` listens and who may open it: what is refused, and what is served to whom.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use crate::{run::Running, transom::Place};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const OTHER: &str = "fedcba9876543210fedcba9876543210";

fn place() -> Place {
    let files =
        [("token", TOKEN), ("other", OTHER), ("short", "hush-and-short"), ("two", "hush hush")];
    files
        .into_iter()
        .fold(Place::new(), |place, (name, text)| place.with(name, &format!("{text}\n")))
}

/// What a listener answers: its status, and everything.
fn ask(port: u16, head: &str) -> (String, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "{head}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer.split(' ').nth(1).unwrap().to_owned(), answer)
}

#[test]
fn what_would_open_the_host_without_being_meant_is_refused_with_what_to_write() {
    let place = place();
    let beyond = "--listen 0.0.0.0:18700 --beyond-this-machine";
    let safe =
        "--public-origin https://transom.example.com --sandbox-domain https://*.example-views.net";
    let table = [
        (
            "--listen 0.0.0.0",
            "0.0.0.0:7420 is an address that other machines reach; if that is meant, add --beyond-this-machine",
        ),
        ("--listen [::]:7420", "add --beyond-this-machine"),
        ("--operate 0.0.0.0:9464", "0.0.0.0:9464 is an address that other machines reach"),
        (
            beyond,
            "it needs a token; make one with `openssl rand -hex 32 > FILE` and add --token-file FILE",
        ),
        (&format!("{beyond} --token-file token"), "add --public-origin https://NAME, with a proxy"),
        (
            &format!("{beyond} --token-file token --public-origin https://transom.example.com"),
            "add --sandbox-domain https://*.DOMAIN",
        ),
        (
            &format!("{beyond} --token-file none {safe}"),
            "cannot read none; make it with `openssl rand -hex 32 > none`",
        ),
        (
            &format!("{beyond} --token-file short {safe}"),
            "short should hold one word of at least 32 letters and digits",
        ),
        (&format!("{beyond} --token-file two {safe}"), "two should hold one word"),
        (
            &format!("{beyond} --token-file token {safe} --operate 0.0.0.0:18710"),
            "so they need a token; add --operate-token-file FILE",
        ),
        (&format!("{safe} --token-file token --operate-token-file token"), "hold the same token"),
        (
            "--listen 192.0.2.1:18700 --beyond-this-machine --token-file token --public-origin https://transom.example.com --sandbox-domain https://*.example-views.net",
            "192.0.2.1 is no address of this machine; write one that it has after --listen, or 0.0.0.0",
        ),
        ("--listen localhost", "expected an address of this machine"),
        ("--listen 127.0.0.1 --port 7500", "cannot be used with"),
        (
            "--public-origin https://example.com/transom",
            "write https://example.com and lead all of its paths",
        ),
        (
            "--public-origin http://transom.example.com",
            "write https://transom.example.com, with a proxy in front that ends TLS",
        ),
        (
            "--public-origin https://transom.example.com --sandbox-domain http://*.example-views.net",
            "write --sandbox-domain https://*.example-views.net",
        ),
        (
            "--public-origin https://transom.example-views.net --sandbox-domain https://*.example-views.net",
            "is one site with the views below example-views.net",
        ),
    ];
    for (words, expected) in table {
        let line = [&["run", "--no-data"][..], &words.split(' ').collect::<Vec<_>>()].concat();
        let (code, out, errors) = place.transom(&line);
        assert_eq!(code, 2, "{words}\n{out}");
        // Where words are wrapped is the terminal's business.
        let said = errors.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(expected), "{words}\n{errors}");
        assert!(!errors.contains("hush"), "{errors}");
    }
}

#[test]
fn a_file_that_was_only_found_opens_nothing_and_one_that_was_named_says_the_same_as_the_options() {
    for (key, line) in [
        ("listen", "listen = '127.0.0.1:18700'"),
        ("public-origin", "public-origin = 'https://evil.test'"),
        ("token-file", "token-file = 'token'"),
        ("operate", "operate = '127.0.0.1:18710'"),
        ("beyond-this-machine", "beyond-this-machine = true"),
    ] {
        let place = place().with("transom.toml", &format!("[run]\n{line}\n"));
        let (code, _, errors) = place.transom(&["run", "--print-config"]);
        assert_eq!(code, 2, "{key}");
        assert!(
            errors.contains(
                "transom.toml, line 2: a file that was only found does not open Transom to others"
            ),
            "{errors}"
        );
        let (code, out, errors) =
            place.transom(&["run", "--print-config", "--toml", "transom.toml"]);
        if code == 0 {
            assert!(
                out.contains(&format!("{key} = ")) && out.contains("transom.toml line 2"),
                "{out}"
            );
        } else {
            assert!(errors.contains("frames below localhost"), "{errors}");
        }
    }
    for (line, words) in [
        ("listen = 'localhost'", "line 2: expected an address of this machine"),
        ("public-origin = 'http://a.test'", "line 2: over plain http"),
        (
            "port = 1\nlisten = '127.0.0.1'",
            "line 2: listen has a port of its own; keep one of them",
        ),
    ] {
        let place = place().with("transom.toml", &format!("[run]\n{line}\n"));
        let (code, _, errors) = place.transom(&["run", "--print-config", "--toml", "transom.toml"]);
        assert!(code == 2 && errors.contains(words), "{line}\n{errors}");
    }
}

#[test]
fn off_this_machine_the_public_origin_and_the_operators_token_are_what_counts() {
    let place = place();
    let line = "run --no-data --listen 0.0.0.0:18720 --beyond-this-machine --token-file token \
                --public-origin https://transom.example.com --sandbox-domain https://*.example-views.net \
                --operate 0.0.0.0:18730 --operate-token-file other";
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut host = Running::of(&place, &words);
    let first = host.line("transom ");
    assert!(
        first.contains("https://transom.example.com/#token=…"),
        "no token in what is kept: {first}"
    );
    assert_eq!(host.line("token ").trim(), "token       the one in token");
    assert!(host.line("listening ").contains("0.0.0.0: the page at 18720, its frames at 18721"));
    host.line("demo ");

    let get = |path: &str, host: &str| format!("GET {path} HTTP/1.1\r\nHost: {host}");
    let (status, page) = ask(18_720, &get("/", "transom.example.com"));
    assert_eq!(status, "200");
    assert!(page.contains("frame-src https://*.example-views.net;"), "{page}");
    // A site that makes its own name lead here, or writes what a proxy would.
    for name in [
        "evil.test:18720",
        "127.0.0.1:18720",
        "localhost:18720",
        "evil.test\r\nX-Forwarded-Host: transom.example.com",
    ] {
        assert_eq!(ask(18_720, &get("/", name)).0, "421", "{name}");
        assert_eq!(ask(18_721, &get("/", name)).0, "421", "{name}");
    }
    let exchange = |token: &str, origin: &str| {
        let body = format!(r#"{{"token":"{token}"}}"#);
        format!(
            "POST /api/key HTTP/1.1\r\nHost: transom.example.com\r\nOrigin: {origin}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    let ours = "https://transom.example.com";
    assert_eq!(ask(18_720, &exchange(TOKEN, ours)).0, "200");
    assert_eq!(ask(18_720, &exchange(TOKEN, ours)).0, "200", "in another browser");
    assert_eq!(ask(18_720, &exchange(OTHER, ours)).0, "401", "who reads metrics opens no page");
    assert_eq!(ask(18_720, &exchange(TOKEN, "https://evil.test")).0, "403");

    assert_eq!(ask(18_730, &get("/healthz", "10.0.0.7:18730")).0, "200");
    assert_eq!(ask(18_730, &get("/readyz", "10.0.0.7:18730")).0, "200");
    assert_eq!(ask(18_730, &get("/metrics", "10.0.0.7:18730")).0, "401");
    let shown =
        |token: &str| get("/metrics", &format!("10.0.0.7:18730\r\nAuthorization: Bearer {token}"));
    assert_eq!(ask(18_730, &shown(TOKEN)).0, "401");
    let (status, numbers) = ask(18_730, &shown(OTHER));
    assert!(status == "200" && numbers.contains("transom_views{server=\"demo\"} 0"), "{numbers}");
    assert_eq!(ask(18_730, &get("/metrics", "evil.test")).0, "421");
    assert_eq!(
        ask(18_720, &get("/metrics", "transom.example.com")).0,
        "404",
        "not beside the page"
    );

    host.signal("TERM");
    assert!(host.line("draining…").contains("calls have 20 s"));
    host.line("closing…");
    assert_eq!(host.end(), Some(0));
}

#[test]
fn a_busy_port_is_said_and_not_changed_where_something_in_front_leads_to_it() {
    let _busy = std::net::TcpListener::bind("127.0.0.1:18741").unwrap();
    let (code, _, errors) = place().transom(&["run", "--no-data", "--listen", "127.0.0.1:18740"]);
    assert_eq!(code, 2);
    assert!(errors.contains("something listens at 127.0.0.1:18741 already"), "{errors}");
}

#[test]
fn sigterm_twice_leaves_at_once() {
    let stubborn = format!(
        "trap '' TERM; '{}' demo-server; while :; do sleep 1; done",
        crate::transom::binary().display()
    );
    let toml = format!("[servers.stubborn]\ncommand = \"sh\"\nargs = [\"-c\", {stubborn:?}]");
    let place = Place::new().with("transom.toml", &toml);
    let words =
        ["run", "--port", "18420", "--no-data", "--drain", "3600", "--toml", "transom.toml"];
    let mut host = Running::of(&place, &words);
    assert!(host.line("stubborn ").contains("3 tools, 1 view"));
    host.signal("TERM");
    host.line("draining…");
    host.line("closing…");
    host.signal("TERM");
    assert_eq!(host.end(), Some(130));
}
