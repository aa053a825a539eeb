//! The table of moves from the other side: a row for each.

use super::*;
use Phase::{Closed, Closing, Greeted, Ready, Waiting};

const TERMS: Terms = Terms { handshake: Duration::from_secs(30), teardown: Duration::from_secs(5) };
const NOW: Duration = Duration::from_secs(100);

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn at(phase: Phase) -> State {
    State { phase, ..State::start(Duration::ZERO, TERMS) }
}

fn known(arguments: Arguments, ending: Option<Ending>, told: Told, phase: Phase) -> State {
    State { phase, known: Known { arguments, ending }, told }
}

fn trace(moves: &[Move]) -> String {
    let names: Vec<_> = moves.iter().map(|step| format!("{step:?}")).collect();
    names.join(" ")
}

#[test]
fn every_move() {
    let waiting = Waiting { deadline: secs(200) };
    let greeted = Greeted { deadline: secs(200) };
    let closing = Closing { deadline: secs(200), reason: Reason::Asked };
    let close = Event::Close(Reason::Closed);
    let flood = Event::Close(Reason::Flood);
    let late = |phase: fn(Duration) -> Phase| phase(NOW);
    #[rustfmt::skip]
    let table = [
        // from       on                   to, and what it wants done
        (waiting, Event::Greeting,    Ok((greeted, "Greet"))),
        (waiting, Event::Initialized, Err("ui/notifications/initialized")),
        (waiting, Event::Reloaded,    Ok((Waiting { deadline: secs(130) }, "Forget"))),
        (waiting, close,              Ok((Closed, "Close(Closed)"))),                 // H-133
        (waiting, Event::TornDown,    Err("an answer to the teardown")),
        (waiting, Event::Tick,        Ok((waiting, ""))),
        (late(|deadline| Waiting { deadline }), Event::Tick, Ok((Closed, "Close(NeverInitialized)"))), // H-57
        (greeted, Event::Greeting,    Ok((greeted, "Forget Greet"))),                 // H-56
        (greeted, Event::Initialized, Ok((Ready, "Open"))),
        (greeted, Event::Reloaded,    Ok((Waiting { deadline: secs(130) }, "Forget"))),
        (greeted, close,              Ok((Closed, "Close(Closed)"))),                 // H-133
        (greeted, Event::TornDown,    Err("an answer to the teardown")),
        (greeted, Event::Tick,        Ok((greeted, ""))),
        (late(|deadline| Greeted { deadline }), Event::Tick, Ok((Closed, "Close(NeverInitialized)"))),
        (Ready,   Event::Greeting,    Ok((Greeted { deadline: secs(130) }, "Forget Greet"))),
        (Ready,   Event::Initialized, Ok((Ready, ""))),
        (Ready,   Event::Reloaded,    Ok((Waiting { deadline: secs(130) }, "Forget"))),
        (Ready,   close,              Ok((Closing { deadline: secs(105), reason: Reason::Closed }, "TearDown(Closed)"))), // H-130
        (Ready,   flood,              Ok((Closed, "TearDown(Flood) Close(Flood)"))),
        (Ready,   Event::TornDown,    Err("an answer to the teardown")),
        (Ready,   Event::Tick,        Ok((Ready, ""))),
        (closing, Event::Greeting,    Err("ui/initialize")),
        (closing, Event::Initialized, Ok((closing, ""))),
        (closing, Event::Reloaded,    Ok((Closed, "Close(Asked)"))),
        (closing, close,              Ok((closing, ""))),
        (closing, flood,              Ok((Closed, "Close(Flood)"))),
        (closing, Event::TornDown,    Ok((Closed, "Close(Asked)"))),                 // H-131
        (closing, Event::Tick,        Ok((closing, ""))),
        (late(|deadline| Closing { deadline, reason: Reason::Asked }), Event::Tick, Ok((Closed, "Close(Asked)"))), // H-131
        (Closed,  Event::Greeting,    Err("ui/initialize")),
        (Closed,  Event::Initialized, Err("ui/notifications/initialized")),
        (Closed,  Event::Reloaded,    Err("a reload")),
        (Closed,  close,              Ok((Closed, ""))),
        (Closed,  Event::TornDown,    Err("an answer to the teardown")),
        (Closed,  Event::Tick,        Ok((Closed, ""))),
    ];
    for (from, on, expected) in table {
        let actual = match at(from).step(NOW, on, TERMS) {
            Ok((to, moves)) => Ok((to.phase, trace(&moves))),
            Err(Violation::Unexpected { got, .. }) => Err(got.as_str().to_owned()),
            Err(other) => panic!("{other}"),
        };
        let expected = expected.map(|(to, moves)| (to, moves.to_owned())).map_err(str::to_owned);
        assert_eq!(actual, expected, "{from:?} on {on:?}");
    }
}

#[test]
fn every_piece_of_news() {
    use Arguments::{Complete, None as Nothing, Partial};
    let result = Some(Ending::Result);
    let cancelled = Some(Ending::Cancelled);
    let ended = |ending| News::Ending(ending);
    #[rustfmt::skip]
    let table = [
        // known         told           on                        known then, told then, and what goes out when ready
        (Nothing, None,  Told::Nothing, News::Partial,            Ok((Partial, None, Told::Nothing, "Partial"))),   // H-63
        (Partial, None,  Told::Nothing, News::Partial,            Ok((Partial, None, Told::Nothing, "Partial"))),
        (Partial, None,  Told::Nothing, News::Arguments,          Ok((Complete, None, Told::Input, "Input"))),      // H-60
        (Nothing, None,  Told::Nothing, News::Arguments,          Ok((Complete, None, Told::Input, "Input"))),
        (Nothing, None,  Told::Nothing, ended(Ending::Result),    Ok((Nothing, result, Told::Nothing, ""))),        // H-62
        (Nothing, result, Told::Nothing, News::Arguments,         Ok((Complete, result, Told::Ending, "Input Ending"))),
        (Nothing, None,  Told::Nothing, ended(Ending::Cancelled), Ok((Nothing, cancelled, Told::Ending, "Ending"))), // docs/reference/mcp-apps.md §3.16
        (Partial, None,  Told::Nothing, ended(Ending::Cancelled), Ok((Partial, cancelled, Told::Ending, "Ending"))), // H-66
        (Complete, None, Told::Input,   ended(Ending::Result),    Ok((Complete, result, Told::Ending, "Ending"))),  // H-65
        (Complete, None, Told::Input,   ended(Ending::Cancelled), Ok((Complete, cancelled, Told::Ending, "Ending"))),
        (Complete, None, Told::Input,   News::Partial,            Err(TooLate)),                                    // H-64
        (Complete, None, Told::Input,   News::Arguments,          Err(TooLate)),                                    // H-61
        (Nothing, result, Told::Nothing, News::Partial,           Err(TooLate)),
        (Complete, result, Told::Ending, ended(Ending::Result),   Err(TooLate)),                                    // H-68
        (Complete, result, Told::Ending, ended(Ending::Cancelled), Err(TooLate)),
        (Nothing, cancelled, Told::Ending, News::Arguments,       Err(TooLate)),
    ];
    for (arguments, ending, told, on, expected) in table {
        let row = format!("{arguments:?} {ending:?} {told:?} on {on:?}");
        let actual = known(arguments, ending, told, Ready)
            .learn(on)
            .map(|(to, moves)| (to.known.arguments, to.known.ending, to.told, trace(&moves)));
        let expected = expected.map(|(a, e, t, moves)| (a, e, t, moves.to_owned()));
        assert_eq!(actual, expected, "{row}");
        // H-53: behind the gate the same is learnt and nothing is said.
        let shut = Greeted { deadline: NOW };
        if let Ok((to, moves)) = known(arguments, ending, told, shut).learn(on) {
            assert_eq!((to.told, moves.len()), (told, 0), "{row}, shut");
        }
    }
}

#[test]
fn opening_tells_everything_that_is_known() {
    use Arguments::{Complete, None as Nothing, Partial};
    #[rustfmt::skip]
    let table = [
        (Nothing,  None,                    "Open"),
        (Partial,  None,                    "Open Partial"),
        (Complete, None,                    "Open Input"),
        (Complete, Some(Ending::Result),    "Open Input Ending"),
        (Complete, Some(Ending::Cancelled), "Open Input Ending"),
        (Partial,  Some(Ending::Cancelled), "Open Ending"),
        (Nothing,  Some(Ending::Result),    "Open"),
        (Partial,  Some(Ending::Result),    "Open"),
    ];
    for (arguments, ending, expected) in table {
        let greeted = known(arguments, ending, Told::Nothing, Greeted { deadline: NOW });
        let (_, moves) = greeted.step(NOW, Event::Initialized, TERMS).unwrap();
        assert_eq!(trace(&moves), expected, "{arguments:?} {ending:?}");
    }
}

#[test]
fn q7_a_new_instance_is_told_everything_again() {
    let told = known(Arguments::Complete, Some(Ending::Result), Told::Ending, Ready);
    for event in [Event::Greeting, Event::Reloaded] {
        let (state, _) = told.step(NOW, event, TERMS).unwrap();
        assert_eq!(state.told, Told::Nothing, "{event:?}");
    }
    // H-61: but greeting twice before `initialized` is one instance.
    let greeted = State { phase: Greeted { deadline: NOW }, told: Told::Nothing, ..told };
    let (state, _) = greeted.step(NOW, Event::Greeting, TERMS).unwrap();
    let (state, moves) = state.step(NOW, Event::Initialized, TERMS).unwrap();
    assert_eq!(trace(&moves), "Open Input Ending");
    assert_eq!(state.step(NOW, Event::Initialized, TERMS).unwrap().1, []);
}
