//! A path with holes: `/api/items/{id}`.

use std::fmt;

use url::Url;

use super::address::hex_pair;
use crate::printed::reads_as;

/// A pattern of paths: a list of segments, as in axum. `{id}` stands for one segment, `{*rest}` at the end for one or more.
///
/// ```
/// use transom::routes::Pattern;
/// let pattern = Pattern::parse("/api/items/{id}").unwrap();
/// assert!(pattern.takes("/api/items/7") && !pattern.takes("/api/items/7/lines"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern {
    text: String,
    segments: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Segment {
    Exactly(String),
    One,
    Rest,
}

impl Pattern {
    /// Reads a pattern; if it is none, in what.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.len() > LONGEST {
            return Err("is too long");
        }
        let rest = text.strip_prefix('/').ok_or("does not begin with a slash")?;
        let parts: Vec<_> = rest.split('/').collect();
        let last = parts.len() - 1;
        let parts = parts.into_iter().enumerate();
        let segments = parts.map(|(at, part)| Segment::parse(part, at == last));
        Ok(Self { text: text.to_owned(), segments: segments.collect::<Result<_, _>>()? })
    }

    /// Whether a path is one of its paths: by whole segments, and never by a bare prefix. The path is one of an
    /// [`Address`](super::Address), so that there is one spelling of it.
    pub fn takes(&self, path: &str) -> bool {
        let mut wanted = self.segments.iter();
        let mut given = path.split('/').skip(1);
        loop {
            match (wanted.next(), given.next()) {
                (None, None) => return true,
                (Some(Segment::Rest), Some(first)) => return !first.is_empty(),
                (Some(Segment::One), Some(segment)) if !segment.is_empty() => {}
                (Some(Segment::Exactly(text)), Some(segment)) if text == segment => {}
                _ => return false,
            }
        }
    }

    /// Whether some reader could take a path for one of its paths, where [`takes`](Self::takes) does not: one that minds no
    /// capital letters, no slash at the end, nothing after a semicolon, and no ending such as `.json`.
    pub fn could_take(&self, path: &str) -> bool {
        let (path, slash) = match path.strip_suffix('/') {
            Some(path) => (path, true),
            None => (path, false),
        };
        let mut wanted = self.segments.iter();
        let mut given = path.split('/').skip(1).peekable();
        loop {
            match (wanted.next(), given.next()) {
                (None, None) => return true,
                (Some(Segment::Rest), first) => return first.is_some() || slash,
                (Some(Segment::One), Some(_)) => {}
                (Some(Segment::Exactly(text)), None) if text.is_empty() => {}
                (Some(Segment::Exactly(text)), Some(segment))
                    if could_be(&loose(segment), &loose(text), given.peek().is_none()) => {}
                _ => return false,
            }
        }
    }

    /// Whether it takes every path below its first segments: it ends in `{*rest}`.
    pub fn is_open(&self) -> bool {
        self.segments.last() == Some(&Segment::Rest)
    }

    /// How many segments it names, and does not leave open.
    pub fn named(&self) -> usize {
        self.segments.iter().filter(|segment| matches!(segment, Segment::Exactly(_))).count()
    }
}

/// Whether a segment passes for another. In the last one, what follows a dot says to some in which form to answer.
fn could_be(segment: &str, text: &str, last: bool) -> bool {
    let ending = |(at, _)| reads_as(segment[..at].trim_end(), text);
    reads_as(segment, text) || last && !text.is_empty() && segment.match_indices('.').any(ending)
}

/// A segment as the most careless reader has it: decoded, up to its semicolon, without spaces around it.
fn loose(segment: &str) -> String {
    let mut decoded = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        match hex_pair(after).filter(|_| byte == b'%') {
            Some(value) => {
                decoded.push(value);
                rest = &after[2..];
            }
            None => {
                decoded.push(byte);
                rest = after;
            }
        }
    }
    let decoded = String::from_utf8_lossy(&decoded).into_owned();
    decoded.split(';').next().unwrap_or_default().trim().to_owned()
}

impl Segment {
    fn parse(part: &str, last: bool) -> Result<Self, &'static str> {
        match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            Some(name) if name.starts_with('*') && last => Ok(Self::Rest),
            Some(name) if name.starts_with('*') => Err("has {*…} before its end"),
            Some(name) if name.contains(['{', '}']) => Err(NEITHER),
            Some(_) => Ok(Self::One),
            None if part.contains(['{', '}', '*', '?', '#', '%', '\\']) => Err(NEITHER),
            None if part.is_empty() && !last => Err("has an empty segment"),
            None if matches!(part, "." | "..") => Err("has a dot segment"),
            // Some backends drop it, and then it is another path.
            None if part.trim() != part => Err("has a space at an end of a segment"),
            // As an address has it, which is what it is compared with.
            None => {
                let mut url = Url::parse("http://localhost").expect("it is one");
                url.set_path(part);
                Ok(Self::Exactly(url.path()[1..].to_owned()))
            }
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

const NEITHER: &str = "has a segment that is neither plain text nor {name}";
const LONGEST: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::{super::Address, *};

    // FSE-5, DEF-2, INS-4: segments, and never a bare prefix.
    #[test]
    fn fse_5_a_path_is_matched_by_whole_segments() {
        #[rustfmt::skip]
        let table = [
            ("/api",            "/api",          true),
            ("/api",            "/api?x=1",      true),
            ("/api",            "/apikeys",      false),
            ("/api",            "/api/x",        false),
            ("/api",            "/api/",         false),
            ("/api/",           "/api/",         true),
            ("/api/{id}",       "/api/7",        true),
            ("/api/{id}",       "/api/",         false),
            ("/api/{id}",       "/api/7/x",      false),
            ("/api/{id}/lines", "/api/7/lines",  true),
            ("/api/{*rest}",    "/api/7/lines",  true),
            ("/api/{*rest}",    "/api/7/",       true),
            ("/api/{*rest}",    "/api/",         false),
            ("/api/{*rest}",    "/api",          false),
            ("/{*rest}",        "/",             false),
            ("/",               "/",             true),
            ("/k\u{e4}se",      "/k%C3%A4se",    true),
            ("/admin",          "/%61dmin",      true),
            ("/API",            "/api",          false),
        ];
        for (pattern, address, expected) in table {
            let pattern = Pattern::parse(pattern).unwrap();
            let address = Address::parse(address).unwrap();
            assert_eq!(pattern.takes(&address.path), expected, "{pattern} {}", address.path);
        }
    }

    // FSE-5: backends that mind no capital letters, slashes at the end, semicolons or endings.
    #[test]
    fn what_a_careless_backend_takes_for_its_path_is_known() {
        #[rustfmt::skip]
        let table = [
            ("/count",         "/count",         true),
            ("/count",         "/Count",         true),
            ("/count",         "/count/",        true),
            ("/count",         "/COUNT;x=1/",    true),
            ("/count",         "/count%3Bx",     true),
            ("/count",         "/count%20",      true),
            ("/count",         "/count.json",    true),
            ("/count",         "/Count.v1.xml/", true),
            ("/count",         "/count.",        true),
            ("/count.json",    "/count",         false),
            ("/count/a",       "/count.json/a",  false),
            ("/",              "/.well-known",   false),
            ("/count",         "/counts",        false),
            ("/count",         "/count/x",       false),
            ("/k\u{e4}se",     "/K%C3%84SE",     true),
            ("/count/",        "/count",         true),
            ("/admin/{*rest}", "/ADMIN/x",       true),
            ("/admin/{*rest}", "/admin;a/x",     true),
            ("/admin/{*rest}", "/admin/",        true),
            ("/admin/{*rest}", "/admin",         false),
            ("/a/{id}",        "/A/7/",          true),
            ("/a/{id}",        "/a",             false),
            ("/",              "/",              true),
        ];
        for (pattern, address, expected) in table {
            let pattern = Pattern::parse(pattern).unwrap();
            let address = Address::parse(address).unwrap();
            assert_eq!(pattern.could_take(&address.path), expected, "{pattern} {}", address.path);
        }
    }

    #[test]
    fn a_pattern_that_says_nothing_sound_is_none() {
        for text in [
            "api",
            "",
            "/a//b",
            "/{*rest}/x",
            "/a*",
            "/a?x",
            "/a#b",
            "/a%20b",
            "/{a",
            "/a\\b",
            "/a/..",
            "/./a",
            "/{a}{b}",
            "/a /b",
            "/ ",
        ] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
        assert!(Pattern::parse(&format!("/{}", "a".repeat(LONGEST))).is_err());
    }
}
