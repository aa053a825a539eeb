//! What is in force, with where each value comes from.

use std::{path::PathBuf, time::Duration};

use transom::{
    csp::Grant,
    policy::{Nearby, Policy},
    wire::ResourcePermissions,
};
use transom_host::{
    Agreement, Model,
    place::masked,
    sandbox::Wildcard,
    upstream::{Registration, Target},
};

use super::{
    doors::Doors,
    find::Found,
    keeping::Keeping,
    limits::Caps,
    rules::Rules,
    setting::{Setting, Source},
};
use crate::arguments::SandboxMode;

/// Everything that is in force, with where it comes from.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) file: Option<Found>,
    pub(crate) run: Run,
    pub(crate) rules: Rules,
    pub(crate) caps: Caps,
    /// How many views may be open, of all servers.
    pub(crate) views: Setting<u64>,
    /// For how many seconds the views of a page that is gone wait for another.
    pub(crate) away: Setting<u64>,
    pub(crate) servers: Vec<ConfiguredServer>,
    /// Names that the file speaks of and that no server has, and those that are switched off.
    pub(crate) absent: Vec<String>,
    pub(crate) disabled: Vec<String>,
    /// What the files do that the person named, and so agreed to without a question; no secret is in it.
    pub(crate) named: Vec<String>,
    /// Where servers that are added on the page are kept.
    pub(crate) keeping: Keeping,
    /// Whether the page may start programs without a question.
    pub(crate) allow_commands: bool,
}

/// How the host runs.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) port: Setting<u16>,
    pub(crate) open: Setting<bool>,
    pub(crate) json: Setting<bool>,
    /// Where all messages are written. Never of a file: whoever writes one could name a file that is not theirs.
    pub(crate) record: Option<PathBuf>,
    /// None keeps nothing.
    pub(crate) data: Setting<Option<PathBuf>>,
    pub(crate) prefetch: Setting<bool>,
    pub(crate) frames: Setting<Frames>,
    /// Whether what views do is written down, where anything is kept.
    pub(crate) audit: Setting<bool>,
    pub(crate) audit_sync: Setting<bool>,
    /// For how many days rows of the audit are kept; none is for ever.
    pub(crate) retain: Setting<Option<u32>>,
    /// For how many days decisions count that were made for longer than once.
    pub(crate) remember: Setting<u32>,
    pub(crate) doors: Doors,
    /// The model that conversations are with: only the command line says it.
    pub(crate) model: Option<Model>,
}

/// Where frames get their origins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frames {
    Names,
    Ports,
    Domain(Wildcard),
}

/// One server.
#[derive(Debug)]
pub(crate) struct ConfiguredServer {
    pub(crate) name: String,
    pub(crate) target: Target,
    pub(crate) source: Source,
    pub(crate) rules: Rules,
    pub(crate) caps: Caps,
    pub(crate) grants: Setting<Vec<Grant>>,
    pub(crate) permissions: Setting<ResourcePermissions>,
    /// What of this machine and its networks its views may reach when they declare it.
    pub(crate) private: Setting<Vec<Nearby>>,
    pub(crate) registration: Setting<Registration>,
    /// Whether the person who runs us is its author: only `transom dev` says so.
    pub(crate) own: bool,
}

impl From<SandboxMode> for Frames {
    fn from(mode: SandboxMode) -> Self {
        match mode {
            SandboxMode::Names => Self::Names,
            SandboxMode::Ports => Self::Ports,
        }
    }
}

impl ConfiguredServer {
    /// What is agreed with it.
    pub(crate) fn agreement(&self) -> Agreement {
        Agreement {
            policy: Some(self.policy()),
            limits: Some(self.caps.limits()),
            server_limits: Some(self.caps.server_limits()),
            grants: self.grants.value.clone(),
            permissions: self.permissions.value,
            registration: self.registration.value.clone(),
            own: self.own,
            greeting: self.own.then_some(BUILDING),
            times: self.caps.times().times(),
        }
    }

    /// The rules for its views.
    pub(crate) fn policy(&self) -> Policy {
        let mut policy = self.rules.policy();
        policy.domains.private.clone_from(&self.private.value);
        // An author at work has the backend on the same machine.
        if self.own {
            policy.domains.private.push(Nearby::Loopback);
        }
        policy
    }

    /// Where it is, in words that hold no secret.
    pub(crate) fn place(&self) -> String {
        match &self.target {
            Target::Stdio(command) => {
                let words = [vec![command.program.clone()], masked(&command.args)];
                words.concat().join(" ")
            }
            Target::Http(endpoint) => endpoint.plain_url(),
            Target::InProcess(_) => "built in".to_owned(),
        }
    }
}

/// How long a server may take that is built before it runs.
const BUILDING: Duration = Duration::from_secs(1800);
