//! Addresses as they are written down: where they lead, and not what they carry.

use transom::{
    policy::Subject,
    violation::{Denial, Violation},
};

/// An address without its query, its fragment and whoever signs in with it, each of which may hold a
/// secret; of an address without a host, its scheme alone. What goes out is known by its hash.
pub(crate) fn plain(text: &str) -> String {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    let Some((scheme, rest)) = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) else {
        return without_query(text);
    };
    // Browsers take any slashes here, and none.
    let is_web = ["http", "https", "ws", "wss"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
    let place = match rest.strip_prefix("//") {
        Some(place) => place,
        None if is_web => rest,
        None if scheme.eq_ignore_ascii_case("mailto") => {
            return format!("{scheme}:{}", without_query(rest));
        }
        None => return format!("{scheme}:…"),
    };
    let place = if is_web { place.trim_start_matches(['/', '\\']) } else { place };
    let end = place.find(['/', '\\', '?', '#']);
    let (host, path) = place.split_at(end.unwrap_or(place.len()));
    let host = match host.rsplit_once('@') {
        Some((_, host)) => format!("…@{host}"),
        // What was cut short may have been a password.
        None if end.is_none() && host.ends_with('…') => "…".to_owned(),
        None => host.to_owned(),
    };
    format!("{scheme}://{host}{}", without_query(path))
}

/// A subject without what its addresses carry.
pub(crate) fn plain_subject(subject: &Subject) -> Subject {
    match subject {
        Subject::Link(url) => Subject::Link(plain(url)),
        Subject::Read(what) => Subject::Read(plain(what)),
        Subject::Download(names) => {
            Subject::Download(names.iter().map(|name| plain_file(name)).collect())
        }
        other => other.clone(),
    }
}

/// A file without what its address carries, if it has one: `report.pdf from https://a.test/b`. Its name holds no colon, so
/// the address begins after the last " from " before the first.
fn plain_file(file: &str) -> String {
    let end = file.find(':').unwrap_or(file.len());
    match file[..end].rfind(FROM).map(|at| file.split_at(at + FROM.len())) {
        Some((name, address)) => format!("{name}{}", plain(address)),
        None => plain(file),
    }
}

const FROM: &str = " from ";

/// Why something was refused, without what the address in it carries.
pub(crate) fn plain_violation(violation: &Violation) -> String {
    let plain = |words: &transom::violation::Quoted| plain(words.as_str()).as_str().into();
    match violation {
        Violation::Denied(Denial::Refused(about)) => {
            Violation::Denied(Denial::Refused(plain(about))).to_string()
        }
        Violation::Denied(Denial::Again(about)) => {
            Violation::Denied(Denial::Again(plain(about))).to_string()
        }
        Violation::Denied(Denial::Address(about)) => {
            Violation::Denied(Denial::Address(plain(about))).to_string()
        }
        other => other.to_string(),
    }
}

fn without_query(text: &str) -> String {
    match text.find(['?', '#']) {
        Some(at) => format!("{}{}…", &text[..at], &text[at..=at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_written_down_without_what_it_carries() {
        #[rustfmt::skip]
        let table = [
            ("https://a.test/b/c",                      "https://a.test/b/c"),
            ("https://a.test/b?key=hush&x=1",           "https://a.test/b?…"),
            ("https://a.test/b#hush",                   "https://a.test/b#…"),
            ("https://a.test/b?hush#hush",              "https://a.test/b?…"),
            ("https://a.test?hush",                     "https://a.test?…"),
            ("https://me:hush@a.test:8443/b",           "https://…@a.test:8443/b"),
            ("https://me:hu@sh@a.test/b@c",             "https://…@a.test/b@c"),
            ("https:me:hush@a.test",                    "https://…@a.test"),
            ("HTTPS:\\\\me:hush@a.test\\b",             "HTTPS://…@a.test\\b"),
            ("https://me:hush-and-cut-sho…",            "https://…"),
            ("ui://board/view?token=hush",              "ui://board/view?…"),
            ("postgres://me:hush@db/table?x",           "postgres://…@db/table?…"),
            ("mailto:a@b.test?body=hush",               "mailto:a@b.test?…"),
            ("data:text/plain,hush",                    "data:…"),
            ("javascript:hush()",                       "javascript:…"),
            ("urn:hush",                                "urn:…"),
            ("file:///a/b?hush",                        "file:///a/b?…"),
            ("resources/list",                          "resources/list"),
            ("a/b?hush",                                "a/b?…"),
            ("report.pdf",                              "report.pdf"),
            ("",                                        ""),
        ];
        for (text, written) in table {
            assert_eq!(plain(text), written, "{text}");
            assert_eq!(plain(written), written, "twice is once");
        }
    }

    #[test]
    fn a_refusal_says_why_without_what_the_address_carries() {
        let link = "https://me:hush@a.test/b?hush";
        for denial in
            [Denial::Refused(link.into()), Denial::Again(link.into()), Denial::Address(link.into())]
        {
            let words = plain_violation(&Violation::Denied(denial));
            assert!(words.contains("https://…@a.test/b?…") && !words.contains("hush"), "{words}");
        }
        let linked = format!("mail from me.txt from {link}");
        let subject = Subject::Download(vec!["a.txt".to_owned(), link.to_owned(), linked]);
        let words = format!("{:?}", plain_subject(&subject));
        assert!(words.contains("a.txt") && !words.contains("hush"), "{words}");
        assert!(words.contains("mail from me.txt from https://…@a.test/b?…"), "{words}");
    }
}
