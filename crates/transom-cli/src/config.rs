//! What is in force: the command line, then `transom.toml`, then the defaults of the house.

mod agreed;
mod effects;
mod file;
mod find;
mod limits;
mod print;
mod rules;
mod setting;

use std::{
    collections::BTreeSet,
    io::Read as _,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use toml::Spanned;
use transom::{
    csp::Grant,
    policy::{Nearby, Policy},
    wire::ResourcePermissions,
};
use transom_host::{
    Agreement,
    decisions::DAYS,
    demo,
    place::{Place, masked},
    sandbox::Wildcard,
    upstream::{Command, Endpoint, Registration, Secret, Target},
};

use crate::{
    arguments::{RunArguments, SandboxMode, ServerArguments},
    mcp_servers, names,
    terminal::clean,
};
use agreed::Agreed;
use effects::{Effects, Show};
use file::{File, Parsed, Text};
use limits::Caps;
use rules::Rules;

pub(crate) use find::{Found, Surroundings};
pub(crate) use setting::{Setting, Source};

/// Everything that is in force, with where it comes from.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) file: Option<Found>,
    pub(crate) run: Run,
    pub(crate) rules: Rules,
    pub(crate) caps: Caps,
    /// How many views may be open, of all servers.
    pub(crate) views: Setting<u64>,
    pub(crate) servers: Vec<Server>,
    /// Names that the file speaks of and that no server has, and those that are switched off.
    pub(crate) absent: Vec<String>,
    pub(crate) disabled: Vec<String>,
    /// What the files do that the person named, and so agreed to without a question; no secret is in it.
    pub(crate) named: Vec<String>,
}

/// How the host runs.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) port: Setting<u16>,
    pub(crate) open: Setting<bool>,
    pub(crate) json: Setting<bool>,
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
pub(crate) struct Server {
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
    /// Whether whoever runs us writes it: only `transom dev` says so.
    pub(crate) own: bool,
}

impl Config {
    /// Puts it together for a run. A file that was only found counts if somebody agrees to it: the text that is
    /// read here is what they are shown, what is hashed and what is in force.
    pub(crate) fn load(arguments: &RunArguments, around: &Surroundings<'_>) -> Result<Self> {
        let found = match arguments.servers.no_toml {
            true => None,
            false => around.find_toml(arguments.servers.toml.as_deref()),
        };
        let text = found.as_ref().map(|found| read(found, around)).transpose()?;
        let text = text.unwrap_or_default();
        let path = found.as_ref().map(|found| found.path.clone()).unwrap_or_default();
        let file = Text { path: &path, text: &text };
        let named = found.as_ref().is_none_or(|found| found.named);
        let path = Arc::new(path.clone());
        let reader = Reader { arguments, around, text: &file, path, named };
        let parsed = file.parse()?;
        let config = reader.load(found, &parsed)?;
        if let Some(found) = &config.file {
            Agreed::new(around, !arguments.no_data).check(found, &text, &parsed, around)?;
        }
        Ok(config)
    }

    /// Puts it together where only the servers matter.
    pub(crate) fn of_servers(servers: &ServerArguments, around: &Surroundings<'_>) -> Result<Self> {
        let arguments = RunArguments { servers: servers.clone(), ..RunArguments::default() };
        Self::load(&arguments, around)
    }
}

impl Server {
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
        }
    }

    /// The rules for its views.
    pub(crate) fn policy(&self) -> Policy {
        let mut policy = self.rules.policy();
        policy.domains.private.clone_from(&self.private.value);
        // Whoever writes a server has its backend on the same machine.
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

/// Makes a configuration of its parts.
struct Reader<'a> {
    arguments: &'a RunArguments,
    around: &'a Surroundings<'a>,
    text: &'a Text<'a>,
    path: Arc<PathBuf>,
    /// Whether the file is the person's own choice.
    named: bool,
}

impl Reader<'_> {
    fn load(&self, found: Option<Found>, parsed: &Parsed<'_>) -> Result<Config> {
        let file = &parsed.file;
        let run = self.run(&file.run)?;
        let rules = self.rules(&file.policy)?;
        let views = self.views(&file.limits)?;
        let caps = self.caps(&Caps::default(), &file.limits, &views)?;
        let json = self.listed_file()?;
        let servers = self.servers(file, json.as_ref(), &rules, &caps, &views)?;
        let toml = found.as_ref().filter(|found| found.named);
        let toml = toml.map(|_| Effects::of_toml(&parsed.table, Show::Masked).lines);
        let json = json.map(|json| Effects::of_json(&json, Show::Masked).lines);
        let named = [toml, json].into_iter().flatten().flatten().collect();
        let has = |name: &str| servers.iter().any(|server| server.name == name);
        let without = |entry: &file::Server| entry.command.is_none() && entry.url.is_none();
        let entries = || file.servers.iter();
        let absent = entries().filter(|(name, entry)| without(entry) && !has(name));
        let absent = absent.map(|(name, _)| name.clone()).collect();
        let disabled = entries().filter(|(_, entry)| entry.disabled);
        let disabled = disabled.map(|(name, _)| name.clone()).collect();
        Ok(Config { file: found, run, rules, caps, views, servers, absent, disabled, named })
    }

    fn run(&self, file: &file::Run) -> Result<Run> {
        self.agree(file)?;
        let said = self.arguments;
        let yes = |flag: bool, name| flag.then_some((true, name));
        let port = said.port.map(|port| (port, "--port"));
        Ok(Run {
            port: Setting::choose(port, self.setting(&file.port), PORT),
            open: Setting::choose(yes(said.open, "--open"), self.setting(&file.open), false),
            json: Setting::choose(yes(said.json, "--json"), self.setting(&file.json), false),
            data: self.data(file)?,
            prefetch: Setting::choose(
                said.no_prefetch.then_some((false, "--no-prefetch")),
                self.setting(&file.prefetch),
                true,
            ),
            frames: self.frames(file)?,
            audit: {
                let flag = said.no_audit.then_some((false, "--no-audit"));
                Setting::choose(flag, self.setting(&file.audit), true)
            },
            retain: {
                let flag = said.retain.map(|days| (Some(days), "--retain"));
                let file = file.audit_retain.as_ref();
                let file = file.map(|days| self.place(days, Some(*days.get_ref())));
                Setting::choose(flag, file, None)
            },
            remember: Setting::choose(None, self.setting(&file.remember_days), DAYS),
            audit_sync: {
                let flag = yes(said.audit_sync, "--audit-sync");
                Setting::choose(flag, self.setting(&file.audit_sync), false)
            },
        })
    }

    /// Settings that undo one another are refused: one of them is not what somebody meant.
    fn agree(&self, file: &file::Run) -> Result<()> {
        let is = |said: &Option<Spanned<bool>>, value| {
            said.as_ref().is_some_and(|it| *it.get_ref() == value)
        };
        if is(&file.audit, false) {
            let words = "there is no audit, because audit = false; keep one of them";
            self.refuse(&file.audit_sync.clone().filter(|it| *it.get_ref()), words)?;
            self.refuse(&file.audit_retain, words)?;
        }
        if is(&file.no_data, true) {
            let words = "nothing is kept, because no-data = true; keep one of them";
            self.refuse(&file.audit.clone().filter(|it| *it.get_ref()), words)?;
            self.refuse(&file.audit_retain, words)?;
            self.refuse(&file.remember_days, words)?;
        }
        Ok(())
    }

    fn data(&self, file: &file::Run) -> Result<Setting<Option<PathBuf>>> {
        let flag = self.arguments.data_dir.clone().map(|folder| (Some(folder), "--data-dir"));
        let flag = flag.or_else(|| self.arguments.no_data.then_some((None, "--no-data")));
        let nothing = file.no_data.as_ref().filter(|nothing| *nothing.get_ref());
        // Whoever brings the file could bring the folder too, and in it what a person is said to have decided.
        if !self.named {
            self.refuse(
                &file.data_dir,
                "a file that was only found does not choose the data folder; say --data-dir, or name the file with \
                 --toml",
            )?;
        }
        let file = match (&file.data_dir, nothing) {
            (Some(_), Some(nothing)) => {
                let words = "no-data contradicts data-dir; keep one of them";
                return Err(self.text.problem(nothing.span(), words).into());
            }
            (Some(folder), None) => {
                let resolved = self.around.resolve(self.folder(), folder.get_ref());
                Some(self.place(folder, Some(resolved)))
            }
            (None, Some(nothing)) => Some(self.place(nothing, None)),
            (None, None) => None,
        };
        Ok(Setting::choose(flag, file, self.around.data_folder()))
    }

    fn frames(&self, file: &file::Run) -> Result<Setting<Frames>> {
        let said = self.arguments;
        let domain = said.sandbox_domain.clone();
        let domain = domain.map(|domain| (Frames::Domain(domain), "--sandbox-domain"));
        let flag = domain.or_else(|| said.sandbox.map(|mode| (mode.into(), "--sandbox")));
        let file = match (&file.sandbox, &file.sandbox_domain) {
            (Some(_), Some(domain)) => {
                let words = "sandbox-domain takes the place of sandbox; keep one of them";
                return Err(self.text.problem(domain.span(), words).into());
            }
            (Some(mode), None) => Some(self.place(mode, (*mode.get_ref()).into())),
            (None, Some(domain)) => {
                Some(self.place(domain, Frames::Domain(domain.get_ref().0.clone())))
            }
            (None, None) => None,
        };
        Ok(Setting::choose(flag, file, Frames::Names))
    }

    fn rules(&self, table: &file::Rules) -> Result<Rules> {
        // The same name means something else on every server.
        if let Some((name, word)) = table.tools.first_key_value() {
            let words = format!(
                "a tool belongs to a server; write {name} under [servers.NAME.policy.tools]"
            );
            return Err(self.text.problem(word.span(), words).into());
        }
        self.sound(Rules::default().with(table, |span| self.at(span)), table)
    }

    /// How many views may be open, of all servers.
    fn views(&self, table: &file::Limits) -> Result<Setting<u64>> {
        let Some(said) = &table.views else { return Ok(Setting::default(VIEWS)) };
        let number = limits::number(said, "views", limits::MOST_VIEWS, &|span| self.at(span));
        Ok(number.map_err(|(span, words)| self.text.problem(span, words))?)
    }

    /// These limits, with what a table says instead.
    fn caps(&self, all: &Caps, table: &file::Limits, views: &Setting<u64>) -> Result<Caps> {
        let caps = all.with(table, |span| self.at(span));
        let caps = caps.map_err(|(span, words)| self.text.problem(span, words))?;
        let caps = caps.at_most(views.value);
        if caps.views().value > views.value {
            let words = format!(
                "one server may have {} views, but all servers together only {}",
                caps.views().value,
                views.value
            );
            let said = table.server.views.as_ref().or(table.views.as_ref());
            return Err(self.text.problem(said.map_or(0..0, Spanned::span), words).into());
        }
        Ok(caps)
    }

    /// Rules of which each can count.
    fn sound(&self, rules: Rules, table: &file::Rules) -> Result<Rules> {
        match rules.contradiction(table) {
            Some((span, words)) => Err(self.text.problem(span, words).into()),
            None => Ok(rules),
        }
    }

    /// The servers of the command line, or else those of the file, or else the demo.
    fn servers(
        &self,
        file: &File,
        json: Option<&Value>,
        rules: &Rules,
        caps: &Caps,
        views: &Setting<u64>,
    ) -> Result<Vec<Server>> {
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
            self.refuse(&entry.limits.views, "this is for the host; write it under [limits]")?;
            // Also for a server that is not there today: tomorrow it may be.
            self.caps(caps, &entry.limits, views)?;
            self.sound(rules.with(&entry.policy, |span| self.at(span)), &entry.policy)?;
        }
        self.pass_on(&mut servers)?;
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

    fn server(
        &self,
        Placed { name, target, source, section }: Placed,
        file: &File,
        rules: &Rules,
        caps: &Caps,
        views: &Setting<u64>,
    ) -> Result<Server> {
        let entry = file.servers.get(&name).filter(|_| section);
        let own = entry.map(|entry| rules.with(&entry.policy, |span| self.at(span)));
        let scripts = entry.and_then(|entry| entry.scripts.as_ref());
        let grants = scripts.map(|scripts| {
            let granted = scripts.get_ref().iter().map(|scripts| Grant::from(*scripts)).collect();
            self.place(scripts, granted)
        });
        let grants = grants.unwrap_or_else(|| Setting::default(vec![]));
        let said = entry.and_then(|entry| entry.permissions.as_ref());
        let permissions = said.map(|said| {
            let mut granted = ResourcePermissions::default();
            said.get_ref().iter().for_each(|permission| permission.grant(&mut granted));
            self.place(said, granted)
        });
        let permissions =
            permissions.unwrap_or_else(|| Setting::default(ResourcePermissions::default()));
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
        Ok(Server {
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
    fn listed_file(&self) -> Result<Option<Value>> {
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
    /// place, or if somebody said so. That it would be called the same is not enough: anybody can be.
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

    fn target(&self, name: &str, entry: &file::Server) -> Result<Option<(Target, Source)>> {
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

    fn command(&self, program: &str, entry: &file::Server) -> Command {
        let env = entry.env.as_ref().map(|env| env.get_ref().clone()).unwrap_or_default();
        let cwd = entry.cwd.as_ref();
        // A program that is named by its path belongs to the file as the file's own folder does, wherever somebody
        // stands: it is what they agreed to. It works where they stand.
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

    fn refuse<T>(&self, said: &Option<Spanned<T>>, words: &str) -> Result<()> {
        match said {
            Some(said) => Err(self.text.problem(said.span(), words).into()),
            None => Ok(()),
        }
    }

    fn setting<T: Clone>(&self, said: &Option<Spanned<T>>) -> Option<Setting<T>> {
        said.as_ref().map(|said| self.place(said, said.get_ref().clone()))
    }

    fn place<S, T>(&self, said: &Spanned<S>, value: T) -> Setting<T> {
        Setting { value, source: self.source(said) }
    }

    fn source<T>(&self, said: &Spanned<T>) -> Source {
        self.at(said.span())
    }

    fn at(&self, span: Range<usize>) -> Source {
        Source::Line(Arc::clone(&self.path), self.text.line(&span))
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or_else(|| Path::new(""))
    }
}

/// Says what whoever wrote the configuration should know before anything is sent.
pub(crate) fn warn(servers: &[Server]) {
    for server in servers {
        if let Target::Http(endpoint) = &server.target
            && let Some(warning) = endpoint.warning()
        {
            eprintln!("transom: warning: {}: {}", clean(&server.name), clean(&warning));
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
        bail!("{} has no server that is not disabled", path.display());
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

fn endpoint(url: &url::Url, entry: &file::Server) -> Target {
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

/// Reads a file that may be anybody's, and so of any length.
fn read(found: &Found, around: &Surroundings<'_>) -> Result<String> {
    let Found { path, why, .. } = found;
    let mut text = String::new();
    let file = std::fs::File::open(around.folder.join(path));
    let read = file.and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text));
    let size = read.with_context(|| {
        format!("cannot read {} ({why}); name a file that is there", path.display())
    })?;
    if size as u64 > LONGEST {
        bail!("{} ({why}) is longer than {LONGEST} bytes", path.display());
    }
    Ok(text)
}

impl From<SandboxMode> for Frames {
    fn from(mode: SandboxMode) -> Self {
        match mode {
            SandboxMode::Names => Self::Names,
            SandboxMode::Ports => Self::Ports,
        }
    }
}

/// The longest `transom.toml`, in bytes.
const LONGEST: u64 = 1 << 20;
const PORT: u16 = 7420;
const VIEWS: u64 = 2_000;
/// How long a server may take that is built before it runs.
const BUILDING: Duration = Duration::from_secs(1800);

#[cfg(test)]
mod tests;
