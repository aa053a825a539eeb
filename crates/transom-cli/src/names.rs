//! Names for servers of the command line that have only an address or a command.
//!
//! Such a name is a label and gives nothing: what is granted, agreed to and kept belongs to a place.

use std::{collections::BTreeSet, path::Path};

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
/// its path, version and ending. Where there is none, as in `cargo run`, it is what the folder is the source of.
pub(crate) fn of_command(program: &str, args: &[String], folder: &Path) -> String {
    let words = std::iter::once(program).chain(args.iter().map(String::as_str));
    let mut names = words.filter(|word| !word.starts_with('-')).map(last);
    let found = names.find(|word| !LAUNCHERS.contains(word) && !word.is_empty());
    let found = found.map(str::to_owned).or_else(|| of_folder(folder));
    found.unwrap_or_else(|| last(program).to_owned())
}

/// What a folder is the source of: its package, or else its own name.
fn of_folder(folder: &Path) -> Option<String> {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).ok();
    let manifest = manifest.and_then(|text| text.parse::<toml::Table>().ok());
    let package =
        manifest.and_then(|it| Some(it.get("package")?.get("name")?.as_str()?.to_owned()));
    let name = || Some(folder.file_name()?.to_str()?.to_owned());
    package.or_else(name).filter(|name| !name.is_empty())
}

/// The name, or else the name with the first number that is free.
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

const LAUNCHERS: [&str; 19] = [
    "npx", "npm", "exec", "node", "uvx", "uv", "bunx", "bun", "deno", "tsx", "python", "python3",
    "cargo", "run", "docker", "env", "start", "dev", "serve",
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
            (&["cargo", "run", "-q"],                         "board"),
            (&["npm", "run", "dev"],                          "board"),
        ];
        let folder = tempfile::tempdir().unwrap();
        let board = folder.path().join("board");
        std::fs::create_dir(&board).unwrap();
        for (words, name) in table {
            let args: Vec<String> = words[1..].iter().map(|&word| word.to_owned()).collect();
            assert_eq!(of_command(words[0], &args, &board), name, "{words:?}");
        }
        let run = ["run".to_owned()];
        std::fs::write(board.join("Cargo.toml"), "[package]\nname = \"tiles\"\n").unwrap();
        assert_eq!(of_command("cargo", &run, &board), "tiles");
        // Whatever the folder holds, there is a name.
        std::fs::write(board.join("Cargo.toml"), "[package]\nname = 7\n").unwrap();
        assert_eq!(of_command("cargo", &run, &board), "board");
        assert_eq!(of_command("cargo", &run, Path::new("/")), "cargo");
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
