//! One port for each name, on real listeners.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use transom::origin::Origin;
use transom_host::sandbox::Naming;

use crate::sandbox::{frame, host, sandbox};

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
    let sandbox = sandbox(Naming::Ports);
    let mounted = sandbox.mount(frame("demo", "<p>hello", json!({}))).await.unwrap();
    let (page, guest) = (&mounted.sandbox_origin, &mounted.guest_origin);
    assert_eq!((page.host(), guest.host()), ("127.0.0.1", "127.0.0.1"));
    assert_ne!(page.port(), guest.port());

    let answer = ask(guest, &host(guest)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n<p>hello"), "{answer}");
    assert!(answer.contains("clear-site-data: \"storage\"\r\n"), "a port had an owner before us");
    let again = ask(guest, &host(guest)).await.unwrap();
    assert!(!again.contains("clear-site-data"), "a reload keeps what the view has stored");
    let answer = ask(page, &host(page)).await.unwrap();
    assert!(answer.contains(&format!("data-guest=\"{guest}/\"")), "{answer}");

    for name in [host(page), "localhost".to_owned(), format!("localhost:{}", guest.port().unwrap())]
    {
        let answer = ask(guest, &name).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 421 "), "{name}: {answer}");
    }
}

#[tokio::test]
async fn a_port_is_closed_with_its_frame_and_not_given_out_again() {
    let sandbox = sandbox(Naming::Ports);
    let mut seen = Vec::new();
    for _ in 0..20 {
        let mounted = sandbox.mount(frame("demo", "<p>", json!({}))).await.unwrap();
        seen.extend([mounted.sandbox_origin.port(), mounted.guest_origin.port()]);
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
async fn no_name_is_stable_on_a_port() {
    let sandbox = sandbox(Naming::Ports);
    let mounted = sandbox.mount(frame("demo", "<p>", json!({ "domain": "a.test" }))).await.unwrap();
    assert!(!mounted.is_stable);
}
