//! What servers are called that somebody named by their address or command alone.
//!
//! A name is more than a label: pins and stable origins hang on it, so the same address gets the same one
//! every time.

use std::collections::BTreeSet;

use url::Url;

/// The name of a server at an address.
pub(crate) fn of_address(url: &Url) -> String {
    let host = url.host_str().unwrap_or("server").trim_matches(['[', ']']);
    let host = match host {
        "127.0.0.1" | "::1" => "localhost",
        // What every such address begins with tells nothing.
        host => ["www.", "mcp."].iter().find_map(|word| host.strip_prefix(word)).unwrap_or(host),
    };
    match url.port() {
        Some(port) => format!("{host}-{port}"),
        None => host.to_owned(),
    }
}

/// The name of a server that is started: the first word that is not a launcher or an option, without
/// its path, version and ending.
pub(crate) fn of_command(program: &str, args: &[String]) -> String {
    let words = std::iter::once(program).chain(args.iter().map(String::as_str));
    let mut names = words.filter(|word| !word.starts_with('-')).map(last);
    let found = names.find(|word| !LAUNCHERS.contains(word) && !word.is_empty());
    found.unwrap_or_else(|| last(program)).to_owned()
}

/// The name, or the next one with a number that nobody has yet.
pub(crate) fn unique(name: String, taken: &BTreeSet<&str>) -> String {
    if !taken.contains(&*name) {
        return name;
    }
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut free = numbered.filter(|name| !taken.contains(&**name));
    free.next().expect("there is always another number")
}

/// The last part of a path that says something: of `board/dist/index.js`, the folder.
fn last(word: &str) -> &str {
    let parts = || word.rsplit(['/', '\\']).map(stem).filter(|part| !part.is_empty());
    let telling = parts().find(|part| !part.starts_with('.') && !GENERIC.contains(part));
    telling.or_else(|| parts().next()).unwrap_or(word)
}

/// A name without its version and ending.
fn stem(name: &str) -> &str {
    // `some-server@2.0.3`; a scope's own @ stands first.
    let end = name.rfind('@').filter(|at| *at > 0).unwrap_or(name.len());
    let name = &name[..end];
    ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

const LAUNCHERS: [&str; 16] = [
    "npx", "npm", "exec", "node", "uvx", "uv", "bunx", "bun", "deno", "tsx", "python", "python3",
    "cargo", "run", "docker", "env",
];
const GENERIC: [&str; 9] = ["index", "main", "server", "cli", "dist", "build", "src", "lib", "bin"];
const ENDINGS: [&str; 5] = [".js", ".mjs", ".cjs", ".ts", ".py"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_named_after_what_it_runs() {
        #[rustfmt::skip]
        let table: [(&[&str], &str); 10] = [
            (&["npx", "-y", "@scope/some-server", "--stdio"], "some-server"),
            (&["npx", "-y", "@scope/some-server@2.0.3"],      "some-server"),
            (&["npx", "some-server@latest"],                  "some-server"),
            (&["node", "dist/index.js"],                      "index"),
            (&["node", "../board/dist/index.js"],             "board"),
            (&["node", "./index.mjs"],                        "index"),
            (&["python3", "server.py"],                       "server"),
            (&["./target/debug/board"],                       "board"),
            (&["cargo", "run", "-q"],                         "cargo"),
            (&["npx"],                                        "npx"),
        ];
        for (words, name) in table {
            let args: Vec<String> = words[1..].iter().map(|&word| word.to_owned()).collect();
            assert_eq!(of_command(words[0], &args), name, "{words:?}");
        }
    }

    #[test]
    fn an_address_is_named_after_its_host() {
        #[rustfmt::skip]
        let table = [
            ("http://localhost:3001/mcp",       "localhost-3001"),
            ("http://127.0.0.1:3001/mcp",       "localhost-3001"),
            ("http://[::1]:3001/mcp",           "localhost-3001"),
            ("https://mcp.example.com/mcp",     "example.com"),
            ("https://me:hush@a.test/?k=hush",  "a.test"),
            ("https://a.test:8443/",            "a.test-8443"),
        ];
        for (url, name) in table {
            assert_eq!(of_address(&url.parse().unwrap()), name, "{url}");
        }
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let taken = ["a", "a-2", "b"].into();
        assert_eq!(unique("a".to_owned(), &taken), "a-3");
        assert_eq!(unique("b".to_owned(), &taken), "b-2");
        assert_eq!(unique("c".to_owned(), &taken), "c");
    }
}
