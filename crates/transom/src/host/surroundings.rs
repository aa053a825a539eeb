//! What is around the view: what it is told of it, and how large it may be.

use std::{sync::Arc, time::Duration};

use super::{Output, Session, Size, size};
use crate::{
    rpc,
    wire::{
        Axis, DisplayMode, HostContext, PROTOCOL_VERSION, SandboxCapabilities, SizeChangedParams,
        method,
    },
};

/// The view did not declare this display mode (H-80).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the view does not support {0}")]
pub struct ModeNotDeclared(pub DisplayMode);

impl Session {
    /// Replaces the view's surroundings; the view is told which top-level keys changed (H-87).
    pub fn set_context(&mut self, context: Arc<HostContext>) -> Result<(), ModeNotDeclared> {
        if let Some(mode) = context.display_mode
            && self.context.display_mode != Some(mode)
            && !self.app_declares(mode)
        {
            return Err(ModeNotDeclared(mode));
        }
        self.context = context;
        self.tell_context();
        // The view has said what it needs and will not say it again because there is more room now.
        let new = self.followed();
        if size::matters(self.size, new) {
            self.outputs.push_back(Output::Resize(new));
            self.size = new;
        }
        // An axis that the host took over has no size of ours to return to.
        self.size.width = self.size.width.filter(|_| new.width.is_some());
        self.size.height = self.size.height.filter(|_| new.height.is_some());
        Ok(())
    }

    /// Replaces what the next instance is told of its frame's policy and permissions (H-32).
    pub fn set_sandbox(&mut self, sandbox: Option<SandboxCapabilities>) {
        Arc::make_mut(&mut self.setup).capabilities.sandbox = sandbox;
    }

    /// Sends what of the context this instance does not know yet, if the gate is open.
    pub(super) fn tell_context(&mut self) {
        if !self.is_ready() {
            return;
        }
        let revision = self.app.as_ref().map_or(PROTOCOL_VERSION, |app| app.revision);
        let diff = self.told_context.diff(&self.context).understood_in(revision);
        self.told_context = Arc::clone(&self.context);
        if !diff.is_empty() {
            self.notify(method::HOST_CONTEXT_CHANGED, Some(&rpc::raw(&diff)));
        }
    }

    pub(super) fn resized(&mut self, now: Duration, report: SizeChangedParams) {
        // While the host has an axis, what a view says of it is an echo of that: in fullscreen it would report the height of
        // the screen, and keep it afterwards.
        let [width, height] = self.context.container_dimensions.map_or([false; 2], |container| {
            [container.width, container.height].map(|axis| matches!(axis, Axis::Fixed(_)))
        });
        self.reported = SizeChangedParams {
            width: report.width.filter(|_| !width).or(self.reported.width),
            height: report.height.filter(|_| !height).or(self.reported.height),
        };
        let new = self.followed();
        if !size::matters(self.size, new) {
            return;
        }
        self.size = new;
        if self.resize.hit(now, self.setup.terms.resize) {
            self.outputs.push_back(Output::Resize(new));
        }
    }

    /// The size that the view has asked for, as far as there is room.
    fn followed(&self) -> Size {
        size::clamp(self.reported, self.context.container_dimensions.as_ref())
    }

    pub(super) fn app_declares(&self, mode: DisplayMode) -> bool {
        let declared =
            self.app.as_ref().and_then(|app| app.capabilities.available_display_modes.as_ref());
        declared.is_none_or(|modes| modes.contains(&mode))
    }
}
