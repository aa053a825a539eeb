//! What a tool says of handles: names that results give a view for what its server keeps for it, such as a stream.

use serde_json::Value;

/// What a tool says of handles in its `_meta`, under [`HANDLES`]: `{"gives": "streamId", "end": "http_stream_cancel"}` if its
/// results give them, `{"takes": "streamId", "over": "done"}` if its arguments take them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handling {
    /// The member of its data that is a handle, and the tool that ends what it stands for.
    pub gives: Option<(String, String)>,
    /// The argument that is one. Whoever was not given it cannot make the call.
    pub takes: Option<String>,
    /// The member of its data that is true once there is nothing more.
    pub over: Option<String>,
}

impl Handling {
    /// Reads what a tool says. What cannot be read is not said.
    pub(crate) fn read(said: &Value) -> Self {
        let text = |name: &str| said.get(name).and_then(Value::as_str).map(str::to_owned);
        Self { gives: text("gives").zip(text("end")), takes: text("takes"), over: text("over") }
    }

    /// As a tool's `_meta` has it.
    pub fn declared(&self) -> Value {
        let (gives, end) = self.gives.clone().unzip();
        let members = [
            ("gives", gives),
            ("end", end),
            ("takes", self.takes.clone()),
            ("over", self.over.clone()),
        ];
        let said =
            members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into())));
        Value::Object(said.collect())
    }
}

/// The member of a tool's `_meta` that says what it does with handles.
pub const HANDLES: &str = "transom/handles";
