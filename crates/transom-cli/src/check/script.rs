//! What can be seen of a script by its words alone.
//!
//! Names are looked for where they stand, without telling code from comments and texts, and without knowing
//! what a variable holds: `w = window; w.open()` is not seen. Whatever is found here is likely, not certain.

/// One look at a script.
#[derive(Clone, Copy, Debug)]
pub(super) struct Script<'a>(pub(super) &'a str);

impl<'a> Script<'a> {
    /// Every place where a name stands, as a whole word.
    pub(super) fn words(self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        let text = self.0;
        let bytes = text.as_bytes();
        text.match_indices(name).map(|(at, _)| at).filter(move |at| {
            let before = at.checked_sub(1).map(|at| bytes[at]);
            let after = bytes.get(at + name.len()).copied();
            !before.is_some_and(is_name) && !after.is_some_and(is_name)
        })
    }

    /// Whether a name at a place is one of its own, or a member of the window.
    pub(super) fn is_global(self, at: usize) -> bool {
        let before = self.0[..at].trim_ascii_end();
        let Some(object) = before.strip_suffix("?.").or_else(|| before.strip_suffix('.')) else {
            // `{ open: 1 }` and `function open` name something of the script's own.
            return !before.ends_with("function");
        };
        ["window", "self", "globalThis"].iter().any(|name| {
            let rest = object.trim_ascii_end().strip_suffix(name);
            rest.is_some_and(|rest| !rest.bytes().next_back().is_some_and(is_name))
        })
    }

    /// What stands behind a place, without spaces.
    pub(super) fn behind(self, at: usize) -> &'a str {
        self.front(at).trim_ascii_start()
    }

    /// Whether something stands not far in front of a place.
    pub(super) fn near(self, at: usize, what: &str) -> bool {
        let from = self.0.floor_char_boundary(at.saturating_sub(NEAR));
        self.0[from..at].contains(what)
    }

    /// The text that stands between quotes right behind a place.
    pub(super) fn quoted(self, at: usize) -> Option<&'a str> {
        let behind = self.behind(at);
        let quote = behind.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
        let text = &behind[1..];
        let end = text.find(quote)?;
        Some(&text[..end]).filter(|text| !text.contains("${") && !text.contains('\\'))
    }

    /// A limited look ahead.
    fn front(self, at: usize) -> &'a str {
        let rest = &self.0[at..];
        &rest[..rest.floor_char_boundary(NEAR)]
    }

    /// The names of tools in `callServerTool({ name: "…" })` and its like.
    pub(super) fn tools(self) -> Vec<(usize, &'a str)> {
        let mut found = vec![];
        for name in ["callServerTool", "callTool", "useCallTool"] {
            for at in self.words(name) {
                let Some(argument) = self.behind(at + name.len()).strip_prefix('(') else {
                    continue;
                };
                let from = self.0.len() - self.rest(argument).len();
                let tool = match argument.trim_ascii_start().strip_prefix('{') {
                    Some(object) => Script(self.rest(object)).member("name"),
                    None => self.quoted(from),
                };
                found.extend(tool.map(|tool| (at, tool)));
            }
        }
        found
    }

    /// The whole rest of the script from where a part of it begins.
    fn rest(self, part: &'a str) -> &'a str {
        let offset = part.as_ptr() as usize - self.0.as_ptr() as usize;
        &self.0[offset..]
    }

    /// The text of a member of the object that begins here: its first level only.
    fn member(self, key: &str) -> Option<&'a str> {
        let object = self.front(0);
        let end = object.find(['{', '}']).unwrap_or(object.len());
        let at = Script(&object[..end]).words_of(key)?;
        let behind = object[at + key.len()..].trim_ascii_start().trim_start_matches(['"', '\'']);
        let value = behind.trim_ascii_start().strip_prefix(':')?;
        Script(self.rest(value)).quoted(0)
    }

    fn words_of(self, key: &str) -> Option<usize> {
        let bytes = self.0.as_bytes();
        self.0.match_indices(key).map(|(at, _)| at).find(|at| {
            let before = at.checked_sub(1).map(|at| bytes[at]);
            let after = bytes.get(at + key.len()).copied();
            !before.is_some_and(is_name) && !after.is_some_and(is_name)
        })
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// How far a look goes.
const NEAR: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_that_a_script_calls_are_read_where_they_are_named() {
        #[rustfmt::skip]
        let table: [(&str, &[&str]); 11] = [
            ("app.callServerTool({ name: \"refresh\", arguments: { city } })", &["refresh"]),
            ("app.callServerTool({name:'a',arguments:{name:'b'}})",            &["a"]),
            ("app.callServerTool({ arguments: { name: 'b' }, name: 'a' })",    &[]),
            ("app.callServerTool({ \"name\": `a` })",                          &["a"]),
            ("app.callServerTool(\"show\", {})",                               &["show"]),
            ("const x = useCallTool('tick')",                                  &["tick"]),
            ("app.callServerTool({ name: tool })",                             &[]),
            ("app.callServerTool(tool)",                                       &[]),
            ("app.callServerTool({ name: `a${b}` })",                          &[]),
            ("callServerTool",                                                 &[]),
            ("class A { async callServerTool(params, options) { return 1 } }", &[]),
        ];
        for (text, expected) in table {
            let found: Vec<&str> = Script(text).tools().into_iter().map(|(_, name)| name).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_word_is_whole_and_knows_whose_it_is() {
        let script = Script("reopen(); x.open(); window . open(1); open(2); é.open('é')");
        let found: Vec<bool> = script.words("open").map(|at| script.is_global(at)).collect();
        assert_eq!(found, [false, true, true, false]);
    }
}
