//! The servers: those of the command line, or else those of the file, or else the demo.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use transom::{csp::Grant, policy::Grantable, wire::ResourcePermissions};
use transom_host::{
    demo,
    place::Place,
    upstream::{Command, Endpoint, Registration, Secret, Target},
};

use super::{
    file::{self, File},
    limits::Caps,
    model::ConfiguredServer,
    reader::Reader,
    rules::Rules,
    setting::{Setting, Source},
};
use crate::{arguments::Granting, mcp_servers, names};

impl Reader<'_> {
    /// The servers of the command line, or else those of the file, or else the demo.
    pub(super) fn servers(
        &self,
        file: &File,
        json: Option<&Value>,
        rules: &Rules,
        caps: &Caps,
        views: &Setting<u64>,
    ) -> Result<Vec<ConfiguredServer>> {
        let own = self.own(file)?;
        let mut servers = self.named(file, &own, json)?;
        if servers.is_empty() {
            let enabled = |placed: &Placed| !file.servers[&placed.name].disabled;
            servers = own.into_iter().filter(enabled).collect();
        }
        if servers.is_empty() {
            let (name, target) = ("demo".to_owned(), Target::InProcess(demo::server()));
            // There is one demo, and it is called that.
            servers.push(Placed { name, target, source: Source::Default, section: true });
        }
        for entry in file.servers.values() {
            for said in [&entry.limits.views, &entry.limits.away] {
                self.refuse(said, "this is for the host; write it under [limits]")?;
            }
            // Also for a server that is not there today: tomorrow it may be.
            self.caps(caps, &entry.limits, views)?;
            self.sound(rules.with(&entry.policy, |span| self.at(span)), &entry.policy)?;
        }
        self.pass_on(&mut servers)?;
        self.check_grants(&servers)?;
        let server = |placed| self.server(placed, file, rules, caps, views);
        servers.into_iter().map(server).collect()
    }

    /// Gives servers that are started the variables of `--env`.
    fn pass_on(&self, servers: &mut [Placed]) -> Result<()> {
        for variable in &self.arguments.servers.env {
            let name = &variable.name;
            let value = match &variable.value {
                Some(value) => Secret::Value(value.clone()),
                None if (self.around.variable)(name).is_some() => Secret::Env(name.clone()),
                None => bail!(
                    "--env {name}: it is not set in your environment; --env {name}=VALUE sets it"
                ),
            };
            for placed in servers.iter_mut() {
                if let Target::Stdio(command) = &mut placed.target {
                    command.env.retain(|(other, _)| other != name);
                    command.env.push((name.clone(), value.clone()));
                }
            }
        }
        Ok(())
    }

    /// Refuses a `--grant` that is for no server, or for one that is not named where there are several.
    fn check_grants(&self, servers: &[Placed]) -> Result<()> {
        for given in &self.arguments.servers.grant {
            let what = given.what;
            match &given.server {
                Some(name) if !servers.iter().any(|placed| placed.name == *name) => {
                    bail!("--grant {name}={what}: there is no server {name:?}");
                }
                None if servers.len() > 1 => {
                    let name = &servers[0].name;
                    bail!(
                        "--grant {what}: there are several servers; say which: --grant {name}={what}"
                    );
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Gives a server what `--grant` says, on top of what its table does.
    fn grant(
        &self,
        server: &str,
        grants: &mut Setting<Vec<Grant>>,
        permissions: &mut Setting<ResourcePermissions>,
    ) {
        let own = |given: &&Granting| given.server.as_deref().is_none_or(|name| name == server);
        for given in self.arguments.servers.grant.iter().filter(own) {
            let source = Source::Flag("--grant");
            match given.what {
                Grantable::Policy(grant) if !grants.value.contains(&grant) => {
                    grants.value.push(grant);
                    grants.source = source;
                }
                Grantable::Policy(_) => {}
                Grantable::Permission(permission) => {
                    *permission.of(&mut permissions.value) = true;
                    permissions.source = source;
                }
            }
        }
    }

    fn server(
        &self,
        Placed { name, target, source, section }: Placed,
        file: &File,
        rules: &Rules,
        caps: &Caps,
        views: &Setting<u64>,
    ) -> Result<ConfiguredServer> {
        let entry = file.servers.get(&name).filter(|_| section);
        let own = entry.map(|entry| rules.with(&entry.policy, |span| self.at(span)));
        let said = entry.and_then(|entry| entry.grants.as_ref());
        let grants = said.map(|said| {
            let granted: Vec<Grant> = said.get_ref().iter().map(|granted| granted.0).collect();
            self.place(said, granted)
        });
        let mut grants = grants.unwrap_or_else(|| Setting::default(vec![]));
        let said = entry.and_then(|entry| entry.permissions.as_ref());
        let permissions = said.map(|said| {
            let mut granted = ResourcePermissions::default();
            said.get_ref().iter().for_each(|permission| permission.grant(&mut granted));
            self.place(said, granted)
        });
        let mut permissions =
            permissions.unwrap_or_else(|| Setting::default(ResourcePermissions::default()));
        self.grant(&name, &mut grants, &mut permissions);
        let private = entry.and_then(|entry| entry.private.as_ref());
        let private = private.map(|private| {
            let granted = private.get_ref().iter().map(|private| private.0.clone()).collect();
            self.place(private, granted)
        });
        let private = private.unwrap_or_else(|| Setting::default(vec![]));
        let oauth = entry.and_then(|entry| entry.oauth.as_ref());
        let registration = oauth.map(|oauth| self.place(oauth, registration(oauth.get_ref())));
        let registration =
            registration.unwrap_or_else(|| Setting::default(Registration::default()));
        let rules = own.unwrap_or_else(|| rules.clone());
        let own = entry.map(|entry| self.caps(caps, &entry.limits, views)).transpose()?;
        let caps = own.unwrap_or_else(|| caps.clone());
        Ok(ConfiguredServer {
            name,
            target,
            source,
            rules,
            caps,
            grants,
            permissions,
            private,
            registration,
            own: false,
        })
    }

    /// The servers that the file says where to find.
    fn own(&self, file: &File) -> Result<Vec<Placed>> {
        let mut own = vec![];
        for (name, entry) in &file.servers {
            if let Some((target, source)) = self.target(name, entry)? {
                own.push(Placed { name: name.clone(), target, source, section: true });
            }
        }
        Ok(own)
    }

    /// The file with `mcpServers`, if the command line names one.
    pub(super) fn listed_file(&self) -> Result<Option<Value>> {
        let Some(path) = &self.arguments.servers.config else { return Ok(None) };
        let text = std::fs::read_to_string(path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        mcp_servers::parse(path, &text).map(Some)
    }

    /// The servers that the command line names, with those of its file.
    fn named(&self, file: &File, own: &[Placed], json: Option<&Value>) -> Result<Vec<Placed>> {
        let said = &self.arguments.servers;
        let mut named = vec![];
        if let (Some(path), Some(json)) = (&said.config, json) {
            named = self.listed(path, json, file, own)?;
        }
        let count = said.urls.len() + usize::from(!said.program.is_empty());
        if said.name.is_some() && count != 1 {
            bail!(
                "--name says what one server is called, and there are {count} on the command line"
            );
        }
        for url in &said.urls {
            let derived = names::of_address(url);
            let target = Target::Http(Endpoint::new(url.clone()));
            named.push(self.called(derived, target, file, own, &named)?);
        }
        if let Some((program, args)) = said.program.split_first() {
            let derived = names::of_command(program, args, self.around.folder);
            let target = Target::Stdio(Command::new(program, args.to_vec()));
            named.push(self.called(derived, target, file, own, &named)?);
        }
        Ok(named)
    }

    /// A server of the command line under its name. A section of the file is about it if it is the section's own, by its
    /// place, or if the person said so with --name. The same derived name is not enough: any server can have it.
    fn called(
        &self,
        derived: String,
        target: Target,
        file: &File,
        own: &[Placed],
        named: &[Placed],
    ) -> Result<Placed> {
        let source = Source::CommandLine;
        let is_free = |name: &str| named.iter().all(|placed| placed.name != name);
        if let Some(name) = self.arguments.servers.name.clone() {
            if own.iter().any(|placed| placed.name == name) || !is_free(&name) {
                bail!("there is a server {name:?} already; leave out --name, or choose another");
            }
            return Ok(Placed { name, target, source, section: true });
        }
        let place = Place::of(&target);
        let known = own.iter().find(|own| Place::of(&own.target).id() == place.id());
        if let Some(known) = known.filter(|known| is_free(&known.name)) {
            return Ok(Placed { name: known.name.clone(), target, source, section: true });
        }
        let taken: BTreeSet<&str> = own.iter().chain(named).map(|placed| &*placed.name).collect();
        let name = names::unique(derived, &taken);
        if file.servers.contains_key(&name) {
            bail!(
                "[servers.{name}] does not say which server it is for, and {} is only called {name} after its address \
                 or command. If you mean this one, say --name {name}, or give the section its url or command; if not, \
                 choose another name with --name",
                place.words()
            );
        }
        Ok(Placed { name, target, source, section: false })
    }

    /// The servers of a file with `mcpServers`. A section is about one of them if it says that it is in this file.
    fn listed(
        &self,
        path: &Path,
        json: &Value,
        file: &File,
        own: &[Placed],
    ) -> Result<Vec<Placed>> {
        let mut listed = listed(path, json, own, &self.path)?;
        let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
        for placed in &mut listed {
            let name = &placed.name;
            let Some(entry) = file.servers.get(name) else { continue };
            let from = entry.from.as_ref();
            let from = from.map(|from| self.around.resolve(self.folder(), from.get_ref()));
            let here = self.around.folder.join(path);
            if from.map(|from| real(self.around.folder.join(from))) != Some(real(here)) {
                bail!(
                    "[servers.{name}] does not say which server it is for, and {} has one that is called {name}. If you \
                     mean that one, write from = {:?} in the section; if not, give one of them another name",
                    path.display(),
                    path.display().to_string()
                );
            }
            placed.section = true;
        }
        Ok(listed)
    }

    fn target(&self, name: &str, entry: &file::ServerTable) -> Result<Option<(Target, Source)>> {
        if entry.command.is_some() || entry.url.is_some() {
            self.refuse(&entry.from, "from is for a server that the section does not name itself")?;
        }
        Ok(match (&entry.command, &entry.url) {
            (Some(_), Some(url)) => {
                let words = format!("server {name:?} has a command and a url; keep one of them");
                return Err(self.text.problem(url.span(), words).into());
            }
            (Some(command), None) => {
                self.refuse(&entry.headers, "headers belong to a server with a url")?;
                self.refuse(&entry.oauth, "oauth belongs to a server with a url")?;
                Some((Target::Stdio(self.command(command.get_ref(), entry)), self.source(command)))
            }
            (None, url) => {
                self.refuse(&entry.args, "args belong to a server with a command")?;
                self.refuse(&entry.env, "env belongs to a server with a command")?;
                self.refuse(&entry.cwd, "cwd belongs to a server with a command")?;
                if url.is_none() {
                    self.refuse(&entry.headers, "headers belong to a server with a url")?;
                }
                url.as_ref().map(|url| (endpoint(&url.get_ref().0, entry), self.source(url)))
            }
        })
    }

    fn command(&self, program: &str, entry: &file::ServerTable) -> Command {
        let env = entry.env.as_ref().map(|env| env.get_ref().clone()).unwrap_or_default();
        let cwd = entry.cwd.as_ref();
        // The path of a program is read from the folder of the file, because the person agreed to that file. The program
        // itself runs in the folder where the person is.
        let is_path = program.contains(std::path::is_separator) && cwd.is_none();
        let program = match is_path {
            true => {
                let resolved = self.around.resolve(self.folder(), Path::new(program));
                resolved.components().collect::<PathBuf>().to_string_lossy().into_owned()
            }
            false => program.to_owned(),
        };
        Command {
            program,
            args: entry.args.as_ref().map(|args| args.get_ref().clone()).unwrap_or_default(),
            env: env.into_iter().map(|(key, value)| (key, mcp_servers::secret(value))).collect(),
            cwd: cwd.map(|cwd| self.around.resolve(self.folder(), cwd.get_ref())),
            ..Command::default()
        }
    }
}

/// A server's name, where it is, and who said so.
struct Placed {
    name: String,
    target: Target,
    source: Source,
    /// Whether the section of its name in the file is about it.
    section: bool,
}

/// The servers of a file with `mcpServers`.
fn listed(path: &Path, json: &Value, own: &[Placed], file: &Path) -> Result<Vec<Placed>> {
    let servers = mcp_servers::read(path, json)?;
    if servers.is_empty() {
        bail!("{} has no server, or all of its servers are disabled", path.display());
    }
    for (name, _) in &servers {
        // What the other one was granted must not go to this one.
        if own.iter().any(|other| other.name == *name) {
            let (path, file) = (path.display(), file.display());
            bail!("{path} and {file} both have a server {name:?}; give one of them another name");
        }
    }
    let source = Source::File(path.to_owned());
    let placed = |(name, target)| Placed { name, target, source: source.clone(), section: false };
    Ok(servers.into_iter().map(placed).collect())
}

fn endpoint(url: &url::Url, entry: &file::ServerTable) -> Target {
    let headers = entry.headers.as_ref().map(|headers| headers.get_ref().clone());
    let headers = headers.unwrap_or_default().into_iter();
    let headers = headers.map(|(key, value)| (key, mcp_servers::secret(value))).collect();
    Target::Http(Endpoint { headers, ..Endpoint::new(url.clone()) })
}

fn registration(table: &file::OAuth) -> Registration {
    let client_secret = table.client_secret_env.clone().map(Secret::Env);
    let (client_id, scopes) = (table.client_id.clone(), table.scopes.clone());
    Registration { client_id, client_secret, scopes }
}
