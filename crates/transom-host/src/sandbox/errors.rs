//! A document whose errors its author hears of: `transom dev` puts a script before everything else in it.
//!
//! The script asks for a picture of the guest's own name, which every policy lets it, with the words in the query. The
//! document may take the script's place and say what it likes, so its words are quoted, cut short and counted like a
//! stranger's.

use bytes::Bytes;
use transom::quoted::Quoted;

/// Puts the script into a document: behind the doctype, without which a browser would read it as an old one.
pub(super) fn watched(html: &Bytes) -> Bytes {
    let at = end_of_doctype(html);
    let parts = [&html[..at], b"<script>", SCRIPT.as_bytes(), b"</script>", &html[at..]];
    parts.concat().into()
}

/// The words in the query of what the script asks for.
pub(super) fn words(query: &str) -> Option<Quoted> {
    let text = query.strip_prefix(NAME)?.strip_prefix('=')?;
    let (text, _) = url::form_urlencoded::parse(text.as_bytes()).next()?;
    Some(Quoted::long(&text, LONGEST))
}

fn end_of_doctype(html: &[u8]) -> usize {
    let start = html.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or_default();
    let is_doctype =
        html[start..].get(..DOCTYPE.len()).is_some_and(|head| head.eq_ignore_ascii_case(DOCTYPE));
    let end = html[start..].iter().position(|byte| *byte == b'>').filter(|_| is_doctype);
    end.map_or(0, |end| start + end + 1)
}

const DOCTYPE: &[u8] = b"<!doctype";
const NAME: &str = "transom-error";
/// How much of an error is shown, in characters.
const LONGEST: usize = 400;
const SCRIPT: &str = r#"(() => {
  let left = 50;
  const say = (words) => {
    try {
      if (left-- > 0) new Image().src = `${location.pathname}?transom-error=${encodeURIComponent(words().slice(0, 500))}`;
    } catch {}
  };
  addEventListener("error", ({ message, lineno, target }) =>
    say(() => message ? `${message} (line ${lineno})` : `could not load ${target.src || target.href || target}`), true);
  addEventListener("unhandledrejection", ({ reason }) => say(() => `not caught: ${reason?.message ?? reason}`));
  const { error } = console;
  console.error = (...all) => {
    say(() => all.map(String).join(" "));
    error.apply(console, all);
  };
})()"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_comes_first_and_leaves_the_doctype_where_it_is() {
        #[rustfmt::skip]
        let table = [
            ("<!DOCTYPE html><p>x",     "<!DOCTYPE html>"),
            ("\n <!doctype html >\n<p>", "\n <!doctype html >"),
            ("<p>x",                     ""),
            ("<!doctype",                ""),
            ("",                         ""),
        ];
        for (html, head) in table {
            let watched = watched(&Bytes::from(html));
            let text = std::str::from_utf8(&watched).unwrap();
            assert!(text.starts_with(&format!("{head}<script>(() => {{")), "{text}");
            assert_eq!(text.len(), html.len() + SCRIPT.len() + "<script></script>".len());
            assert!(text.ends_with(&html[head.len()..]));
        }
    }

    #[test]
    fn words_are_quoted_and_short() {
        assert_eq!(words("transom-error=a%22%0Ab").unwrap().to_string(), r#""a\"\nb""#);
        let long = format!("transom-error={}", "x".repeat(60_000));
        assert!(words(&long).unwrap().as_str().len() < 2 * LONGEST);
        for no in ["", "transom-error", "other=1", "transom-error="] {
            assert_eq!(words(no), None, "{no}");
        }
    }
}
