//! Notifications of the view.

use std::time::Duration;

use serde_json::value::RawValue;

use super::{Output, Session, members::Sifted, questions::Waiter, state::Event, work::Stage};
use crate::{
    rpc::Notification,
    violation::{Quoted, Violation},
    wire::{CancelledParams, LogParams, SizeChangedParams, method},
};

impl Session {
    pub(super) fn notified(
        &mut self,
        now: Duration,
        notification: Notification<'_>,
    ) -> Result<(), Violation> {
        let Notification { method, params } = notification;
        match method::canonical(&method) {
            method::INITIALIZED => self.step(now, Event::Initialized),
            method::SIZE_CHANGED => {
                let size: SizeChangedParams = Sifted::new(method::SIZE_CHANGED, params)?.read()?;
                self.resized(now, size);
                Ok(())
            }
            method::REQUEST_TEARDOWN => {
                self.outputs.push_back(Output::CloseWanted);
                Ok(())
            }
            method::LOG => self.log(params),
            method::CANCELLED => self.cancelled(now, params),
            method::TOOLS_LIST_CHANGED => {
                self.app_tools_changed(now);
                Ok(())
            }
            // P-07: these are between the sandbox and its host. From a view they are a spoof.
            method if method::is_sandbox(method) => Err(self.unexpected(method)),
            // W-9.
            _ => Ok(()),
        }
    }

    fn log(&mut self, params: Option<&RawValue>) -> Result<(), Violation> {
        let params: LogParams<'_> = Sifted::new(method::LOG, params)?.read()?;
        if self.setup.capabilities.logging {
            self.outputs.push_back(Output::Log {
                level: params.level,
                logger: params.logger.map(|logger| Quoted::new(&logger)),
                data: Quoted::long(params.data.get(), LINE),
            });
        }
        Ok(())
    }

    /// H-75: the work stops, upstream too, and no answer is sent.
    fn cancelled(&mut self, now: Duration, params: Option<&RawValue>) -> Result<(), Violation> {
        let params: CancelledParams = Sifted::new(method::CANCELLED, params)?.read()?;
        let id = params.request_id;
        // Too late is normal: the answer and the cancellation crossed on the way.
        let Some(call) = self.serving.settle(&id) else { return Ok(()) };
        let work = self.work.settle(call).expect("every request served has its work");
        match &work.stage {
            Stage::Running => {
                let reason = params.reason.as_deref().unwrap_or("cancelled by the view");
                self.outputs.push_back(Output::Abort { call, reason: Quoted::new(reason) });
            }
            Stage::Asking(_) => {
                self.taken_back(call, &work);
                self.withdraw(now, Waiter::View(call));
            }
        }
        Ok(())
    }
}

/// How much of what a view logs is kept, in characters.
const LINE: usize = 300;
