//! The files that a person agreed to: each by its path and the hash of its text.
//!
//! A `transom.toml` in the current folder can start programs and loosen rules, and a stranger may have written it. So it
//! counts only after the person has seen what it does and said yes, once for each text of it.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use transom_host::private_folder;

use super::{
    effects::{Effects, Show},
    file::Parsed,
    find::{Found, Surroundings},
};

/// Where it is kept what was agreed to.
#[derive(Clone, Debug)]
pub(super) struct Agreed {
    /// The person's own data folder. Never one that the file itself could name, or bring along: it would agree to itself.
    folder: Option<PathBuf>,
    /// Whether a yes is kept for the next run.
    keeps: bool,
}

/// One file that was agreed to.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    path: PathBuf,
    hash: String,
    /// What it did then, to say later what has changed.
    effects: Vec<String>,
}

impl Agreed {
    pub(super) fn new(around: &Surroundings<'_>, keeps: bool) -> Self {
        Self { folder: around.data_folder().map(|folder| folder.join(FOLDER)), keeps }
    }

    /// Lets a file through that counts: the person named it, agreed to this text before, or agrees to it now. `text` is
    /// the text that is then used, and `parsed` what was read of it.
    pub(super) fn check(
        &self,
        found: &Found,
        text: &str,
        parsed: &Parsed<'_>,
        around: &Surroundings<'_>,
    ) -> Result<()> {
        if found.named || parsed.does_nothing() {
            return Ok(());
        }
        let effects = Effects::of_toml(&parsed.table, Show::Whole);
        let path = place(&around.folder.join(&found.path))?;
        let before = self.read(&path);
        let hash = hash(text.as_bytes());
        if before.as_ref().is_some_and(|before| before.hash == hash) {
            return Ok(());
        }
        match around.terminal.ask(&question(&path, &effects, before.as_ref()))? {
            Some(true) => self.write(&Record { path, hash, effects: effects.lines }),
            Some(false) => bail!(
                "you did not agree to {}, so nothing was started; --no-toml runs without it",
                found.path.display()
            ),
            None => bail!(unasked(found, parsed)),
        }
    }

    /// The person agreed to what we write into a file.
    pub(super) fn keep(&self, path: &Path, text: &str, effects: Effects) -> Result<()> {
        let (path, hash) = (place(path)?, hash(text.as_bytes()));
        self.write(&Record { path, hash, effects: effects.lines })
    }

    fn read(&self, path: &Path) -> Option<Record> {
        // One that is damaged counts for nothing: the person is asked again.
        let text = std::fs::read_to_string(self.file(path)?).ok()?;
        serde_json::from_str(&text).ok().filter(|record: &Record| record.path == path)
    }

    fn write(&self, record: &Record) -> Result<()> {
        let Some(file) = self.file(&record.path).filter(|_| self.keeps) else { return Ok(()) };
        let folder = file.parent().expect("a file of a folder");
        let kept = private_folder(folder).and_then(|()| replace(&file, folder, record));
        kept.with_context(|| {
            format!("cannot keep in {} that you agreed; --no-data keeps nothing", folder.display())
        })
    }

    /// A file for each path: two processes that keep something at once do not lose either.
    fn file(&self, path: &Path) -> Option<PathBuf> {
        let name = hash(path.as_os_str().as_encoded_bytes());
        Some(self.folder.as_ref()?.join(name + ".json"))
    }
}

/// In one piece, for its owner's eyes only: a temporary file is made that way.
fn replace(file: &Path, folder: &Path, record: &Record) -> io::Result<()> {
    let mut fresh = tempfile::NamedTempFile::new_in(folder)?;
    fresh.write_all(serde_json::to_string(record)?.as_bytes())?;
    fresh.as_file().sync_all()?;
    fresh.persist(file)?;
    Ok(())
}

/// Where a file stands. A link is not followed to its end: what is relative in the file is so to where the link is.
fn place(path: &Path) -> Result<PathBuf> {
    let unknown = || format!("cannot tell where {} is", path.display());
    let folder = path.parent().with_context(unknown)?.canonicalize().with_context(unknown)?;
    Ok(folder.join(path.file_name().with_context(unknown)?))
}

/// What a person reads before they decide.
fn question(path: &Path, effects: &Effects, before: Option<&Record>) -> String {
    let path = crate::terminal::clean(&path.display().to_string()).into_owned();
    let old = before.map(|before| &*before.effects).unwrap_or_default();
    let mut text = match before {
        None => format!(
            "{path}\nwas found in this folder, and you have not agreed to it. If it counts:\n\n"
        ),
        Some(_) => format!(
            "{path}\nhas changed since you agreed to it (+ is new, - is gone). If it counts:\n\n"
        ),
    };
    for gone in old.iter().filter(|line| !effects.lines.contains(line)) {
        writeln!(text, "- {gone}").expect("a string takes everything");
    }
    for line in &effects.lines {
        let mark = if before.is_some() && !old.contains(line) { '+' } else { ' ' };
        writeln!(text, "{mark} {line}").expect("a string takes everything");
    }
    if effects.starts() {
        text.push_str("\n`transom dev` starts these programs with all of your environment.\n");
    }
    text + &format!("\nLet it count ({})? [y/N] ", effects.sum())
}

/// The error where no person can be asked. It may end in a log.
fn unasked(found: &Found, parsed: &Parsed<'_>) -> String {
    let (path, why) = (found.path.display(), found.why);
    let effects = Effects::of_toml(&parsed.table, Show::Masked).lines;
    format!(
        "{path} ({why}) has not been agreed to. It would do this:\n  {}\n\
         Run `transom run` in a terminal to be asked, name the file to let it count this time (--toml {path}), \
         or leave it out (--no-toml)",
        effects.join("\n  ")
    )
}

fn hash(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

const FOLDER: &str = "agreed";

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, ffi::OsString};

    use super::*;
    use crate::{arguments::RunArguments, config::Config, terminal::Terminal};

    /// A person who answers always the same, or a place without one.
    struct Asked {
        answer: Option<bool>,
        questions: RefCell<Vec<String>>,
    }

    impl Terminal for Asked {
        fn ask(&self, question: &str) -> io::Result<Option<bool>> {
            self.questions.borrow_mut().push(question.to_owned());
            Ok(self.answer)
        }
    }

    /// A folder with a stranger's file, and a home elsewhere.
    struct Scene {
        home: tempfile::TempDir,
        folder: tempfile::TempDir,
    }

    impl Scene {
        fn new(toml: &str) -> Self {
            let [home, folder] = [(); 2].map(|()| tempfile::tempdir().unwrap());
            let scene = Self { home, folder };
            scene.write(toml);
            scene
        }

        fn write(&self, toml: &str) {
            std::fs::write(self.folder.path().join("transom.toml"), toml).unwrap();
        }

        /// What comes of a run with these arguments, and what was asked.
        fn load(
            &self,
            answer: Option<bool>,
            arguments: &RunArguments,
        ) -> (Result<Config>, Vec<String>) {
            self.load_in(self.folder.path(), answer, arguments)
        }

        fn load_in(
            &self,
            folder: &Path,
            answer: Option<bool>,
            arguments: &RunArguments,
        ) -> (Result<Config>, Vec<String>) {
            let terminal = Asked { answer, questions: RefCell::default() };
            let home = OsString::from(self.home.path());
            let variable = |name: &str| (name == "HOME").then(|| home.clone());
            let around = Surroundings { folder, variable: &variable, terminal: &terminal };
            let config = Config::load(arguments, &around);
            (config, terminal.questions.into_inner())
        }

        /// Whether the operator is asked again.
        fn asks(&self) -> bool {
            !self.load(Some(false), &RunArguments::default()).1.is_empty()
        }
    }

    fn run() -> RunArguments {
        RunArguments::default()
    }

    const STARTS: &str = "[policy]\ndownloads = 'allow'\n[servers.x]\ncommand = './x'\nargs = ['--all']\nenv.K = '${AWS}'\n";

    #[test]
    fn a_found_file_counts_after_a_person_saw_what_it_does_and_said_yes() {
        let scene = Scene::new(STARTS);
        let (refused, asked) = scene.load(Some(false), &run());
        assert!(format!("{:#}", refused.unwrap_err()).contains("--no-toml runs without it"));
        let [question] = &*asked else { panic!("one question") };
        for words in [
            "LOOSENS the policy for downloads: allow",
            "server x: starts ./x --all",
            "server x: gets K = your variable AWS",
            "Let it count (1 program, 1 variable of your environment)? [y/N] ",
        ] {
            assert!(question.contains(words), "{question}");
        }
        assert!(scene.asks(), "a no is not kept as a yes");
        let (config, asked) = scene.load(Some(true), &run());
        assert_eq!((config.unwrap().servers.len(), asked.len()), (1, 1));
        assert!(!scene.asks(), "once");
    }

    #[test]
    fn nobody_to_ask_is_a_no_that_says_what_to_do_and_shows_no_secret() {
        let scene =
            Scene::new("[servers.x]\ncommand = './x'\nargs = ['--token', 'hush']\nenv.K = 'hush'");
        let words = format!("{:#}", scene.load(None, &run()).0.unwrap_err());
        for part in [
            "transom.toml (in this folder)",
            "starts ./x",
            "in a terminal",
            "--toml transom.toml",
            "--no-toml",
        ] {
            assert!(words.contains(part), "{part}: {words}");
        }
        assert!(!words.contains("hush"), "{words}");
    }

    #[test]
    fn a_found_file_says_nothing_about_servers_of_the_command_line_either() {
        let scene =
            Scene::new("[policy]\ndestructive-tools = 'allow'\n[servers.b]\ngrants = ['wasm']");
        let mut named = run();
        named.servers.urls = vec!["http://b".parse().unwrap()];
        assert!(scene.load(None, &named).0.is_err());
        named.servers.no_toml = true;
        let config = scene.load(None, &named).0.unwrap();
        assert_eq!(config.rules, crate::config::rules::Rules::default());
        assert_eq!(config.servers[0].grants.value, []);
    }

    #[test]
    fn another_text_is_asked_about_again_with_what_changed() {
        let scene = Scene::new(STARTS);
        scene.load(Some(true), &run()).0.unwrap();
        scene.write(&STARTS.replace("--all", "--more"));
        let (_, asked) = scene.load(Some(true), &run());
        let [question] = &*asked else { panic!("one question") };
        assert!(question.contains("has changed since you agreed"), "{question}");
        assert!(question.contains("\n- server x: starts ./x --all\n"), "{question}");
        assert!(question.contains("\n+ server x: starts ./x --more\n"), "{question}");
        assert!(question.contains("\n  server x: gets K"), "{question}");
        assert!(!scene.asks());
        // What was agreed to before counts no more than anything else.
        scene.write(STARTS);
        assert!(scene.asks());
        // A comment changes nothing that it does, and still it is another text.
        scene.write(&format!("# hello\n{}", STARTS.replace("--all", "--more")));
        assert!(scene.asks());
    }

    #[test]
    fn the_same_text_in_another_folder_is_another_file() {
        let scene = Scene::new(STARTS);
        scene.load(Some(true), &run()).0.unwrap();
        let other = tempfile::tempdir().unwrap();
        std::fs::write(other.path().join("transom.toml"), STARTS).unwrap();
        let (_, asked) = scene.load_in(other.path(), Some(false), &run());
        assert_eq!(asked.len(), 1);
        // Nor is a link to the file that was agreed to: what is relative in it means another place.
        #[cfg(unix)]
        {
            let linked = tempfile::tempdir().unwrap();
            let (from, to) =
                (scene.folder.path().join("transom.toml"), linked.path().join("transom.toml"));
            std::os::unix::fs::symlink(from, to).unwrap();
            let (_, asked) = scene.load_in(linked.path(), Some(false), &run());
            assert_eq!(asked.len(), 1);
        }
    }

    #[test]
    fn a_file_that_the_person_named_counts_and_is_not_remembered() {
        let scene = Scene::new(STARTS);
        let mut named = run();
        named.servers.toml = Some("transom.toml".into());
        let (config, asked) = scene.load(None, &named);
        assert_eq!((config.unwrap().servers.len(), asked.len()), (1, 0));
        assert!(scene.asks());
    }

    #[test]
    fn no_file_agrees_to_itself() {
        let scene = Scene::new(STARTS);
        scene.load(Some(true), &run()).0.unwrap();
        // The operator is pointed to a data folder that came with it, in which its author has agreed to it.
        let brought = scene.folder.path().join("brought");
        let kept = scene.home.path().join(".local/share/transom");
        std::fs::rename(&kept, &brought).unwrap();
        let text = format!("# brought\n{STARTS}");
        scene.write(&text);
        for record in std::fs::read_dir(brought.join(FOLDER)).unwrap() {
            let path = record.unwrap().path();
            let mut record: Record =
                serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            record.hash = hash(text.as_bytes());
            std::fs::write(&path, serde_json::to_string(&record).unwrap()).unwrap();
        }
        assert!(scene.asks());
        let mut pointed = run();
        pointed.data_dir = Some(brought);
        assert_eq!(scene.load(Some(false), &pointed).1.len(), 1);
    }

    /// A data folder holds what people have decided.
    #[test]
    fn no_found_file_brings_its_own_decisions() {
        let scene = Scene::new("[run]\ndata-dir = '.t'");
        let mut named = run();
        for flagged in [None, Some("mine".into())] {
            named.data_dir = flagged;
            let (config, asked) = scene.load(Some(true), &named);
            let words = format!("{:#}", config.unwrap_err());
            assert!(words.contains("transom.toml, line 2: ") && words.contains("say --data-dir"));
            assert!(asked.is_empty());
        }
        named = run();
        named.servers.toml = Some("transom.toml".into());
        let folder = scene.load(None, &named).0.unwrap().run.data.value.unwrap();
        assert!(folder.ends_with(".t"), "{}", folder.display());
    }

    #[test]
    fn a_yes_is_kept_for_its_owner_alone_and_not_without_a_data_folder() {
        let scene = Scene::new(STARTS);
        let mut nothing = run();
        nothing.no_data = true;
        scene.load(Some(true), &nothing).0.unwrap();
        assert!(scene.asks());
        scene.load(Some(true), &run()).0.unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let folder = scene.home.path().join(".local/share/transom").join(FOLDER);
            let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&folder), 0o700);
            let [file] = &*std::fs::read_dir(&folder).unwrap().collect::<Vec<_>>() else {
                panic!("one file")
            };
            assert_eq!(mode(&file.as_ref().unwrap().path()), 0o600);
        }
    }

    #[test]
    fn a_file_that_does_nothing_needs_no_yes() {
        let scene = Scene::new("# nothing yet\n");
        let (config, asked) = scene.load(None, &run());
        assert!(config.is_ok() && asked.is_empty());
    }

    /// A key by which a reader of values speaks to itself once made everything else in the file invisible.
    #[test]
    fn no_key_hides_what_a_found_file_does() {
        let key = "\"$serde_json::private::RawValue\"";
        for hidden in [
            format!("[servers.{key}]\ndisabled = true\n[servers.x]\ncommand = './x'"),
            format!("[servers.x]\ncommand = './x'\nenv = {{ {key} = '[' }}"),
            format!("[servers.x]\ncommand = './x'\n[servers.x.policy.tools]\n{key} = 'allow'"),
            format!("[servers.x]\ncommand = './x'\nargs = [{{ {key} = '1' }}]"),
            "[servers.\"$serde_json::private::Number\"]\ncommand = './x'".to_owned(),
        ] {
            let scene = Scene::new(&hidden);
            let words = format!("{:#}", scene.load(None, &run()).0.unwrap_err());
            assert!(words.contains("is reserved; choose another name"), "{hidden}\n{words}");
        }
    }

    #[test]
    fn whatever_makes_a_difference_is_asked_about_even_if_there_is_little_to_show() {
        for text in ["[servers.x]", "[servers.x]\nenv = {}\ncommand = 'x'", "[servers.x.oauth]"] {
            assert!(Scene::new(text).asks(), "{text}");
        }
        assert!(!Scene::new("[run]\n[policy]").asks());
    }
}
