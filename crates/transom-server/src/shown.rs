//! What a tool returns that has a view.

use std::fmt;

use rmcp::ErrorData;
use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde::Serialize;
use serde_json::Value;

/// What a tool returns that has a view: words for the model, data for the view.
///
/// The words are not optional. A model that sees only data does not know what is on the screen, and a
/// client without views shows nothing else (S-17, S-18).
///
/// ```
/// use serde::Serialize;
/// use transom_server::Shown;
///
/// #[derive(Serialize)]
/// struct Forecast { city: String, degrees: i32 }
///
/// let forecast = Forecast { city: "Oslo".into(), degrees: 3 };
/// let shown = Shown::new("3 °C in Oslo", forecast)
///     .private("stations", ["18700", "18701"])
///     .or_text(|f| format!("| city | °C |\n|---|---|\n| {} | {} |", f.city, f.degrees));
/// # let _ = shown;
/// ```
pub struct Shown<T> {
    text: String,
    data: T,
    private: JsonObject,
    instead: Option<Instead<T>>,
    failed: bool,
    broken: Option<serde_json::Error>,
}

type Instead<T> = Box<dyn FnOnce(&T) -> String + Send>;

impl<T> Shown<T> {
    /// Shows data, with words for the model that say what there is to see.
    pub fn new(text: impl Into<String>, data: T) -> Self {
        Self {
            text: text.into(),
            data,
            private: JsonObject::new(),
            instead: None,
            failed: false,
            broken: None,
        }
    }

    /// Adds something for the view alone, in the result's `_meta`: by contract, the model does not see it.
    ///
    /// It is left out for clients that do not show views.
    pub fn private(mut self, key: impl Into<String>, value: impl Serialize) -> Self {
        match serde_json::to_value(value) {
            Ok(value) => drop(self.private.insert(key.into(), value)),
            Err(error) => self.broken = Some(error),
        }
        self
    }

    /// Says it in other words to clients that do not show views. For others it is not even asked.
    pub fn or_text(mut self, text: impl FnOnce(&T) -> String + Send + 'static) -> Self {
        self.instead = Some(Box::new(text));
        self
    }

    /// Marks it as a failure that the model and the view should hear of.
    pub fn failed(mut self) -> Self {
        self.failed = true;
        self
    }
}

impl<T: Serialize> IntoCallToolResult for Shown<T> {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        if let Some(error) = self.broken {
            return Err(unserialisable("something private", &error));
        }
        let data = serde_json::to_value(&self.data);
        let data = data.map_err(|error| unserialisable("its data", &error))?;
        let renders = crate::host_ui::current().is_none_or(|ui| ui.renders());
        let text = match self.instead {
            Some(instead) if !renders => instead(&self.data),
            _ => self.text,
        };
        // server-14: a model that gets an empty answer makes one up.
        let text = if text.trim().is_empty() { data.to_string() } else { text };
        let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
        result.structured_content = structured(data)?;
        result.is_error = self.failed.then_some(true);
        result.meta = (renders && !self.private.is_empty()).then_some(MetaObject(self.private));
        Ok(result.into())
    }
}

impl<T: fmt::Debug> fmt::Debug for Shown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, data, private, failed, .. } = self;
        f.debug_struct("Shown")
            .field("text", text)
            .field("data", data)
            .field("private", &private.keys().collect::<Vec<_>>())
            .field("failed", failed)
            .finish_non_exhaustive()
    }
}

/// `structuredContent` is an object or absent: clients before the 2026 revision fail on anything else.
fn structured(data: Value) -> Result<Option<Value>, ErrorData> {
    let kind = match data {
        Value::Object(_) => return Ok(Some(data)),
        Value::Null => return Ok(None),
        Value::Array(_) => "a list",
        Value::String(_) => "a string",
        Value::Number(_) => "a number",
        Value::Bool(_) => "a boolean",
    };
    let message = format!(
        "Shown holds {kind}, but structuredContent must be an object: put it into a field of a struct"
    );
    Err(ErrorData::internal_error(message, None))
}

fn unserialisable(what: &str, error: &serde_json::Error) -> ErrorData {
    ErrorData::internal_error(format!("{what} cannot be written as JSON: {error}"), None)
}
