//! The model wants to call a tool.

use transom::{host::Preview, quoted::Quoted};

use crate::{conversation::FOR_THIS, envelope::Ask, words};

/// The question about a call of the model, with what it would send.
pub(crate) fn model_call(server: &str, tool: &str, arguments: &str, id: String) -> Ask {
    let (server, tool) = (Quoted::new(server), Quoted::new(tool));
    let ask = Ask {
        id,
        kind: "model",
        who: words!("The model, in a conversation"),
        text: words!("The model wants to call {} of {} with:", tool, server),
        server,
        choices: vec!["allow", FOR_THIS, "deny"],
        ..Ask::default()
    };
    ask.showing_text(&Preview { text: arguments.into(), beyond: None })
}
