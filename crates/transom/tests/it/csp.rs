//! The policy code against `fixtures/csp`, which every implementation shares.
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be read is a failed test")]

use serde_json::Value;
use transom::csp::*;
use transom::origin::{AddressError, MAX_ADDRESS_BYTES, Origin};
use transom::permissions::SandboxTokens;
use transom::policy::{Domains, Reach, Stance};
use transom::wire::{ResourceCsp, ResourcePermissions};

#[test]
fn h_23_h_24_p_04_golden_policies() {
    for row in fixture(GOLDEN).as_array().unwrap() {
        let name = text(&row["name"]);
        let policy = policy(row);
        let header = text(&row["header"]);
        assert_eq!(policy.to_string(), header, "{name}");
        assert_eq!(
            policy.to_meta(),
            text(row.get("meta").unwrap_or_else(|| &row["header"])),
            "{name}"
        );
        assert_eq!(Csp::parse_header(header).as_ref(), Ok(&policy), "{name}");
    }
}

#[test]
fn h_31_granted_entries_are_printed_as_they_were_read() {
    for entry in strings(&fixture(SOURCES)["granted"]) {
        assert_eq!(Source::parse(&entry).unwrap().to_string(), entry);
        let (declaration, refused) = connect(std::slice::from_ref(&entry));
        assert_eq!((granted(&declaration), refused), (vec![entry], vec![]));
    }
}

#[test]
fn h_25_and_h_31_refused_entries_change_nothing() {
    for row in fixture(SOURCES)["refused"].as_array().unwrap() {
        let entry = text(&row["entry"]);
        let (declaration, refused) = connect(&[entry.to_owned()]);
        assert!(declaration.is_empty(), "{entry:?}");
        assert_eq!(refused.len(), 1, "{entry:?}");
        assert_eq!(reason(refused[0].reason), text(&row["reason"]), "{entry:?}");
        let nothing = Csp::guest(Some(&Declaration::default()));
        assert_eq!(Csp::guest(Some(&declaration)), nothing, "{entry:?}");
    }
}

#[test]
fn a_bare_host_is_granted_under_https_and_nothing_else_is_repaired() {
    for row in fixture(SOURCES)["bare"].as_array().unwrap() {
        let csp = serde_json::json!({ "connectDomains": [row["entry"]] });
        let declared = ResourceCsp::read(csp.as_object().unwrap(), &mut vec![]);
        let (declaration, _) = Declaration::read(&declared);
        let reads: Vec<_> =
            row.get("reads").map(|reads| text(reads).to_owned()).into_iter().collect();
        assert_eq!(granted(&declaration), reads, "{row}");
    }
}

#[test]
fn what_is_private_is_private_in_every_spelling() {
    for row in fixture(PRIVATE).as_array().unwrap() {
        let (host, expected) = (text(&row["host"]), text(&row["reach"]));
        let reach = match Reach::of(host) {
            Reach::Machine => "machine",
            Reach::Network => "network",
            Reach::Public => "public",
        };
        assert_eq!(reach, expected, "{host}");
        // Whatever a declaration may name is judged as its host is.
        for text in [format!("https://{host}"), format!("ws://*.{host}:8443")] {
            let Ok(source) = Source::parse(&text) else { continue };
            let stance = Domains::default().judge(&source);
            assert_eq!(stance == Stance::Allow, expected == "public", "{text}");
        }
    }
}

#[test]
fn a_refusal_is_one_short_line_that_names_the_list() {
    let entry = format!("https://a\n{}", "b".repeat(200));
    let (_, refused) = connect(&[entry]);
    let expected = format!(
        "connectDomains entry \"https://a\\n{}…\": character '\\n' has no place in an address",
        "b".repeat(70)
    );
    assert_eq!(refused[0].to_string(), expected);
}

#[test]
fn lists_are_read_up_to_their_limit() {
    let entries: Vec<_> = (0..1000).map(|n| format!("https://a{n}.test")).collect();
    let (declaration, refused) = connect(&entries[..MAX_ENTRIES]);
    assert_eq!((declaration.connect.len(), refused.len()), (MAX_ENTRIES, 0));
    let (declaration, refused) = connect(&entries);
    assert_eq!(granted(&declaration), &entries[..MAX_ENTRIES]);
    let beyond = Reason::TooMany { count: 1000 };
    let entry = entries[MAX_ENTRIES].as_str().into();
    assert_eq!(refused, [Refused { list: List::Connect, entry, reason: beyond }]);
}

#[test]
fn the_longest_policy_is_one_that_a_browser_reads() {
    let label = "a".repeat(63);
    let name = |n| format!("https://*.{n:03}.{label}.{label}.{label}.{}:65535", &label[..57]);
    let entries: Vec<_> = (0..MAX_ENTRIES).map(name).collect();
    assert_eq!(entries[0].len(), MAX_ADDRESS_BYTES);
    let declared = ResourceCsp {
        connect_domains: entries.clone(),
        resource_domains: entries.clone(),
        frame_domains: entries.clone(),
        base_uri_domains: entries.clone(),
    };
    let (declaration, refused) = Declaration::read(&declared);
    assert_eq!(ResourceCsp::from(&declaration), declared);
    assert_eq!(refused, []);
    let header = Csp::guest(Some(&declaration)).to_string();
    assert!(header.len() < 140 * 1024, "{} bytes", header.len());

    let (_, refused) = connect(&[format!("{}0", entries[0])]);
    assert_eq!(refused[0].reason, Reason::Source(AddressError::TooLong.into()));
}

#[test]
fn h_25_and_h_29_the_host_may_restrict_further() {
    let entries = ["https://good.test", "https://*.bad.test"].map(str::to_owned);
    let (mut declaration, _) = Declaration::read(&ResourceCsp {
        connect_domains: entries.to_vec(),
        base_uri_domains: entries[1..].to_vec(),
        ..ResourceCsp::default()
    });
    declaration.retain(|_, source| !source.host().ends_with("bad.test"));
    assert_eq!(granted(&declaration), ["https://good.test"]);
    let header = Csp::guest(Some(&declaration)).to_string();
    assert!(header.contains("connect-src 'self' https://good.test;"), "{header}");
    assert!(header.contains("base-uri 'self';"), "{header}");
}

#[test]
fn no_grant_opens_a_domain_and_each_is_one_word_in_one_place() {
    #[rustfmt::skip]
    let table = [
        (Grant::Blob,       "script-src",  "blob:"),
        (Grant::Data,       "script-src",  "data:"),
        (Grant::Wasm,       "script-src",  "'wasm-unsafe-eval'"),
        (Grant::Eval,       "script-src",  "'unsafe-eval'"),
        (Grant::BlobImages, "img-src",     "blob:"),
        (Grant::BlobMedia,  "media-src",   "blob:"),
        (Grant::BlobFonts,  "font-src",    "blob:"),
        (Grant::DataFonts,  "font-src",    "data:"),
        (Grant::BlobFetch,  "connect-src", "blob:"),
    ];
    assert_eq!(table.map(|(grant, ..)| grant), Grant::ALL);
    let empty = Declaration::default();
    for declaration in [None, Some(&empty)] {
        let before: Vec<_> = Csp::guest(declaration).directives().collect();
        for (grant, directive, word) in table {
            let policy = Csp::guest(declaration).grant(&[grant]);
            assert_eq!(Csp::parse_header(&policy.to_string()), Ok(policy.clone()));
            for (name, values) in policy.directives() {
                let was = before.iter().find(|(known, _)| *known == name);
                let was = was.map_or("'none'", |(_, values)| values);
                let new: Vec<&str> = values
                    .split(' ')
                    .filter(|value| !was.split(' ').any(|old| old == *value))
                    .collect();
                match name {
                    _ if name == directive => assert_eq!(new, [word], "{grant:?}"),
                    "worker-src" => assert_eq!(values, format!("'self' {word}"), "{grant:?}"),
                    _ => assert_eq!(new, [""; 0], "{grant:?} {name}"),
                }
            }
        }
    }
}

#[test]
fn reports_go_to_an_address_that_we_wrote() {
    let guest = Origin::parse("http://guest.localhost:7421").unwrap();
    for path in ["/", "/abc234"] {
        let policy = Csp::guest(None).report_to(&guest, path);
        let header = policy.to_string();
        assert!(
            header.ends_with(&format!("; report-uri http://guest.localhost:7421{path}")),
            "{header}"
        );
        assert_eq!(Csp::parse_header(&header), Ok(policy.clone()));
        assert_eq!(policy.to_meta(), Csp::guest(None).to_meta());
    }
    // Nothing else fits there, and such an address fits nowhere else.
    for path in ["", "/a/b", "/a; img-src *", "/a?b", "/é"] {
        assert_eq!(Csp::guest(None).report_to(&guest, path), Csp::guest(None), "{path:?}");
    }
    for text in ["report-uri /", "report-uri https://a.test", "img-src https://a.test/b"] {
        assert!(Csp::parse_header(text).is_err(), "{text}");
    }
}

#[test]
fn host_settings_may_come_in_any_order() {
    let fonts = origins(&["https://fonts.test".into()]);
    let pages = origins(&["https://chat.test".into()]);
    let one = Csp::guest(None).fonts(&fonts).grant(&Grant::ALL).frame_ancestors(&pages);
    let other = Csp::guest(None).frame_ancestors(&[]).grant(&Grant::ALL).grant(&[Grant::Wasm]);
    assert_eq!(other.frame_ancestors(&pages).fonts(&fonts).fonts(&fonts), one);
    assert_eq!(Csp::guest(None).fonts(&[]).grant(&[]), Csp::guest(None));
}

#[test]
fn a_source_made_of_an_origin_is_that_origin() {
    for text in ["https://a.test:8443", "http://[::1]:7420"] {
        let source = Source::from(Origin::parse(text).unwrap());
        assert_eq!((source.to_string().as_str(), source.is_wildcard()), (text, false));
        assert_eq!(Source::parse(text), Ok(source));
    }
}

#[test]
fn only_headers_of_ours_are_read_back() {
    use HeaderError::*;
    let value = |text: &str| Err(Value(text.into()));
    let directive = |text: &str| Err(Directive(text.into()));
    #[rustfmt::skip]
    let table = [
        ("script-src 'none'",                   Ok(())),
        ("script-src 'self' https://a.test",    Ok(())),
        ("",                                    directive("")),
        ("script-src",                          value("")),
        ("script-src ",                         value("")),
        ("script-src  'self'",                  value("")),
        ("script-src 'self' ",                  value("")),
        ("script-src 'none' 'self'",            value("'none'")),
        ("script-src 'unsafe-hashes'",          value("'unsafe-hashes'")),
        ("script-src *",                        value("*")),
        ("script-src http:",                    value("http:")),
        ("script-src 'nonce-short'",            value("'nonce-short'")),
        ("script-src 'self';img-src 'self'",    value("'self';img-src")),
        ("script-src 'self', img-src 'self'",   value("'self',")),
        ("script-src 'self'; ",                 directive("")),
        ("SCRIPT-SRC 'self'",                   directive("SCRIPT-SRC")),
        ("report-uri https://a.test",           value("https://a.test")),
        ("report-to a",                         directive("report-to")),
        ("img-src 'self'; img-src 'none'",      Err(Twice("img-src"))),
    ];
    for (header, expected) in table {
        assert_eq!(Csp::parse_header(header).map(|_| ()), expected, "{header:?}");
    }
}

#[test]
fn a_policy_can_be_listed_for_people() {
    let policy = Csp::guest(None);
    let listed: Vec<_> = policy.directives().collect();
    assert_eq!(listed[0], ("default-src", "'none'".to_owned()));
    assert_eq!(listed[1], ("script-src", "'self' 'unsafe-inline'".to_owned()));
    assert_eq!(listed.len(), 10);
}

#[test]
fn h_30_p_05_p_16_frame_attributes() {
    let frames = fixture(FRAMES);
    for row in frames["allow"].as_array().unwrap() {
        let asked = permissions(&row["permissions"]);
        let frames = row.get("origins").map_or(vec![], |list| origins(&strings(list)));
        assert_eq!(asked.to_allow_for(&frames), text(&row["allow"]));
    }
    for row in frames["sandbox"].as_array().unwrap() {
        assert_eq!(SandboxTokens::parse(text(&row["asked"])).to_string(), text(&row["granted"]));
    }
}

fn policy(row: &Value) -> Csp {
    let list = |key: &str| row.get(key).map(strings);
    let ancestors = list("frameAncestors").map(|list| origins(&list));
    let policy = match text(&row["kind"]) {
        "sandbox" => {
            let scripts: Vec<_> = list("scripts").unwrap().iter().map(|s| script(s)).collect();
            let guest = Origin::parse(text(&row["guest"])).unwrap();
            return Csp::sandbox_page(&scripts, &guest, &ancestors.unwrap());
        }
        "raw" => return Csp::raw_page(&ceiling(&row["ceiling"]), &ancestors.unwrap()),
        _ => Csp::guest(declaration(&row["declaration"]).as_ref()),
    };
    let grants: Vec<_> = list("grants").unwrap_or_default().iter().map(|g| grant(g)).collect();
    let policy = policy.fonts(&origins(&list("fonts").unwrap_or_default())).grant(&grants);
    match ancestors {
        Some(origins) => policy.frame_ancestors(&origins),
        None => policy,
    }
}

fn declaration(value: &Value) -> Option<Declaration> {
    let declared: Option<ResourceCsp> = serde_json::from_value(value.clone()).unwrap();
    declared.map(|declared| Declaration::read(&declared).0)
}

fn ceiling(value: &Value) -> Ceiling {
    match value.as_str() {
        Some("tls") => Ceiling::AnyTls,
        _ => Ceiling::Listed(declaration(value).unwrap()),
    }
}

fn script(text: &str) -> Script {
    match text.split_once('-') {
        Some(("nonce", base64)) => Script::Token(Token::nonce(base64).unwrap()),
        Some(("sha256", base64)) => Script::Token(Token::sha256(base64).unwrap()),
        _ => Script::Own,
    }
}

fn grant(name: &str) -> Grant {
    match name {
        "blob" => Grant::Blob,
        "data" => Grant::Data,
        "wasm" => Grant::Wasm,
        other => panic!("no grant is called {other:?}"),
    }
}

fn permissions(value: &Value) -> ResourcePermissions {
    let asked = |key| value.get(key).is_some();
    ResourcePermissions {
        camera: asked("camera"),
        microphone: asked("microphone"),
        geolocation: asked("geolocation"),
        clipboard_write: asked("clipboardWrite"),
    }
}

fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::TooMany { .. } => "too many",
        Reason::Ipv6 => "ipv6",
        Reason::Source(SourceError::Wildcard) => "wildcard",
        Reason::Source(SourceError::Address(address)) => match address {
            AddressError::TooLong => "too long",
            AddressError::Scheme => "scheme",
            AddressError::Character(_) => "character",
            AddressError::Userinfo => "userinfo",
            AddressError::Path => "path",
            AddressError::Host => "host",
            AddressError::Port => "port",
            other => panic!("the fixtures have no word for {other:?}"),
        },
        other => panic!("the fixtures have no word for {other:?}"),
    }
}

fn connect(entries: &[String]) -> (Declaration, Vec<Refused>) {
    Declaration::read(&ResourceCsp { connect_domains: entries.to_vec(), ..ResourceCsp::default() })
}

/// What a view is told that it may connect to (H-32).
fn granted(declaration: &Declaration) -> Vec<String> {
    ResourceCsp::from(declaration).connect_domains
}

fn origins(list: &[String]) -> Vec<Origin> {
    list.iter().map(|text| Origin::parse(text).unwrap()).collect()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|entry| text(entry).to_owned()).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn fixture(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

const GOLDEN: &str = include_str!("../../../../fixtures/csp/golden.json");
const SOURCES: &str = include_str!("../../../../fixtures/csp/sources.json");
const PRIVATE: &str = include_str!("../../../../fixtures/csp/private.json");
const FRAMES: &str = include_str!("../../../../fixtures/csp/frames.json");
