//! Where a server is. What people decide about a server, and what is kept for it, belongs to its place: a name can be
//! had by any server.

use std::{
    ffi::OsStr,
    fmt,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use transom::policy::Reach;
use url::{Host, Url};

use crate::{
    digest::digest,
    upstream::{Command, Endpoint, Secret, Target},
};

/// Where a server is: its program with its arguments and its working folder, or its address.
///
/// A program is the file that is found for it, so that `node server.js` in two folders, and two programs of one name on
/// two paths, are two places. What the operator gives it beside (variables, headers) belongs to it too, but not the values
/// of those that are named like secrets: they change, and the server stays what it is.
///
/// An address on this machine is whoever listens there at the moment, and a private one over plain HTTP is whoever has it
/// in the network that this machine is in at the moment. Each is a place for as long as this process runs, and another one
/// in the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    id: PlaceId,
    words: String,
    is_kept: bool,
}

/// What stands for a place in a file: a hash, since a place may hold secrets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlaceId(String);

impl Place {
    /// Where a server is.
    pub fn of(target: &Target) -> Self {
        match target {
            Target::Stdio(command) => Self::of_command(command),
            Target::Http(endpoint) => Self::of_endpoint(endpoint),
            // The program is this one.
            Target::InProcess(server) => {
                let program = std::env::current_exe().unwrap_or_default();
                let parts =
                    ["in process".as_bytes(), bytes(program.as_os_str()), server.name().as_bytes()];
                Self { id: PlaceId::of(parts), words: "built in".to_owned(), is_kept: true }
            }
        }
    }

    fn of_command(command: &Command) -> Self {
        let Command { program, args, env, cwd, .. } = command;
        let ours = std::env::current_dir().unwrap_or_default();
        let folder = ours.join(cwd.as_deref().unwrap_or_else(|| Path::new("")));
        let folder = folder.canonicalize().unwrap_or(folder);
        let found = find(program, &folder, env).unwrap_or_else(|| PathBuf::from(program));
        // Both: a link may come to lead elsewhere, and behind one program that does many things stand many links.
        let file = found.canonicalize().unwrap_or_else(|_| found.clone());
        let count = args.len().to_string();
        let mut parts = vec![b"stdio".to_vec()];
        parts.extend([&found, &file, &folder].map(|path| bytes(path.as_os_str()).to_vec()));
        parts.push(count.into_bytes());
        parts.extend(args.iter().map(|arg| arg.clone().into_bytes()));
        parts.extend(given(env));
        let words = [vec![program.clone()], masked(args)].concat().join(" ");
        let words = format!("{words}, in {}", folder.display());
        Self { id: PlaceId::of(parts), words, is_kept: true }
    }

    fn of_endpoint(endpoint: &Endpoint) -> Self {
        let mut url = endpoint.url.clone();
        url.set_fragment(None);
        let mut parts = vec![b"http".to_vec(), url.as_str().as_bytes().to_vec()];
        parts.extend(given(&endpoint.headers));
        let is_kept = is_lasting(&url);
        if !is_kept {
            parts.push(this_run().to_vec());
        }
        Self { id: PlaceId::of(parts), words: endpoint.plain_url(), is_kept }
    }

    /// What stands for it.
    pub fn id(&self) -> &PlaceId {
        &self.id
    }

    /// Where it is, in words for the operator. What looks like a secret is left out.
    pub fn words(&self) -> &str {
        &self.words
    }

    /// Whether it is the same place after this process: if not, nothing is kept for it.
    pub fn is_kept(&self) -> bool {
        self.is_kept
    }
}

impl PlaceId {
    fn of<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>) -> Self {
        Self(HEXLOWER.encode(&digest(PURPOSE, parts)))
    }

    /// Its digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PlaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether an address leads to the same server tomorrow, as far as it tells.
fn is_lasting(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    match (Reach::of(host), url.host()) {
        (Reach::Public, _) => true,
        (Reach::Machine, _) => false,
        // A machine's own name has no dot, and leads to the machine itself.
        (Reach::Network, Some(Host::Domain(name))) if !name.trim_end_matches('.').contains('.') => {
            false
        }
        // The next network has its own 192.168.1.2; only a certificate tells the two apart.
        (Reach::Network, _) => url.scheme() == "https",
    }
}

/// Arguments without what looks like a secret: the value of an option that is named like one, and what an address holds
/// beside its path.
pub fn masked(args: &[String]) -> Vec<String> {
    let secret = |option: &str| option.starts_with('-') && is_secret(option);
    let mut hide_next = false;
    let mask = |arg: &String| {
        let hide = std::mem::take(&mut hide_next) && !arg.starts_with('-');
        match arg.split_once('=') {
            _ if hide => HIDDEN.to_owned(),
            Some((option, _)) if secret(option) => format!("{option}={HIDDEN}"),
            _ => {
                hide_next = secret(arg);
                address(arg)
            }
        }
    };
    args.iter().map(mask).collect()
}

/// An argument that is an address, without the places where secrets hide.
fn address(arg: &str) -> String {
    match Url::parse(arg) {
        Ok(url) if url.has_host() => Endpoint::new(url).plain_url(),
        _ => arg.to_owned(),
    }
}

/// Whether a name is one that people give to secrets.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// What the operator gives a server, as parts of a hash: in order of the names, each with how many there are.
fn given(all: &[(String, Secret)]) -> Vec<Vec<u8>> {
    let mut all: Vec<_> = all.iter().collect();
    all.sort_by_key(|(name, _)| name);
    let mut parts = vec![all.len().to_string().into_bytes()];
    for (name, value) in all {
        let value = if is_secret(name) { None } else { value.reveal().ok() };
        parts.push(name.clone().into_bytes());
        parts.push(vec![u8::from(value.is_some())]);
        parts.push(value.unwrap_or_default().into_bytes());
    }
    parts
}

/// The file that is started for a program: one with a path from its working folder on, any other from `PATH`.
fn find(program: &str, folder: &Path, env: &[(String, Secret)]) -> Option<PathBuf> {
    if program.contains(std::path::is_separator) {
        return Some(folder.join(program));
    }
    let own = env.iter().find(|(name, _)| name == "PATH").and_then(|(_, path)| path.reveal().ok());
    let path = own.map(Into::into).or_else(|| std::env::var_os("PATH"))?;
    let files = std::env::split_paths(&path).map(|part| folder.join(part).join(program));
    let endings = std::env::consts::EXE_SUFFIX;
    let mut files = files.flat_map(|file| {
        let mut named = file.clone().into_os_string();
        named.push(endings);
        [file, named.into()]
    });
    files.find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

#[cfg(unix)]
fn bytes(text: &OsStr) -> &[u8] {
    std::os::unix::ffi::OsStrExt::as_bytes(text)
}

#[cfg(not(unix))]
fn bytes(text: &OsStr) -> &[u8] {
    text.as_encoded_bytes()
}

/// What no other process knows.
fn this_run() -> &'static [u8; 32] {
    static RUN: OnceLock<[u8; 32]> = OnceLock::new();
    RUN.get_or_init(|| {
        let mut run = [0; 32];
        // Where there is no randomness, no host can be made: it has keys to make.
        getrandom::fill(&mut run).expect("a system that hosts run on has randomness");
        run
    })
}

const PURPOSE: &str = "transom: place of a server, 2";
const HIDDEN: &str = "(hidden)";
const SECRET_WORDS: [&str; 8] =
    ["key", "token", "secret", "password", "passwd", "auth", "cookie", "credential"];

#[cfg(test)]
mod tests {
    use super::*;

    fn id(program: &str, args: &[&str], cwd: Option<&Path>, env: &[(&str, &str)]) -> PlaceId {
        let env = env.iter().map(|&(name, value)| (name.to_owned(), value.into())).collect();
        let cwd = cwd.map(Path::to_owned);
        let command = Command { env, cwd, ..Command::new(program, args.iter().copied()) };
        Place::of(&Target::Stdio(command)).id
    }

    #[cfg(unix)]
    fn program(folder: &Path, name: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::create_dir_all(folder).unwrap();
        let file = folder.join(name);
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700)).unwrap();
        file
    }

    #[test]
    fn the_same_words_in_two_folders_are_two_places() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (one, other) = (Some(one.path()), Some(other.path()));
        for words in [&["./server"][..], &["cargo", "run", "-q"], &["node", "server.js"]] {
            let place = |folder| id(words[0], &words[1..], folder, &[]);
            assert_eq!(place(one), place(one), "{words:?}");
            assert_ne!(place(one), place(other), "{words:?}");
            assert_ne!(place(one), place(None), "{words:?}");
        }
    }

    #[test]
    fn no_two_commands_are_one_place() {
        let all = [
            id("x", &["a"], None, &[]),
            id("x", &["b"], None, &[]),
            id("x", &["a", "b"], None, &[]),
            id("x", &["a b"], None, &[]),
            id("x", &["a\nb"], None, &[]),
            id("x a", &[], None, &[]),
            id("x", &["a"], None, &[("DATABASE", "test")]),
            id("x", &["a"], None, &[("DATABASE", "live")]),
            id("x", &["a", "DATABASE", "live"], None, &[]),
        ];
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        // A secret is not where something is, and may change.
        let with = |token| id("x", &["a"], None, &[("API_TOKEN", token)]);
        assert_eq!(with("one"), with("two"));
        assert_ne!(with("one"), all[0]);
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_the_file_that_is_found_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        let (one, other) = (program(&a, "server"), program(&b, "server"));
        let on = |path: &Path| id("server", &[], None, &[("PATH", path.to_str().unwrap())]);
        assert_ne!(on(&a), on(&b));
        // A link that comes to lead elsewhere is another place, and so is another link to the same.
        let (link, twin) = (folder.path().join("link"), folder.path().join("twin"));
        let at = |path: &Path| id(path.to_str().unwrap(), &[], None, &[]);
        std::os::unix::fs::symlink(&one, &link).unwrap();
        std::os::unix::fs::symlink(&one, &twin).unwrap();
        let before = at(&link);
        assert_ne!(before, at(&twin));
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&other, &link).unwrap();
        assert_ne!(before, at(&link));
    }

    #[test]
    fn an_address_of_this_machine_is_a_place_only_for_this_run() {
        #[rustfmt::skip]
        let table = [
            ("http://localhost:3001/mcp",          false),
            ("http://localhost.:3001/mcp",         false),
            ("http://LOCALHOST/mcp",               false),
            ("http://a.localhost/mcp",             false),
            ("http://127.0.0.1/mcp",               false),
            ("http://127.9.9.9/mcp",               false),
            ("http://2130706433/mcp",              false),
            ("http://0.0.0.0/mcp",                 false),
            ("http://[::1]:3001/mcp",              false),
            ("http://[::ffff:127.0.0.1]/mcp",      false),
            ("https://localhost/mcp",              false),
            ("http://localhost.localdomain/mcp",   false),
            ("http://0.1.2.3/mcp",                 false),
            ("http://[::127.0.0.1]/mcp",           false),
            ("http://[64:ff9b::7f00:1]/mcp",       false),
            ("http://[2002:7f00:1::]/mcp",         false),
            ("http://laptop:3001/mcp",             false),
            ("https://laptop./mcp",                false),
            ("http://192.168.1.2/mcp",             false),
            ("http://printer.local/mcp",           false),
            ("http://[fe80::1]/mcp",               false),
            ("https://192.168.1.2/mcp",            true),
            ("https://mcp.corp.internal/mcp",      true),
            ("https://[fd00::1]/mcp",              true),
            ("https://localhost.example.com/mcp",  true),
            ("https://example.com/mcp",            true),
            ("http://example.com/mcp",             true),
        ];
        for (url, kept) in table {
            let place = Place::of(&Target::Http(Endpoint::new(url.parse().unwrap())));
            assert_eq!(place.is_kept(), kept, "{url}");
        }
    }

    #[test]
    fn an_address_is_a_place_with_its_query_and_is_shown_without_it() {
        let place = |url: &str| Place::of(&Target::Http(Endpoint::new(url.parse().unwrap())));
        let one = place("https://me:hush@a.test/mcp?tenant=hush#x");
        assert_eq!(one, place("https://me:hush@a.test/mcp?tenant=hush#y"));
        assert_ne!(one.id(), place("https://me:hush@a.test/mcp?tenant=other").id());
        assert_eq!(one.words(), "https://a.test/mcp");
        assert!(!format!("{one:?}").contains("hush"));
    }

    #[test]
    fn arguments_that_look_like_secrets_are_hidden() {
        #[rustfmt::skip]
        let table: [(&[&str], &[&str]); 5] = [
            (&["--stdio", "x"],            &["--stdio", "x"]),
            (&["--api-key=hush", "x"],     &["--api-key=(hidden)", "x"]),
            (&["--token", "hush", "x"],    &["--token", "(hidden)", "x"]),
            (&["--no-auth", "--port", "1"], &["--no-auth", "--port", "1"]),
            (&["db://me:hush@a.test/b?k=hush"], &["db://a.test/b"]),
        ];
        for (args, shown) in table {
            let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
            assert_eq!(masked(&args), shown);
        }
    }
}
