//! One document out of a folder: what it refers to is written into it.
//!
//! A host shows a document and no file beside it, so a reference that cannot be resolved would be a blank
//! frame later. Here it is refused, with words for the author.

mod attribute;
mod css;
mod references;
mod script;
mod work;

use std::cell::{Cell, RefCell};

use lol_html::{HtmlRewriter, MemorySettings, Settings, element, text};
use transom::csp::Declaration;

use self::work::{END, Work};
use crate::source::Files;

/// Writes a folder's files into its document.
///
/// # Errors
///
/// Everything in it that could not work, each with what to do about it.
pub(crate) fn compose(
    html: &str,
    files: Option<Files>,
    declared: &Declaration,
) -> Result<String, Vec<String>> {
    let work = RefCell::new(Work::new(files, declared));
    let mut sent = Vec::with_capacity(html.len());
    let written = {
        let settings = Settings::new()
            .append_element_content_handler(element!("*", |element| {
                work.borrow_mut().element(element)
            }))
            .append_element_content_handler(text!("style", |chunk| {
                work.borrow_mut().style(chunk)
            }))
            .append_element_content_handler(text!("script", |chunk| {
                work.borrow_mut().inline_script(chunk);
                Ok(())
            }))
            // A large image written into a tag is one token of the parser.
            .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(MAX_TOKEN))
            .with_strict(false);
        let mut rewriter =
            HtmlRewriter::new(settings, |bytes: &[u8]| sent.extend_from_slice(bytes));
        let end = format!("<{END}>");
        let written = rewriter.write(html.as_bytes()).and_then(|()| rewriter.write(end.as_bytes()));
        written.and_then(|()| rewriter.end())
    };
    let mut work = work.into_inner();
    if let Err(error) = written {
        work.references.refuse(format!("the document cannot be read as HTML: {error}"));
    } else if !work.ended {
        work.references.refuse(UNCLOSED.to_owned());
    }
    if !work.references.refusals.is_empty() {
        return Err(work.references.refusals.into_iter().collect());
    }
    let mut sent = String::from_utf8(sent).expect("only UTF-8 went in, cut between characters");
    sent.push_str(&work.late());
    Ok(sent)
}

/// Puts markup first into the head of a document, and changes nothing else.
pub(crate) fn insert(html: &str, head: &str) -> String {
    let mut rest = html;
    // As the parser has it: before the head there are only comments, the doctype and <html>.
    loop {
        let next = rest.trim_start();
        let end = match next {
            _ if next.starts_with("<!--") => next.find("-->").map(|at| at + 3),
            _ if next.starts_with("<!") || next.starts_with("<?") => {
                next.find('>').map(|at| at + 1)
            }
            _ if is_tag(next, "<html") => tag_end(next),
            _ if is_tag(next, "<head") => {
                rest = tag_end(next).map_or("", |end| &next[end..]);
                break;
            }
            _ => None,
        };
        match end {
            Some(end) => rest = &next[end..],
            None => break,
        }
    }
    let at = html.len() - rest.len();
    [&html[..at], head, rest].concat()
}

/// Whether a script of the document has a text in it, in code and not in a comment.
pub(crate) fn has_in_a_script(html: &str, text: &str) -> bool {
    let (found, script) = (Cell::new(false), RefCell::new(String::new()));
    let settings = Settings::new()
        .append_element_content_handler(text!("script", |chunk| {
            script.borrow_mut().push_str(chunk.as_str());
            if chunk.last_in_text_node() {
                let script = script.take();
                found.set(found.get() || script::mentions(&script, text));
            }
            Ok(())
        }))
        .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(MAX_TOKEN))
        .with_strict(false);
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    let read = rewriter.write(html.as_bytes()).and_then(|()| rewriter.end());
    // What cannot be read is not for us to add to.
    read.is_err() || found.get()
}

fn is_tag(text: &str, tag: &str) -> bool {
    let (front, after) = text.split_at_checked(tag.len()).unwrap_or_default();
    front.eq_ignore_ascii_case(tag)
        && after.starts_with(|c: char| c == '>' || c == '/' || c.is_whitespace())
}

/// The length of the tag at the front of the text. A `>` between quotes does not end it.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '>') => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The parser keeps a whole tag in memory: large enough for any image written into one by a bundler.
const MAX_TOKEN: usize = 64 << 20;
const UNCLOSED: &str = "the document ends inside of a comment, a tag, or a <script>, <style>, <title> or \
    <textarea> that is not closed, and a browser shows nothing of what is in there: close it";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Asset;

    const FILES: &[Asset] = &[
        Asset::new("a.css", None, b"@font-face { font-family: 'My Font'; font-weight: 700; src: url(f.woff2) format(\"woff2\") } p { background: url( \"i/d.png\" ) }"),
        Asset::new("b.css", None, b"@import url(b.css);"),
        Asset::new("f.woff2", None, b"font"),
        Asset::new("i/d.png", None, b"dot"),
        Asset::new("m.js", None, b"import { x } from './x.js';"),
        Asset::new("n.js", None, b"const important = 'from here'; import('https://cdn.test/x.js');"),
        Asset::new("o.js", None, b"// import './x.js'\n/* from './y.js' */ a(\"import './z.js'\")"),
        Asset::new("p.js", None, b"\xef\xbb\xbfa('</SCRIPT>')"),
        Asset::new("c.css", None, b"\xef\xbb\xbfp { content: '</STYLE>' }"),
        Asset::new("d.css", None, b"@import 'c.css' layer(x) supports(display: grid) print; @namespace url(http://www.w3.org/1999/xhtml); b { background: url(i/\\64 .png) }"),
        Asset::new("e.css", None, b"@font-face { /* old; */ font-family: Old; src: url(o.eot); src: url('o.eot?#iefix') format('embedded-opentype'), url(\"f.woff2\") format('woff2'); font-stretch: 50% }"),
        Asset::new("i/my dot.png", None, b"dot"),
        Asset::new("i/a&b.png", None, b"dot"),
    ];

    fn made(html: &str) -> Result<String, Vec<String>> {
        compose(html, Some(Files::Embedded(FILES)), &Declaration::default())
    }

    #[test]
    fn fonts_are_handed_over_as_bytes_since_no_host_allows_them_as_data() {
        let html = made("<link rel=stylesheet href=a.css media=print>").unwrap();
        assert!(
            html.starts_with(
                "<style media=\"print\"> p { background: url(data:image/png;base64,ZG90) }</style>"
            ),
            "{html}"
        );
        assert!(
            html.contains(r#"of [["My Font","Zm9udA==",{"weight":"700"}]])document.fonts.add"#),
            "{html}"
        );
    }

    #[test]
    fn every_kind_of_reference_is_written_into_the_document() {
        let dot = "data:image/png;base64,ZG90";
        #[rustfmt::skip]
        let table = [
            ("<img src=i/d.png>",                       format!("<img src=\"{dot}\">")),
            ("<img src='./i/d.png?v=1'>",               format!("<img src=\"{dot}\">")),
            ("<img srcset='i/d.png 1x, /i/d.png 2x'>",  format!("<img srcset=\"{dot} 1x, {dot} 2x\">")),
            ("<video poster=i/d.png></video>",          format!("<video poster=\"{dot}\"></video>")),
            ("<p style='background:url(i/d.png)'>",     format!("<p style=\"background:url({dot})\">")),
            ("<p style='background:image-set(\"i/d.png\" 1x, \"i/d.png\" type(\"image/png\") 2x)'>", format!("<p style=\"background:image-set(&quot;{dot}&quot; 1x, &quot;{dot}&quot; type(&quot;image/png&quot;) 2x)\">")),
            ("<style>p{background:-WebKit-Image-Set(url(i/d.png) 1x);content:\"x\"}</style>", format!("<style>p{{background:-WebKit-Image-Set(url({dot}) 1x);content:\"x\"}}</style>")),
            ("<style>p{background:u\\72l( 'i/d.png' )}</style>", format!("<style>p{{background:url({dot})}}</style>")),
            ("<style>p{background:url(i/my dot.png)}</style>", format!("<style>p{{background:url({dot})}}</style>")),
            ("<style>p{background:url(data:image/svg+xml,<svg a='b'>)}</style>", "<style>p{background:url(data:image/svg+xml,<svg a='b'>)}</style>".to_owned()),
            ("<style>p{background:url(i/d.png)}</style>", format!("<style>p{{background:url({dot})}}</style>")),
            ("<link rel=icon href=i/d.png><link rel=preload href=m.js>", String::new()),
            ("<link rel='alternate stylesheet' href=a.css>", String::new()),
            ("<IMG SRC=i/d.png>",                       format!("<IMG SRC=\"{dot}\">")),
            ("<img src='i/my%20dot.png'>",              format!("<img src=\"{dot}\">")),
            ("<img src=i/a&amp;b.png>",                 format!("<img src=\"{dot}\">")),
            ("<img srcset='i/d.png 1x,i/d.png 2x'>",    format!("<img srcset=\"{dot} 1x, {dot} 2x\">")),
            ("<p style='background:url(&quot;i/d.png&quot;)'>", format!("<p style=\"background:url({dot})\">")),
            ("<p style='color:red'>",                   "<p style='color:red'>".to_owned()),
            ("<svg><image xlink:href=i/d.png /></svg>", format!("<svg><image xlink:href=\"{dot}\" /></svg>")),
            ("<svg><use href='#a'/></svg>",             "<svg><use href='#a'/></svg>".to_owned()),
            ("<!-- <img src=gone.png> -->",             "<!-- <img src=gone.png> -->".to_owned()),
            ("<svg><![CDATA[<img src=gone.png>]]></svg>", "<svg><![CDATA[<img src=gone.png>]]></svg>".to_owned()),
            ("<script src=p.js>\r\n</script>",          "<script>a('\\x3c/SCRIPT>')</script>".to_owned()),
            ("<SCRIPT DEFER SRC=p.js DATA-X='\"'></SCRIPT>x", "x<script data-x=\"&quot;\">a('\\x3c/SCRIPT>')</script>".to_owned()),
            ("<script type=text/plain src=gone.js>import './x.js'</script>", "<script type=text/plain src=gone.js>import './x.js'</script>".to_owned()),
            ("<script>// import './x.js'\r\n</script>", "<script>// import './x.js'\r\n</script>".to_owned()),
            ("<link href=c.css rel=STYLESHEET media='a\"b'>", "<style media=\"a&quot;b\">p { content: '<\\/STYLE>' }</style>".to_owned()),
            ("<link href=d.css rel=stylesheet>",        format!("<style>@layer x{{@supports (display: grid){{@media print{{p {{ content: '<\\/STYLE>' }}}}}}}} @namespace url(http://www.w3.org/1999/xhtml); b {{ background: url({dot}) }}</style>")),
            ("<img src='data:,x'><a href=page.html>x</a>", "<img src='data:,x'><a href=page.html>x</a>".to_owned()),
        ];
        for (html, expected) in table {
            assert_eq!(made(html), Ok(expected), "{html}");
        }
    }

    #[test]
    fn what_cannot_work_is_refused_with_words() {
        #[rustfmt::skip]
        let table = [
            ("<script src=gone.js></script>",            "the folder has no file gone.js"),
            ("<script src=../secret.js></script>",       "outside of the view's folder"),
            ("<script type=module src=m.js></script>",   "bundle the modules into one file"),
            ("<link rel=stylesheet href=b.css>",         "in a circle, or too deep"),
            ("<iframe src=page.html></iframe>",          "a view is one document"),
            ("<img src=https://cdn.test/a.png>",         "add csp(resource = \"https://cdn.test\")"),
            ("<script type=Module>import './x.js'</script>", "bundle the modules into one file"),
            ("<script type=module>import a from 'react'</script>", "bundle the modules into one file"),
            ("<script type=module>import 'https://cdn.test/a.js'</script>", "add csp(resource = \"https://cdn.test\")"),
            ("<script type=importmap>{\"imports\":{\"a\":\"./a.js\"}}</script>", "the import map names \"./a.js\""),
            ("<svg><use xlink:href='icons.svg#cup'/></svg>", "write href=\"#cup\""),
            ("<object data=a.svg></object>",             "no <object>"),
            ("<p>hello<!-- never closed <img src=x>",    "close it"),
            ("<title>never closed<p>hello",              "close it"),
            ("<p>hello<script>never(closed)",            "close it"),
            ("<p class='never closed",                   "close it"),
            ("<img src='%2e%2e/secret.png'>",            "outside of the view's folder"),
            ("<p style='background:url(gone\\.png)'>",   "the folder has no file gone.png"),
            ("<p style='background:image-set(\"gone.png\" 1x)'>", "the folder has no file gone.png"),
        ];
        for (html, expected) in table {
            let refusals = made(html).unwrap_err();
            assert!(refusals.iter().any(|words| words.contains(expected)), "{html} {refusals:?}");
        }
        for name in ["n.js", "o.js"] {
            let html = format!("<script type=module src={name}></script>");
            assert!(made(&html).is_ok(), "nothing in {name} is a path");
        }
    }

    #[test]
    fn an_import_map_gives_names_to_declared_origins() {
        let html = "<script type=importmap>{\"imports\":{\"a\":\"https://cdn.test/a.js\"}}</script>\
                    <script type=module>import a from 'a'</script>";
        let csp = serde_json::from_str(r#"{"resourceDomains":["https://cdn.test"]}"#).unwrap();
        let (declared, _) = Declaration::read(&csp);
        assert_eq!(compose(html, None, &declared).as_deref(), Ok(html));
        assert!(compose(html, None, &Declaration::default()).is_err());
    }

    #[test]
    fn a_font_comes_in_the_format_that_browsers_read() {
        let html = made("<link rel=stylesheet href=e.css>").unwrap();
        assert!(html.contains(r#"of [["Old","Zm9udA==",{"stretch":"50%"}]])"#), "{html}");
    }

    proptest::proptest! {
        #[test]
        fn no_document_panics(html in "(<(style|link rel=stylesheet href=a.css|img srcset='|p style=\"|script src=m.js|script|use href=|!--|!\\[CDATA\\[)>?|</script>|@import|@font-face|url\\(|[;{}()'\"/*\\\\ ué,:>-]){0,14}") {
            let _ = made(&html);
            proptest::prop_assert_eq!(insert(&html, "|").len(), html.len() + 1);
        }
    }

    #[test]
    fn the_head_begins_where_a_parser_says() {
        #[rustfmt::skip]
        let table = [
            ("<!doctype html><html lang=en><HEAD class=a><title>", "<!doctype html><html lang=en><HEAD class=a>|<title>"),
            ("<!DOCTYPE html>\n<!-- <head> -->\n<title>x",        "<!DOCTYPE html>\n<!-- <head> -->|\n<title>x"),
            ("<html data-a='>'><head data-b=\">\"><title>",         "<html data-a='>'><head data-b=\">\">|<title>"),
            ("<?xml version='1.0'?>\r\n<!doctype html>\r\n<p>",    "<?xml version='1.0'?>\r\n<!doctype html>|\r\n<p>"),
            ("<html><header>",                                     "<html>|<header>"),
            ("text",                                               "|text"),
            ("<!-- never closed",                                  "|<!-- never closed"),
            ("",                                                   "|"),
        ];
        for (html, expected) in table {
            assert_eq!(insert(html, "|"), expected, "{html:?}");
        }
    }
}
