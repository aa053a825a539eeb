//! The tools that a script calls by name.

use transom::script::Script;

/// The names of tools in `callServerTool({ name: "…" })` and its like, each with its place.
pub(super) fn tools(script: Script<'_>) -> Vec<(usize, &str)> {
    let mut found = vec![];
    for name in ["callServerTool", "callTool", "useCallTool"] {
        for at in script.words(name) {
            let open = script.skip(at + name.len());
            if !script.ahead(open).starts_with('(') {
                continue;
            }
            let from = script.skip(open + 1);
            let tool = match script.ahead(from).starts_with('{') {
                true => member(script, from + 1, "name"),
                false => script.quoted(from),
            };
            found.extend(tool.map(|tool| (at, tool)));
        }
    }
    found
}

/// The text of a member of the object that begins at a place: its first level only.
fn member<'a>(script: Script<'a>, from: usize, key: &'a str) -> Option<&'a str> {
    let object = script.ahead(from);
    let end = object.find(['{', '}']).unwrap_or(object.len());
    let at = Script::new(&object[..end]).words(key).next()?;
    let behind = script.skip(from + at + key.len());
    let behind = behind + usize::from(script.ahead(behind).starts_with(['"', '\'']));
    let colon = script.skip(behind);
    script.ahead(colon).starts_with(':').then(|| script.quoted(colon + 1))?
}

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
            let script = Script::new(text);
            let found: Vec<&str> = tools(script).into_iter().map(|(_, name)| name).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
