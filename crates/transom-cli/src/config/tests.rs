use std::{ffi::OsString, path::Path};

use clap::Parser as _;
use transom::{
    csp::Grant,
    policy::{Policy, Stance},
};
use transom_host::{place::Place, upstream::Command};

use super::{setting::Setting, *};
use crate::{
    arguments::{Cli, Command as CliCommand},
    terminal::Unattended,
};

/// A configuration from a file and a command line, somewhere without other files.
fn load(toml: &str, words: &[&str]) -> Result<Config> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("transom.toml"), toml).unwrap();
    load_in(folder.path(), words)
}

/// The file of the folder counts as it would if it were named; `agreed.rs` tests what happens otherwise.
fn load_in(folder: &Path, words: &[&str]) -> Result<Config> {
    let named: &[&str] = if words.contains(&"--toml") { &[] } else { &["--toml", "transom.toml"] };
    let cli = Cli::parse_from([&["transom", "run"], named, words].concat());
    let Some(CliCommand::Run(arguments)) = cli.command else { panic!("run") };
    let home = |name: &str| (name == "HOME").then(|| OsString::from("/somebody"));
    Config::load(&arguments, &Surroundings { folder, variable: &home, terminal: &Unattended })
}

fn message(toml: &str) -> String {
    let error = load(toml, &[]).unwrap_err();
    format!("{error:#}")
}

#[test]
fn nothing_said_is_the_demo_and_the_house() {
    let config = load("", &[]).unwrap();
    assert_eq!(config.run.port, Setting::default(7420));
    assert_eq!(config.run.data.value, Some("/somebody/.local/share/transom".into()));
    assert_eq!(config.run.frames, Setting::default(Frames::Names));
    assert_eq!(config.rules.policy(), Policy::default());
    let [demo] = &*config.servers else { panic!("one server") };
    assert!(matches!(demo.target, Target::InProcess(_)));
    assert_eq!(demo.grants.value, []);
}

#[test]
fn bad_files_are_refused_with_the_line_and_what_to_do() {
    #[rustfmt::skip]
    let table = [
        ("[run]\nprot = 1",                              2, "unknown field `prot`, expected one of `port`"),
        ("[rnu]",                                        1, "unknown field `rnu`"),
        ("\"a\\u001b[2J\\u202e\" = 1",                    1, "unknown field `a\u{fffd}[2J\u{fffd}`"),
        ("[run]\nport = 70000",                          2, "expected u16"),
        ("[run]\n\nport = \"x\"",                        3, "expected u16"),
        ("[run]\nport = 1\nport = 2",                    3, "duplicate key"),
        ("[run\n",                                       1, ""),
        ("[run]\nsandbox = \"doors\"",                   2, "expected `names` or `ports`"),
        ("[run]\nsandbox-domain = \"https://a.test\"",   2, "https://*.sandbox.example"),
        ("[run]\nsandbox = \"ports\"\nsandbox-domain = \"https://*.a.test\"", 3, "keep one of them"),
        ("[run]\ndata-dir = \"x\"\nno-data = true",      3, "no-data contradicts data-dir"),
        ("[policy]\ndownloads = \"maybe\"",              2, "expected \"allow\", \"ask\" or \"deny\""),
        ("[policy]\ndownload = \"ask\"",                 2, "unknown field `download`"),
        ("[policy.tools]\nerase = \"allow\"",            2, "under [servers.NAME.policy.tools]"),
        ("[servers.a]\nurl = \"a.test\"",                2, "such as http://localhost:3001/mcp"),
        ("[servers.a]\nurl = \"http://me:hush@\"",       2, "such as http://localhost:3001/mcp"),
        ("[servers.a]\ncommand = \"x\"\nurl = \"http://a.test\"", 3, "has a command and a url"),
        ("[servers.a]\nargs = [\"x\"]",                  2, "args belong to a server with a command"),
        ("[servers.a]\nenv.X = \"1\"",                   2, "env belongs to a server with a command"),
        ("[servers.a]\nheaders.X = \"1\"",               2, "headers belong to a server with a url"),
        ("[servers.a]\ncommand = \"x\"\nheaders.X = \"1\"", 3, "headers belong to a server with a url"),
        ("[servers.a]\nurl = \"http://a.test\"\ncwd = \"x\"", 3, "cwd belongs to a server with a command"),
        ("[servers.a]\ncomand = \"x\"",                  2, "unknown field `comand`"),
        ("[servers.a]\nurl = \"http://a.test\"\ngrants = [\"inline\"]", 3, "expected one of `blob:`, `data:`, `wasm`, `eval`"),
        ("[servers.a]\nurl = \"http://a.test\"\nprivate = [\"x.com\"]", 3, "this is a public name, which views reach by declaring it"),
        ("[servers.a]\nurl = \"http://a.test\"\nprivate = [\"*\"]", 3, "expected a private host as in localhost:3000"),
        ("[servers.a.policy]\nsampling = true",          2, "expected a string, got boolean"),
        ("[servers.a]\ncommand = \"x\"\nenv = \"K=hush\"", 3, "expected a map, got string"),
        ("[policy]\nallow-domains = [\"x.com\"]\nblock-domains = [\n\"y.com\",\n\"x.com\"]", 2, "x.com is in allow-domains, but block-domains has x.com"),
        ("[policy]\nallow-domains = [\n\"a.x.com\"]\nblock-domains = [\"*.x.com\"]", 3, "block-domains has *.x.com"),
        ("[policy]\nblock-domains = [\"x.com\"]\n[servers.a.policy]\nallow-domains = [\"x.com\"]", 4, "keep one of them"),
        ("[policy]\nallow-domains = [\"x.com\"]\n[servers.a.policy]\nblock-domains = [\"x.com\"]", 4, "keep one of them"),
        ("[policy]\nhttps-links = \"deny\"\n[policy.links]\n\"x.com\" = \"ask\"", 4, "links to x.com are wanted"),
        ("[policy]\nhttps-links = \"deny\"\n[servers.a.policy.links]\n\"x.com\" = \"allow\"", 4, "links to x.com are wanted"),
        ("[servers.a.policy.tools]\nx = \"allow\"\nx = \"deny\"", 3, "duplicate key"),
        ("[policy]\nhttps-links = \"deny\"\nhttps-links = \"allow\"", 3, "duplicate key"),
        ("[run]\naudit = false\naudit-sync = true",  3, "there is no audit, because audit = false"),
        ("[run]\naudit = false\naudit-retain = 3",    3, "there is no audit, because audit = false"),
        ("[run]\nno-data = true\naudit = true",       3, "nothing is kept, because no-data = true"),
        ("[run]\nno-data = true\nremember-days = 3",  3, "nothing is kept, because no-data = true"),
        ("[limits]\nview = 3",                          2, "expected struct"),
        ("[limits.view]\nmesages = 3",                  2, "unknown field `mesages`"),
        ("[limits.view]\nmessages = -3",                2, "u64"),
        ("[limits.view]\n\nmessages = 0",               3, "messages = 0 would let nothing through"),
        ("[limits.view]\nmessage-size = 20_000_000",    2, "cannot be more than 16777216"),
        ("[limits.view]\nbytes-burst = 10\nmessage-size = 20", 3, "raise bytes-burst or lower message-size"),
        ("[limits.view]\ncalls = 20\n[limits.server]\ncalls = 10", 2, "calls of one view is 20, but all views of its server may have 10"),
        ("[limits]\nviews = 5\n[limits.server]\nviews = 6", 4, "one server may have 6 views, but all servers together only 5"),
        ("[limits.methods.\"tools/cal\"]\nsize = 1",    1, "views make no such request; there are tools/call,"),
        ("[limits.view]\nmessages = 5\n[limits.methods.ping]\nmessages = 6", 4, "ping may have 6 messages, but a view no more than 5"),
        ("[limits.methods.ping]\nmessages-burst = 6",   2, "messages-burst needs messages beside it"),
        ("[limits]\naway = 0",                          2, "away = 0 would let nothing through"),
        ("[servers.a.limits]\naway = 6",               2, "write it under [limits]"),
        ("[servers.a.limits.time]\nlist = 0",           2, "list = 0 would let nothing through"),
        ("[limits.time]\ncall = 9\ncall-idle = 10",     3, "raise call or lower call-idle"),
        ("[limits.time]\ncal = 9",                     2, "unknown field `cal`"),
        ("[servers.a.limits]\nviews = 6",               2, "write it under [limits]"),
        ("[servers.a.limits.view]\ncalls = 0",          2, "calls = 0 would let nothing through"),
    ];
    for (toml, line, words) in table {
        let message = message(toml);
        assert!(message.starts_with(&format!("transom.toml, line {line}: ")), "{toml}\n{message}");
        assert!(message.contains(words), "{toml}\n{message}");
        assert!(!message.contains('\n') && !message.contains("hush"), "{message}");
    }
}

#[test]
fn a_program_that_is_named_by_its_path_is_the_one_beside_the_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    let at = folder.path().join("sub/transom.toml");
    let program = |toml: &str| {
        std::fs::write(&at, toml).unwrap();
        let config = load_in(folder.path(), &["--toml", at.to_str().unwrap()]).unwrap();
        let Target::Stdio(command) = &config.servers[0].target else { panic!("a program") };
        (command.program.clone(), command.cwd.clone(), Place::of(&config.servers[0].target))
    };
    let beside = |name: &str| folder.path().join("sub").join(name).to_str().unwrap().to_owned();
    let (resolved, cwd, place) = program("[servers.x]\ncommand = './x'");
    assert_eq!((resolved, cwd), (beside("x"), None));
    let resolved = Target::Stdio(Command::new(beside("x"), Vec::<String>::new()));
    assert_eq!(place.id(), Place::of(&resolved).id());
    assert_eq!(program("[servers.x]\ncommand = 'bin/x'").0, beside("bin/x"));
    assert_eq!(program("[servers.x]\ncommand = '/bin/x'").0, "/bin/x");
    assert_eq!(program("[servers.x]\ncommand = '~/x'").0, "/somebody/x");
    assert_eq!(program("[servers.x]\ncommand = 'npx'").0, "npx");
    // Where a folder is said, the program is found from there.
    let (resolved, cwd, _) = program("[servers.x]\ncommand = './x'\ncwd = 'y'");
    assert_eq!((&*resolved, cwd), ("./x", Some(beside("y").into())));
}

#[test]
fn what_only_looks_like_a_contradiction_is_none() {
    for toml in [
        // A hole in what is allowed, and a wish that another scheme still lets through.
        "[policy]\nallow-domains = [\"*.x.com\"]\nblock-domains = [\"evil.x.com\"]",
        "[policy]\nhttps-links = \"deny\"\nhttp-links = \"ask\"\n[policy.links]\n\"x.com\" = \"allow\"",
        "[policy]\nhttps-links = \"deny\"\n[policy.links]\n\"x.com\" = \"deny\"",
        "[policy]\ndownloads = \"deny\"\n[servers.a.policy]\ndownloads = \"allow\"",
        "[run]\naudit = false\naudit-sync = false",
        "[limits.server]\ncalls = 10",
        "[limits.view]\ncalls = 500",
    ] {
        assert!(load(toml, &[]).is_ok(), "{toml}: {}", message(toml));
    }
}

#[test]
fn the_command_line_comes_before_the_file_and_the_file_before_the_house() {
    let toml = "[run]\nport = 8000\nopen = true\nsandbox = \"ports\"\ndata-dir = \"kept\"";
    let config = load(toml, &["--port", "9000", "--sandbox-domain", "https://*.a.test"]).unwrap();
    let line = |line| Source::Line(Arc::new("transom.toml".into()), line);
    assert_eq!(config.run.port, Setting { value: 9000, source: Source::Flag("--port") });
    assert_eq!(config.run.open, Setting { value: true, source: line(3) });
    assert_eq!(config.run.json, Setting::default(false));
    assert_eq!(config.run.data, Setting { value: Some("kept".into()), source: line(5) });
    assert_eq!(config.run.frames.source, Source::Flag("--sandbox-domain"));
    assert_eq!(load(toml, &["--no-data"]).unwrap().run.data.value, None);
}

#[test]
fn servers_of_the_command_line_take_the_place_of_the_files() {
    let toml = "[servers.a]\nurl = \"http://a.test\"\ngrants = [\"wasm\"]\n\
                [servers.b]\ngrants = [\"data:\"]\npolicy.downloads = \"deny\"";
    let names = |words: &[&str]| {
        let config = load(toml, words).unwrap();
        config.servers.into_iter().map(|server| server.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&[]), ["a"]);
    assert_eq!(names(&["http://localhost:3001/mcp"]), ["localhost-3001"]);
    assert_eq!(names(&["http://a"]), ["a-2"]);
}

#[test]
fn what_a_section_grants_goes_to_its_own_server_and_to_none_that_is_only_called_so() {
    let toml = "[servers.a]\nurl = \"https://a.test/mcp\"\ngrants = [\"wasm\"]\n\
                [servers.pdf]\ngrants = [\"data:\"]\npolicy.downloads = \"deny\"";
    let first = |words: &[&str]| {
        let server = load(toml, words).unwrap().servers.into_iter().next().unwrap();
        (server.name.clone(), server.grants.value.clone(), server.agreement().policy.unwrap())
    };
    // By its place, whatever somebody calls it.
    let (name, grants, _) = first(&["https://a.test/mcp"]);
    assert_eq!((&*name, &*grants), ("a", &[Grant::Wasm][..]));
    let (name, grants, _) = first(&["https://a.test/other"]);
    assert_eq!((&*name, &*grants), ("a.test", &[][..]));
    // A name that somebody gave is meant; one that was made of a command is not.
    let (name, grants, policy) = first(&["--name", "pdf", "--", "./anything"]);
    assert_eq!((&*name, &*grants, policy.downloads), ("pdf", &[Grant::Data][..], Stance::Deny));
    for words in [&["--", "npx", "-y", "@evil/pdf"][..], &["https://pdf/mcp"]] {
        let error = format!("{:#}", load(toml, words).unwrap_err());
        assert!(error.contains("is only called pdf after its address or command"), "{error}");
        assert!(error.contains("say --name pdf"), "{error}");
        let mut other = vec!["--name", "other"];
        other.extend(words);
        let (name, grants, _) = first(&other);
        assert_eq!((&*name, &*grants), ("other", &[][..]));
    }
    let error = |words: &[&str]| format!("{:#}", load(toml, words).unwrap_err());
    assert!(error(&["--name", "a", "--", "./x"]).contains("there is a server \"a\" already"));
    assert!(
        error(&["--name", "x", "http://b", "http://c"]).contains("there are 2 on the command line")
    );
    assert!(error(&["--name", "x"]).contains("there are 0 on the command line"));
}

#[test]
fn a_section_is_about_a_server_of_another_file_only_if_it_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("mcp.json");
    std::fs::write(&json, r#"{"mcpServers":{"pdf":{"command":"x"}}}"#).unwrap();
    std::fs::write(folder.path().join("other.json"), "{}").unwrap();
    let config = ["--config", json.to_str().unwrap()];
    for (from, grants) in [
        ("from = \"mcp.json\"\n", Some(Grant::Wasm)),
        ("", None),
        ("from = \"other.json\"\n", None),
    ] {
        let toml = format!("[servers.pdf]\n{from}grants = [\"wasm\"]");
        std::fs::write(folder.path().join("transom.toml"), toml).unwrap();
        match (load_in(folder.path(), &config), grants) {
            (Ok(config), Some(grant)) => assert_eq!(config.servers[0].grants.value, [grant]),
            (Err(error), None) => {
                let error = format!("{error:#}");
                assert!(error.contains("write from = ") && error.contains("mcp.json"), "{error}");
            }
            (other, _) => panic!("{from}: {:?}", other.is_ok()),
        }
    }
    let both = "[servers.pdf]\ncommand = \"x\"\nfrom = \"mcp.json\"";
    assert!(message(both).contains("from is for a server that the section does not name itself"));
}

#[test]
fn what_is_private_is_granted_to_one_server_and_dev_grants_this_machine() {
    let toml = "[servers.a]\nurl = \"http://a.test\"\nprivate = [\"localhost:3000\", \"*.corp.internal\"]\n\
                [servers.b]\ncommand = \"x\"";
    let mut config = load(toml, &[]).unwrap();
    let private = |server: &ConfiguredServer| -> Vec<String> {
        let policy = server.agreement().policy.unwrap();
        policy.domains.private.iter().map(ToString::to_string).collect()
    };
    assert_eq!(private(&config.servers[0]), ["localhost:3000", "*.corp.internal"]);
    assert_eq!(private(&config.servers[1]), [""; 0]);
    config.servers[1].own = true;
    assert_eq!(private(&config.servers[1]), ["loopback"]);
    let again = load(&config.to_string(), &[]).unwrap();
    assert_eq!(again.servers[0].private.value, config.servers[0].private.value);
}

#[test]
fn two_files_may_not_use_one_name() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("mcp.json");
    std::fs::write(folder.path().join("transom.toml"), "[servers.a]\nurl = \"http://a.test\"")
        .unwrap();
    std::fs::write(&json, r#"{"mcpServers":{"a":{"command":"x"}}}"#).unwrap();
    let config = ["--config", json.to_str().unwrap()];
    let error = load_in(folder.path(), &config).unwrap_err().to_string();
    assert!(error.contains("both have a server \"a\"; give one of them another name"), "{error}");
    std::fs::write(&json, r#"{"mcpServers":{"a":{"command":"x","disabled":true}}}"#).unwrap();
    let error = load_in(folder.path(), &config).unwrap_err().to_string();
    assert!(error.contains("all of its servers are disabled"), "{error}");
}

#[test]
fn a_file_that_was_asked_for_must_be_there() {
    let error = format!("{:#}", load("", &["--toml", "missing.toml"]).unwrap_err());
    assert!(
        error.contains("cannot read missing.toml (--toml); name a file that is there"),
        "{error}"
    );
}

#[test]
fn a_file_without_end_is_not_read_to_its_end() {
    let error = message(&"#".repeat((1 << 20) + 1));
    assert!(error.contains("is longer than 1048576 bytes"), "{error}");
}

#[test]
fn paths_of_a_file_are_relative_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sub.toml");
    std::fs::write(&path, "[servers.a]\ncommand = \"x\"\ncwd = \"here\"").unwrap();
    let config = load_in(Path::new("/"), &["--toml", path.to_str().unwrap()]).unwrap();
    let Target::Stdio(command) = &config.servers[0].target else { panic!("a command") };
    assert_eq!(command.cwd, Some(folder.path().join("here")));
}

#[test]
fn what_is_printed_can_be_read_again_and_holds_no_secret() {
    let toml = "[run]\nsandbox-domain = \"https://*.a.test\"\n\
        [policy]\nmessages = \"deny\"\n\
        [servers.\"a b\"]\ncommand = \"npx\"\nargs = [\"--token=hush\"]\ncwd = \"/x\"\n\
        env = { KEY = \"hush\", OTHER = \"${NAME}\" }\ngrants = [\"blob:\"]\n\
        [servers.\"a b\".policy]\ndownloads = \"allow\"\n\
        [servers.\"a b\".policy.tools]\n\"erase all\" = \"deny\"\n\
        [servers.web]\nurl = \"https://me:hush@a.test/mcp?key=hush\"\n\
        headers = { Authorization = \"Bearer ${TOKEN}\", X-Key = \"hush\" }\n\
        [servers.off]\nurl = \"http://off.test\"\ndisabled = true\n\
        [servers.nobody]\ngrants = []\n";
    let config = load(toml, &["--port", "1234"]).unwrap();
    assert_eq!(
        (&*config.absent, &*config.disabled),
        (&["nobody".to_owned()][..], &["off".to_owned()][..])
    );
    let printed = config.to_string();
    assert!(!printed.contains("hush"), "{printed}");
    for (line, source) in [
        ("port = 1234", "--port"),
        ("json = false", "default"),
        ("messages = \"deny\"", "transom.toml line 4"),
        ("env.OTHER = \"${NAME}\"", "transom.toml line 6"),
        ("downloads = \"allow\"", "transom.toml line 12"),
        ("url = \"https://a.test/mcp\"", "transom.toml line 16"),
    ] {
        let found = printed.lines().any(|text| text.starts_with(line) && text.ends_with(source));
        assert!(found, "{line} # {source}\n{printed}");
    }
    for words in [&["--no-data"][..], &["--no-audit"], &["--retain", "3"]] {
        let printed = load(toml, words).unwrap().to_string();
        assert!(load(&printed, &[]).is_ok(), "{}", message(&printed));
    }
    let again = load(&printed, &[]).unwrap();
    assert_eq!(again.rules.policy(), config.rules.policy());
    for (again, before) in again.servers.iter().zip(&config.servers) {
        assert_eq!(again.agreement().policy, before.agreement().policy);
        assert_eq!(again.grants.value, before.grants.value);
    }
}

#[test]
fn the_example_in_the_documentation_is_complete_and_parses() {
    let text = include_str!("../../../../docs/transom.toml");
    let config = load(text, &[]).unwrap();
    assert_eq!(config.servers.len(), 2);
    // Every key of the file has a line there, some of them as comments.
    for key in config.rules.kinds().map(|(name, _)| name).chain(KEYS) {
        let has = text.lines().any(|line| {
            let line = line.trim_start_matches("# ");
            line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='))
        });
        assert!(has, "{key} is missing in docs/transom.toml");
    }
    // What stands there as a comment would parse too.
    let uncommented = |line: &str| match line.strip_prefix("# ") {
        Some(rest) if rest.contains(" = ") || rest.starts_with('[') => rest.to_owned() + "\n",
        _ => line.to_owned() + "\n",
    };
    let all: String = text.lines().map(uncommented).collect();
    let file = Text { path: Path::new("x"), text: &all }.parse().unwrap();
    assert!(file.file.run.no_data.is_some() && file.file.run.sandbox_domain.is_some());
}

#[test]
fn the_example_in_the_guide_parses() {
    let guide = include_str!("../../../../docs/running.md");
    let (_, example) = guide.split_once("```toml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let config = load(example, &[]).unwrap();
    assert_eq!(config.servers[0].grants.value, [Grant::Data]);
}

const KEYS: [&str; 18] = [
    "port",
    "open",
    "json",
    "data-dir",
    "no-data",
    "sandbox",
    "sandbox-domain",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "grants",
    "permissions",
    "private",
    "disabled",
    "from",
];
