//! What to do for a view, once it may be done.

use std::borrow::Cow;

use super::{Part, files::file_name, readable, work::Reply};
use crate::{
    printed::{Printed, push_string},
    quoted::Quoted,
    routes::HttpRequest,
    wire::{Body, DisplayMode, Downloadable, Members},
};

/// What to do for the view, already allowed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Task {
    /// Call a tool of the view's server; answer with its result or its error, untouched.
    CallTool(ToolCall),
    /// Send any other request to the view's server; answer with its result or its error.
    Read {
        /// `resources/read` or one of the lists.
        method: &'static str,
        /// What is read, if it is one thing.
        uri: Option<Box<str>>,
        /// The params to send, an object.
        params: Printed,
    },
    /// Open an address in the person's browser, without opener and referrer (H-90).
    OpenLink {
        /// The address, parsed and printed again.
        url: String,
    },
    /// Save files (H-95).
    Download {
        /// The files.
        files: Vec<File>,
    },
    /// Put a message of the user into the conversation (H-91).
    AddMessage {
        /// A JSON array of content blocks.
        content: Printed,
    },
    /// Replace what the model is told about this view (H-93, H-94).
    UpdateModelContext {
        /// A JSON array of content blocks; empty, with nothing structured, means "forget".
        content: Printed,
        /// A JSON object.
        structured: Option<Printed>,
    },
    /// Let the host's model write something (H-98); answer with its result.
    Sample {
        /// The params of `sampling/createMessage`.
        params: Printed,
    },
    /// Show the view in another way; set the new context before answering (Q1).
    SetDisplayMode(DisplayMode),
}

/// A tool call on its way to the server: what was judged is what is shown, written down and sent.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The tool.
    pub name: String,
    /// Its arguments, a JSON object.
    pub arguments: Option<Printed>,
    /// `_meta`, a JSON object that is not empty. There is no progress token in it: the client that carries it gives it one
    /// of its own, and tells what comes under it with [`Input::Progress`](super::Input::Progress) (H-74).
    pub meta: Option<Printed>,
    /// The HTTP request that it is, if its tool declares which ones it makes.
    pub request: Option<HttpRequest>,
}

/// A file that a view wants saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The name to save it under: one plain segment (H-96).
    pub name: String,
    /// Its MIME type, as the view says.
    pub mime_type: Option<String>,
    /// What is in it, or where to get it.
    pub body: FileBody,
}

/// What is in a file, or where to get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileBody {
    /// Text.
    Text(String),
    /// Bytes, in base64.
    Blob(String),
    /// An address, for the view's server: only with consent, and no other server is asked for it (H-97).
    Link(String),
}

impl Task {
    pub(super) fn reply(&self) -> Reply {
        match self {
            Self::CallTool(_) | Self::Read { .. } | Self::Sample { .. } => Reply::Raw,
            Self::SetDisplayMode(_) => Reply::Mode,
            Self::OpenLink { .. }
            | Self::Download { .. }
            | Self::AddMessage { .. }
            | Self::UpdateModelContext { .. } => Reply::Empty,
        }
    }

    /// The few words that a log line wants.
    pub(super) fn about(&self) -> Quoted {
        Quoted::new(match self {
            Self::CallTool(call) => return Quoted::long(&call.about(), ABOUT),
            Self::Read { method, uri, .. } => uri.as_deref().unwrap_or(method),
            Self::OpenLink { url } => url,
            Self::Download { files } => files.first().map_or("", |file| &file.name),
            Self::AddMessage { .. } => "a message",
            Self::UpdateModelContext { .. } => "context for the model",
            Self::Sample { .. } => "sampling",
            Self::SetDisplayMode(mode) => mode.as_str(),
        })
    }

    /// What would be done, for the person who decides.
    pub(super) fn preview(&self) -> Cow<'_, str> {
        match self {
            Self::CallTool(call) => match call.shown() {
                Cow::Borrowed("") => "{}".into(),
                shown => shown,
            },
            Self::Sample { params } => params.get().into(),
            Self::AddMessage { content } => content.get().into(),
            Self::UpdateModelContext { content, structured } => match structured {
                Some(structured) => format!("{} {}", content.get(), structured.get()).into(),
                None => content.get().into(),
            },
            Self::OpenLink { url } => url.into(),
            // What is read is the subject; a cursor and `_meta` go along.
            Self::Read { params, .. } => beside(params.get()).unwrap_or_default().into(),
            Self::Download { .. } | Self::SetDisplayMode(_) => "".into(),
        }
    }

    /// The same in parts that people can read, where it has parts.
    pub(super) fn parts(&self) -> Vec<Part> {
        match self {
            Self::CallTool(call) => readable::call(call.arguments.as_ref(), call.meta.as_ref()),
            Self::AddMessage { content } => readable::content(content.get()),
            Self::UpdateModelContext { content, structured } => {
                readable::context(content.get(), structured.as_ref())
            }
            Self::Sample { params } => readable::sampling(params.get()),
            _ => vec![],
        }
    }
}

impl ToolCall {
    /// What a person is shown of it, what its hash is written down of, and what a late yes is compared with: the arguments,
    /// and `_meta` if the view put anything there. Together they are no JSON, so that no arguments can pass for both.
    pub fn shown(&self) -> Cow<'_, str> {
        let arguments = self.arguments.as_ref().map_or("", Printed::get);
        match self.meta.as_ref().map(Printed::get) {
            Some(meta) if arguments.is_empty() => format!("{{}}\n_meta: {meta}").into(),
            Some(meta) => format!("{arguments}\n_meta: {meta}").into(),
            None => arguments.into(),
        }
    }

    /// What is written down of it: the tool, and the method and path of an HTTP request. Never a query, never a body (FSE-14).
    pub fn about(&self) -> Cow<'_, str> {
        match &self.request {
            Some(request) => format!("{} {request}", self.name).into(),
            None => (&self.name).into(),
        }
    }

    /// The params of the `tools/call` to send, as JSON text.
    pub fn params(&self) -> String {
        let members = [("arguments", &self.arguments), ("_meta", &self.meta)];
        let members = members.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let length: usize =
            members.clone().map(|(name, value)| name.len() + value.get().len() + 8).sum();
        // Sized once: growing a megabyte costs more than copying it.
        let mut text = String::with_capacity(length + self.name.len() + 32);
        text.push_str(r#"{"name":"#);
        push_string(&mut text, &self.name);
        for (name, value) in members {
            text.push(',');
            push_string(&mut text, name);
            text.push(':');
            text.push_str(value.get());
        }
        text.push('}');
        text
    }
}

/// What goes along with the address that is read, if anything does.
fn beside(params: &str) -> Option<String> {
    let members: Members<'_> = serde_json::from_str(params).expect("we printed an object");
    let mut text = String::new();
    for (name, value) in members.iter().filter(|(name, _)| *name != "uri") {
        text.push(if text.is_empty() { '{' } else { ',' });
        push_string(&mut text, name);
        text.push(':');
        text.push_str(value.get());
    }
    (!text.is_empty()).then(|| text + "}")
}

impl File {
    /// Where it is to be had, if the view only names it.
    pub(super) fn address(&self) -> Option<&str> {
        match &self.body {
            FileBody::Link(address) => Some(address),
            FileBody::Text(_) | FileBody::Blob(_) => None,
        }
    }

    /// As the person who decides sees it: what would be fetched for the view is named in full, so that
    /// a yes covers that address and no other (H-97).
    pub(super) fn shown(&self) -> String {
        match self.address() {
            Some(address) => format!("{} from {address}", self.name),
            None => self.name.clone(),
        }
    }
}

impl From<Downloadable<'_>> for File {
    fn from(file: Downloadable<'_>) -> Self {
        match file {
            Downloadable::Embedded(resource) => Self {
                name: file_name(&resource.uri),
                mime_type: resource.mime_type,
                body: match resource.body {
                    Body::Text(text) => FileBody::Text(text.into_owned()),
                    Body::Blob(blob) => FileBody::Blob(blob.as_str().to_owned()),
                },
            },
            Downloadable::Link(link) => Self {
                name: file_name(&link.uri),
                mime_type: link.mime_type,
                body: FileBody::Link(link.uri.into_owned()),
            },
        }
    }
}

/// How much of a call is named in a log line, in characters.
const ABOUT: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_along_with_a_read_is_shown_beside_its_address() {
        #[rustfmt::skip]
        let table = [
            (r#"{"uri":"file:///a"}"#,                        ""),
            (r#"{"uri":"file:///a","_meta":{"force":true}}"#, r#"{"_meta":{"force":true}}"#),
            (r#"{"cursor":"x"}"#,                             r#"{"cursor":"x"}"#),
        ];
        for (params, shown) in table {
            let params = Printed::parse(params).unwrap();
            let task = Task::Read { method: "resources/read", uri: None, params };
            assert_eq!(task.preview(), shown);
        }
    }
}
