//! The rules: what each one wants, why, and how a server's author mends it.
//!
//! Ids are for ever: people write them into `--ignore` and into their CI. `docs/reference/check.md`
//! is written from this file by `scripts/requirement-ids --write`.

use crate::arguments::Level;

/// One rule.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: &'static str,
    /// The level of most of its findings; some are milder.
    pub(super) level: Level,
    /// What it wants.
    pub(super) title: &'static str,
    /// Why it wants that.
    pub(super) why: &'static str,
    /// What to do.
    pub(super) fix: &'static str,
}

/// The rule with an id, in upper or lower case.
pub(super) fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id.eq_ignore_ascii_case(id))
}

macro_rules! rules {
    ($($name:ident $id:literal $level:ident $title:literal $why:literal $fix:literal)*) => {
        $(pub(super) static $name: Rule = Rule {
            id: $id,
            level: Level::$level,
            title: $title,
            why: $why,
            fix: $fix,
        };)*
        /// All rules, in the order in which they are told about.
        pub(super) static RULES: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    SERVER_01 "server-01" Note "the extension is advertised when there are views, and only then"
        "the official helpers leave it to the author, and most hosts show views all the same; those that go by the server's capabilities show text only"
        "put \"io.modelcontextprotocol/ui\" under capabilities.extensions when the server has views"
    SERVER_02 "server-02" Error "a server with views has the resources capability, and a list that can be read"
        "a host that sees no resources capability never asks for the document"
        "declare capabilities.resources, and let resources/list end"
    SERVER_03 "server-03" Error "every view that a tool links to can be read"
        "the host asks for this address when the tool is called; without a document the frame stays blank"
        "answer resources/read for it, on every endpoint that lists the tool"
    SERVER_04 "server-04" Error "views have ui:// addresses"
        "hosts take any other address for no view at all"
        "let _meta.ui.resourceUri begin with ui://"
    SERVER_05 "server-05" Error "the MIME type is exactly text/html;profile=mcp-app, in resources/list and in resources/read"
        "the reference host compares it letter by letter: no space, no charset, no capitals"
        "write \"mimeType\": \"text/html;profile=mcp-app\" in both places"
    SERVER_06 "server-06" Error "resources/read gives one item for a view, with either text or a blob"
        "the reference host takes exactly one item; two payloads are two answers"
        "return one item whose \"uri\" is the address that was asked for, with the HTML in \"text\""
    SERVER_07 "server-07" Error "a tool links to its view under _meta.ui.resourceUri"
        "the flat key \"ui/resourceUri\" is deprecated, and some hosts know only one of the two"
        "write _meta.ui.resourceUri, and the same address under _meta[\"ui/resourceUri\"]"
    SERVER_08 "server-08" Error "visibility is a list of \"model\" and \"app\" that is not empty"
        "hosts read an empty or unknown visibility each in their own way; a tool may vanish or be open to all"
        "write [\"model\"], [\"app\"] or both; leave it out for both"
    SERVER_09 "server-09" Warning "_meta.ui says the same in resources/list and in resources/read"
        "some hosts read one place, some the other; what stands in one only is lost in half of them"
        "write both from one value"
    SERVER_10 "server-10" Error "policy and permissions stand on the resource, not on the tool"
        "hosts ignore csp and permissions on a tool, and strict ones refuse the tool"
        "move them to _meta.ui of the resource"
    SERVER_11 "server-11" Error "declared domains are origins: https:// or wss://, no path, no blob: or data:"
        "an entry that is no origin is left out of the policy, and what it was for is blocked"
        "write origins such as https://api.example.com; http:// is for localhost alone"
    SERVER_12 "server-12" Warning "no domain is asked for, or one that the host is known to give"
        "a host that expects another value does not render the view at all; leaving it out always works"
        "leave _meta.ui.domain out unless you need a stable origin and know the host's own format"
    SERVER_13 "server-13" Error "a list that differs by client is marked private"
        "a shared cache would give one client the list that was made for another"
        "set cacheScope to \"private\" on lists that depend on the client's capabilities"
    SERVER_14 "server-14" Error "a result has text that means something without the view"
        "the model reads the text, and so do people whose client shows no views"
        "say in the text what the view shows: the figures, the names, what was done"
    SERVER_15 "server-15" Error "structuredContent fits the tool's outputSchema"
        "clients check it, and refuse the whole result when it does not fit"
        "mend the schema or the result"
    SERVER_16 "server-16" Warning "a view's result carries neither a resource_link nor the view's own HTML"
        "some hosts show the embedded thing in place of the view, or nothing at all"
        "leave them out; the link on the tool is enough"
    SERVER_17 "server-17" Warning "a view is read in less than 2 s and has less than 512 KiB"
        "hosts give up on documents that are slow (10 s) or large (1 MiB), and people on slow ones earlier"
        "inline less, minify, and serve the document from memory"
    SERVER_18 "server-18" Error "all endpoints, transports and eras of MCP give the same answers"
        "a view that one host gets another one does not, and its author cannot tell why"
        "serve them all from one registry"
    SERVER_19 "server-19" Warning "tools for views alone are listed to hosts and hidden from clients that show no views"
        "hosts call from the list; a model that is offered buttons of a view presses them"
        "leave tools with visibility [\"app\"] out of the list when the client does not advertise the extension"
    SERVER_20 "server-20" Error "the server works for a client without the extension"
        "most clients show no views; to them a tool is its text"
        "let the same tools answer with text when the extension is off"
    SERVER_21 "server-21" Warning "tools have names that every host takes, and annotations"
        "names beyond 64 letters, digits, _, - and . are refused or rewritten; without annotations a host must ask the person about every call"
        "rename the tool; set readOnlyHint, or destructiveHint, on each one that the model may call"
    SERVER_22 "server-22" Warning "addresses with an older hash still answer"
        "hosts keep lists of tools for days; a view that moved with its last build is gone for them"
        "answer any hash with the newest document"
    SERVER_23 "server-23" Error "a tool that fetches for the view refuses what was not meant: absolute addresses and unlisted paths"
        "whoever gets to call it reaches your network through your server"
        "take paths only, compare them with a list, and check every redirect"
    SERVER_24 "server-24" Error "in the stateless era, capabilities are read from each request"
        "one process serves many clients there; what one of them said is not true of the next"
        "read the capabilities of the request at hand, and keep none"
    SERVER_25 "server-25" Warning "the HTTP requests that a tool makes for views are declared, and no wider than views need"
        "hosts ask people by what is declared: what is said to read is sent without a question, and what is not declared is asked about as a whole"
        "declare _meta[\"transom/http\"].routes with one entry for each path, say that it reads only where it does, and keep the tool from the model"
    SERVER_26 "server-26" Warning "standard output carries messages and nothing else"
        "clients read it line by line; strict ones end the connection at the first line that is no message"
        "print logs and banners to standard error"
    DOCUMENT_01 "document-01" Warning "the document has a doctype, a charset and a viewport"
        "without them browsers fall back to layouts, letters and widths of twenty years ago"
        "begin with <!doctype html>, <meta charset=\"utf-8\"> and <meta name=\"viewport\" content=\"width=device-width\">"
    DOCUMENT_02 "document-02" Error "everything remote that the document names is declared"
        "the host's policy blocks the rest, silently"
        "add the origin to _meta.ui.csp of the resource, or inline what comes from it"
    DOCUMENT_03 "document-03" Warning "no code is made out of text"
        "policies of hosts forbid eval, new Function and the like, and some forbid inline handlers"
        "use code that needs no evaluation, and addEventListener"
    DOCUMENT_04 "document-04" Warning "storage is used only where it may fail"
        "frames of some hosts have no storage: touching it throws, and the view dies at its start"
        "wrap it in try, and do without when it fails"
    DOCUMENT_05 "document-05" Warning "the view does not open windows or leave its frame"
        "the sandbox blocks it"
        "ask the host with ui/open-link"
    DOCUMENT_06 "document-06" Warning "heights do not hang on the viewport while the view reports its size"
        "the host makes the frame as tall as the content, and the content as tall as the frame: it grows for ever"
        "let the content have its own height, or turn the size reports off"
    DOCUMENT_07 "document-07" Error "the tools that the view calls are there"
        "the call fails with \"unknown tool\" when a person presses the button"
        "list the tool to hosts, or mend the name"
    DOCUMENT_08 "document-08" Warning "what only one host has is asked for before it is used"
        "everywhere else it is undefined, and the script ends there"
        "guard it: if (window.openai) …, or window.openai?.…"
    DOCUMENT_09 "document-09" Note "the document does not set a color-scheme of its own"
        "a frame whose scheme differs from its page's gets an opaque backdrop: a white box on a dark page"
        "follow the host's theme; let the view library set it"
    DOCUMENT_10 "document-10" Error "no relative addresses for scripts, styles, images and fonts"
        "the document has no folder: it comes over MCP, so nothing stands beside it"
        "inline them, or name them in full and declare their origin"
    DOCUMENT_11 "document-11" Warning "permissions that the script needs are declared"
        "without the declaration the host cannot grant them, and the call fails"
        "declare them under _meta.ui.permissions of the resource"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_catalogue_is_whole() {
        let ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
        let server = (1..=26).map(|number| format!("server-{number:02}"));
        let view = (1..=11).map(|number| format!("document-{number:02}"));
        assert_eq!(ids, server.chain(view).collect::<Vec<_>>());
        let titles: BTreeSet<&str> = RULES.iter().map(|rule| rule.title).collect();
        assert_eq!(titles.len(), RULES.len());
        assert!(RULES.iter().all(|rule| !rule.why.is_empty() && !rule.fix.is_empty()));
    }
}
