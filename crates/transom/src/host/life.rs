//! The life of a view: from its greeting to its end, and again after a reload.

use std::{sync::Arc, time::Duration};

use super::{
    App, List, Output, PORT, Reason, Ruling, Session, Size,
    asks::Asked,
    requests::Seen,
    state::{Event, Move, Phase, Terms},
    work::Stage,
};
use crate::{
    rpc,
    violation::{Limit, Violation},
    wire::{
        AppCapabilities, HostCapabilities, HostContext, InitializeParams, InitializeResult,
        SizeChangedParams, TeardownParams, method, negotiate,
    },
};

impl Session {
    /// One step of the table, and what it wants done.
    pub(super) fn step(&mut self, now: Duration, event: Event) -> Result<(), Violation> {
        let (state, moves) = self.state.step(now, event, self.phases())?;
        // A phase with a deadline of its own began with this instance.
        let deadline = state.deadline().filter(|_| state.is_waiting());
        if !state.is_waiting() {
            self.quiet = None;
        } else if deadline != self.state.deadline() {
            self.quiet = (!self.embedded).then(|| now.saturating_add(self.setup.terms.quiet));
        }
        self.state = state;
        for step in moves {
            self.carry_out(now, step);
        }
        Ok(())
    }

    /// How long its phases may last. A document that came in a result may have nothing to say, and is waited for without end.
    fn phases(&self) -> Terms {
        self.setup.terms.phases(self.embedded)
    }

    /// Tells once that the view has not got ready, when that has taken a while.
    pub(super) fn tell_quiet(&mut self, now: Duration) {
        if self.quiet.take_if(|quiet| *quiet <= now).is_some() {
            let greeted = matches!(self.state.phase, Phase::Greeted { .. });
            self.outputs.push_back(Output::Quiet { greeted });
        }
    }

    fn carry_out(&mut self, now: Duration, step: Move) {
        match step {
            Move::Forget => {
                // What the driver has not fetched yet was meant for the old instance. The new one must not hear
                // it before `initialized` (H-53), nor take an answer for one to its own request.
                self.outputs.retain(|output| !matches!(output, Output::Send(_)));
                self.forget(now, "the view was loaded anew");
            }
            // The caller greets: it holds the request that is answered.
            Move::Greet => {}
            Move::Open => self.open(),
            Move::Partial | Move::Input | Move::Ending => self.tell(step),
            Move::TearDown(reason) => self.tear_down(now, reason),
            Move::Close(reason) => self.end(now, reason),
        }
    }

    fn open(&mut self) {
        self.outputs.push_back(Output::Opened);
        self.tell_context();
        for list in [List::Tools, List::Resources, List::Prompts] {
            if std::mem::take(&mut self.lists[list as usize]) {
                self.notify(list.method(), None);
            }
        }
    }

    fn tear_down(&mut self, now: Duration, reason: Reason) {
        let params = rpc::raw(&TeardownParams { reason: reason.words().map(str::to_owned) });
        // The phase has a deadline of its own; the table entry must not fire before it.
        let patience = self.setup.terms.teardown.saturating_mul(2);
        self.ask_view(now, patience, Asked::TearDown, method::RESOURCE_TEARDOWN, Some(&params));
        // mcp-ui knows no answer to that.
        if self.plain.is_mcp_ui() {
            let _ = self.step(now, Event::TornDown);
        }
    }

    /// Nothing of the session survives its end (H-134).
    fn end(&mut self, now: Duration, reason: Reason) {
        for question in self.questions.drain() {
            self.outputs.push_back(Output::Withdraw { question });
        }
        self.forget(now, "the view was closed");
        self.outputs.push_back(Output::Closed(reason));
    }

    /// Gives up everything that belongs to one instance of the view: it is not there to hear of it,
    /// and the next one counts its ids from zero again.
    fn forget(&mut self, now: Duration, why: &str) {
        self.serving.drain();
        for (call, work) in self.work.drain() {
            match work.stage {
                Stage::Running => {
                    self.outputs.push_back(Output::Abort { call, reason: why.into() });
                }
                Stage::Asking(_) => self.taken_back(call, &work),
            }
        }
        self.forget_app_tools();
        self.plain.forget();
        self.release_all();
        self.withdraw_all(now);
        self.app = None;
        self.beat = None;
        // The next document may live in a new frame, whose size is not known yet.
        self.reported = SizeChangedParams::default();
        self.size = Size::default();
        self.resize.clear();
        self.list_changed.clear();
    }

    pub(super) fn reload(&mut self, now: Duration) -> Result<(), Violation> {
        if !self.counts_instance(now) {
            self.stop_reloads(now);
            return Err(self.too_many_instances());
        }
        self.step(now, Event::Reloaded)
    }

    /// Counts a new instance; false if it is one too many.
    fn counts_instance(&mut self, now: Duration) -> bool {
        self.meters.instances.take(self.setup.limits.instances, now, 1.0)
    }

    fn too_many_instances(&self) -> Violation {
        self.over(Limit::Instances, self.setup.limits.instances.burst as u64).into()
    }

    /// Takes away a view that is loaded over and over. It is a document that never got ready, so it is
    /// removed without a word (H-53, H-133).
    fn stop_reloads(&mut self, now: Duration) {
        let _ = self.step(now, Event::Reloaded);
        self.close(now, Reason::ReloadLoop);
    }

    pub(super) fn greet(
        &mut self,
        now: Duration,
        seen: &Seen,
        params: InitializeParams,
    ) -> Result<(), Violation> {
        // A view whose greeting was waited for was counted when it was loaded.
        let waited = matches!(self.state.phase, Phase::Waiting { .. });
        if !waited && !self.counts_instance(now) {
            let violation = self.too_many_instances();
            // Now: nothing comes after the end that follows.
            self.rule(seen, Ruling::Refused(violation.clone()));
            self.stop_reloads(now);
            return Err(violation);
        }
        self.step(now, Event::Greeting)?;
        self.plain.is_rpc();
        self.rule(seen, Ruling::Allowed);
        self.told_context = Arc::clone(&self.context);
        let revision = negotiate(&params.protocol_version);
        let result = InitializeResult {
            protocol_version: revision.to_owned(),
            host_info: self.setup.info.clone(),
            host_capabilities: self.capabilities_for(&params.app_capabilities),
            host_context: HostContext::clone(&self.context).understood_in(revision),
            rest: serde_json::Map::new(),
        };
        self.reply(&seen.id, &rpc::raw(&result));
        let InitializeParams { app_info: info, app_capabilities: capabilities, .. } = params;
        self.outputs
            .push_back(Output::Greeted { info: info.clone(), capabilities: capabilities.clone() });
        self.app = Some(Box::new(App { info, capabilities, revision }));
        Ok(())
    }

    /// What the host offers, and the port if both ends can have one.
    fn capabilities_for(&self, app: &AppCapabilities) -> HostCapabilities {
        let mut offered = self.setup.capabilities.clone();
        let wanted = app.experimental.as_ref().is_some_and(|all| all.contains_key(PORT));
        if wanted && self.port {
            let experimental = offered.experimental.get_or_insert_default();
            experimental.insert(PORT.to_owned(), serde_json::Map::new());
        }
        offered
    }
}
