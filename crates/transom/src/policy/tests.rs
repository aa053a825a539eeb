//! The house's rules and the operator's, wish by wish.

use super::*;

#[test]
fn links_by_their_host_within_what_their_scheme_allows() {
    let rules = [("docs.x.com", Stance::Allow), ("*.evil.com", Stance::Deny)];
    let links = rules.map(|(host, stance)| (host.parse().unwrap(), stance)).into();
    let policy = Policy { links, ..Policy::default() };
    let judge = |url: &str| {
        let url = Url::parse(url).unwrap();
        policy.judge(&Decided::default(), Wish::OpenLink(&url))
    };
    assert_eq!(judge("https://docs.x.com/a?b"), Verdict::Allow);
    assert!(matches!(judge("https://a.evil.com/"), Verdict::Deny(_)));
    assert!(matches!(judge("https://x.com/"), Verdict::Ask(_)));
    // A name that only looks like it, and a scheme that is forbidden.
    assert!(matches!(judge("https://docs.x.com.evil.com/"), Verdict::Deny(_)));
    assert!(matches!(judge("https://docs.x.com@b.test/"), Verdict::Ask(_)));
    assert!(matches!(judge("http://docs.x.com/"), Verdict::Deny(_)));
    assert!(matches!(judge("mailto:docs.x.com"), Verdict::Deny(_)));
}

fn tool(name: &str, read_only: bool, destructive: bool) -> ToolFacts {
    let claims = Claims::of(
        |hint| match hint {
            "readOnlyHint" => Some(read_only),
            "destructiveHint" => Some(destructive),
            _ => None,
        },
        "{}".into(),
    );
    let claims = Arc::new(claims);
    let name = name.to_owned();
    ToolFacts {
        name,
        for_app: true,
        for_model: true,
        read_only,
        destructive,
        routes: None,
        handling: None,
        claims,
    }
}

/// What the tools say of themselves.
fn said() -> Claimed {
    tools().into_iter().map(|tool| (tool.name, tool.claims)).collect()
}

fn tools() -> Vec<ToolFacts> {
    let mut hidden = tool("hidden", false, false);
    hidden.for_app = false;
    let mut routed = tool("routed", false, false);
    routed.routes = Some(Arc::default());
    vec![
        tool("look", true, false),
        tool("save", false, false),
        tool("send", false, false),
        tool("drop", false, true),
        tool("both", true, true),
        hidden,
        routed,
    ]
}

fn judge(policy: &Policy, decided: &Decided, name: &str) -> Verdict {
    let tools = tools();
    let tool = tools.iter().find(|tool| tool.name == name).unwrap();
    policy.judge(decided, Wish::CallTool(tool))
}

fn names(names: &[&str]) -> Subject {
    Subject::Tools(names.iter().map(|&name| name.to_owned()).collect())
}

#[test]
fn tools_by_their_claims() {
    let (policy, decided) = (Policy::default(), Decided::default());
    let one = |name: &str| Verdict::Ask(Subject::Tool(name.to_owned()));
    #[rustfmt::skip]
    let table = [
        ("look", Verdict::Allow),
        ("save", one("save")),
        ("drop", one("drop")),
        ("both", one("both")),
    ];
    for (name, verdict) in table {
        assert_eq!(judge(&policy, &decided, name), verdict, "{name}");
    }
}

fn beside(policy: &Policy, decided: &Decided, name: &str) -> Vec<String> {
    policy.beside(decided, name, &tools()).into_keys().collect()
}

#[test]
fn d6_all_tools_of_a_server_are_those_that_would_be_asked_about() {
    let (mut policy, mut decided) = (Policy::default(), Decided::default());
    assert_eq!(beside(&policy, &decided, "save"), ["save", "send"]);
    // One that destroys or makes requests is allowed by itself alone, and one that is not asked about needs no yes.
    for name in ["drop", "both", "routed", "look", "hidden", "nothing"] {
        assert!(beside(&policy, &decided, name).is_empty(), "{name}");
    }
    // Nor is one on the list that a person refused, or that the operator wants asked about.
    decided.remember(&Subject::Tool("send".into()), Decision::DenyAlways, &said());
    assert!(beside(&policy, &decided, "save").is_empty());
    policy.tools.insert("send".into(), Stance::Ask);
    assert!(beside(&policy, &Decided::default(), "save").is_empty());
}

#[test]
fn no_more_tools_are_allowed_together_than_people_read() {
    let tools: Vec<ToolFacts> = (100..400)
        .map(|number| ToolFacts { name: format!("t{number}"), ..tools()[1].clone() })
        .collect();
    let all = Policy::default().beside(&Decided::default(), "t399", &tools);
    assert_eq!(all.len(), TOGETHER);
    assert!(all.contains_key("t399") && !all.contains_key("t398"));
}

#[test]
fn a_yes_to_all_covers_the_listed_tools_and_no_later_one() {
    let policy = Policy::default();
    let mut decided = Decided::default();
    decided.remember(&names(&["save"]), Decision::AllowAll, &said());
    assert_eq!(judge(&policy, &decided, "save"), Verdict::Allow);
    assert_eq!(judge(&policy, &decided, "send"), Verdict::Ask(Subject::Tool("send".into())));
    assert_eq!(judge(&policy, &decided, "drop"), Verdict::Ask(Subject::Tool("drop".into())));
}

#[test]
fn d6_a_yes_for_this_time_is_for_this_time() {
    let policy = Policy::default();
    let mut decided = Decided::default();
    for subject in [names(&["save", "send"]), Subject::Tool("save".into()), Subject::Message] {
        decided.remember(&subject, Decision::Allow, &said());
    }
    assert_eq!(decided, Decided::default());
    assert_eq!(judge(&policy, &decided, "save"), Verdict::Ask(Subject::Tool("save".into())));
}

#[test]
fn a_yes_to_several_does_not_cover_a_tool_that_came_to_destroy() {
    let policy = Policy::default();
    let mut decided = Decided::default();
    decided.remember(&names(&["save", "drop"]), Decision::AllowAlways, &said());
    assert_eq!(judge(&policy, &decided, "drop"), Verdict::Ask(Subject::Tool("drop".into())));
    decided.remember(&Subject::Tool("drop".into()), Decision::AllowAlways, &said());
    assert_eq!(judge(&policy, &decided, "drop"), Verdict::Allow);
    // A no to several stays one.
    let mut decided = Decided::default();
    decided.remember(&names(&["save", "drop"]), Decision::DenyAlways, &said());
    assert!(matches!(judge(&policy, &decided, "drop"), Verdict::Deny(Denial::Refused(_))));
}

#[test]
fn decisions_can_be_listed_and_taken_back() {
    let mut decided = Decided::default();
    decided.remember(&names(&["save", "send"]), Decision::AllowAll, &said());
    decided.remember(&names(&["late"]), Decision::DenyAlways, &said());
    decided.remember(&Subject::Message, Decision::AllowAlways, &said());
    let listed: Vec<_> = decided.iter().collect();
    let expected =
        [(Subject::Message, true), (names(&["save", "send"]), true), (names(&["late"]), false)];
    assert_eq!(listed, expected);
    let mut again = Decided::default();
    for (subject, yes) in listed {
        let decision = if yes { Decision::AllowAlways } else { Decision::DenyAlways };
        again.remember(&subject, decision, &said());
        decided.forget(&subject);
    }
    assert_eq!(again.iter().count(), 3);
    assert_eq!(decided, Decided::default());
}

#[test]
fn a_yes_for_longer_does_not_outlive_what_the_tool_said_of_itself() {
    let (policy, own) = (Policy::default(), Subject::Tool("send".into()));
    let same = || tool("send", false, false);
    let hints = |name: &str| (name == "destructiveHint").then_some(true);
    let mut other = Claims::clone(&same().claims);
    other.schema = r#"{"type":"object"}"#.into();
    let other = ToolFacts { claims: Arc::new(other), ..same() };
    let worse = ToolFacts { claims: Arc::new(Claims::of(hints, "{}".into())), ..same() };
    let asks: [(&ToolFacts, &[&str]); 2] = [
        (&other, &["what it takes as arguments has changed"]),
        (
            &worse,
            &[
                "readOnlyHint was false, and is not said any more",
                "destructiveHint was false, and is true now",
            ],
        ),
    ];
    let list = names(&["send", "save"]);
    for (subject, decision) in
        [(&own, Decision::AllowAlways), (&list, Decision::AllowAlways), (&list, Decision::AllowAll)]
    {
        let mut decided = Decided::default();
        decided.remember(subject, decision, &said());
        let judge = |tool: &ToolFacts| policy.judge(&decided, Wish::CallTool(tool));
        let changes = |tool: &ToolFacts| {
            let said = [("send".to_owned(), Arc::clone(&tool.claims))].into();
            decided.changes(&own, &said)
        };
        assert_eq!(judge(&same()), Verdict::Allow, "{subject:?} {decision:?}");
        assert_eq!(changes(&same()), [""; 0]);
        for (tool, words) in &asks {
            assert_eq!(judge(tool), Verdict::Ask(own.clone()), "{subject:?} {decision:?}");
            assert_eq!(changes(tool), *words);
        }
    }
    // A never is a never, whatever the tool says of itself next.
    let mut decided = Decided::default();
    decided.remember(&own, Decision::DenyAlways, &said());
    let verdict = policy.judge(&decided, Wish::CallTool(&worse));
    assert!(matches!(verdict, Verdict::Deny(Denial::Refused(_))));
}

#[test]
fn a_yes_to_a_tool_of_which_nothing_is_known_counts_for_nothing() {
    let mut decided = Decided::default();
    decided.remember(&Subject::Tool("send".into()), Decision::AllowAlways, &Claimed::new());
    decided.remember(&names(&["save"]), Decision::AllowAlways, &Claimed::new());
    for name in ["send", "save"] {
        let asked = Verdict::Ask(Subject::Tool(name.into()));
        assert_eq!(judge(&Policy::default(), &decided, name), asked);
    }
}

#[test]
fn a_no_is_remembered_only_when_it_is_meant_for_ever() {
    let policy = Policy::default();
    let mut decided = Decided::default();
    decided.remember(&Subject::Tool("drop".into()), Decision::Deny, &said());
    assert_eq!(judge(&policy, &decided, "drop"), Verdict::Ask(Subject::Tool("drop".into())));
    decided.remember(&Subject::Tool("drop".into()), Decision::DenyAlways, &said());
    assert!(matches!(judge(&policy, &decided, "drop"), Verdict::Deny(Denial::Refused(_))));
}

#[test]
fn the_operator_overrules_a_hint() {
    let mut policy = Policy::default();
    policy.tools.insert("look".into(), Stance::Deny);
    policy.tools.insert("drop".into(), Stance::Allow);
    policy.tools.insert("send".into(), Stance::Ask);
    let decided = Decided::default();
    assert!(matches!(judge(&policy, &decided, "look"), Verdict::Deny(Denial::Policy(_))));
    assert_eq!(judge(&policy, &decided, "drop"), Verdict::Allow);
    assert_eq!(judge(&policy, &decided, "send"), Verdict::Ask(Subject::Tool("send".into())));
}

#[test]
fn h_90_only_some_schemes_are_opened_at_all() {
    let policy = Policy::default();
    #[rustfmt::skip]
    let table = [
        ("https://a.test/x?y#z",  "ask"),
        ("http://a.test/",        "policy"),
        ("mailto:a@a.test",       "policy"),
        ("javascript:alert(1)",   "address"),
        ("file:///etc/passwd",    "address"),
        ("data:text/html,x",      "address"),
        ("blob:https://a.test/1", "address"),
        ("vbscript:x",            "address"),
    ];
    for (address, expected) in table {
        let url = Url::parse(address).unwrap();
        let actual = match policy.judge(&Decided::default(), Wish::OpenLink(&url)) {
            Verdict::Ask(Subject::Link(full)) if full == address => "ask",
            Verdict::Deny(Denial::Policy(_)) => "policy",
            Verdict::Deny(Denial::Address(_)) => "address",
            other => panic!("{address}: {other:?}"),
        };
        assert_eq!(actual, expected, "{address}");
    }
}

#[test]
fn h_115_app_tools_that_claim_nothing_are_asked() {
    let policy = Policy::default();
    let judge = |read_only| {
        let claims = &tool("t", read_only, false).claims;
        policy.judge(&Decided::default(), Wish::AppTool { name: "t", claims })
    };
    assert_eq!(judge(true), Verdict::Allow);
    assert_eq!(judge(false), Verdict::Ask(Subject::AppTool("t".into())));
}
