//! Where the host listens and who may reach it: the command line, then the file; and what cannot be meant.

use std::{net::SocketAddr, path::PathBuf};

use anyhow::{Result, bail};
use toml::Spanned;
use transom::origin::Origin;

use super::{file, model::Frames, reader::Reader, setting::Setting};
use crate::arguments::{is_loopback, listen, operate, public_origin};

/// Where the host listens, and who may reach it.
#[derive(Debug)]
pub(crate) struct Doors {
    /// None is both loopback addresses.
    pub(crate) listen: Setting<Option<SocketAddr>>,
    pub(crate) public_origin: Setting<Option<Origin>>,
    /// Whether the person said that other machines may connect.
    pub(crate) beyond: Setting<bool>,
    pub(crate) token_file: Setting<Option<PathBuf>>,
    /// Where operators ask; nowhere, unless said.
    pub(crate) operate: Setting<Option<SocketAddr>>,
    pub(crate) operate_token_file: Setting<Option<PathBuf>>,
    /// For how many seconds calls may take that are under way at the end.
    pub(crate) drain: Setting<u64>,
    /// Whether servers are told which trace a call belongs to.
    pub(crate) trace: Setting<bool>,
}

impl Reader<'_> {
    pub(super) fn doors(&self, file: &file::Run) -> Result<Doors> {
        self.found_opens_nothing(file)?;
        let said = &self.arguments.doors;
        let flag = |flag: bool, name| flag.then_some((true, name));
        let path = |said: &Option<PathBuf>, name| said.clone().map(|path| (Some(path), name));
        let filed = |said: &Option<Spanned<PathBuf>>| {
            said.as_ref().map(|path| {
                let resolved = self.around.resolve(self.folder(), path.get_ref());
                self.place(path, Some(resolved))
            })
        };
        // A port of the command line is for this machine, whatever the file says.
        let listen = self.read(&file.listen, listen)?.filter(|_| self.arguments.port.is_none());
        let origin = self.read(&file.public_origin, public_origin)?;
        let operate = self.read(&file.operate, operate)?;
        let public = said.public_origin.clone().map(|origin| (Some(origin), "--public-origin"));
        Ok(Doors {
            listen: Setting::choose(said.listen.map(|it| (Some(it), "--listen")), listen, None),
            public_origin: Setting::choose(public, origin, None),
            beyond: Setting::choose(
                flag(said.beyond_this_machine, "--beyond-this-machine"),
                self.setting(&file.beyond_this_machine),
                false,
            ),
            token_file: Setting::choose(
                path(&said.token_file, "--token-file"),
                filed(&file.token_file),
                None,
            ),
            operate: Setting::choose(said.operate.map(|it| (Some(it), "--operate")), operate, None),
            operate_token_file: Setting::choose(
                path(&said.operate_token_file, "--operate-token-file"),
                filed(&file.operate_token_file),
                None,
            ),
            drain: Setting::choose(
                said.drain.map(|seconds| (seconds, "--drain")),
                self.setting(&file.drain),
                DRAIN,
            ),
            trace: Setting::choose(
                flag(said.trace_calls, "--trace-calls"),
                self.setting(&file.trace_calls),
                false,
            ),
        })
    }

    fn read<T>(
        &self,
        said: &Option<Spanned<String>>,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<Setting<Option<T>>>> {
        let Some(said) = said else { return Ok(None) };
        let value = read(said.get_ref());
        let value = value.map_err(|words| self.text.problem(said.span(), words))?;
        Ok(Some(self.place(said, Some(value))))
    }

    /// A stranger who brings the file could bring the token too, and a page at an address of theirs.
    fn found_opens_nothing(&self, file: &file::Run) -> Result<()> {
        if self.named {
            return Ok(());
        }
        let words = "a file that was only found does not open Transom to others; say it on the command line, or name the \
                     file with --toml";
        self.refuse(&file.listen, words)?;
        self.refuse(&file.public_origin, words)?;
        self.refuse(&file.beyond_this_machine, words)?;
        self.refuse(&file.token_file, words)?;
        self.refuse(&file.operate, words)?;
        self.refuse(&file.operate_token_file, words)
    }
}

impl Doors {
    /// Refuses what would open the host to others without being meant, and what cannot work.
    pub(super) fn check(&self, frames: &Frames) -> Result<()> {
        let listen = self.listen.value.filter(|at| !at.ip().is_loopback());
        let operate = self.operate.value.filter(|at| !at.ip().is_loopback());
        if let Some(at) = listen.or(operate).filter(|_| !self.beyond.value) {
            bail!(
                "{at} is an address that other machines reach; if that is meant, add --beyond-this-machine"
            );
        }
        if let Some(at) = listen {
            let secret = "make one with `openssl rand -hex 32 > FILE` and add --token-file FILE";
            if self.token_file.value.is_none() {
                bail!(
                    "whoever reaches {at} may try to open the page, so it needs a token; {secret}"
                );
            }
            if self.public_origin.value.is_none() {
                bail!(
                    "browsers on other machines need an address for the page at {at}; add --public-origin https://NAME, with a \
                     proxy in front that ends TLS (docs/operating.md)"
                );
            }
        }
        if let Some(at) = operate.filter(|_| self.operate_token_file.value.is_none()) {
            bail!(
                "whoever reaches {at} may ask for the metrics, so they need a token; add --operate-token-file FILE"
            );
        }
        self.check_origin(frames)
    }

    /// Whether browsers can show the frames in a page of that origin.
    fn check_origin(&self, frames: &Frames) -> Result<()> {
        let Some(origin) = &self.public_origin.value else { return Ok(()) };
        match frames {
            Frames::Names | Frames::Ports if !is_loopback(origin.host()) => bail!(
                "frames below localhost lead browsers of other machines to themselves; for a page at {origin} add \
                 --sandbox-domain https://*.DOMAIN, with a domain that you registered for views alone"
            ),
            Frames::Domain(domain)
                if origin.scheme() == "https" && domain.to_string().starts_with("http:") =>
            {
                bail!(
                    "a page at {origin} may show no frames over plain http; write --sandbox-domain https://*.{}",
                    domain.domain()
                )
            }
            _ => Ok(()),
        }
    }
}

/// For how many seconds calls may take that are under way at the end: less than the 30 that most who send SIGTERM wait.
const DRAIN: u64 = 20;
