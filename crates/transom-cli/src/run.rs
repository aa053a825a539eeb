//! `transom run`: a host on loopback.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result};
use tokio::sync::mpsc;
use transom_host::{
    Host, Operators, Recording, ServerState, Standing,
    audit::{self, Audit, Durability, Options},
    private_folder,
    sandbox::{Loopback, Naming},
    upstream::Target,
};

use crate::{
    arguments::RunArguments,
    audit::FILE as AUDIT,
    config::{self, Config, ConfiguredServer, Frames, Source, Surroundings},
    doorkeeper::{Keeper, Question},
    doors::{Doors, address},
    enter::Enter,
    interrupts::{Interrupt, Interrupts},
    listen,
    open::Doorway,
    progress::Marks,
    terminal::{self, clean},
};

/// Runs until it is interrupted.
pub(crate) fn run(arguments: &RunArguments, around: &Surroundings<'_>) -> Result<ExitCode> {
    let config = Config::load(arguments, around)?;
    config::warn(&config.servers);
    if arguments.print_config {
        terminal::print(&config.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    with(&config, async |_| std::future::pending().await)
}

/// Runs until it is interrupted, and does something beside.
pub(crate) fn with(config: &Config, beside: impl AsyncFnOnce(&Host)) -> Result<ExitCode> {
    log_to_stderr(config.run.json.value);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve(config, beside))
}

async fn serve(config: &Config, beside: impl AsyncFnOnce(&Host)) -> Result<ExitCode> {
    let doors = Doors::open(config).await?;
    let folder = data(config)?;
    let audit = open_audit(config, folder).await?;
    let (host, asked) = build(config, folder, audit.clone(), &doors)?;
    let recording = record(config, &host)?;
    let address = doors.address(&host.token());
    greet(config, &doors, &address);
    match &audit {
        Some(audit) => {
            let path = audit.path().unwrap_or_else(|| Path::new(AUDIT));
            say(&format!("  audit       {}", path.display()));
        }
        None => say("  audit       off: nothing that views do is written down"),
    }
    listen_at(doors, &host)?;
    let doorway = match config.run.open.value.then(|| Doorway::open(&address, folder)) {
        Some(Err(words)) => {
            eprintln!("transom: {words}; open the address yourself");
            None
        }
        opened => opened.and_then(Result::ok),
    };
    let doorway = async {
        if let Some(doorway) = doorway {
            doorway.close_behind(&host).await;
        }
        std::future::pending().await
    };
    if let (Some(audit), Some(days)) = (&audit, config.run.retain.value) {
        tokio::spawn(retain(audit.path().map(Path::to_owned).unwrap_or_default(), days));
    }
    let mut interrupts = Interrupts::listen().context("cannot listen for Ctrl-C")?;
    let interrupt = tokio::select! {
        () = tell(&host, &config.servers) => Interrupt::Keys,
        () = beside(&host) => Interrupt::Keys,
        () = doorway => Interrupt::Keys,
        () = at_terminal(&host, asked) => Interrupt::Keys,
        interrupt = interrupts.next() => interrupt,
    };
    let close = async {
        if interrupt == Interrupt::System {
            drain(&host, config.run.doors.drain.value).await;
        }
        say("closing… (Ctrl-C again leaves at once)");
        host.close().await;
    };
    tokio::select! {
        () = close => {
            finish(recording).await?;
            if let Some(audit) = audit {
                let head = audit.close().await.context("cannot write the last rows of the audit")?;
                say(&format!("audit: row {} is the last, head {}", head.seq, head.hash));
            }
            Ok(ExitCode::SUCCESS)
        }
        // Dropping the host kills what it started.
        _ = interrupts.next() => Ok(ExitCode::from(INTERRUPTED)),
    }
}

/// Begins to write what passes on both wires, where that is wanted.
fn record(config: &Config, host: &Host) -> Result<Option<Recording>> {
    let Some(path) = &config.run.record else { return Ok(None) };
    let recording = host.record(path).with_context(|| {
        format!("cannot write {}; --record names a file that is not there yet", path.display())
    })?;
    Ok(Some(recording))
}

/// Writes the end of a trace, by which it is known to be whole.
async fn finish(recording: Option<Recording>) -> Result<()> {
    let Some(recording) = recording else { return Ok(()) };
    recording.finish().await.context("cannot write the end of the trace")
}

/// Serves what there is to serve.
fn listen_at(doors: Doors, host: &Host) -> Result<()> {
    let Doors { page, sandbox, operate, operate_token, .. } = doors;
    listen::serve(page, &host.page_router());
    listen::serve(sandbox, &host.sandbox_router());
    if let Some(listener) = operate {
        say(&format!("  operators   http://{}/metrics", listener.local_addr()?));
        let token = operate_token.into_iter();
        let operators = token.fold(Operators::default(), Operators::token);
        tokio::spawn(transom_host::serve(listener, host.operator_router(operators)?));
    }
    Ok(())
}

/// Lets calls finish, for whoever told us to end has told others not to come.
async fn drain(host: &Host, seconds: u64) {
    say(&format!(
        "draining… (no new views; calls have {seconds} s; a second signal leaves at once)"
    ));
    if !host.drain(Duration::from_secs(seconds)).await {
        say("  calls are under way that took longer; they are cancelled");
    }
}

/// Prints another address whenever the person presses Enter, and asks them what the page may not decide; where they cannot be
/// asked, never.
async fn at_terminal(host: &Host, mut asked: mpsc::Receiver<Question>) {
    let Some(mut enter) = Enter::listen() else {
        // Whoever asks is told that there is nobody.
        drop(asked);
        return std::future::pending().await;
    };
    say("  Enter       prints a new address: for another browser, or when the page was closed");
    loop {
        tokio::select! {
            _ = enter.pressed() => say(&format!(
                "  page        {}   (an address before it that was not used is void)",
                address(host.page_origins(), &host.fresh_token())
            )),
            Some(question) = asked.recv() => answer(&mut enter, question).await,
        }
    }
}

/// Asks one question. Whatever is no yes is a no, and so is silence.
async fn answer(enter: &mut Enter, Question { text, answer }: Question) {
    if answer.is_closed() {
        return;
    }
    enter.forget();
    eprint!("{text}");
    let typed = tokio::time::timeout(PATIENCE, enter.pressed()).await;
    let yes = typed.as_deref().is_ok_and(terminal::agrees);
    if typed.is_err() {
        eprintln!("\nno answer: it counts as a no");
    }
    let _ = answer.send(yes);
}

/// The audit of this run; none if it is switched off or nothing is kept.
async fn open_audit(config: &Config, folder: Option<&Path>) -> Result<Option<Audit>> {
    let Some(folder) = folder.filter(|_| config.run.audit.value) else { return Ok(None) };
    let sync = config.run.audit_sync.value;
    let mut options = Options::default();
    options.durability = if sync { Durability::Power } else { Durability::Process };
    let audit = Audit::open(&folder.join(AUDIT), &options).await;
    Ok(Some(audit.context(
        "cannot open the audit, and nothing runs without it; --no-audit runs without an audit",
    )?))
}

/// Removes what is old from the audit, now and every hour.
async fn retain(path: PathBuf, days: u32) {
    let mut hours = tokio::time::interval(HOUR);
    loop {
        hours.tick().await;
        match audit::retain(&path, days).await {
            Ok(Ok(0)) => {}
            Ok(Ok(count)) => {
                say(&format!("  audit       {count} rows older than {days} days were removed"))
            }
            Ok(Err(broken)) => eprintln!("transom: nothing was removed from the audit: {broken}"),
            Err(error) => eprintln!("transom: {error}; nothing was removed from it"),
        }
    }
}

fn build(
    config: &Config,
    folder: Option<&Path>,
    audit: Option<Audit>,
    doors: &Doors,
) -> Result<(Host, mpsc::Receiver<Question>)> {
    let (questions, asked) = mpsc::channel(QUESTIONS);
    let keeper = Arc::new(Keeper::new(config, questions));
    let naming =
        match &config.run.frames.value {
            Frames::Names => Naming::Localhost { port: doors.sandbox.port },
            Frames::Ports => Naming::Ports(Loopback::find().context(
                "--sandbox ports cannot be used; --sandbox names or --sandbox-domain can",
            )?),
            Frames::Domain(domain) => Naming::Domain(domain.clone()),
        };
    let mut builder = Host::builder(doors.origins.clone(), naming)
        .policy(config.rules.policy())
        .limits(config.caps.limits())
        .server_limits(config.caps.server_limits())
        .remember(config.run.remember.value)
        .most_views(usize::try_from(config.views.value).unwrap_or(usize::MAX))
        .away(Duration::from_secs(config.away.value))
        .prefetch(config.run.prefetch.value)
        .trace_calls(config.run.doors.trace.value);
    for server in &config.servers {
        builder = builder.server_with(&server.name, server.target.clone(), server.agreement());
    }
    builder = builder.doorkeeper(keeper);
    if let Some(folder) = folder {
        builder = builder.data(folder.to_owned());
    }
    if let Some(model) = &config.run.model {
        builder = builder.model(model.clone());
    }
    if let Some(audit) = audit {
        builder = builder.audit(audit);
    }
    if let Some(token) = &doors.token {
        builder = builder.standing_token(token);
    }
    if let [ConfiguredServer { name, target: Target::InProcess(_), .. }] = &*config.servers {
        builder = builder.open_first(name, "show_weather");
    }
    Ok((builder.build()?, asked))
}

/// The folder where things are kept, made if need be. The default one may be impossible to make; that is no error.
fn data(config: &Config) -> Result<Option<&Path>> {
    let Some(folder) = config.run.data.value.as_deref() else { return Ok(None) };
    match private_folder(folder) {
        Ok(()) => Ok(Some(folder)),
        Err(error) if config.run.data.source == Source::Default => {
            let folder = folder.display();
            eprintln!(
                "transom: nothing is kept after this run, because {folder} cannot be used ({error})"
            );
            Ok(None)
        }
        Err(error) => Err(error).with_context(|| {
            let folder = folder.display();
            format!("cannot use {folder}; choose another with --data-dir, or none with --no-data")
        }),
    }
}

/// Says which model conversations are with, if one was chosen.
fn tell_model(config: &Config) {
    if let Some(model) = &config.run.model {
        say(&format!("  model       {} at {}", model.name(), model.place()));
    }
}

fn greet(config: &Config, doors: &Doors, address: &str) {
    let (version, sandbox) = (env!("CARGO_PKG_VERSION"), doors.sandbox.port);
    match &config.run.doors.token_file.value {
        None => say(&format!("transom {version}   {address}    (sandbox on :{sandbox})")),
        // What is printed may be kept, and read by others, long before a person opens the page.
        Some(file) => {
            let address = doors.address("…");
            say(&format!("transom {version}   {address}    (sandbox on :{sandbox})"));
            say(&format!("  token       the one in {}", file.display()));
        }
    }
    if let Some(at) = config.run.doors.listen.value {
        let (page, sandbox) = (doors.page.port, doors.sandbox.port);
        say(&format!("  listening   {}: the page at {page}, its frames at {sandbox}", at.ip()));
    }
    tell_model(config);
    // A file of this folder can start programs: the person should know that it was read.
    if let Some(found) = &config.file {
        say(&format!("  settings    {} ({})", found.path.display(), found.why));
    }
    // By naming a file the person agrees to it without a question; so it is said what the file does.
    for line in &config.named {
        say(&format!("              {line}"));
    }
    if let Frames::Domain(domain) = &config.run.frames.value
        && !domain.separates_cookies()
    {
        let domain = domain.domain();
        say(&format!(
            "  note        views below {domain} can set cookies for one another, unless {domain} is on the public suffix list"
        ));
    }
    if config.servers.iter().all(|server| server.source != Source::CommandLine) {
        for name in &config.absent {
            eprintln!(
                "transom: [servers.{name}] is for a server that is not there; give it a command or a url"
            );
        }
    }
}

/// Tells how the servers are, as it becomes known.
async fn tell(host: &Host, servers: &[ConfiguredServer]) {
    let mut told = BTreeMap::new();
    let (mut marks, mut seen) = (Marks::default(), None);
    let begun = tokio::time::Instant::now();
    let mut due = begun + marks.next();
    loop {
        let (version, states) = host.servers(seen, due - tokio::time::Instant::now()).await;
        seen = Some(version);
        for state in &states {
            let place = servers
                .iter()
                .find(|server| server.name == state.name)
                .map(ConfiguredServer::place);
            tell_one(state, &place.unwrap_or_default(), &mut told);
        }
        if due <= tokio::time::Instant::now() {
            waiting(&states, marks.pass());
            due += marks.next();
        }
    }
}

/// What was told about a server.
#[derive(Default)]
struct Told {
    words: String,
    findings: BTreeSet<String>,
}

/// A line for a server that is not as it was when it was last told about, and one for each finding that is new.
fn tell_one(state: &ServerState, place: &str, told: &mut BTreeMap<String, Told>) {
    let first = !told.contains_key(&state.name);
    // A server that is ready may ask for a sign-in as well, and then its words stay as they were.
    let sign_in = state.sign_in.as_ref().map(|sign_in| sign_in.url.as_str()).unwrap_or_default();
    let now = format!("{} {sign_in}", state.words);
    let told = told.entry(state.name.clone()).or_default();
    if told.words != now {
        *told = Told { words: now, ..Told::default() };
        if first && state.state == Standing::Connecting {
            return;
        }
        say(&format!("{}{:<20} {place}", column(&state.name), state.words));
        if let Some(sign_in) = &state.sign_in {
            say(&format!("{}{}", column(""), sign_in.url));
        }
    }
    // A server that changes what it has all the time is told about again.
    if told.findings.len() > REMEMBERED {
        told.findings.clear();
    }
    for finding in &state.findings {
        let words = format!("{}: {}", finding.severity, finding.words);
        // It may come after lines about other servers.
        if told.findings.insert(words.clone()) {
            say(&format!("{}{words}", column(&state.name)));
        }
    }
}

fn waiting(states: &[ServerState], passed: Duration) {
    for state in states.iter().filter(|state| state.state == Standing::Connecting) {
        say(&format!("{}{} ({} s)", column(&state.name), state.words, passed.as_secs()));
    }
}

/// How many findings of a server are remembered as told.
const REMEMBERED: usize = 1000;

/// The beginning of a line about one server. However long its name is, what follows stands apart from it.
fn column(name: &str) -> String {
    format!("  {name:<11} ")
}

/// Prints a line. A closed standard output is no reason to stop serving.
pub(crate) fn say(line: &str) {
    let _ = terminal::print(&format!("{}\n", clean(line)));
}

/// As JSON it is for a program that wants to know what happens; a person has the page for that.
fn log_to_stderr(json: bool) {
    use tracing_subscriber::{EnvFilter, fmt};
    let usual = if json { "warn,transom_host=info" } else { "warn" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(usual));
    // It logs the codes that are exchanged for tokens, so RUST_LOG cannot raise its level.
    let quiet = "rmcp::transport::auth=warn".parse().expect("a target and a level");
    let filter = filter.add_directive(quiet);
    let builder = fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if json { builder.json().init() } else { builder.init() }
}

/// How long a question at the terminal waits for its answer, and how many may wait.
const PATIENCE: Duration = Duration::from_secs(120);
const QUESTIONS: usize = 4;
/// What shells say of a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;
/// How often old rows are looked for.
const HOUR: Duration = Duration::from_secs(3_600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_does_not_run_into_what_is_said_of_it() {
        assert_eq!(column("demo"), "  demo        ");
        assert_eq!(column("localhost-3901"), "  localhost-3901 ");
    }
}
