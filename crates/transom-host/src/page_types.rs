//! The types of what page and process say to one another, written for TypeScript from those in Rust.
//!
//! Two files of the tree hold them. This test fails when one of them is not what these types make, and writes both where
//! `TRANSOM_WRITE` is set.

use std::{fs, path::Path};

use ts_rs::{Config, TS};

use crate::{
    conversation::{
        Branch, Call as TalkCall, CallState, Chip, Context, Dismissed, Edit, Named, News, Node,
        NodeState, Pending, Role, Saying, Showing, ShownModel, Summary, TalkAnswer, TalkState,
        Wish,
    },
    driver::{Changed, Count, LeftView, Near, ShownDecision, Step, ViewFacts},
    envelope::{
        Answer, Ask, AskPart, Call, CloseReason, Container, Deed, Did, Facts, FileOffer, Fold,
        FromPage, Mount, Obstacles, Open, Piece, Progress, ToPage, Tool, Wanted,
    },
    form::Form,
    log::{Line, LineKind},
    page::{First, Lines, PageState, desk::AllRuns},
    relay::PageLimits,
    runs::{How, ShownRun},
    server::{About, Claim, DocumentFacts, Remark, ServerState, ShownTool, SignIn, Standing},
    timeline::{Head, Kind, Moment, Outcome, Party},
};

#[test]
fn the_types_of_the_page_are_those_of_the_process() {
    let envelope = [
        written::<FromPage<'_>>(),
        written::<Open>(),
        written::<Container>(),
        written::<Facts>(),
        written::<Tool>(),
        written::<Piece>(),
        written::<Call>(),
        written::<Wanted>(),
        written::<Answer>(),
        written::<Did>(),
        written::<CloseReason>(),
        written::<ToPage>(),
        written::<Mount>(),
        written::<PageLimits>(),
        written::<Progress>(),
        written::<Obstacles>(),
        written::<Ask>(),
        written::<AskPart>(),
        written::<Fold>(),
        written::<Deed>(),
        written::<FileOffer>(),
    ];
    let import = "import type { Carried } from \"./envelope.js\";\n\
                  import type { DisplayMode, Json } from \"./wire.js\";\n\n";
    let ask = "import type { Ask } from \"../web/src/envelope.generated.js\";\n\n";
    let files = [
        ("web/src/envelope.generated.ts", format!("{HEAD}{import}{}", envelope.join("\n"))),
        (
            "workbench/state.generated.ts",
            format!("{HEAD}{}\n{}", state().join("\n"), closer().join("\n")),
        ),
        ("workbench/talk.generated.ts", format!("{HEAD}{ask}{}", conversations())),
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, text) in files {
        let path = root.join(name);
        if std::env::var_os("TRANSOM_WRITE").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == text, "{name} is out of date; run this test with TRANSOM_WRITE=1");
    }
}

/// What a page is told of servers, decisions and the log.
fn state() -> Vec<String> {
    vec![
        written::<PageState>(),
        written::<First>(),
        written::<ServerState>(),
        written::<Standing>(),
        written::<ShownTool>(),
        written::<Form>(),
        written::<Remark>(),
        written::<SignIn>(),
        written::<ShownDecision>(),
        written::<LeftView>(),
        written::<Lines>(),
        written::<Line>(),
        written::<LineKind>(),
        asked(),
    ]
}

/// What a page is told when it looks closer.
fn closer() -> Vec<String> {
    vec![
        written::<Head>(),
        written::<Moment>(),
        written::<Kind>(),
        written::<Party>(),
        written::<Outcome>(),
        written::<ViewFacts>(),
        written::<DocumentFacts>(),
        written::<Claim>(),
        written::<Changed>(),
        written::<Count>(),
        written::<Step>(),
        written::<Near>(),
    ]
}

/// What people ask for at the page beside its views.
fn asked() -> String {
    [written::<About>(), written::<AllRuns>(), written::<ShownRun>(), written::<How>()].join("\n")
}

/// What page and process say of conversations.
fn conversations() -> String {
    let all = [
        written::<Wish>(),
        written::<Named>(),
        written::<Saying>(),
        written::<Edit>(),
        written::<Branch>(),
        written::<Dismissed>(),
        written::<Showing>(),
        written::<TalkAnswer>(),
        written::<News>(),
        written::<ShownModel>(),
        written::<Summary>(),
        written::<TalkState>(),
        written::<Node>(),
        written::<Role>(),
        written::<NodeState>(),
        written::<TalkCall>(),
        written::<CallState>(),
        written::<Context>(),
        written::<Chip>(),
        written::<Pending>(),
    ];
    all.join("\n")
}

/// A type as TypeScript has it, with comments on one line where they have one. Prettier leaves it as it is written.
fn written<T: TS>() -> String {
    let config = Config::new().with_large_int("number");
    let (docs, declared) = (T::docs().unwrap_or_default(), T::decl(&config));
    let text = format!("{docs}// prettier-ignore\nexport {declared}\n");
    text.replace("/**\n * ", "/** ").replace("\n */", " */").replace(" \n", "\n")
}

const HEAD: &str = "// Written by crates/transom-host/src/page_types.rs from the types of the host process. Do not edit.\n\n";
