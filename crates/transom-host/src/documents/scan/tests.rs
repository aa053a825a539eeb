use proptest::prelude::*;
use transom::wire::ResourceCsp;

use super::*;

fn declaration() -> Declaration {
    let list = |entries: &[&str]| entries.iter().map(|entry| (*entry).to_owned()).collect();
    let csp = ResourceCsp {
        connect_domains: list(&["https://api.test", "wss://api.test"]),
        resource_domains: list(&["https://*.cdn.test"]),
        frame_domains: list(&["https://video.test"]),
        base_uri_domains: list(&["https://base.test"]),
    };
    Declaration::read(&csp).0
}

fn found(html: &str) -> Vec<(Severity, What)> {
    let scan = Scan::of(html, Some(&declaration()));
    let unused = |what: &What| matches!(what, What::UnusedDeclaration(_));
    scan.findings.iter().filter(|f| !unused(&f.what)).map(|f| (f.severity, f.what)).collect()
}

#[test]
fn h_49_what_a_document_would_do_is_told() {
    use Severity::*;
    use What::*;
    #[rustfmt::skip]
    let table: &[(&str, &[(Severity, What)])] = &[
        ("<!doctype html><p>hello</p><script>console.log(1)</script>", &[]),
        // Declared, and not.
        ("<script src='https://a.cdn.test/x.js'></script>",            &[]),
        ("<script src='https://evil.test/x.js'></script>",             &[(Warning, UndeclaredOrigin)]),
        ("<script src=//evil.test/x.js></script>",                     &[(Warning, UndeclaredOrigin)]),
        ("<script src='&#104;ttps&colon;//evil.test/x'></script>",     &[(Warning, UndeclaredOrigin)]),
        ("<script src='https://api.test/x.js'></script>",              &[(Warning, UndeclaredOrigin)]),
        ("<link rel='Stylesheet' href='https://evil.test/x.css'>",     &[(Warning, UndeclaredOrigin)]),
        ("<link rel=canonical href='https://evil.test/'>",             &[]),
        ("<link rel=preconnect href='https://evil.test/'>",            &[(Warning, ConnectionHint)]),
        ("<img src='https://evil.test/x.png'>",                        &[(Warning, UndeclaredOrigin)]),
        ("<img srcset='a.png 1x, https://evil.test/x.png 2x'>",        &[(Warning, UndeclaredOrigin)]),
        ("<video poster='https://evil.test/x.png'></video>",           &[(Warning, UndeclaredOrigin)]),
        ("<svg><image href='https://evil.test/x.svg'/></svg>",         &[(Warning, UndeclaredOrigin)]),
        ("<p style='background: url(https://evil.test/x.png)'>",       &[(Warning, UndeclaredOrigin)]),
        ("<style>@import 'https://evil.test/x.css';</style>",          &[(Warning, UndeclaredOrigin)]),
        ("<p style='background: image-set(\"https://evil.test/x.png\" 1x)'>", &[(Warning, UndeclaredOrigin)]),
        ("<style>p { background: -Webkit-Image-Set(\"a.png\" 1x, 'https://evil.test/x.png' type('image/png') 2x) }</style>", &[(Warning, UndeclaredOrigin)]),
        ("<style>p { background: image-set(linear-gradient(red, blue) 1x, 'https://evil.test/x' 2x) }</style>", &[(Warning, UndeclaredOrigin)]),
        ("<style>p { background: image-set(image('https://evil.test/x') 1x", &[(Warning, UndeclaredOrigin)]),
        ("<style>p { background: cross-fade('https://evil.test/x' 50%, red) }</style>", &[(Warning, UndeclaredOrigin)]),
        ("<style>p { background: src('https://evil.test/x') }</style>", &[(Warning, UndeclaredOrigin)]),
        ("<style>p { background: Url('https://evil.test/x') }</style>", &[(Warning, UndeclaredOrigin)]),
        ("<style>p { background: image-set('https://a.cdn.test/x.png' 1x); content: 'https://evil.test' }</style>", &[]),
        ("<style>p { background: url( \"https://a.cdn.test/x\") }</style>", &[]),
        ("<style>p { background: url(data:image/png;base64,AA==) }</style>", &[]),
        // Scripts.
        ("<script>fetch('https://api.test/x')</script>",               &[]),
        ("<script>fetch('https://evil.test/x')</script>",              &[(Warning, UndeclaredOrigin)]),
        ("<script>new WebSocket(`wss://api.test/x`)</script>",         &[]),
        ("<script>new WebSocket(`wss://evil.test/x`)</script>",        &[(Warning, UndeclaredOrigin)]),
        ("<script>x.open('POST', 'https://evil.test')</script>",       &[(Warning, UndeclaredOrigin)]),
        ("<script type=module>import a from 'https://evil.test/a'</script>", &[(Warning, UndeclaredOrigin)]),
        ("<script>import('https://evil.test/a')</script>",             &[(Warning, UndeclaredOrigin)]),
        // An address that only stands in a library's text leads nowhere.
        ("<script>let u = 'https://docs.test/help'</script>",          &[]),
        ("<script>let ns = 'http://www.w3.org/2000/svg'</script>",     &[]),
        ("<script>let u = `https://${host}/x`</script>",               &[]),
        ("<script>eval(code)</script>",                                &[(Warning, Eval)]),
        ("<script>window.eval (code)</script>",                        &[(Warning, Eval)]),
        ("<script>new Function('return 1')()</script>",                &[(Warning, Eval)]),
        ("<script>root = self || Function('return this')()</script>",  &[]),
        ("<script>try { new Function(``); ok = true } catch {}</script>", &[]),
        ("<script>new Function('return this.x')()</script>",           &[(Warning, Eval)]),
        ("<script>math.eval('1+1'); medieval(1); f instanceof Function</script>", &[]),
        ("<p onclick='eval(this.title)'>",                             &[(Warning, Eval)]),
        ("<a href=' java&Tab;script:eval(1)'>x</a>",                   &[(Warning, Eval)]),
        ("<script>WebAssembly.compile(x)</script>",                    &[(Note, NeedsGrant(Grant::Wasm))]),
        ("<script>new Worker(URL.createObjectURL(b))</script>",        &[(Note, NeedsGrant(Grant::Blob))]),
        ("<script>u = URL.createObjectURL(b); import(u)</script>",     &[(Note, NeedsGrant(Grant::Blob))]),
        ("<script>u = URL.createObjectURL(b); import('./own.js')</script>", &[]),
        ("<script>import(u)</script>",                                 &[]),
        ("<script>new Worker('data:text/javascript,x')</script>",      &[(Note, NeedsGrant(Grant::Data))]),
        // Ways out.
        ("<a target=_top href=x>x</a>",                                &[(Danger, TopNavigation)]),
        ("<base target='_PARENT'>",                                    &[(Danger, TopNavigation)]),
        ("<a target=_blank href=x>x</a>",                              &[(Note, Popup)]),
        ("<script>window.top.location = x</script>",                   &[(Danger, TopNavigation)]),
        ("<script>parent.location.href = x</script>",                  &[(Danger, TopNavigation)]),
        ("<script>if (parent.location.href == x) y(parent.location)</script>", &[]),
        ("<script>let there = window.top.location.href</script>",      &[(Note, TopNavigation)]),
        ("<script>top.location.replace(x)</script>",                   &[(Danger, TopNavigation)]),
        ("<script>shader = 'layout(location = 0) in vec3 p;'</script>", &[]),
        ("<script>if (window.top !== self) {}</script>",               &[(Note, TopNavigation)]),
        ("<script>window.parent.postMessage(1, '*'); style.top = 1; node.parent.location</script>", &[]),
        ("<script>window.open(x)</script>",                            &[(Note, Popup)]),
        ("<script>class A { static async open(t = f(1)) { return 1 } }</script>", &[]),
        ("<form action='https://evil.test/'></form>",                  &[(Danger, Form), (Warning, Form)]),
        ("<form action='/x'></form>",                                  &[(Warning, Form)]),
        ("<form><button>ok</button></form>",                           &[]),
        ("<button formaction='https://api.test/'>",                    &[(Danger, Form), (Warning, Form)]),
        ("<meta http-equiv=Refresh content='5'>",                      &[(Warning, Refresh)]),
        ("<meta http-equiv=refresh content='0; url=https://evil.test/'>", &[(Danger, Refresh), (Warning, Refresh)]),
        ("<meta http-equiv=refresh content='0;https://evil.test/?a=b'>", &[(Danger, Refresh), (Warning, Refresh)]),
        ("<meta http-equiv=refresh content='0, URL = \"https://evil.test\"'>", &[(Danger, Refresh), (Warning, Refresh)]),
        ("<base href='https://base.test/x/'>",                         &[]),
        ("<base href='https://evil.test/'><img src='x.png'>",          &[(Danger, BaseHref), (Warning, UndeclaredOrigin)]),
        ("<a ping='https://evil.test/' href=x>x</a>",                  &[(Danger, Ping), (Warning, UndeclaredOrigin)]),
        // Frames.
        ("<iframe src='https://video.test/1'></iframe>",               &[(Warning, NestedFrame)]),
        ("<iframe srcdoc='<p>x'></iframe>",                            &[(Warning, NestedFrame)]),
        ("<iframe src='https://evil.test/' style='Display : none'>",   &[(Danger, HiddenFrame), (Warning, UndeclaredOrigin)]),
        ("<iframe src='https://video.test/1' style='border-width: 0; opacity: 0.5'></iframe>", &[(Warning, NestedFrame)]),
        ("<iframe width=1 src='https://video.test/1'></iframe>",       &[(Danger, HiddenFrame)]),
    ];
    for (html, expected) in table {
        assert_eq!(found(html), *expected, "{html}");
    }
}

#[test]
fn h_28_origins_are_listed_with_what_they_are_for() {
    let html = "<img src='https://a.cdn.test/1'>\n<img src='https://a.cdn.test/2'>\n\
                <script>\n\nfetch('https://evil.test/')</script>";
    let scan = Scan::of(html, Some(&declaration()));
    let listed =
        scan.origins.iter().map(|o| (o.origin.as_str(), o.purpose, o.declared, o.place.line));
    let expected = [
        ("https://a.cdn.test", Use::Image, true, 1),
        ("https://evil.test", Use::Connect, false, 5),
    ];
    assert_eq!(listed.collect::<Vec<_>>(), expected);
    assert_eq!(
        scan.findings[0].to_string(),
        "warning: connects to https://evil.test, which is not declared; the browser blocks it (line 5, <script>)"
    );
    let unused = scan.findings.iter().filter(|f| matches!(f.what, What::UnusedDeclaration(_)));
    let words: Vec<_> = unused.map(|f| f.words.as_str()).collect();
    assert_eq!(words.len(), 4, "{words:?}");
    assert_eq!(words[0], "declares https://api.test in connectDomains, and does not name it");
}

#[test]
fn more_of_the_same_is_counted_and_not_kept() {
    let evals = format!("<script>{}</script>", "eval(x);".repeat(10_000));
    let scan = Scan::of(&evals, None);
    assert_eq!((scan.findings.len(), scan.omitted), (1, 9_999));
    let images: String = (0..5_000).map(|n| format!("<img src='https://x{n}.test'>")).collect();
    let scan = Scan::of(&images, None);
    assert_eq!((scan.findings.len(), scan.origins.len()), (16, 256));
    assert_eq!(scan.omitted, 5_000 - 16);
}

#[test]
fn a_hostile_document_ends_and_little_is_kept_of_it() {
    let megabytes = |piece: &str| piece.repeat((1 << 20) / piece.len());
    #[rustfmt::skip]
    let table = [
        megabytes("<a>"),
        megabytes("<p>") + &megabytes("</b>"),
        "<b>".repeat(100_000) + &"</i>".repeat(1_000_000),
        megabytes("<a href='"),
        megabytes("<svg><script><!--"),
        format!("<p title='{}", megabytes("x")),
        format!("<p {}>", megabytes("a=b ")),
        format!("<p title='{}'>", megabytes("&#x")),
        format!("<!-- {}", megabytes("-")),
        format!("<script>{}</script>", megabytes("'https://a")),
        format!("<script>{}</script>", megabytes("window . eval (")),
        format!("<script>{}", megabytes("fetch(   ")),
        format!("<style>{}</style>", megabytes("url(https://x.test)")),
        format!("<img srcset='{}'>", megabytes("https://x.test,")),
        megabytes("<iframe hidden>"),
        megabytes("\u{1f600}'\u{1f600}"),
    ];
    for html in table {
        let scan = Scan::of(&html, Some(&declaration()));
        let start: String = html.chars().take(20).collect();
        assert!(scan.findings.len() <= 200 && scan.origins.len() <= 256, "{start}");
    }
}

#[test]
fn what_was_not_looked_at_is_a_finding() {
    let unread = |html: &str| Scan::of(html, None).findings.iter().any(|f| f.what == What::Unread);
    assert!(unread(&"<br>".repeat(MAX_TAGS + 1)));
    assert!(unread(&"<b>".repeat(MAX_TAGS / 2)));
    assert!(!unread(&"<br>".repeat(1000)));
    assert!(!unread(""));
    assert!(!unread("<p"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_document_panics(pieces in prop::collection::vec(piece(), 0..40)) {
        let html = pieces.concat();
        let scan = Scan::of(&html, Some(&declaration()));
        for finding in &scan.findings {
            prop_assert!(finding.place.offset <= html.len() && !finding.words.contains('\n'));
        }
    }
}

/// What a document is made of, and what it is broken with.
fn piece() -> impl Strategy<Value = String> {
    #[rustfmt::skip]
    let parts = [
        "<script>", "</script>", "<script src=", "<style>", "</style>", "<a href='javascript:", "<iframe srcdoc='", ">", "'", "\"", "`",
        "https://", "//", "x.test", "eval", "(", ")", "top", ".location", "window.", "fetch(", "import ", "new Worker(", "url(", "@import",
        "&#x", "&#104;", "&amp", ";", " ", "\n", "\0", "\u{1f600}", "é", "<!--", "-->", "<svg>", "<base href=", "<meta http-equiv=refresh content=",
        "<form action=", "<img srcset=", ",", "open(", "data:text/javascript", "wss://", "https://[::1]", "https://a@b:99999", "%", "\u{202e}",
    ];
    prop_oneof![4 => prop::sample::select(parts.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,8}"]
}
