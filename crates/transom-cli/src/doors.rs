//! What a run listens at, under which origin browsers know it, and who may open it.

use std::{io, net::SocketAddr, path::Path};

use anyhow::{Context as _, Result, anyhow, bail};
use tokio::net::TcpListener;
use transom::origin::Origin;

use crate::{
    config::Config,
    listen::{self, Both},
};

/// The listeners of a run, and what is known of who comes.
pub(crate) struct Doors {
    pub(crate) page: Both,
    pub(crate) sandbox: Both,
    pub(crate) operate: Option<TcpListener>,
    /// Where the page is, as browsers know it; the first is the one that is printed.
    pub(crate) origins: Vec<Origin>,
    /// The operator's own.
    pub(crate) token: Option<String>,
    pub(crate) operate_token: Option<String>,
}

impl Doors {
    /// Listens, and reads what is in files.
    pub(crate) async fn open(config: &Config) -> Result<Self> {
        let said = &config.run.doors;
        let token = said.token_file.value.as_deref().map(|path| secret(path, "--token-file"));
        let operate_token = said.operate_token_file.value.as_deref();
        let operate_token = operate_token.map(|path| secret(path, "--operate-token-file"));
        let (token, operate_token) = (token.transpose()?, operate_token.transpose()?);
        if token.is_some() && token == operate_token {
            bail!(
                "--token-file and --operate-token-file hold the same token, and who reads metrics need not open the page"
            );
        }
        let (page, sandbox) = match said.listen.value {
            None => listen::pair(config.run.port.value).await?,
            Some(at) => (at_one(at, "--listen").await?, at_one(next(at), "--listen").await?),
        };
        let operate = match said.operate.value {
            Some(at) => Some(bind(at, "--operate").await?),
            None => None,
        };
        let origins = match &said.public_origin.value {
            Some(origin) => vec![origin.clone()],
            None => own(page.port)?,
        };
        Ok(Self { page, sandbox, operate, origins, token, operate_token })
    }

    /// The address to open, which a token is part of.
    pub(crate) fn address(&self, token: &str) -> String {
        address(&self.origins, token)
    }
}

/// The page's address, with a token.
pub(crate) fn address(origins: &[Origin], token: &str) -> String {
    let origin = origins.first().map(ToString::to_string).unwrap_or_default();
    format!("{origin}/#token={token}")
}

/// Not `[::1]`: browsers ignore an IPv6 address in a policy, and no frame could be shown there.
fn own(port: u16) -> Result<Vec<Origin>> {
    let names = ["localhost", "127.0.0.1"];
    let origins = names.map(|name| match port {
        80 => Origin::parse(&format!("http://{name}")),
        port => Origin::parse(&format!("http://{name}:{port}")),
    });
    Ok(origins.into_iter().collect::<Result<Vec<_>, _>>()?)
}

fn next(at: SocketAddr) -> SocketAddr {
    SocketAddr::new(at.ip(), at.port().saturating_add(1))
}

async fn at_one(at: SocketAddr, option: &str) -> Result<Both> {
    let listener = bind(at, option).await?;
    Ok(Both { port: at.port(), listeners: vec![listener] })
}

async fn bind(at: SocketAddr, option: &str) -> Result<TcpListener> {
    TcpListener::bind(at).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrNotAvailable => anyhow!(
            "{} is no address of this machine; write one that it has after {option}, or 0.0.0.0 for all of them",
            at.ip()
        ),
        io::ErrorKind::AddrInUse => {
            anyhow!("something listens at {at} already; end it, or write another port after {option}")
        }
        io::ErrorKind::PermissionDenied => anyhow!(
            "this user may not listen at {at}; write a port above 1023 after {option}, and let a proxy have the other"
        ),
        _ => anyhow!("cannot listen at {at} ({error}); write another address after {option}"),
    })
}

/// A token from its file, without the end of the line.
fn secret(path: &Path, option: &str) -> Result<String> {
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| {
        let path = path.display();
        format!("cannot read {path}; make it with `openssl rand -hex 32 > {path}`, or name another after {option}")
    })?;
    let token = text.trim_end();
    let sound = token.len() >= SHORTEST && token.bytes().all(|byte| byte.is_ascii_graphic());
    match sound {
        true => Ok(token.to_owned()),
        // What is in the file is not repeated.
        false => bail!(
            "{} should hold one word of at least {SHORTEST} letters and digits; make it with `openssl rand -hex 32 > {}`",
            path.display(),
            path.display()
        ),
    }
}

/// How long a token is at least.
const SHORTEST: usize = 32;
