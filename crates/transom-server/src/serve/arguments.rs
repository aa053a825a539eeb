//! The words on a server's command line.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use rmcp::model::ServerConfig;

/// What a command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Help,
    Version,
    Stdio,
    Http { address: SocketAddr, names: Vec<String> },
}

/// Reads the words after the program's name. What is wrong is said with what to write.
pub(super) fn read(words: impl IntoIterator<Item = String>) -> Result<Asked, String> {
    let mut words = words.into_iter().peekable();
    let mut http = None;
    let mut names = Vec::new();
    while let Some(word) = words.next() {
        let (word, joined) = match word.split_once('=') {
            Some((word, value)) if word.starts_with("--") => (word, Some(value.to_owned())),
            _ => (word.as_str(), None),
        };
        let mut value = || joined.clone().or_else(|| words.next_if(|word| !word.starts_with('-')));
        match word {
            "-h" | "--help" => return Ok(Asked::Help),
            "-V" | "--version" => return Ok(Asked::Version),
            "--http" => http = Some(value().map_or(Ok(DEFAULT), |value| address(&value))?),
            "--name" => names.push(name(&value().unwrap_or_default())?),
            other => {
                return Err(format!(
                    "{other:?} is not understood: write --http [ADDR] or --help, or nothing to speak over standard \
                     input and output"
                ));
            }
        }
    }
    match http {
        None if names.is_empty() => Ok(Asked::Stdio),
        None => {
            Err("--name says how clients reach a server over HTTP: write --http too".to_owned())
        }
        Some(address) if address.ip().is_unspecified() && names.is_empty() => Err(format!(
            "{address} is every address of this machine, and the server answers only to names that it knows: write \
             --http {address} --name board.example.com, with the name that clients use"
        )),
        Some(address) => Ok(Asked::Http { address, names }),
    }
}

pub(super) fn help(program: &str, server: &ServerConfig) -> String {
    let program = Path::new(program)
        .file_name()
        .map_or_else(|| "server".into(), |name| name.to_string_lossy());
    let me = &server.server_info;
    let title = me.title.as_ref().unwrap_or(&me.name);
    let http = if cfg!(feature = "serve-http") { "" } else { WITHOUT };
    format!(
        "{title} {version}, an MCP server with views\n\n\
         Usage: {program} [--http [ADDR] [--name NAME]…]\n\n  \
         (nothing)      over standard input and output, as hosts start servers\n  \
         --http [ADDR]  over streamable HTTP at http://ADDR/mcp. ADDR is a port or IP:PORT; without it {DEFAULT}.\n                 \
         Port 0 takes a free one. The address is printed{http}\n  \
         --name NAME    a name by which clients reach it, beside ADDR and localhost; others are refused\n  \
         -h, --help     these words\n  \
         -V, --version  name and version\n\n\
         Environment: TRANSOM_DEV=1 reads files of views from disk; TRANSOM_UI=on or off overrules what clients say\n\
         about showing views.\n",
        version = me.version,
    )
}

/// A port of loopback, or an IP with a port.
fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse() {
        return Ok(SocketAddr::new(DEFAULT.ip(), port));
    }
    let numeric = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    numeric.parse().map_err(|_| {
        format!("{text:?} is no address to listen at: write a port or IP:PORT, as in --http 3001 or --http 127.0.0.1:3001")
    })
}

/// A host name, with or without a port.
fn name(text: &str) -> Result<String, String> {
    let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
    let sound = !host.is_empty()
        && host.len() <= 253
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte))
        && port.is_none_or(|port| port.parse::<u16>().is_ok());
    if !sound {
        return Err(format!(
            "{text:?} is no name of a host: write it as clients do, as in --name board.example.com"
        ));
    }
    Ok(text.to_ascii_lowercase())
}

const DEFAULT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 3001);
const WITHOUT: &str = " (this one was built without it:\n                 add \"serve-http\" to the features of transom-server)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line() {
        let http = |address: &str, names: &[&str]| {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            Ok(Asked::Http { address: address.parse().unwrap(), names })
        };
        #[rustfmt::skip]
        let table = [
            ("",                                       Ok(Asked::Stdio)),
            ("--help",                                 Ok(Asked::Help)),
            ("--http 1 -h",                            Ok(Asked::Help)),
            ("-V",                                     Ok(Asked::Version)),
            ("--http",                                 http("127.0.0.1:3001", &[])),
            ("--http 0",                               http("127.0.0.1:0", &[])),
            ("--http=8080",                            http("127.0.0.1:8080", &[])),
            ("--http localhost:8080",                  http("127.0.0.1:8080", &[])),
            ("--http [::1]:80",                        http("[::1]:80", &[])),
            ("--http 10.0.0.1:80",                     http("10.0.0.1:80", &[])),
            ("--http 0.0.0.0:80 --name Board.example", http("0.0.0.0:80", &["board.example"])),
            ("--http --name a --name b:81",            http("127.0.0.1:3001", &["a", "b:81"])),
            ("--http 0.0.0.0:80",                      Err("--name board.example.com")),
            ("--http [::]:80",                         Err("every address of this machine")),
            ("--http 70000",                           Err("as in --http 3001")),
            ("--http board.example:80",                Err("is no address to listen at")),
            ("--name board",                           Err("write --http too")),
            ("--http --name",                          Err("is no name of a host")),
            ("--http --name a/b",                      Err("is no name of a host")),
            ("--port 80",                              Err("\"--port\" is not understood: write --http [ADDR]")),
            ("80",                                     Err("\"80\" is not understood")),
        ];
        for (line, expected) in table {
            let read = read(line.split_whitespace().map(str::to_owned));
            match (&read, &expected) {
                (Err(said), Err(words)) => assert!(said.contains(words), "{line}: {said}"),
                (Ok(read), Ok(expected)) => assert_eq!(read, expected, "{line}"),
                _ => panic!("{line}: {read:?}"),
            }
        }
    }
}
