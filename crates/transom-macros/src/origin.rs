//! Addresses and origins as a literal shows them.
//!
//! The rules are `transom`'s, and `build()` of `transom-server` applies them. A macro is compiled before everything else,
//! so it does not wait for that crate and its URL parser: what is wrong at first sight is said at the literal, in the same
//! words, and what only a URL parser sees is left to `build()`. The test compares the two.

/// Says what is wrong with an origin of `csp(…)`, and what to write.
pub(crate) fn check(text: &str) -> Result<(), String> {
    let (scheme, host) = shape(text)
        .map_err(|words| format!("{words}; write an origin, as in \"https://api.example.com\""))?;
    let loopback = host == "localhost" || host.ends_with(".localhost") || host.starts_with("127.");
    match scheme {
        "http" if !loopback => Err("not encrypted: write https://".to_owned()),
        "ws" if !loopback => Err("not encrypted: write wss://".to_owned()),
        _ => Ok(()),
    }
}

/// Whether a view may have this address.
pub(crate) fn is_view_address(text: &str) -> bool {
    text.strip_prefix("ui://").is_some_and(|rest| {
        let strange = |c: char| c.is_control() || c == ' ';
        !rest.is_empty() && text.len() <= 2_048 && !rest.contains(strange)
    })
}

/// The scheme and the host of an origin.
fn shape(text: &str) -> Result<(&str, &str), String> {
    if text.len() > MAX {
        return Err(format!("longer than {MAX} bytes"));
    }
    let (scheme, rest) =
        text.split_once("://").filter(|(name, _)| SCHEMES.contains(name)).ok_or(SCHEME)?;
    let wildcard = rest.starts_with("*.");
    let rest = rest.strip_prefix("*.").unwrap_or(rest);
    rest.chars().try_for_each(character)?;
    // The colons of an IPv6 address are inside its brackets.
    let end = if rest.starts_with('[') { rest.find(']').ok_or(HOST)? } else { 0 };
    let (host, port) = match rest[end..].find(':') {
        Some(colon) => (&rest[..end + colon], Some(&rest[end + colon + 1..])),
        None => (rest, None),
    };
    let label = |label: &str| (1..=63).contains(&label.len());
    if host.len() > 253 || !(host.starts_with('[') || host.split('.').all(label)) {
        return Err(HOST.to_owned());
    }
    let plain =
        |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && !port.starts_with('0');
    if port.is_some_and(|port| !plain(port) || port.parse::<u16>().is_err()) {
        return Err("not a port from 1 to 65535".to_owned());
    }
    if wildcard && !host.contains('.') {
        return Err(WILDCARD.to_owned());
    }
    Ok((scheme, host))
}

fn character(character: char) -> Result<(), String> {
    Err(match character {
        'a'..='z' | '0'..='9' | '-' | '.' | ':' | '[' | ']' => return Ok(()),
        '/' | '?' | '#' => "a path, query or fragment".to_owned(),
        '@' => "a user name or password".to_owned(),
        '*' => WILDCARD.to_owned(),
        other => format!("character {other:?} has no place in an address"),
    })
}

const MAX: usize = 269;
const SCHEMES: [&str; 4] = ["http", "https", "ws", "wss"];
const SCHEME: &str = "expected http://, https:// or, for connections, ws:// or wss://";
const HOST: &str = "not a host as a browser writes it";
const WILDCARD: &str = "a wildcard goes in front of a name with a dot, as in https://*.x.com";

#[cfg(test)]
mod tests {
    use transom::csp::Source;
    use transom::wire::UiUri;

    use super::*;

    /// What is refused here is refused there, in the same words; what is only refused there takes a URL parser.
    #[test]
    fn the_core_refuses_the_same() {
        let long = format!("https://{}.test", "a".repeat(300));
        let label = format!("https://{}.test", "a".repeat(64));
        #[rustfmt::skip]
        let here = [
            "", "*", "a.test", "https:a.test", "HTTPS://a.test", "file:///a", "https://", "https://A.test", "https://a.test ",
            "https://a_b.test", "https://bücher.test", "https://a.test/", "https://a.test?", "https://u@a.test", "https://a.test.",
            "https://a..test", "https://[::1", "https://a.test:", "https://a.test:0", "https://a.test:08", "https://a.test:65536",
            "https://*", "https://*.com", "https://a.*.test", "https://*.*.test", "https://a.test; script-src *", &long, &label,
        ];
        for text in here {
            let theirs = Source::parse(text).expect_err(text).to_string();
            assert_eq!(shape(text), Err(theirs), "{text:?}");
        }
        for text in [
            "https://127.1",
            "https://0x7f000001",
            "https://[0:0::1]",
            "https://[::1]x",
            "https://xn--a.test",
        ] {
            assert_eq!(Source::parse(text).expect_err(text).to_string(), HOST, "{text:?}");
            assert!(shape(text).is_ok(), "{text:?} is left to build()");
        }
        for text in [
            "https://a.test",
            "https://a.test:8443",
            "wss://*.x.com",
            "http://localhost:1",
            "https://[2001:db8::1]",
        ] {
            let source = Source::parse(text).expect(text);
            assert_eq!(shape(text), Ok((source.scheme(), source.host())), "{text:?}");
        }
        let long = format!("ui://{}", "a".repeat(2_048));
        for text in
            ["ui://a", "ui://a/{id}", "ui://", "ui", "UI://a", "ui://a b", "ui://a\n", &long]
        {
            assert_eq!(is_view_address(text), UiUri::parse(text).is_some(), "{text:?}");
        }
    }
}
