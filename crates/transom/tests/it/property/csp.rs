//! Whatever goes in, a header has exactly the directives we wrote and reads back as the same policy.

use transom::csp::{Ceiling, Csp, Declaration, Grant, MAX_ENTRIES, Script, Source, Token};
use transom::origin::Origin;
use transom::permissions::SandboxTokens;
use transom::wire::ResourceCsp;

/// Takes the input for a domain, for a list of them, one a line, for an origin and for a header.
pub(crate) fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    // Two more than are read: thousands of them would only slow the fuzzer down.
    declared(text.split('\n').take(MAX_ENTRIES + 2).map(str::to_owned).collect());
    if text.contains('\n') {
        declared(vec![text.as_ref().to_owned()]);
    }
    what_parses_prints_the_same(&text);
    if let Ok(origin) = Origin::parse(&text) {
        framed(&origin);
    }
    if let Ok(token) = Token::nonce(&text).or_else(|_| Token::sha256(&text)) {
        scripted(token);
    }
}

fn declared(entries: Vec<String>) {
    let declared = ResourceCsp {
        connect_domains: entries.clone(),
        resource_domains: entries.clone(),
        frame_domains: entries.clone(),
        base_uri_domains: entries,
    };
    let (declaration, refused) = Declaration::read(&declared);
    assert!(refused.len() <= 4 * (MAX_ENTRIES + 1));
    assert!(refused.iter().all(|refused| refused.to_string().lines().count() == 1));

    let policy = Csp::guest(Some(&declaration));
    let seen = browser(&policy);
    let granted = ResourceCsp::from(&declaration);
    let resources = &granted.resource_domains;
    assert_eq!(seen, form_b(&granted), "{policy}");
    assert!(resources.iter().all(|entry| declared.resource_domains.contains(entry)), "{policy}");
    assert_eq!(seen.len(), browser(&policy.grant(&[Grant::Wasm])).len());
    browser(&Csp::raw_page(&Ceiling::Listed(declaration), &[]));
}

fn framed(origin: &Origin) {
    let pages = std::slice::from_ref(origin);
    let seen = browser(&Csp::sandbox_page(&[Script::Own], origin, pages));
    assert_eq!(seen.len(), 7);
    assert_eq!(seen[2], directive("frame-src", &[], &[origin.to_string()]));
    assert_eq!(seen[6], directive("frame-ancestors", &[], &[origin.to_string()]));
    let seen = browser(&Csp::guest(None).fonts(pages).grant(&Grant::ALL).frame_ancestors(pages));
    assert_eq!(seen.len(), 13);
}

fn scripted(token: Token) {
    let guest = Origin::parse("https://guest.test").expect("an origin");
    let value = format!("'{token}'");
    let seen = browser(&Csp::sandbox_page(&[Script::Token(token)], &guest, &[]));
    assert_eq!(seen[1], directive("script-src", &[], &[value]));
}

fn what_parses_prints_the_same(text: &str) {
    if let Ok(source) = Source::parse(text) {
        assert_eq!(source.to_string(), text);
    }
    if let Ok(origin) = Origin::parse(text) {
        assert_eq!(origin.to_string(), text);
        assert_eq!(Source::parse(text), Ok(Source::from(origin)));
    }
    if let Ok(policy) = Csp::parse_header(text) {
        assert_eq!(policy.to_string(), text);
    }
    let tokens = SandboxTokens::parse(text);
    assert_eq!(SandboxTokens::parse(&tokens.to_string()), tokens);
}

type Directive = (String, Vec<String>);

/// Reads a policy as the standard tells a browser to, after making sure that we can read it too.
fn browser(policy: &Csp) -> Vec<Directive> {
    let header = policy.to_string();
    assert_eq!(Csp::parse_header(&header).as_ref(), Ok(policy), "{header}");
    assert!(header.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{header}");
    // A comma would start a second policy, and these would end the attribute of a <meta>.
    assert!(!header.contains([',', '"', '<', '>', '&']), "{header}");
    header.split(';').map(browser_directive).collect()
}

fn browser_directive(text: &str) -> Directive {
    let mut words = text.split_ascii_whitespace().map(str::to_owned);
    let name = words.next().expect("a directive has a name");
    (name, words.collect())
}

/// Form B of docs/reference/mcp-apps.md §3.7, written a second time and without the parser.
fn form_b(granted: &ResourceCsp) -> Vec<Directive> {
    let resources = &granted.resource_domains;
    let or = |sources: &Vec<String>, other: &str| match sources.is_empty() {
        true => vec![other.to_owned()],
        false => sources.clone(),
    };
    vec![
        directive("default-src", &["'none'"], &[]),
        directive("script-src", &["'self'", "'unsafe-inline'"], resources),
        directive("style-src", &["'self'", "'unsafe-inline'"], resources),
        directive("connect-src", &["'self'"], &granted.connect_domains),
        directive("img-src", &["'self'", "data:"], resources),
        directive("font-src", &["'self'"], resources),
        directive("media-src", &["'self'", "data:"], resources),
        directive("frame-src", &[], &or(&granted.frame_domains, "'none'")),
        directive("object-src", &["'none'"], &[]),
        directive("base-uri", &[], &or(&granted.base_uri_domains, "'self'")),
        directive("form-action", &["'none'"], &[]),
    ]
}

fn directive(name: &str, keywords: &[&str], sources: &[String]) -> Directive {
    let keywords = keywords.iter().map(|keyword| (*keyword).to_owned());
    (name.to_owned(), keywords.chain(sources.iter().cloned()).collect())
}
