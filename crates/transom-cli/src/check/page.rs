//! A document taken apart: its head, its scripts, its styles, and the addresses that stand in it.
//!
//! A look and not a browser: nothing is run, and what a script writes into the page later is not seen.

use std::{cell::RefCell, ops::Range};

use lol_html::{
    HtmlRewriter, MemorySettings, Settings, doctype, element,
    html_content::{Element, TextChunk},
    text,
};

/// What a document is made of.
#[derive(Debug, Default)]
pub(super) struct Markup {
    pub(super) doctype: bool,
    pub(super) charset: bool,
    pub(super) viewport: bool,
    /// Texts of scripts, with where they begin.
    pub(super) scripts: Vec<Part>,
    /// Texts of style sheets and of `style` attributes.
    pub(super) styles: Vec<Part>,
    /// Elements with an `on…` attribute.
    pub(super) handlers: Vec<usize>,
    /// Relative addresses of things that are loaded.
    pub(super) relative: Vec<Relative>,
    /// A `<meta name="color-scheme">`.
    pub(super) scheme: Option<usize>,
    /// Tools named in `data-call`.
    pub(super) calls: Vec<(usize, String)>,
    /// Whether it was read to its end.
    pub(super) whole: bool,
    lines: Lines,
}

/// A relative address.
#[derive(Debug)]
pub(super) struct Relative {
    pub(super) at: usize,
    pub(super) address: String,
    /// Whether it is a script or a style sheet; without a picture the rest still works.
    pub(super) vital: bool,
}

/// A text inside the document that is not HTML.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) text: String,
    start: usize,
    /// Whether a position in the text is one in the document; in an attribute it is not.
    moving: bool,
}

impl Part {
    /// Where in the document a position of the text is.
    pub(super) fn place(&self, at: usize) -> usize {
        if self.moving { self.start + at } else { self.start }
    }
}

impl Markup {
    pub(super) fn of(html: &str) -> Self {
        let end = html.match_indices('<').nth(MAX_TAGS).map_or(html.len(), |(at, _)| at);
        let page = RefCell::new(Self { lines: Lines::of(html), ..Self::default() });
        let inline = RefCell::new(vec![]);
        let read = walk(&html[..end], &page, &inline);
        let mut page = page.into_inner();
        page.whole = read && end == html.len();
        for (is_script, range) in inline.into_inner() {
            let Some(text) = html.get(range.clone()) else { continue };
            let part = Part { text: text.to_owned(), start: range.start, moving: true };
            if is_script { page.scripts.push(part) } else { page.styles.push(part) }
        }
        for part in page.styles.clone() {
            for (at, address) in addresses(&part.text) {
                page.load(part.place(at), address, false);
            }
        }
        page
    }

    /// The line of a position, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        self.lines.of_position(at)
    }

    fn element(&mut self, element: &Element<'_, '_>) {
        let at = element.source_location().bytes().start;
        let value = |name: &str| element.get_attribute(name).unwrap_or_default();
        match &*element.tag_name() {
            "meta" => self.meta(at, element),
            "script" => self.load(at, &value("src"), true),
            "link" if is_loaded(&value("rel")) => {
                self.load(at, &value("href"), value("rel").to_ascii_lowercase().contains("style"));
            }
            "img" | "audio" | "video" | "source" | "track" | "embed" | "input" => {
                self.load(at, &value("src"), false);
            }
            "image" | "use" => self.load(at, &value("href"), false),
            _ => {}
        }
        for attribute in element.attributes() {
            match attribute.name().as_str() {
                "style" => {
                    self.styles.push(Part { text: attribute.value(), start: at, moving: false })
                }
                "data-call" => self.calls.push((at, attribute.value())),
                handler if handler.starts_with("on") && handler.len() > 2 => self.handlers.push(at),
                _ => {}
            }
        }
    }

    fn meta(&mut self, at: usize, element: &Element<'_, '_>) {
        let value =
            |name: &str| element.get_attribute(name).unwrap_or_default().to_ascii_lowercase();
        self.charset |= element.has_attribute("charset")
            || value("http-equiv") == "content-type" && value("content").contains("charset");
        match value("name").trim() {
            "viewport" => self.viewport = true,
            "color-scheme" if value("content").trim() != "normal" => self.scheme = Some(at),
            _ => {}
        }
    }

    fn load(&mut self, at: usize, address: &str, vital: bool) {
        if is_relative(address) && self.relative.len() < MAX_KEPT {
            let address = address.chars().take(200).collect();
            self.relative.push(Relative { at, address, vital });
        }
    }
}

fn walk(html: &str, page: &RefCell<Markup>, inline: &RefCell<Vec<(bool, Range<usize>)>>) -> bool {
    let add = |is_script: bool, chunk: &TextChunk<'_>| {
        let piece = chunk.source_location().bytes();
        let mut inline = inline.borrow_mut();
        match inline.last_mut() {
            Some((last, range)) if *last == is_script && range.end == piece.start => {
                range.end = piece.end;
            }
            _ if piece.is_empty() => {}
            _ => inline.push((is_script, piece)),
        }
        Ok(())
    };
    let settings = Settings::new()
        .append_document_content_handler(doctype!(|found| {
            page.borrow_mut().doctype |=
                found.name().is_some_and(|name| name.eq_ignore_ascii_case("html"));
            Ok(())
        }))
        .append_element_content_handler(element!("*", |element| {
            page.borrow_mut().element(element);
            Ok(())
        }))
        .append_element_content_handler(text!("script", |chunk| add(true, chunk)))
        .append_element_content_handler(text!("style", |chunk| add(false, chunk)))
        .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(MAX_MEMORY))
        .with_strict(false);
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    rewriter.write(html.as_bytes()).is_ok() && rewriter.end().is_ok()
}

/// The addresses that a style sheet loads from.
fn addresses(style: &str) -> impl Iterator<Item = (usize, &str)> {
    style.match_indices("url(").filter_map(|(at, opening)| {
        let rest = &style[at + opening.len()..];
        let rest = rest.trim_start().trim_start_matches(['"', '\'']);
        let end = rest.find(['"', '\'', ')'])?;
        Some((at, rest[..end].trim()))
    })
}

fn is_loaded(rel: &str) -> bool {
    let rel = rel.to_ascii_lowercase();
    rel.split_ascii_whitespace()
        .any(|word| matches!(word, "stylesheet" | "icon" | "preload" | "modulepreload"))
}

/// Whether an address needs a place to be relative to.
fn is_relative(address: &str) -> bool {
    let address = address.trim();
    let scheme = address.split([':', '/', '?', '#']).next().unwrap_or_default();
    let has_scheme = address[scheme.len()..].starts_with(':')
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    // What a template or a script fills in later is not known.
    let open = address.contains("${") || address.contains("{{");
    !(address.is_empty()
        || address.starts_with('#')
        || address.starts_with("//")
        || has_scheme
        || open)
}

/// Where lines begin.
#[derive(Debug, Default)]
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    fn of_position(&self, at: usize) -> usize {
        self.0.partition_point(|end| *end < at) + 1
    }
}

/// As many tags as the host's own look takes, and as much memory.
const MAX_TAGS: usize = 200_000;
const MAX_MEMORY: usize = 512 << 10;
const MAX_KEPT: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_taken_apart() {
        let page = Markup::of(
            "<!doctype html>\n<meta charset=utf-8><meta name=Viewport content='x'>\n<style>p { background: url('a.png') }</style>\n<p onclick='x()' style='height:1px' data-call=show>\n<script>one</script>\n<script src=./b.js></script>",
        );
        assert!(page.doctype && page.charset && page.viewport && page.whole);
        assert_eq!(page.scripts.iter().map(|part| &*part.text).collect::<Vec<_>>(), ["one"]);
        assert_eq!(page.styles.len(), 2);
        assert_eq!(page.handlers.iter().map(|at| page.line(*at)).collect::<Vec<_>>(), [4]);
        let relative: Vec<_> =
            page.relative.iter().map(|it| (page.line(it.at), &*it.address)).collect();
        assert_eq!(relative, [(6, "./b.js"), (3, "a.png")]);
        assert_eq!(page.calls[0].1, "show");
    }

    #[test]
    fn relative_is_what_needs_a_place() {
        for address in ["a.js", "./a.js", "/a.js", "../a", "a/b:c", "?x", "1:2"] {
            assert!(is_relative(address), "{address}");
        }
        for address in
            ["", "#x", "//a.test/x", "https://a.test", "data:,", "blob:x", "${x}/a.js", "{{ x }}"]
        {
            assert!(!is_relative(address), "{address}");
        }
    }
}
