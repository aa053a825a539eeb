//! Whatever a view, a server, a person and the clock do, a session breaks no rule of the wire.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use transom::host::{
    Input, List, Opening, Output, Reason, ServerLimits, Session, Setup, Share, Tools, Usage,
};
use transom::policy::Decision;
use transom::rpc::{ErrorObject, Id, Message, MessageLimits};
use transom::violation::Violation;
use transom::wire::{HostCapabilities, ListChanged, Modalities, RawObject, Sampling};

/// Takes every line of the input for something that happens.
///
/// ```text
/// {…          a message of the view, as is every line that is nothing below
/// ^{…         the same, too large to be brought: its id and its method
/// +50         50 ms pass                  !           time passes up to the next deadline
/// a1 {…}      call 1 is answered          e1 why      call 1 fails
/// p1 {…}      call 1 makes progress       d1y         question 1 is decided: y, Y, n or N
/// h{…}        partial arguments           i{…}        the arguments
/// o{…}        the result                  x           the tool call was cancelled
/// l           the tools changed           g           a ping
/// s           the view's tools, please    k name      a call of one
/// r           the document was reloaded   c           close
/// ```
pub(crate) fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut stage = Stage::new();
    for line in text.split('\n').take(256) {
        stage.play(line);
        stage.drain();
    }
}

/// One of the two ways in which a session hears its view.
type Hear = fn(&mut Session, Duration, &str, &mut Share) -> Result<(), Violation>;

struct Stage {
    now: Duration,
    session: Session,
    share: Share,
    /// What the share has been told that the view uses.
    used: Usage,
    /// Whether anything but answers may go out (H-53).
    open: bool,
    closed: bool,
    inputs: usize,
    endings: usize,
    asked_by_view: BTreeSet<Id>,
    performing: BTreeSet<u64>,
    asking: BTreeSet<u64>,
}

impl Stage {
    fn new() -> Self {
        Self {
            now: Duration::ZERO,
            session: Session::start(Duration::ZERO, Arc::new(setup()), opening()),
            share: Share::new(Duration::ZERO, ServerLimits::default()),
            used: Usage::default(),
            open: false,
            closed: false,
            inputs: 0,
            endings: 0,
            asked_by_view: BTreeSet::new(),
            performing: BTreeSet::new(),
            asking: BTreeSet::new(),
        }
    }

    fn play(&mut self, line: &str) {
        let (command, rest) = line.split_at(line.ceil_char_boundary(1.min(line.len())));
        match command {
            "+" => self.pass(rest),
            "!" => self.pass_to_deadline(),
            "a" | "e" | "p" => self.serve(command, rest),
            "d" => self.decide(rest),
            "h" | "i" | "o" => self.tell(command, rest),
            "x" => drop(self.session.tool_cancelled(Some(rest))),
            "l" => self.handle(Input::ListChanged(List::Tools)),
            "g" => drop(self.session.ping(self.now)),
            "s" => drop(self.session.list_app_tools(self.now)),
            "k" => drop(self.session.call_app_tool(self.now, rest.trim(), RawObject::default())),
            "c" => self.session.close(self.now, Reason::Closed),
            "r" => self.reload(),
            "^" => self.view(rest, Session::hear_of),
            _ => self.view(line, Session::hear),
        }
    }

    fn handle(&mut self, input: Input<'_>) {
        let _ = self.session.handle(self.now, input);
    }

    fn pass(&mut self, milliseconds: &str) {
        let passed = Duration::from_millis(milliseconds.parse::<u32>().unwrap_or(1).into());
        self.now = self.now.saturating_add(passed);
        self.handle(Input::Tick);
    }

    fn pass_to_deadline(&mut self) {
        let Some(deadline) = self.session.deadline() else { return };
        self.now = self.now.max(deadline);
        self.handle(Input::Tick);
        // A driver that sleeps until the deadline would spin otherwise.
        assert!(self.session.deadline().is_none_or(|next| next > self.now));
    }

    fn serve(&mut self, command: &str, rest: &str) {
        let Some((call, rest)) = number(rest) else { return };
        let raw = serde_json::from_str::<&RawValue>(rest.trim());
        match (command, raw) {
            ("p", Ok(params)) => self.handle(Input::Progress { call, params }),
            ("a", Ok(result)) => {
                self.performing.remove(&call);
                self.handle(Input::Answer { call, outcome: Ok(result) });
            }
            _ => {
                self.performing.remove(&call);
                let error = ErrorObject::new(-32000, rest);
                self.handle(Input::Answer { call, outcome: Err(error) });
            }
        }
    }

    fn decide(&mut self, rest: &str) {
        let Some((question, rest)) = number(rest) else { return };
        let decision = match rest {
            "y" => Decision::Allow,
            "v" => Decision::AllowView,
            "Y" => Decision::AllowAlways,
            "A" => Decision::AllowAll,
            "N" => Decision::DenyAlways,
            _ => Decision::Deny,
        };
        self.asking.remove(&question);
        self.handle(Input::Decision { question, decision });
    }

    fn tell(&mut self, command: &str, json: &str) {
        let Ok(raw) = serde_json::from_str::<&RawValue>(json) else { return };
        let Some(object) = RawObject::new(raw) else { return };
        let _ = match command {
            "h" => self.session.tool_input_partial(object),
            "i" => self.session.tool_input(object),
            _ => self.session.tool_result(object),
        };
    }

    fn reload(&mut self) {
        if self.session.handle(self.now, Input::Reloaded).is_ok() {
            self.open = false;
            self.asked_by_view.clear();
        }
    }

    fn view(&mut self, line: &str, hear: Hear) {
        if let Ok(Message::Request(request)) = Message::parse(line, MessageLimits::default()) {
            self.asked_by_view.insert(request.id);
        }
        let _ = hear(&mut self.session, self.now, line, &mut self.share);
    }

    fn drain(&mut self) {
        while let Some(output) = self.session.poll() {
            assert!(!self.closed, "{output:?} after the end");
            self.see(output);
        }
        let used = self.session.usage();
        self.share.change(std::mem::replace(&mut self.used, used), used);
        if self.closed {
            assert_eq!((self.session.deadline(), self.session.in_flight()), (None, 0));
            assert_eq!(self.share.used(), Usage::default());
            assert!(self.performing.is_empty() && self.asking.is_empty());
        }
    }

    fn see(&mut self, output: Output) {
        match output {
            Output::Send(text) => self.see_message(&text),
            Output::Perform { call, .. } => assert!(self.performing.insert(call), "twice: {call}"),
            Output::Abort { call, .. } => assert!(self.performing.remove(&call), "never: {call}"),
            // Sent, given up, or left until it runs out.
            Output::CallAppTool { call, .. } => match call % 3 {
                0 => self.session.give_up_app_call(call),
                1 => self.session.send_app_call(self.now, call),
                _ => {}
            },
            Output::Ask(question) => assert!(self.asking.insert(question.id)),
            Output::Withdraw { question } => assert!(self.asking.remove(&question)),
            Output::Greeted { .. } => {
                (self.open, self.inputs, self.endings) = (false, 0, 0);
            }
            Output::Opened => self.open = true,
            Output::Closed(_) => self.closed = true,
            _ => {}
        }
    }

    fn see_message(&mut self, text: &str) {
        let message =
            Message::parse(text, MessageLimits::default()).expect("what we send, we read");
        assert_eq!(message.print(), text);
        match &message {
            Message::Response(answer) => {
                assert!(self.asked_by_view.remove(&answer.id), "nobody asked for {text}");
            }
            _ => assert!(self.open, "H-53: {text}"),
        }
        match message.method() {
            Some("ui/notifications/tool-input-partial") => {
                assert_eq!((self.inputs, self.endings), (0, 0), "H-64");
            }
            Some("ui/notifications/tool-input") => {
                self.inputs += 1;
                assert_eq!((self.inputs, self.endings), (1, 0), "H-61, H-62");
            }
            Some("ui/notifications/tool-result" | "ui/notifications/tool-cancelled") => {
                self.endings += 1;
                assert_eq!(self.endings, 1, "H-68");
            }
            Some(method) => assert!(!method.starts_with("ui/notifications/sandbox-"), "P-07"),
            None => {}
        }
    }
}

fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// A host that offers everything, so that everything is reached.
fn setup() -> Setup {
    let text = Modalities { text: true, ..Modalities::default() };
    let capabilities = HostCapabilities {
        open_links: true,
        download_file: true,
        server_tools: Some(ListChanged { list_changed: true }),
        server_resources: Some(ListChanged { list_changed: true }),
        logging: true,
        update_model_context: Some(text),
        message: Some(text),
        sampling: Some(Sampling { tools: false }),
        ..HostCapabilities::default()
    };
    Setup { capabilities, prompts: true, ..Setup::default() }
}

fn opening() -> Opening {
    let entries = TOOLS.map(|text| serde_json::from_str::<&RawValue>(text).expect("a tool"));
    let tools = Tools::read(entries, &mut Vec::new());
    Opening { tools: Arc::new(tools), ..Opening::default() }
}

const TOOLS: [&str; 4] = [
    r#"{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#,
    r#"{"name":"write","inputSchema":{"type":"object"}}"#,
    r#"{"name":"destroy","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}"#,
    r#"{"name":"hidden","inputSchema":{"type":"object"},"_meta":{"ui":{"visibility":["model"]}}}"#,
];
