//! A configuration as `--print-config` shows it: TOML that could be read again, each value with its
//! source, and no secret in it.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Write as _},
};

use serde_json::Value;
use transom::policy::Stance;
use transom_host::{
    place::masked,
    upstream::{Command, Endpoint, Registration, Secret, Target},
};

use super::{
    doors::Doors,
    limits::Caps,
    model::{Config, ConfiguredServer, Frames, Run},
    rules::{Rules, word},
    setting::{Setting, Source},
};

impl Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(found) => writeln!(f, "# read: {} ({})", found.path.display(), found.why)?,
            None => writeln!(f, "# no transom.toml was found")?,
        }
        self.run.fmt(f)?;
        writeln!(f, "\n[policy]")?;
        for (name, stance) in self.rules.kinds() {
            line(f, name, word(stance.value), &stance.source)?;
        }
        for (name, list, source) in self.rules.domains() {
            line(f, name, list, source)?;
        }
        print_stances(f, "policy.routes", self.rules.routes())?;
        print_stances(f, "policy.links", self.rules.links())?;
        writeln!(f, "\n[limits]")?;
        line(f, "views", self.views.value, &self.views.source)?;
        line(f, "away", self.away.value, &self.away.source)?;
        print_caps(f, "limits", &self.caps, None)?;
        for server in &self.servers {
            print_server(f, server, &self.rules, &self.caps)?;
        }
        for (names, why) in [(&self.disabled, "disabled"), (&self.absent, "no such server")] {
            for name in names {
                writeln!(f, "\n# [servers.{}]: {why}", key(name))?;
            }
        }
        Ok(())
    }
}

impl Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n[run]")?;
        match self.doors.listen.value {
            Some(at) => line(f, "listen", at.to_string(), &self.doors.listen.source)?,
            None => line(f, "port", self.port.value, &self.port.source)?,
        }
        line(f, "open", self.open.value, &self.open.source)?;
        line(f, "json", self.json.value, &self.json.source)?;
        if let Some(model) = &self.model {
            writeln!(f, "# model: {} at {}", model.name(), model.place())?;
        }
        let Setting { value, source } = &self.data;
        match value {
            Some(folder) => line(f, "data-dir", folder.display().to_string(), source)?,
            None => line(f, "no-data", true, source)?,
        }
        line(f, "prefetch", self.prefetch.value, &self.prefetch.source)?;
        // Where nothing is kept, there is nothing to say of what is.
        if self.data.value.is_some() {
            self.print_records(f)?;
        }
        let Setting { value, source } = &self.frames;
        match value {
            Frames::Names => line(f, "sandbox", "names", source)?,
            Frames::Ports => line(f, "sandbox", "ports", source)?,
            Frames::Domain(domain) => line(f, "sandbox-domain", domain.to_string(), source)?,
        }
        print_doors(f, &self.doors)
    }
}

fn print_doors(f: &mut fmt::Formatter<'_>, doors: &Doors) -> fmt::Result {
    let Doors {
        public_origin, beyond, token_file, operate, operate_token_file, drain, trace, ..
    } = doors;
    if let Some(origin) = &public_origin.value {
        line(f, "public-origin", origin.to_string(), &public_origin.source)?;
    }
    line(f, "beyond-this-machine", beyond.value, &beyond.source)?;
    if let Some(at) = operate.value {
        line(f, "operate", at.to_string(), &operate.source)?;
    }
    for (name, file) in [("token-file", token_file), ("operate-token-file", operate_token_file)] {
        if let Some(path) = &file.value {
            line(f, name, path.display().to_string(), &file.source)?;
        }
    }
    line(f, "drain", drain.value, &drain.source)?;
    line(f, "trace-calls", trace.value, &trace.source)
}

impl Run {
    fn print_records(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        line(f, "audit", self.audit.value, &self.audit.source)?;
        line(f, "remember-days", self.remember.value, &self.remember.source)?;
        if !self.audit.value {
            return Ok(());
        }
        line(f, "audit-sync", self.audit_sync.value, &self.audit_sync.source)?;
        match self.retain.value {
            Some(days) => line(f, "audit-retain", days, &self.retain.source),
            None => writeln!(f, "# audit-retain: for ever"),
        }
    }
}

fn print_server(
    f: &mut fmt::Formatter<'_>,
    server: &ConfiguredServer,
    all: &Rules,
    caps: &Caps,
) -> fmt::Result {
    let name = key(&server.name);
    writeln!(f, "\n[servers.{name}]")?;
    match &server.target {
        Target::Stdio(command) => print_command(f, command, &server.source)?,
        Target::Http(endpoint) => print_endpoint(f, endpoint, &server.source)?,
        Target::InProcess(_) => writeln!(f, "# built in")?,
    }
    let grants: Vec<&str> = server.grants.value.iter().map(|grant| grant.name()).collect();
    line(f, "grants", grants, &server.grants.source)?;
    let permissions = transom_host::permissions(server.permissions.value);
    line(f, "permissions", permissions, &server.permissions.source)?;
    let private: Vec<String> = server.private.value.iter().map(ToString::to_string).collect();
    line(f, "private", private, &server.private.source)?;
    print_registration(f, &name, &server.registration)?;
    let own = server.rules.kinds().zip(all.kinds()).filter(|(own, all)| own != all);
    let own: Vec<_> = own.map(|(own, _)| own).collect();
    let domains = server.rules.domains();
    let domains: Vec<_> =
        domains.into_iter().filter(|list| !all.domains().contains(list)).collect();
    if !own.is_empty() || !domains.is_empty() {
        writeln!(f, "[servers.{name}.policy]")?;
    }
    for (name, stance) in own {
        line(f, name, word(stance.value), &stance.source)?;
    }
    for (name, list, source) in domains {
        line(f, name, list, source)?;
    }
    print_stances(f, &format!("servers.{name}.policy.tools"), server.rules.tools())?;
    if server.rules.routes() != all.routes() {
        print_stances(f, &format!("servers.{name}.policy.routes"), server.rules.routes())?;
    }
    if server.rules.links() != all.links() {
        print_stances(f, &format!("servers.{name}.policy.links"), server.rules.links())?;
    }
    print_caps(f, &format!("servers.{name}.limits"), &server.caps, Some(caps))
}

/// What views may use up; of a server, only what is not as it is for all.
fn print_caps(
    f: &mut fmt::Formatter<'_>,
    table: &str,
    caps: &Caps,
    all: Option<&Caps>,
) -> fmt::Result {
    let mut print = |table: String, own: Vec<Number<'_>>, all: Vec<Number<'_>>| {
        let own: Vec<_> = own.into_iter().filter(|number| !all.contains(number)).collect();
        if !own.is_empty() {
            writeln!(f, "[{table}]")?;
        }
        own.into_iter().try_for_each(|(name, it)| line(f, name, it.value, &it.source))
    };
    print(
        format!("{table}.time"),
        caps.times().named().collect(),
        all.map(|all| all.times().named().collect()).unwrap_or_default(),
    )?;
    print(
        format!("{table}.view"),
        caps.view().collect(),
        all.map(|all| all.view().collect()).unwrap_or_default(),
    )?;
    print(
        format!("{table}.server"),
        caps.server().collect(),
        all.map(|all| all.server().collect()).unwrap_or_default(),
    )?;
    for (method, own) in caps.methods() {
        let all = all.and_then(|all| all.methods().find(|(name, _)| *name == method));
        print(
            format!("{table}.methods.{}", key(method)),
            own,
            all.map(|all| all.1).unwrap_or_default(),
        )?;
    }
    Ok(())
}

type Number<'a> = (&'static str, &'a Setting<u64>);

/// A table of single stances, if it has any.
fn print_stances<K: Display>(
    f: &mut fmt::Formatter<'_>,
    table: &str,
    stances: &BTreeMap<K, Setting<Stance>>,
) -> fmt::Result {
    if !stances.is_empty() {
        writeln!(f, "[{table}]")?;
    }
    for (name, stance) in stances {
        line(f, &key(&name.to_string()), word(stance.value), &stance.source)?;
    }
    Ok(())
}

fn print_registration(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    Setting { value, source }: &Setting<Registration>,
) -> fmt::Result {
    if *value == Registration::default() {
        return Ok(());
    }
    writeln!(f, "[servers.{name}.oauth]")?;
    if let Some(id) = &value.client_id {
        line(f, "client-id", &**id, source)?;
    }
    if let Some(Secret::Env(variable)) = &value.client_secret {
        line(f, "client-secret-env", &**variable, source)?;
    }
    line(f, "scopes", value.scopes.clone(), source)
}

fn print_command(f: &mut fmt::Formatter<'_>, command: &Command, source: &Source) -> fmt::Result {
    line(f, "command", &*command.program, source)?;
    line(f, "args", masked(&command.args), source)?;
    if let Some(folder) = &command.cwd {
        line(f, "cwd", folder.display().to_string(), source)?;
    }
    secrets(f, "env", &command.env, source)
}

fn print_endpoint(f: &mut fmt::Formatter<'_>, endpoint: &Endpoint, source: &Source) -> fmt::Result {
    line(f, "url", endpoint.plain_url(), source)?;
    secrets(f, "headers", &endpoint.headers, source)
}

fn secrets(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    all: &[(String, Secret)],
    source: &Source,
) -> fmt::Result {
    for (part, secret) in all {
        let shown = match secret {
            Secret::Value(_) => HIDDEN.to_owned(),
            Secret::Env(variable) => format!("${{{variable}}}"),
            Secret::BearerEnv(variable) => format!("Bearer ${{{variable}}}"),
        };
        line(f, &format!("{name}.{}", key(part)), shown, source)?;
    }
    Ok(())
}

fn line(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    value: impl Into<Value>,
    source: &Source,
) -> fmt::Result {
    // TOML writes numbers, booleans, lists and plain strings as JSON does.
    let mut text = String::new();
    write!(text, "{name} = {}", value.into())?;
    writeln!(f, "{text:<COLUMN$}  # {source}")
}

fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let is_bare = !name.is_empty() && name.chars().all(bare);
    if is_bare { name.to_owned() } else { Value::from(name).to_string() }
}

pub(super) const HIDDEN: &str = "(hidden)";
const COLUMN: usize = 40;
