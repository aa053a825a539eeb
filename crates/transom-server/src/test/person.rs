//! The person and the model behind a test's client.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::Value;
use transom::wire::{EXTENSION, UiCapability};

use super::answer::Told;

/// Who is behind the client.
#[derive(Default)]
pub(super) struct Person {
    pub(super) shows_views: bool,
    pub(super) tasks: bool,
    pub(super) answer: Option<Box<Answers>>,
    pub(super) model: Option<Box<Says>>,
    pub(super) heard: Arc<Mutex<Vec<Told>>>,
}

type Answers = dyn Fn(&str) -> Option<Value> + Send + Sync;
type Says = dyn Fn(&str) -> String + Send + Sync;

impl fmt::Debug for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Person").field("shows_views", &self.shows_views).finish_non_exhaustive()
    }
}

#[expect(deprecated, reason = "servers still sample")]
impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let mut extensions = ExtensionCapabilities::new();
        if self.shows_views {
            let ui = serde_json::to_value(UiCapability::default()).expect("a list of strings");
            let ui = ui.as_object().cloned().expect("it is an object");
            extensions.insert(EXTENSION.to_owned(), ui);
        }
        if self.tasks {
            extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        }
        capabilities.extensions = (!extensions.is_empty()).then_some(extensions);
        capabilities.elicitation = self.answer.is_some().then(Default::default);
        capabilities.sampling = self.model.is_some().then(Default::default);
        let me = Implementation::new("transom-test", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, me).with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let message = match &request {
            ElicitRequestParams::FormElicitationParams { message, .. }
            | ElicitRequestParams::UrlElicitationParams { message, .. } => message,
            _ => "",
        };
        let answer = self.answer.as_ref().and_then(|answer| answer(message));
        Ok(match answer {
            Some(content) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
            None => ElicitResult::new(ElicitationAction::Decline),
        })
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let Some(model) = &self.model else {
            return Err(ErrorData::method_not_found::<CreateMessageRequestMethod>());
        };
        let last = request.messages.last();
        let last = last.and_then(|message| serde_json::to_value(message).ok()).unwrap_or_default();
        let asked = last["content"]["text"].as_str().unwrap_or_default();
        let message = SamplingMessage::assistant_text(model(asked));
        Ok(CreateMessageResult::new(message, "a test".to_owned()))
    }

    async fn on_progress(
        &self,
        told: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let progress = Told { done: told.progress, total: told.total, words: told.message };
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(progress);
    }
}
