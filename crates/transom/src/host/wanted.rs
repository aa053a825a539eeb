//! What a request of a view asks for, read by the closed table of its members.

use std::borrow::Cow;

use serde_json::value::RawValue;
use url::Url;

use super::{File, Session, Task, ToolCall, members::Sifted, work::empty};
use crate::{
    printed::Printed,
    routes::HttpRequest,
    rpc,
    violation::{Denial, Limit, Quoted, Violation},
    wire::{
        CreateMessageParams, DisplayModeResult, DownloadFileParams, MessageParams, Modalities,
        Modality, ProgressToken, RequestDisplayModeParams, UpdateModelContextParams, method,
    },
};

/// A request, read.
pub(super) enum Wanted {
    /// Answered here and now.
    Reply(Box<RawValue>),
    /// To be judged.
    Task(Task, Option<ProgressToken>),
}

impl Session {
    pub(super) fn read(
        &self,
        method: &'static str,
        sifted: &mut Sifted<'_>,
    ) -> Result<Wanted, Violation> {
        let task = match method {
            method::TOOLS_CALL => return self.read_tool_call(sifted),
            method::TOOLS_LIST => return Ok(Wanted::Reply(self.tools.for_app().to_owned())),
            method::RESOURCES_READ => {
                let uri = sifted.need("uri")?;
                return self.forward(method, Some(("uri", uri)), sifted);
            }
            method::RESOURCES_LIST | method::RESOURCES_TEMPLATES_LIST | method::PROMPTS_LIST => {
                let cursor = sifted.text("cursor")?.map(|cursor| ("cursor", cursor));
                return self.forward(method, cursor, sifted);
            }
            method::OPEN_LINK => self.read_link(sifted)?,
            method::DOWNLOAD_FILE => match self.read_download(sifted)? {
                files if files.is_empty() => return Ok(Wanted::Reply(empty().to_owned())),
                files => Task::Download { files },
            },
            method::MESSAGE => self.read_message(sifted)?,
            method::UPDATE_MODEL_CONTEXT => self.read_model_context(sifted)?,
            method::SAMPLING_CREATE_MESSAGE => self.read_sampling(sifted)?,
            method::REQUEST_DISPLAY_MODE => return self.read_display_mode(sifted),
            _ => return Err(Violation::UnknownMethod { method: Quoted::new(method) }),
        };
        Ok(Wanted::Task(task, None))
    }

    fn read_tool_call(&self, sifted: &mut Sifted<'_>) -> Result<Wanted, Violation> {
        let name = sifted.need("name")?.into_owned();
        let arguments = sifted.object("arguments")?;
        let (meta, token) = sifted.meta()?;
        // One that is none is refused by its verdict, which is written down.
        let routes = self.tools.get(&name).and_then(|tool| tool.routes.as_ref());
        let request = routes.and_then(|_| HttpRequest::read(arguments.as_ref()).ok());
        Ok(Wanted::Task(Task::CallTool(ToolCall { name, arguments, meta, request }), token))
    }

    /// Any other request that goes to the server: written by us, from one text and `_meta`.
    fn forward(
        &self,
        method: &'static str,
        about: Option<(&'static str, Cow<'_, str>)>,
        sifted: &mut Sifted<'_>,
    ) -> Result<Wanted, Violation> {
        let (meta, token) = sifted.meta()?;
        let text = about.as_ref().map(|(name, text)| (*name, Printed::string(text)));
        let members = text.iter().map(|(name, text)| (*name, text));
        let params = Printed::object(members.chain(meta.iter().map(|meta| ("_meta", meta))));
        let uri = about.filter(|(name, _)| *name == "uri").map(|(_, uri)| (*uri).into());
        Ok(Wanted::Task(Task::Read { method, uri, params }, token))
    }

    fn read_link(&self, sifted: &Sifted<'_>) -> Result<Task, Violation> {
        let address = sifted.need("url")?;
        let refuse = || Denial::Address(Quoted::new(&address));
        let url = Url::parse(&address).map_err(|_| refuse())?;
        // The person is shown the address, and all of it: a name before the `@` makes it look like another one, and
        // no person reads a page of it.
        if !url.username().is_empty() || url.password().is_some() || url.as_str().len() > ADDRESS {
            return Err(refuse().into());
        }
        Ok(Task::OpenLink { url: url.into() })
    }

    fn read_download(&self, sifted: &Sifted<'_>) -> Result<Vec<File>, Violation> {
        let params: DownloadFileParams<'_> = sifted.read()?;
        if params.contents.len() > FILES {
            return Err(self.over(Limit::Files, FILES as u64).into());
        }
        let files: Vec<File> = params.contents.into_iter().map(File::from).collect();
        // With a scheme, so that no name of a file passes for one; and no reader stops in the middle of it.
        let is_address =
            |text: &&str| text.len() <= ADDRESS && !text.contains('\0') && Url::parse(text).is_ok();
        let mut addresses = files.iter().filter_map(File::address);
        if let Some(address) = addresses.find(|address| !is_address(address)) {
            return Err(Denial::Address(Quoted::new(address)).into());
        }
        Ok(files)
    }

    fn read_message(&self, sifted: &Sifted<'_>) -> Result<Task, Violation> {
        let params: MessageParams = sifted.read()?;
        let modalities = self.setup.capabilities.message.unwrap_or_default();
        allow_modalities(modalities, params.content.iter().map(|block| block.modality()))?;
        Ok(Task::AddMessage { content: sifted.print_folded(&rpc::raw(&params.content))? })
    }

    fn read_model_context(&self, sifted: &Sifted<'_>) -> Result<Task, Violation> {
        let params: UpdateModelContextParams<'_> = sifted.read()?;
        let modalities = self.setup.capabilities.update_model_context.unwrap_or_default();
        allow_modalities(modalities, params.content.iter().map(|block| block.modality()))?;
        if params.structured_content.is_some() && !modalities.structured_content {
            return Err(Denial::Modality("structured").into());
        }
        Ok(Task::UpdateModelContext {
            content: sifted.print_folded(&rpc::raw(&params.content))?,
            structured: sifted.object("structuredContent")?,
        })
    }

    fn read_sampling(&self, sifted: &Sifted<'_>) -> Result<Task, Violation> {
        let params: CreateMessageParams<'_> = sifted.read()?;
        let offers_tools = self.setup.capabilities.sampling.is_some_and(|sampling| sampling.tools);
        if params.has_tools() && !offers_tools {
            return Err(Denial::SamplingTools.into());
        }
        Ok(Task::Sample { params: sifted.print_all()? })
    }

    /// H-82: a mode that cannot be had is answered with the one in force.
    fn read_display_mode(&self, sifted: &Sifted<'_>) -> Result<Wanted, Violation> {
        let RequestDisplayModeParams { mode } = sifted.read()?;
        let offered = self.context.available_display_modes.as_deref().unwrap_or_default();
        if mode == self.mode() || !offered.contains(&mode) || !self.app_declares(mode) {
            return Ok(Wanted::Reply(rpc::raw(&DisplayModeResult { mode: self.mode() })));
        }
        Ok(Wanted::Task(Task::SetDisplayMode(mode), None))
    }
}

fn allow_modalities(
    offered: Modalities,
    used: impl IntoIterator<Item = Modality>,
) -> Result<(), Violation> {
    match used.into_iter().find(|&modality| !offered.allows(modality)) {
        Some(modality) => Err(Denial::Modality(modality.as_str()).into()),
        None => Ok(()),
    }
}

/// The longest address that a person is asked about, in bytes.
const ADDRESS: usize = 8 << 10;
/// The most files in one download: people are shown each of them.
const FILES: usize = 100;
