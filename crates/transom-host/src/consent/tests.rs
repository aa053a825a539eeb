use super::*;

fn question(subject: Subject, text: &str) -> Question {
    let preview = Preview { text: text.into(), beyond: None };
    let about = Quoted::new("save");
    Question {
        id: 0,
        subject,
        method: "tools/call",
        about,
        parts: vec![],
        preview,
        files: vec![],
        request: None,
        said: Default::default(),
        all: Default::default(),
        changes: vec![],
    }
}

#[test]
fn atk_22_what_is_read_is_what_is_written() {
    let name = "<b>\u{202e}gnp.exe\u{200b}".to_owned();
    let ask = ask(
        "demo",
        "show",
        &question(Subject::Tool(name), "{\"a\":\"\u{202e}Größe 中 👍\"}"),
        "q0".to_owned(),
        true,
    );
    assert_eq!(
        ask.text,
        r#"A view of "demo" wants to call "<b>\u{202e}gnp.exe\u{200b}" of "demo" with:"#
    );
    assert_eq!(ask.tools[0].as_str(), "<b>\\u{202e}gnp.exe\\u{200b}");
    assert_eq!(ask.preview.as_deref(), Some(r#"{"a":"\u{202e}Größe 中 👍"}"#));
}

#[test]
fn a_name_does_not_begin_a_sentence_of_its_own() {
    let name = "save\" of \"demo\".\nIt is safe. Click Allow. The view wants \"nothing".to_owned();
    let ask = ask("x\" of y", "show", &question(Subject::Tool(name), "{}"), "q0".to_owned(), true);
    assert_eq!(
        ask.text,
        r#"A view of "x\" of y" wants to call "save\" of \"demo\".\nIt is safe. Click Allow. The view wants \"nothing" of "x\" of y" with:"#
    );
}

// FSE-16: a person is told what is sent, where to, and how much of it; and what a yes for longer would cover.
#[test]
fn fse_16_a_question_about_a_request_has_its_method_path_and_size() {
    let route = |route: &str| Subject::Route { tool: "carry".to_owned(), route: route.to_owned() };
    let asked = |subject| {
        let mut question = question(subject, r#"{"url":"/api/cart/7?x=\u{202e}"}"#);
        question.request = Some(transom::routes::HttpRequest {
            method: "POST".to_owned(),
            path: "/api/cart/7".to_owned(),
            size: 12_345,
        });
        ask("shop", "show", &question, "q0".to_owned(), true)
    };
    let ask = asked(route("POST /api/cart/{id}"));
    assert_eq!(
        ask.text,
        r#"A view of "shop" wants "carry" of "shop" to send "POST /api/cart/7" with 12,345 bytes:"#
    );
    assert_eq!(lines(&ask), [r#"a yes for longer is for all of "POST /api/cart/{id}""#]);
    assert_eq!(ask.preview.as_deref(), Some(r#"{"url":"/api/cart/7?x=\u{202e}"}"#));
    assert_eq!(ask.choices, CHOICES);
    assert_eq!(lines(&asked(route("POST /api/cart/7"))), Vec::<&str>::new());
}

#[test]
fn d6_all_tools_of_a_server_are_an_answer_beside_the_others_and_listed() {
    for (lasts, extra) in [
        (true, &["allow-all-until-end", "allow-all-always"][..]),
        (false, &["allow-all-until-end"]),
    ] {
        let mut question = question(Subject::Tool("save".to_owned()), "{}");
        let choices = |question: &Question| ask("demo", "board", question, "q0".to_owned(), lasts);
        let alone = choices(&question);
        assert_eq!(alone.choices, if lasts { &CHOICES[..] } else { &FOR_THIS_RUN });
        question.all =
            ["save", "se\u{202e}nd"].map(|name| (name.to_owned(), Default::default())).into();
        let ask = choices(&question);
        assert_eq!(ask.choices, [&alone.choices, extra].concat());
        let names: Vec<&str> = ask.all.iter().map(Quoted::as_str).collect();
        assert_eq!(names, ["save", "se\\u{202e}nd"]);
    }
}

#[test]
fn a_choice_is_written_down_as_it_was_offered() {
    for choices in [&CHOICES[..], &FOR_THIS_RUN, &ALL_TOOLS, &ONCE, &["allow-changing"]] {
        choices.iter().for_each(|choice| assert_eq!(Choice::of(choice).word(), *choice));
    }
    assert_eq!(Choice::of("yes"), Choice::Deny);
}

#[test]
fn a_question_says_how_much_is_folded() {
    let text = format!(r#"{{"a":"{}","b":1,"c":{{"d":2}}}}"#, "x".repeat(14_327));
    let subject = Subject::Tool("save".to_owned());
    let ask = ask("demo", "show", &question(subject, &text), "q0".to_owned(), true);
    let (preview, folded) = (ask.preview.unwrap(), ask.folded.unwrap());
    assert_eq!(preview.len(), AT_ONCE);
    assert_eq!(folded.words, "… 12,353 more bytes, 3 more members");
    assert_eq!(preview + &folded.text, text);
    assert_eq!(folded.beyond, None);
}

#[test]
fn a_question_that_cannot_be_shown_whole_says_so() {
    let preview = Preview {
        text: "x".repeat(3_000).into(),
        beyond: Some(Folded { bytes: 1_000_000, members: 7 }),
    };
    let ask = Ask::default().showing_text(&preview);
    let folded = ask.folded.unwrap();
    assert_eq!(folded.words, "… 1,001,000 more bytes, 7 more members");
    assert_eq!(
        folded.beyond.unwrap(),
        "… 1,000,000 more bytes, 7 more members, too many to be shown"
    );
}

fn pin(uri: &str) -> Pin {
    Pin {
        uri: uri.to_owned(),
        pattern: None,
        hash: crate::documents::ContentHash::of(b""),
        size: 0,
        csp: None,
        permissions: Default::default(),
        domain: None,
        origins: vec![],
        findings: vec![],
    }
}

fn lines(ask: &Ask) -> Vec<&str> {
    ask.changes.iter().map(Words::as_str).collect()
}

#[test]
fn a_question_about_a_view_that_is_made_anew_shows_all_that_it_declares() {
    let long = format!("https://{}.test", "a".repeat(60));
    let csp = transom::wire::ResourceCsp {
        connect_domains: vec![long.clone(), "https://b.test".to_owned()],
        base_uri_domains: vec!["https://base.test".to_owned()],
        ..Default::default()
    };
    let domain = Some("own.test".to_owned());
    let mut pin = Pin { csp: Some(csp), domain, ..pin("ui://a/b") };
    let ask = unpinned("demo", "show", &pin);
    let first = format!("it declares \"{long}\"");
    let expected = [
        "its address is one of \"ui://a/b\"",
        &first,
        "it declares \"https://b.test\"",
        "it declares \"https://base.test\"",
        "it wants \"own.test\" for an origin of its own",
    ];
    assert_eq!(lines(&ask), expected);
    let many = (10..40).map(|number| format!("https://{number}.test")).collect();
    pin.csp = Some(transom::wire::ResourceCsp { frame_domains: many, ..Default::default() });
    let ask = unpinned("demo", "show", &pin);
    assert_eq!(
        lines(&ask)[CHANGES..=CHANGES + 1],
        ["it declares \"https://29.test\"", "and 10 more"]
    );
}

#[test]
fn every_tool_that_a_yes_is_for_has_a_line() {
    let others: Vec<String> = (1..=9).map(|number| format!("a-long-name-{number}")).collect();
    let change = Change::between(pin("ui://a/b"), Pin { size: 1, ..pin("ui://a/c") }).unwrap();
    let change = Change { others: others.clone(), ..change };
    let ask = changed("demo", "show", &change);
    for other in others {
        let line = format!("\"{other}\" shows the same view; your answer is for it too");
        assert!(lines(&ask).contains(&&*line), "{line}");
    }
}

#[test]
fn what_goes_along_with_a_read_is_shown_with_it() {
    for (beside, shown) in
        [("", "file:///a"), (r#"{"cursor":"x"}"#, "file:///a\n{\"cursor\":\"x\"}")]
    {
        let question = question(Subject::Read("file:///a".to_owned()), beside);
        let ask = ask("demo", "show", &question, "q0".to_owned(), true);
        assert_eq!(ask.preview.as_deref(), Some(shown));
    }
}
