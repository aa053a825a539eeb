//! Names that stay, and whose they are.

use std::fs;

use serde_json::json;
use transom_host::sandbox::{KeyError, Naming, Sandbox, SandboxScript, StableDomain, StableKey};

use crate::sandbox::{PORCH, SCRIPT, frame};

fn sandbox(key: StableKey) -> Sandbox {
    let [script, porch] = [SCRIPT, PORCH].map(|text| SandboxScript::new(text).unwrap());
    Sandbox::new(Naming::Localhost { port: 7421 }, key, script, porch)
}

async fn guest(sandbox: &Sandbox, server: &str, domain: &str) -> String {
    let mounted = sandbox.mount(frame(server, "<p>", json!({ "domain": domain }))).await.unwrap();
    mounted.guest_origin.to_string()
}

#[tokio::test]
async fn a_stable_name_survives_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let first = guest(&sandbox(StableKey::open(directory.path()).unwrap()), "demo", "a.test").await;
    let again = guest(&sandbox(StableKey::open(directory.path()).unwrap()), "demo", "a.test").await;
    assert_eq!(first, again);
    let other = guest(&sandbox(StableKey::random().unwrap()), "demo", "a.test").await;
    assert_ne!(first, other, "without the key nobody knows the name");
}

#[tokio::test]
async fn two_programs_with_one_name_and_one_domain_do_not_share_an_origin() {
    let sandbox = sandbox(StableKey::from_bytes([1; 32]));
    let named = |place: &str| {
        let mut named = frame("server", "<p>", json!({ "domain": "a.test" }));
        named.place = crate::sandbox::place(place);
        named
    };
    let one = sandbox.mount(named("one")).await.unwrap();
    let other = sandbox.mount(named("other")).await.unwrap();
    assert_ne!(one.guest_origin, other.guest_origin);
    // And one that is called otherwise and is the same has the same.
    let mut renamed = frame("renamed", "<p>", json!({ "domain": "a.test" }));
    renamed.place = crate::sandbox::place("one");
    assert_eq!(sandbox.mount(renamed).await.unwrap().guest_origin, one.guest_origin);
}

#[tokio::test]
async fn two_servers_cannot_share_a_name() {
    let sandbox = sandbox(StableKey::from_bytes([1; 32]));
    let mut names = Vec::new();
    for (server, domain) in [
        ("demo", "a.test"),
        ("other", "a.test"),
        ("demo", "b.test"),
        ("demoa", ".test"),
        ("dem", "oa.test"),
    ] {
        let name = guest(&sandbox, server, domain).await;
        assert!(!names.contains(&name), "{server} {domain}");
        names.push(name);
    }
    // A host and its origin are one domain.
    for same in ["https://a.test", "https://a.test/", "http://a.test"] {
        assert_eq!(guest(&sandbox, "demo", same).await, names[0]);
    }
}

#[tokio::test]
async fn views_of_one_domain_share_an_origin_and_not_a_document() {
    let sandbox = sandbox(StableKey::from_bytes([1; 32]));
    let ui = json!({ "domain": "a.test" });
    let one = sandbox.mount(frame("demo", "<p>1", ui.clone())).await.unwrap();
    let two = sandbox.mount(frame("demo", "<p>2", ui)).await.unwrap();
    assert_eq!(one.guest_origin, two.guest_origin);
    assert_ne!(one.guest_url, two.guest_url);
    assert_ne!(one.sandbox_origin, two.sandbox_origin);
    for sandbox in [&one.sandbox_origin, &two.sandbox_origin] {
        let (_, site) = sandbox.host().split_once('.').unwrap();
        assert_eq!(site, one.guest_origin.host());
    }
    assert!(one.is_stable);
    drop(one);
    assert_eq!(sandbox.pages_served(), 3, "one leaves, the other stays");
    let random = sandbox.mount(frame("demo", "<p>", json!({}))).await.unwrap();
    assert!(!random.is_stable);
}

#[tokio::test]
async fn what_is_no_domain_gets_a_random_name() {
    let long = "a".repeat(1 << 20);
    for text in
        ["", "a b", "a/b", "a;b", "\r\n", "ws://a.test", "a.test:x", "*.a.test", "A.test", &long]
    {
        assert!(StableDomain::parse(text).is_err(), "{text:?}");
        let frame = frame("demo", "<p>", json!({ "domain": text.get(..1000).unwrap_or(text) }));
        assert_eq!(frame.domain, None);
    }
}

#[test]
fn the_key_is_private_and_never_replaced() {
    let directory = tempfile::tempdir().unwrap();
    StableKey::open(directory.path()).unwrap();
    let path = directory.path().join("sandbox.key");
    assert_eq!(fs::read(&path).unwrap().len(), 32);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(StableKey::open(directory.path()), Err(KeyError::Exposed { .. })));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    for bytes in [&b""[..], b"short", &[1; 33]] {
        fs::write(&path, bytes).unwrap();
        let error = StableKey::open(directory.path()).unwrap_err();
        assert!(matches!(error, KeyError::Damaged { .. }), "{error}");
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    let gone = directory.path().join("gone");
    assert!(matches!(StableKey::open(&gone), Err(KeyError::File { .. })));
    assert_eq!(format!("{:?}", StableKey::from_bytes([1; 32])), "StableKey(…)");
}
