//! Limits of files: what counts, what gives way, and what cannot be meant.

use super::*;

fn table(text: &str) -> file::LimitsTable {
    toml::from_str(text).unwrap()
}

fn with(text: &str) -> Result<Caps, String> {
    let line = |span: Range<usize>| Source::Line(Default::default(), span.start);
    Caps::default().with(&table(text), line).map_err(|(_, words)| words)
}

#[test]
fn every_number_reaches_the_limit_of_its_name() {
    for key in &VIEW {
        let (name, value) = (key.cap.name(), (key.get)(&Limits::default()) / 2);
        let caps = with(&format!("[view]\n{name} = {value}")).unwrap();
        assert_eq!((key.get)(&caps.limits()), value, "{name}");
        assert!(caps.view().any(|(shown, setting)| shown == name && setting.value == value));
    }
    for key in &SERVER {
        let (name, value) = (key.cap.name(), (key.get)(&ServerLimits::default()) * 2);
        let caps = with(&format!("[server]\n{name} = {value}")).unwrap();
        assert_eq!((key.get)(&caps.server_limits()), value, "{name}");
    }
    let caps = with("[methods.\"ui/message\"]\nmessages = 2\nsize = 1000").unwrap();
    let rate = Some(Rate { per_second: 2.0, burst: 4.0 });
    let own = MethodLimits { rate, size: Some(1_000) };
    assert_eq!(caps.limits().methods, [("ui/message", own)].into());
}

#[test]
fn a_default_gives_way_to_what_the_file_says() {
    let caps = with("[view]\nmessages = 50\ncalls = 300\n[server]\nheld = 1000").unwrap();
    let (view, server) = (caps.limits(), caps.server_limits());
    assert_eq!(view.messages, Rate { per_second: 50.0, burst: 100.0 });
    assert_eq!((view.calls, server.calls), (300, 300));
    assert_eq!((view.held, server.held), (1_000, 1_000));
    let caps = with("[view]\nbytes-burst = 1000").unwrap();
    assert_eq!(caps.limits().message.bytes, 1_000);
}
#[test]
fn two_numbers_of_the_file_that_cannot_both_be_meant_are_refused() {
    #[rustfmt::skip]
    let table = [
        ("[view]\nmessage-size = 1000\nbytes-burst = 999", "raise bytes-burst or lower message-size"),
        ("[view]\ncalls = 9\n[server]\ncalls = 8",        "calls of one view is 9, but all views of its server may have 8"),
        ("[view]\ncalls = 0",                             "calls = 0 would let nothing through"),
        ("[view]\ncalls = 10001",                         "calls cannot be more than 10000, and is 10001"),
        ("[methods.x]\nsize = 1",                         "views make no such request"),
        ("[methods.ping]\nmessages-burst = 2",            "messages-burst needs messages beside it"),
    ];
    for (text, expected) in table {
        let words = with(text).unwrap_err();
        assert!(words.contains(expected), "{text}: {words}");
    }
}
