//! One port for each name, on real listeners.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use transom::origin::Origin;
use transom_host::sandbox::{Loopback, Naming};

use crate::sandbox::{frame, host, sandbox};

fn ports() -> Naming {
    Naming::Ports(Loopback::find().unwrap())
}

/// Asks the listener of one origin for a name, and returns the whole answer.
async fn ask(origin: &Origin, name: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(host(origin)).await?;
    let request = format!("GET / HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

#[tokio::test]
async fn each_name_has_a_port_of_its_own_and_serves_nothing_else() {
    let sandbox = sandbox(ports());
    let mounted = sandbox.mount(frame("demo", "<p>hello", json!({}))).await.unwrap();
    let (page, guest) = (&mounted.sandbox_origin, &mounted.guest_origin);
    assert_ne!(page.host(), guest.host());

    let answer = ask(guest, &host(guest)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n<p>hello"), "{answer}");
    assert!(answer.contains("clear-site-data: \"cookies\", \"storage\"\r\n"), "{answer}");
    let again = ask(guest, &host(guest)).await.unwrap();
    assert!(!again.contains("clear-site-data"), "a reload keeps what the view has stored");
    let answer = ask(page, &host(page)).await.unwrap();
    assert!(answer.contains(&format!("data-porch=\"{guest}/porch\"")), "{answer}");

    for name in [host(page), "localhost".to_owned(), format!("localhost:{}", guest.port().unwrap())]
    {
        let answer = ask(guest, &name).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 421 "), "{name}: {answer}");
    }
}

#[tokio::test]
async fn a_frame_that_is_served_anew_before_its_first_load_still_clears_what_was_there() {
    let sandbox = sandbox(ports());
    let mut mounted = sandbox.mount(frame("demo", "<p>", json!({}))).await.unwrap();
    let guest = mounted.guest_origin.clone();
    for clears in [true, false] {
        sandbox.remount(&mut mounted, frame("demo", "<p>", json!({}))).unwrap();
        let answer = ask(&guest, &host(&guest)).await.unwrap();
        assert_eq!(answer.contains("clear-site-data"), clears, "{answer}");
    }
}

#[tokio::test]
async fn a_port_is_closed_with_its_frame_and_not_given_out_again() {
    let sandbox = sandbox(ports());
    let mut seen = Vec::new();
    for _ in 0..20 {
        let mounted = sandbox.mount(frame("demo", "<p>", json!({}))).await.unwrap();
        seen.extend([mounted.sandbox_origin.to_string(), mounted.guest_origin.to_string()]);
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 40);

    let mounted = sandbox.mount(frame("demo", "<p>", json!({}))).await.unwrap();
    let guest = mounted.guest_origin.clone();
    ask(&guest, &host(&guest)).await.unwrap();
    mounted.unmount();
    // The listener ends on its own task; until then, the name is already gone.
    while let Ok(answer) = ask(&guest, &host(&guest)).await {
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 421 "), "{answer}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn cookies_know_no_ports_so_each_guest_has_a_host_that_nobody_else_uses() {
    let (one, other) = (sandbox(ports()), sandbox(ports()));
    let mut hosts = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    for n in 0..20 {
        let of = if n % 2 == 0 { &one } else { &other };
        let mounted = of.mount(frame("demo", "<p>", json!({}))).await.unwrap();
        hosts.push(mounted.guest_origin.host().to_owned());
        if n < 2 {
            // Sandbox pages are ours, and share one of their own, which the page's policy names.
            hosts.push(mounted.sandbox_origin.host().to_owned());
        }
    }
    let count = hosts.len();
    hosts.sort();
    hosts.dedup();
    assert_eq!(hosts.len(), count, "{hosts:?}");
}

#[tokio::test]
async fn no_name_is_stable_on_a_port() {
    let sandbox = sandbox(ports());
    let mounted = sandbox.mount(frame("demo", "<p>", json!({ "domain": "a.test" }))).await.unwrap();
    assert!(!mounted.is_stable);
}
