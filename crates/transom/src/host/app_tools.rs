//! The other way round: the tools that a view offers.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    NotReady, Output, Ruling, Session, Which,
    asks::{Asked, request},
    questions::Waiter,
    readable,
};
use crate::{
    calls::Patience,
    policy::{Claimed, Claims, Subject, Verdict, Wish},
    printed::has_reserved_name,
    rpc::{self, ErrorObject},
    violation::{Denial, Limit, Quoted, Violation},
    wire::{CallToolParams, ListParams, ListToolsResult, RawObject, Tool, method},
};

/// A tool that the view offers to the model, for as long as the view lives (H-111, H-112).
#[derive(Clone, Debug, PartialEq)]
pub struct AppTool {
    /// Its name among the view's tools.
    pub name: String,
    /// Whether it claims to change nothing.
    pub read_only: bool,
    /// All the view says about it.
    pub tool: Tool,
    /// What a yes for longer than once is bound to.
    pub claims: Arc<Claims>,
}

/// What came of calling one.
#[derive(Clone, Debug)]
pub enum AppAnswer {
    /// Its result, untouched.
    Result(Box<RawValue>),
    /// The view answered with an error.
    Error {
        /// Its code.
        code: i64,
        /// Its words.
        message: String,
    },
    /// The answer was larger than allowed, or unusable (H-117).
    Unusable,
    /// No answer in time (H-117).
    TimedOut,
    /// A person said no (H-115).
    Refused,
    /// The driver did not send it: [`Session::give_up_app_call`].
    NotSent,
    /// The view, or this instance of it, is gone (H-113).
    Gone,
}

/// Why a view's tool cannot be called.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoSuchTool {
    /// The view is not ready, or closed (H-113).
    #[error(transparent)]
    NotReady(#[from] NotReady),
    /// The view offers no such tool, or none at all (H-110).
    #[error("the view offers no tool {0}")]
    NotOffered(Quoted),
    /// The rules do not allow it.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// Too many questions wait for a person.
    #[error("too many questions wait for the user")]
    TooManyQuestions,
}

/// A call of one of them.
#[derive(Debug)]
pub(super) struct AppCall {
    name: Quoted,
    params: Box<RawValue>,
    pub(super) stage: Stage,
}

/// How far a call of one of them has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stage {
    /// A person decides.
    Asking,
    /// It may go out, and the driver has not said yet that it shall.
    Allowed,
    /// The view has it.
    Sent,
}

/// The tools that the current instance of the view offers.
#[derive(Debug, Default)]
pub(super) struct AppTools(BTreeMap<String, AppTool>, TooLarge);

/// The names of tools that were left out of the list because they are too large.
type TooLarge = Vec<Quoted>;

impl Session {
    /// Asks the view which tools it offers; [`Output::AppTools`] tells. Nothing is sent to a view that
    /// did not declare any (H-110).
    pub fn list_app_tools(&mut self, now: Duration) -> Result<(), NoSuchTool> {
        if !self.app_has_tools() {
            return Err(NoSuchTool::NotOffered("tools".into()));
        }
        let asked = Asked::ListTools { found: vec![], pages: 0 };
        let patience = self.setup.terms.app_tool;
        // With params, although there are none: published views take them for granted.
        let none = RawObject::default();
        self.request(now, patience, asked, method::TOOLS_LIST, Some(none.raw()))?;
        Ok(())
    }

    /// The tools that are not in the last list because they are larger than 64 KiB.
    pub fn app_tools_too_large(&self) -> &[Quoted] {
        &self.app_tools.1
    }

    /// Calls a tool that the view offers: [`Output::CallAppTool`] when it may go out, and [`Output::AppAnswer`] tells what
    /// came of it.
    pub fn call_app_tool(
        &mut self,
        now: Duration,
        name: &str,
        arguments: RawObject<'_>,
    ) -> Result<u64, NoSuchTool> {
        if !self.is_ready() {
            return Err(NotReady.into());
        }
        let claims = match self.app_tools.0.get(name) {
            Some(tool) if self.app_has_tools() => Arc::clone(&tool.claims),
            _ => return Err(NoSuchTool::NotOffered(name.into())),
        };
        let mut params = CallToolParams::new(name);
        params.arguments = Some(arguments);
        let params = rpc::raw(&params);
        let wish = Wish::AppTool { name, claims: &claims };
        let verdict = match self.judge_wish(wish) {
            Verdict::Ask(subject) => self.ask_again(now, subject, params.get()),
            verdict => verdict,
        };
        let app_call = AppCall { name: Quoted::new(name), params, stage: Stage::Asking };
        match verdict {
            Verdict::Deny(denial) => {
                let ruling = Ruling::Refused(denial.clone().into());
                self.outputs.push_back(app_call.judged(None, ruling));
                Err(denial.into())
            }
            Verdict::Allow => {
                let call = self.reserve(now, self.setup.terms.app_tool, app_call);
                self.let_app_call_go(now, call);
                Ok(call)
            }
            Verdict::Ask(subject) => self.ask_for_app_call(now, subject, app_call),
        }
    }

    fn ask_for_app_call(
        &mut self,
        now: Duration,
        subject: Subject,
        app_call: AppCall,
    ) -> Result<u64, NoSuchTool> {
        let waiter = Waiter::App(self.asked.next_id());
        let (preview, about) = (app_call.params.get(), app_call.name.clone());
        let asked = self.inquire(now, subject, method::TOOLS_CALL, about, preview, waiter);
        let mut question = match asked {
            Ok(question) => question,
            Err(violation) => {
                self.outputs.push_back(app_call.judged(None, Ruling::Refused(violation)));
                return Err(NoSuchTool::TooManyQuestions);
            }
        };
        question.parts = readable::arguments(&app_call.params);
        let about = app_call.name.clone();
        let call = self.reserve(now, self.setup.terms.long_decision, app_call);
        let (which, method) = (Which::App { call: Some(call) }, method::TOOLS_CALL);
        let number = question.id;
        self.outputs.push_back(Output::Waits { which, method, about, question: number });
        self.outputs.push_back(Output::Ask(question));
        Ok(call)
    }

    fn reserve(&mut self, now: Duration, patience: Duration, call: AppCall) -> u64 {
        self.asked.open(now, Patience::flat(patience), Asked::CallTool(Box::new(call)))
    }

    /// A person said yes. By then the view may be closing, offer the tool no more (H-113), or the rules
    /// may have changed.
    pub(super) fn allow_app_call(
        &mut self,
        now: Duration,
        call: u64,
        subject: &Subject,
        said: &Claimed,
    ) {
        let Subject::AppTool(name) = subject else { return };
        let outcome = match self.app_tools.0.get(name) {
            // The yes was for what the tool said of itself then.
            Some(tool) if said.get(name) != Some(&tool.claims) => {
                Some(Denial::Changed(Quoted::new(name)))
            }
            Some(AppTool { claims, .. }) if self.is_ready() => {
                let wish = Wish::AppTool { name, claims };
                match self.judge_wish(wish) {
                    Verdict::Deny(denial) => Some(denial),
                    Verdict::Allow | Verdict::Ask(_) => return self.let_app_call_go(now, call),
                }
            }
            _ => None,
        };
        match outcome {
            Some(denial) => {
                self.drop_app_call(call, AppAnswer::Refused, Ruling::Refused(denial.into()));
            }
            None => self.drop_app_call(call, AppAnswer::Gone, Ruling::Withdrawn),
        }
    }

    /// What is to be said now of a call that waits for a person.
    pub(super) fn verdict_of_app_call(&self, subject: &Subject) -> Option<Verdict> {
        let Subject::AppTool(name) = subject else { return None };
        let AppTool { name, claims, .. } = self.app_tools.0.get(name)?;
        Some(self.judge_wish(Wish::AppTool { name, claims }))
    }

    /// What one of them says of itself now.
    pub(super) fn said_by_app(&self, name: &str) -> Claimed {
        let tool = self.app_tools.0.get(name);
        tool.map(|tool| (tool.name.clone(), Arc::clone(&tool.claims))).into_iter().collect()
    }

    /// Lets a call go that was only reserved until now.
    fn let_app_call_go(&mut self, now: Duration, call: u64) {
        let Some(Asked::CallTool(app_call)) = self.asked.get_mut(call) else { return };
        app_call.stage = Stage::Allowed;
        self.outputs.push_back(app_call.judged(Some(call), Ruling::Allowed));
        let (name, params) = (app_call.name.clone(), app_call.params.clone());
        self.outputs.push_back(Output::CallAppTool { call, name, params });
        self.asked.renew(now, call, Patience::flat(self.setup.terms.app_tool));
    }

    /// Sends a call to the view, after [`Output::CallAppTool`]. One that has come to its end meanwhile is not sent, nor
    /// is one twice.
    pub fn send_app_call(&mut self, now: Duration, call: u64) {
        if !self.is_ready() {
            return;
        }
        let Some(Asked::CallTool(app_call)) = self.asked.get_mut(call) else { return };
        if app_call.stage != Stage::Allowed {
            return;
        }
        app_call.stage = Stage::Sent;
        let params = app_call.params.clone();
        self.send(&request(call, method::TOOLS_CALL, Some(&params)));
        self.asked.renew(now, call, Patience::flat(self.setup.terms.app_tool));
    }

    /// Gives a call up that was allowed and that the driver cannot send. The view never hears of it.
    pub fn give_up_app_call(&mut self, call: u64) {
        if matches!(self.asked.get(call), Some(Asked::CallTool(it)) if it.stage == Stage::Allowed) {
            self.asked.settle(call);
            let outcome = AppAnswer::NotSent;
            self.outputs.push_back(Output::AppAnswer { call, outcome });
        }
    }

    /// A person said no.
    pub(super) fn refuse_app_call(&mut self, call: u64) {
        let Some(Asked::CallTool(app_call)) = self.asked.get(call) else { return };
        let denial = Denial::Refused(app_call.name.clone());
        self.drop_app_call(call, AppAnswer::Refused, Ruling::Refused(denial.into()));
    }

    /// Gives up a call that was never sent.
    fn drop_app_call(&mut self, call: u64, outcome: AppAnswer, ruling: Ruling) {
        if let Some(Asked::CallTool(app_call)) = self.asked.settle(call) {
            self.outputs.push_back(app_call.judged(Some(call), ruling));
            self.outputs.push_back(Output::AppAnswer { call, outcome });
        }
    }

    /// The instance that offered them is gone, and all it was asked (H-111, H-134).
    pub(super) fn forget_app_tools(&mut self) {
        let mut news = !self.app_tools.0.is_empty();
        for (call, asked) in self.asked.drain() {
            match asked {
                Asked::CallTool(app_call) => {
                    if app_call.stage == Stage::Asking {
                        self.outputs.push_back(app_call.judged(Some(call), Ruling::Withdrawn));
                    }
                    self.outputs.push_back(Output::AppAnswer { call, outcome: AppAnswer::Gone });
                }
                Asked::Ping => self.outputs.push_back(Output::Pong { alive: false }),
                // The host waits for the list; that there is none is an answer.
                Asked::ListTools { .. } => news = true,
                Asked::TearDown => {}
            }
        }
        if news {
            self.offer(vec![]);
        }
    }

    /// The view says that its tools changed. Claimed once a second at most (H-117).
    pub(super) fn app_tools_changed(&mut self, now: Duration) {
        if self.app_has_tools() && self.list_changed.hit(now, self.setup.terms.list_changed) {
            self.outputs.push_back(Output::AppToolsChanged);
        }
    }

    fn app_has_tools(&self) -> bool {
        self.app.as_ref().is_some_and(|app| app.capabilities.tools.is_some())
    }

    pub(super) fn listed(
        &mut self,
        now: Duration,
        mut found: Vec<Tool>,
        pages: usize,
        outcome: Result<&RawValue, ErrorObject<'_>>,
    ) {
        // Nothing that the page would read otherwise than we do.
        let plain = outcome.ok().filter(|raw| !has_reserved_name(raw.get()));
        let page = plain.and_then(|raw| ListToolsResult::deserialize(raw).ok());
        let Some(page) = page else { return self.offer(found) };
        let most = self.setup.limits.app_tools;
        found.extend(page.tools);
        match page.next_cursor {
            Some(cursor) if found.len() < most && pages < PAGES && self.is_ready() => {
                let mut params = ListParams::default();
                params.cursor = Some(cursor.into());
                let asked = Asked::ListTools { found, pages: pages + 1 };
                let patience = self.setup.terms.app_tool;
                self.ask_view(now, patience, asked, method::TOOLS_LIST, Some(&rpc::raw(&params)));
            }
            _ => self.offer(found),
        }
    }

    /// Takes in the view's tools: so many, and none that poses as one of the server's (H-116, H-117).
    pub(super) fn offer(&mut self, found: Vec<Tool>) {
        let mut offered = vec![];
        self.app_tools.0.clear();
        self.app_tools.1.clear();
        for tool in found {
            let name = tool.name().to_owned();
            let fits = !name.is_empty() && name.len() <= NAME && self.tools.get(&name).is_none();
            let full = offered.len() + self.app_tools.1.len() >= self.setup.limits.app_tools;
            if !fits || full || self.app_tools.0.contains_key(&name) {
                continue;
            }
            // The page that lists it has to draw it, and the view can offer it again every second.
            if rpc::raw(&tool).get().len() > TOOL {
                self.app_tools.1.push(Quoted::new(&name));
                continue;
            }
            let read_only = tool.hint("readOnlyHint") == Some(true);
            let claims = Arc::new(self.tools.claims(&tool));
            let tool = AppTool { name: name.clone(), read_only, tool, claims };
            self.app_tools.0.insert(name, tool.clone());
            offered.push(tool);
        }
        self.outputs.push_back(Output::AppTools(offered));
    }

    /// The server has other tools now: those of the view that pose as one of them are not taken any more
    /// (H-116).
    pub(super) fn recheck_app_tools(&mut self) {
        let before = self.app_tools.0.len();
        self.app_tools.0.retain(|name, _| self.tools.get(name).is_none());
        if self.app_tools.0.len() < before {
            let left = self.app_tools.0.values().cloned().collect();
            self.outputs.push_back(Output::AppTools(left));
        }
    }

    pub(super) fn called(
        &mut self,
        call: u64,
        outcome: Result<&RawValue, ErrorObject<'_>>,
    ) -> Result<(), Violation> {
        let size = outcome.as_ref().map_or_else(|error| error.message.len(), |raw| raw.get().len());
        let most = self.setup.limits.app_tool_result;
        let large = size > most;
        let outcome = match outcome {
            _ if large => AppAnswer::Unusable,
            Ok(raw) => AppAnswer::Result(raw.to_owned()),
            Err(ErrorObject { code, message, .. }) => {
                AppAnswer::Error { code, message: message.into_owned() }
            }
        };
        self.outputs.push_back(Output::AppAnswer { call, outcome });
        if large { Err(self.over(Limit::Result, most as u64).into()) } else { Ok(()) }
    }
}

impl AppCall {
    pub(super) fn judged(&self, call: Option<u64>, ruling: Ruling) -> Output {
        Output::Judged {
            which: Which::App { call },
            method: Some(method::TOOLS_CALL),
            about: self.name.clone(),
            size: self.params.get().len(),
            ruling,
        }
    }
}

/// The most pages of tools that are asked for.
const PAGES: usize = 10;
/// The longest name of a tool.
const NAME: usize = 128;
/// The largest tool, in bytes of JSON.
const TOOL: usize = 64 << 10;
