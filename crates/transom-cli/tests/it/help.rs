//! What it says about itself.

use crate::transom::Place;

#[test]
fn help_shows_the_way() {
    let place = Place::new();
    #[rustfmt::skip]
    let table: [(&[&str], &[&str]); 10] = [
        (&["--help"], &["Shows the user interfaces of MCP servers", "Commands:", "run", "dev", "new", "inspect", "check", "audit", "decisions", "completions", "Examples:", "TRANSOM_CONFIG", "Exit codes:"]),
        (&["-h"], &["Examples:", "transom inspect http://localhost:3001/mcp"]),
        (&["run", "--help"], &["Servers:", "--config", "--toml", "Page:", "--port", "--sandbox-domain", "Records:", "--no-data", "--no-audit", "--retain", "--print-config", "Examples:"]),
        (&["inspect", "--help"], &["Exit codes: 0", "--json", "Examples:"]),
        (&["dev", "--help"], &["TRANSOM_DEV=1", "Servers:", "Page:", "--port", "Records:", "Files:", "--watch", "--ignore", "Examples:"]),
        (&["new", "--help"], &["<NAME>", "--template", "html", "askama", "react", "--path", "Examples:"]),
        (&["check", "--help"], &["Exit codes: 0", "--level", "--ignore", "--call", "--no-call", "--same", "--timeout", "--json", "--sarif", "--rules", "Servers:", "--config", "--env", "CARGO_HOME", "Examples:"]),
        (&["audit", "--help"], &["list", "export", "verify", "prune", "--data-dir", "Examples:"]),
        (&["decisions", "--help"], &["list", "forget", "--data-dir", "Examples:"]),
        (&["completions", "--help"], &["bash", "zsh", "fish"]),
    ];
    for (words, expected) in table {
        let (code, out, _) = place.transom(words);
        assert_eq!(code, 0, "{words:?}");
        // In this order.
        let mut rest = &*out;
        for part in expected {
            let at = rest.find(part).unwrap_or_else(|| panic!("{words:?}: {part} in\n{out}"));
            rest = &rest[at..];
        }
        assert!(!out.contains("demo-server"), "{out}");
        assert!(out.lines().all(|line| line.chars().count() <= 120), "{out}");
    }
}

#[test]
fn completions_name_every_command() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let (code, out, _) = place.transom(&["completions", shell]);
        assert_eq!(code, 0);
        for word in [
            "inspect",
            "check",
            "no-call",
            "dev",
            "watch",
            "new",
            "askama",
            "print-config",
            "sandbox-domain",
        ] {
            assert!(out.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(place.transom(&["completions", "cobol"]).0, 2);
}

#[test]
fn words_that_mean_nothing_end_with_2() {
    let place = Place::new();
    #[rustfmt::skip]
    let table: [(&[&str], &str); 5] = [
        (&["inspekt"],                                      "a program to start stands after --"),
        (&["--prot", "1"],                                  "--port"),
        (&["run", "--sandbox-domain", "https://a.test"],    "https://*.sandbox.example"),
        (&["run", "--sandbox-domain", "https://*.views.example.com"], "could set cookies for all of example.com"),
        (&["run", "--data-dir", "x", "--no-data"],          "cannot be used with"),
    ];
    for (words, expected) in table {
        let (code, _, err) = place.transom(words);
        assert_eq!(code, 2, "{words:?}");
        assert!(err.contains(expected), "{words:?}: {err}");
    }
}
