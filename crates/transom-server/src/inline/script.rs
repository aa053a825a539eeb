//! Scripts: what they import, and how one is written into a document.
//!
//! Both need to know what is code and what is only text in it, so a script is cut into tokens.

use std::borrow::Cow;

use transom::script::{Kind, Token, Tokens};

/// Another module that a script names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Import<'a> {
    /// By a declaration: without it the script does not begin.
    Declared(&'a str),
    /// By `import(…)`, when the script gets there.
    Called(&'a str),
}

/// Every module that a script imports by a literal name.
pub(super) fn imports<'a>(script: &'a str) -> Vec<Import<'a>> {
    let is_code = |token: &Token<'_>| !matches!(token.kind, Kind::Space | Kind::Comment);
    let code: Vec<Token<'a>> = Tokens::new(script).filter(is_code).collect();
    let at = |n: Option<usize>| n.and_then(|n| code.get(n)).map_or("", |token| token.text);
    let name = |(n, token): (usize, &Token<'a>)| {
        let quoted = |quote| token.text.strip_prefix(quote)?.strip_suffix(quote);
        let name = quoted('"').or_else(|| quoted('\''))?;
        // `x.import` and `x.from` are names of the script's own.
        let own = |back: usize| at(n.checked_sub(back)) == ".";
        match (at(n.checked_sub(1)), at(n.checked_sub(2))) {
            ("import" | "from", _) if !own(2) => Some(Import::Declared(name)),
            ("(", "import") if !own(3) => Some(Import::Called(name)),
            _ => None,
        }
    };
    code.iter().enumerate().filter_map(name).collect()
}

/// Whether a text stands in a script as a text, and not only in what is said about it.
pub(super) fn mentions(script: &str, text: &str) -> bool {
    Tokens::new(script).any(|token| token.kind == Kind::Text && token.text.contains(text))
}

/// A script as it can stand between `<script>` and `</script>`, where a parser of HTML looks for three
/// words whatever they mean to the script.
pub(super) fn embeddable(script: &str) -> Cow<'_, str> {
    if !script.match_indices('<').any(|(at, _)| is_danger(&script[at..])) {
        return Cow::Borrowed(script);
    }
    let mut written = String::with_capacity(script.len() + 64);
    let mut rest = script;
    for token in Tokens::new(script) {
        // The comment of old ends with its line, as one of today does.
        let old = token.text.starts_with("<!--");
        let skipped = if old { "<!--".len() } else { 0 };
        if old {
            written.push_str("//");
        }
        for (at, c) in token.text.char_indices().skip(skipped) {
            // A word of HTML may span tokens of the script.
            if c != '<' || !is_danger(&rest[at..]) {
                written.push(c);
                continue;
            }
            match token.kind {
                Kind::Text => {
                    let escapes = token.text[..at].bytes().rev().take_while(|b| *b == b'\\');
                    let escaped = escapes.count() % 2 == 1;
                    written.push_str(if escaped { "x3c" } else { "\\x3c" });
                }
                _ => written.push_str("< "),
            }
        }
        rest = &rest[token.text.len()..];
    }
    Cow::Owned(written)
}

fn is_danger(text: &str) -> bool {
    ["<!--", "<script", "</script"].iter().any(|word| starts_with(text, word))
}

/// Whether a text starts with a word, in whatever case.
pub(super) fn starts_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|front| front.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_is_one_only_in_code() {
        use Import::{Called, Declared};
        #[rustfmt::skip]
        let table: &[(&str, &[Import<'_>])] = &[
            ("import './a.js'",                             &[Declared("./a.js")]),
            ("import{a}from\"./a.js\";export*from'b'",      &[Declared("./a.js"), Declared("b")]),
            ("import /* here */ a from // there\n './a.js'", &[Declared("./a.js")]),
            ("const a = await import( './a.js' )",          &[Called("./a.js")]),
            ("`${await import('./a.js')}`",                 &[Called("./a.js")]),
            ("a = b / c; import './a.js' /* / */",          &[Declared("./a.js")]),
            ("if (a) /'/.test(b); import './a.js'",         &[Declared("./a.js")]),
            ("i++ / 2; import './a.js' // '",               &[Declared("./a.js")]),
            ("x = /[/']/; import './a.js'",                 &[Declared("./a.js")]),
            ("x = 'it\\'s'; import './a.js'",               &[Declared("./a.js")]),
            ("\u{feff}import './a.js'",                     &[Declared("./a.js")]),
            ("// import './a.js'",                          &[]),
            ("/* import './a.js' */",                       &[]),
            ("<!-- import './a.js'",                        &[]),
            ("x = \"import './a.js'\"",                     &[]),
            ("x = `import './a.js' ${1} from './b.js'`",    &[]),
            ("x = /import '.a'/",                           &[]),
            ("x = { import: './a.js', from: './b.js' }",    &[]),
            ("Array.from('./a'); x.import('./a')",          &[]),
            ("import.meta.url; important('./a.js')",        &[]),
            ("import('./' + name)",                         &[Called("./")]),
            ("/* never closed import './a.js'",             &[]),
            ("'never closed import\nimport './a.js'",       &[Declared("./a.js")]),
        ];
        for (script, expected) in table {
            assert_eq!(imports(script), *expected, "{script}");
        }
    }

    #[test]
    fn no_word_of_a_script_ends_it() {
        #[rustfmt::skip]
        let table = [
            ("a('</script>')",               "a('\\x3c/script>')"),
            ("a(\"</SCRIPT >\")",            "a(\"\\x3c/SCRIPT >\")"),
            ("a(`<!--<script>`)",            "a(`\\x3c!--\\x3cscript>`)"),
            ("a('\\</script>')",             "a('\\x3c/script>')"),
            ("a('\\\\</script>')",           "a('\\\\\\x3c/script>')"),
            ("a(/<script/)",                 "a(/\\x3cscript/)"),
            ("// </script>\nb()",            "// < /script>\nb()"),
            ("/* <!-- <script> */ b()",      "/* < !-- < script> */ b()"),
            ("a<script&&b",                  "a< script&&b"),
            ("a</script/.exec(b)",           "a< /script/.exec(b)"),
            ("<!-- old\nb()",                "// old\nb()"),
            ("a < b && '<b>' </b/.x",        "a < b && '<b>' </b/.x"),
        ];
        for (script, expected) in table {
            assert_eq!(embeddable(script), expected, "{script}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_script_panics_and_none_ends_early(script in "(import|from|<!--|</?script>?|[`'\"/*\\\\${}()\\[\\] \n+<é;x-]){0,16}") {
            let _ = imports(&script);
            let written = embeddable(&script).to_ascii_lowercase();
            proptest::prop_assert!(!written.contains("</script"), "{}", written);
            proptest::prop_assert!(!written.contains("<script"), "{}", written);
        }
    }
}
