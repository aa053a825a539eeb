//! Whatever a document is, the look at it ends, and what it tells is short, in order and about a place in the document.

use transom::csp::Declaration;
use transom::wire::ResourceCsp;
use transom_host::documents::Scan;

/// Takes the input for a document.
pub(crate) fn check(data: &[u8]) {
    let html = String::from_utf8_lossy(data);
    let declared = ResourceCsp {
        connect_domains: vec!["https://api.test".to_owned()],
        ..ResourceCsp::default()
    };
    let (declaration, _) = Declaration::read(&declared);
    for declaration in [None, Some(&declaration)] {
        let scan = Scan::of(&html, declaration);
        assert_eq!(Scan::of(&html, declaration), scan, "the same look twice");
        assert!(scan.findings.is_sorted_by(|one, next| one.severity >= next.severity));
        assert!(scan.origins.len() <= 256);
        let lines = html.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let finds = scan.findings.iter().map(|finding| finding.place);
        for place in finds.chain(scan.origins.iter().map(|used| used.place)) {
            assert!(place.offset <= html.len() && (1..=lines).contains(&place.line), "{place:?}");
        }
        for finding in &scan.findings {
            let words = finding.to_string();
            assert!(words.chars().all(|c| !c.is_control()), "{words:?}");
            assert!(words.len() < 2_000, "{words:?}");
        }
    }
}
