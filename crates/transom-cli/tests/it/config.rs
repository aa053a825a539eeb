//! `transom.toml` as the binary finds and refuses it.

use crate::transom::Place;

#[test]
fn what_is_in_force_is_printed_with_its_source() {
    let toml = "[run]\nport = 8000\n[servers.a]\nurl = \"https://me:hush@a.test/mcp\"\n\
                headers = { X-Key = \"hush\" }\nscripts = [\"wasm\"]\n";
    let place = Place::new().with("transom.toml", toml);
    let (code, out, err) = place.transom(&["run", "--print-config", "--no-data"]);
    assert_eq!((code, &*err), (0, ""));
    assert!(!out.contains("hush"), "{out}");
    let has = |start: &str, end: &str| {
        assert!(out.lines().any(|line| line.starts_with(start) && line.ends_with(end)), "{out}");
    };
    has("# read: transom.toml", "(in this folder)");
    has("port = 8000", "# transom.toml line 2");
    has("no-data = true", "# --no-data");
    has("downloads = \"ask\"", "# default");
    has("url = \"https://a.test/mcp\"", "# transom.toml line 4");
    has("scripts = [\"wasm\"]", "# transom.toml line 6");
    // The same without the command's name.
    assert_eq!(place.transom(&["--print-config", "--no-data"]).1, out);
}

#[test]
fn files_are_looked_for_in_order() {
    let place = Place::new().with(".config/transom/transom.toml", "[run]\nport = 1");
    let port = |place: &Place, words: &[&str], env: Option<&str>| {
        let mut command = place.command(&[&["--print-config"], words].concat());
        command.envs(env.map(|path| ("TRANSOM_CONFIG", path)));
        let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let line = out.lines().find(|line| line.starts_with("port = ")).unwrap().to_owned();
        line.split_whitespace().nth(2).unwrap().to_owned()
    };
    assert_eq!(port(&place, &[], None), "1");
    let place = place.with("transom.toml", "[run]\nport = 2");
    assert_eq!(port(&place, &[], None), "2");
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
