//! `transom.toml` as the binary finds and refuses it.

use crate::transom::Place;

#[test]
fn what_is_in_force_is_printed_with_its_source() {
    let toml = "[run]\nport = 8000\n[servers.a]\nurl = \"https://me:hush@a.test/mcp\"\n\
                headers = { X-Key = \"hush\" }\ngrants = [\"wasm\"]\n";
    let place = Place::new().with("transom.toml", toml);
    let words = ["--print-config", "--no-data", "--toml", "transom.toml"];
    let (code, out, err) = place.transom(&[&["run"][..], &words].concat());
    assert_eq!((code, &*err), (0, ""));
    assert!(!out.contains("hush"), "{out}");
    let has = |start: &str, end: &str| {
        assert!(out.lines().any(|line| line.starts_with(start) && line.ends_with(end)), "{out}");
    };
    has("# read: transom.toml", "(--toml)");
    has("port = 8000", "# transom.toml line 2");
    has("no-data = true", "# --no-data");
    has("downloads = \"ask\"", "# default");
    has("url = \"https://a.test/mcp\"", "# transom.toml line 4");
    has("grants = [\"wasm\"]", "# transom.toml line 6");
    // The same without the command's name.
    assert_eq!(place.transom(&words).1, out);
}

#[test]
fn files_are_looked_for_in_order() {
    let place = Place::new().with(".config/transom/transom.toml", "[run]\nport = 1");
    let port = |place: &Place, words: &[&str], env: Option<&str>| {
        let mut command = place.command(&[&["--print-config"], words].concat());
        command.envs(env.map(|path| ("TRANSOM_CONFIG", place.path().join(path))));
        let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let line = out.lines().find(|line| line.starts_with("port = ")).unwrap().to_owned();
        line.split_whitespace().nth(2).unwrap().to_owned()
    };
    assert_eq!(port(&place, &[], None), "1");
    assert_eq!(port(&place, &["--no-toml"], None), "7420");
    let place = place.with("transom.toml", "[run]\nport = 2");
    // Found in this folder, it hides the user's own, but does not count by itself.
    let (code, _, err) = place.transom(&["--print-config"]);
    assert!(code == 2 && err.contains("has not been agreed to"), "{err}");
    let place = place.with("env.toml", "[run]\nport = 3");
    assert_eq!(port(&place, &[], Some("env.toml")), "3");
    let place = place.with("flag.toml", "[run]\nport = 4");
    assert_eq!(port(&place, &["--toml", "flag.toml"], Some("env.toml")), "4");
    assert_eq!(port(&place, &["--toml", "flag.toml", "--port", "5"], None), "5");
}

#[test]
fn a_bad_file_ends_with_2_and_says_where() {
    let place = Place::new().with("transom.toml", "[run]\n\nprot = 1\n");
    for words in [&["run"][..], &[], &["inspect"], &["--print-config"]] {
        let (code, out, err) = place.transom(words);
        assert_eq!((code, &*out), (2, ""), "{words:?}");
        let start = "transom: transom.toml, line 3: unknown field `prot`, expected one of `port`";
        assert!(err.starts_with(start), "{err}");
    }
    let (code, _, err) = place.transom(&["run", "--toml", "none.toml"]);
    assert_eq!(code, 2);
    assert!(err.contains("cannot read none.toml (--toml); name a file that is there"), "{err}");
    let (code, _, err) = place.transom(&["run", "--toml", "transom.toml", "--config", "none.json"]);
    assert_eq!(code, 2);
    assert!(err.contains("line 3"), "{err}");
}

/// A file of the folder, every command that would read it, and answers that no person gave.
#[test]
fn only_a_person_at_a_terminal_agrees_to_a_file_that_was_found() {
    let toml = "[servers.x]\ncommand = \"sh\"\nargs = [\"-c\", \"touch started\"]\n";
    let place = Place::new().with("transom.toml", toml).with("yes", "y\nyes\ny\n");
    for words in [
        &["run"][..],
        &[],
        &["dev"],
        &["inspect"],
        &["check"],
        &["audit", "list"],
        &["decisions", "list"],
        &["run", "http://127.0.0.1:1/mcp"],
        &["dev", "--", "true"],
    ] {
        for variable in [None, Some("transom.toml"), Some("./transom.toml")] {
            let mut command = place.command(words);
            command.envs(variable.map(|path| ("TRANSOM_CONFIG", path)));
            command.stdin(std::fs::File::open(place.path().join("yes")).unwrap());
            let out = command.output().unwrap();
            let err = String::from_utf8(out.stderr).unwrap();
            assert_eq!(out.status.code(), Some(2), "{words:?}: {err}");
            assert!(err.contains("server x: starts sh -c \"touch started\""), "{words:?}: {err}");
            assert!(err.contains("--toml") && err.contains("--no-toml"), "{words:?}: {err}");
        }
    }
    assert!(!place.path().join("started").exists());
    let (code, _, err) = place.transom(&["inspect", "--toml", "transom.toml"]);
    assert!(code == 2 && place.path().join("started").exists(), "{err}");
}
