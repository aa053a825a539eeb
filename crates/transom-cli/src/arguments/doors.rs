//! Where the host listens, and who may reach it.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use clap::Args;
use transom::origin::Origin;
use url::Url;

/// Where the host listens, and who may reach it.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct DoorArguments {
    /// The address that the page listens at, in place of both loopback addresses: 127.0.0.1, 0.0.0.0:7420, [::]:7420.
    ///
    /// The frames listen at its next port. A port that is busy is not changed: something in front leads to it.
    #[arg(long, value_name = "ADDRESS", value_parser = listen, conflicts_with = "port")]
    #[arg(help_heading = "Other machines")]
    pub(crate) listen: Option<SocketAddr>,
    /// The origin under which browsers know the page, where a proxy in front of it has another one: https://transom.example.com.
    ///
    /// What names another host, or comes from another origin, is refused. A proxy must pass the Host header on as it came.
    #[arg(long, value_name = "ORIGIN", value_parser = public_origin, help_heading = "Other machines")]
    pub(crate) public_origin: Option<Origin>,
    /// Says that other machines may connect, where --listen or --operate name an address that they reach.
    #[arg(long, help_heading = "Other machines")]
    pub(crate) beyond_this_machine: bool,
    /// A file with a token that opens the page as often as it is used: one word of at least 32 letters and digits.
    #[arg(long, value_name = "FILE", help_heading = "Other machines")]
    pub(crate) token_file: Option<PathBuf>,
    /// An address for operators: /healthz, /readyz and /metrics, for programs and not for pages.
    #[arg(long, value_name = "ADDRESS", value_parser = operate, help_heading = "Operation")]
    pub(crate) operate: Option<SocketAddr>,
    /// A file with a token that /metrics wants to be shown, as in `Authorization: Bearer TOKEN`.
    #[arg(long, value_name = "FILE", help_heading = "Operation")]
    pub(crate) operate_token_file: Option<PathBuf>,
    /// For how many seconds calls that are under way may take when the host is told to end by SIGTERM; 20, unless said.
    #[arg(long, value_name = "SECONDS", help_heading = "Operation")]
    pub(crate) drain: Option<u64>,
    /// Tells servers in each call which trace it belongs to: W3C traceparent, in `_meta` and in a header over HTTP.
    #[arg(long, help_heading = "Operation")]
    pub(crate) trace_calls: bool,
}

/// Reads where the page listens.
pub(crate) fn listen(text: &str) -> Result<SocketAddr, String> {
    let address = text.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, PORT));
    let address = text.parse().or(address).map_err(|_| {
        "expected an address of this machine, as 127.0.0.1, 0.0.0.0:7420 or [::]:7420; a name belongs to --public-origin".to_owned()
    })?;
    match SocketAddr::port(&address) {
        u16::MAX => {
            Err("the frames listen at the next port, and there is none after 65535".to_owned())
        }
        _ => Ok(address),
    }
}

/// Reads where operators ask.
pub(crate) fn operate(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected an address with a port, as 127.0.0.1:9464".to_owned())
}

/// Reads the origin of the page, and says what to write in place of something that is none.
pub(crate) fn public_origin(text: &str) -> Result<Origin, String> {
    let expected = "expected an origin as in https://transom.example.com";
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let Some(url) = url.filter(|url| url.username().is_empty() && url.password().is_none()) else {
        return Err(expected.to_owned());
    };
    let origin = url.origin().ascii_serialization();
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err(format!(
            "the page needs an origin of its own, and a path is none; write {origin} and lead all of its paths to the page"
        ));
    }
    if origin.contains('[') {
        return Err("browsers ignore an IPv6 address in a policy; write a name".to_owned());
    }
    if url.scheme() == "http" && !is_loopback(url.host_str().unwrap_or_default()) {
        let safe = origin.replacen("http://", "https://", 1);
        return Err(format!(
            "over plain http others on the way could read the key and change the page; write {safe}, with a proxy in front that ends TLS"
        ));
    }
    Origin::parse(text).map_err(|_| format!("browsers write it as {origin}; write that"))
}

/// Whether a host is this machine, however it is asked.
pub(crate) fn is_loopback(host: &str) -> bool {
    let ip = host.parse::<IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || ip.is_ok_and(|ip| ip.is_loopback())
}

/// The page's port, unless another is said.
pub(crate) const PORT: u16 = 7420;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_read_or_it_is_said_what_to_write() {
        #[rustfmt::skip]
        let table = [
            ("https://transom.example.com",        Ok("https://transom.example.com")),
            ("https://transom.example.com:8443",   Ok("https://transom.example.com:8443")),
            ("http://localhost:8080",              Ok("http://localhost:8080")),
            ("http://desk.localhost",              Ok("http://desk.localhost")),
            ("http://127.0.0.1:8080",              Ok("http://127.0.0.1:8080")),
            ("https://example.com/transom",        Err("write https://example.com and lead all")),
            ("https://example.com?x",              Err("write https://example.com and lead all")),
            ("https://example.com/",               Err("browsers write it as https://example.com;")),
            ("https://Example.com",                Err("browsers write it as https://example.com;")),
            ("https://example.com:443",            Err("browsers write it as https://example.com;")),
            ("http://transom.example.com",         Err("write https://transom.example.com, with a proxy")),
            ("http://192.168.0.7:7420",            Err("write https://192.168.0.7:7420, with a proxy")),
            ("http://localhost.example.com",       Err("write https://localhost.example.com, with a proxy")),
            ("https://[::1]:7420",                 Err("browsers ignore an IPv6 address")),
            ("https://me:hush@example.com",        Err("expected an origin")),
            ("transom.example.com",                Err("expected an origin")),
            ("ftp://example.com",                  Err("expected an origin")),
            ("",                                   Err("expected an origin")),
        ];
        for (text, expected) in table {
            match (public_origin(text), expected) {
                (Ok(origin), Ok(expected)) => assert_eq!(origin.to_string(), expected),
                (Err(words), Err(expected)) => {
                    assert!(words.contains(expected) && !words.contains("hush"), "{text}: {words}");
                }
                (read, _) => panic!("{text}: {read:?}"),
            }
        }
    }

    #[test]
    fn where_to_listen_is_an_address_and_no_name() {
        #[rustfmt::skip]
        let table = [
            ("127.0.0.1",      Some("127.0.0.1:7420")),
            ("0.0.0.0:80",     Some("0.0.0.0:80")),
            ("::",             Some("[::]:7420")),
            ("[::1]:9000",     Some("[::1]:9000")),
            ("localhost:7420", None),
            ("7420",           None),
            ("0.0.0.0:65535",  None),
            ("",               None),
        ];
        for (text, expected) in table {
            let read = listen(text).ok().map(|address| address.to_string());
            assert_eq!(read.as_deref(), expected, "{text}");
        }
    }
}
