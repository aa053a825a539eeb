//! HTTP requests that a tool makes for a view: what the operator says of them, and what their routes claim.

use super::{Policy, Stance, ToolFacts};
use crate::{
    quoted::Quoted,
    routes::{Effect, HttpRequest, Routes},
    violation::Denial,
};

impl Policy {
    /// What the operator says of the request, or else of the tool, or else what its route claims. A request that no route
    /// takes is none that the tool makes: the person is not asked about it.
    pub(super) fn request_stance(
        &self,
        tool: &ToolFacts,
        routes: &Routes,
        request: &HttpRequest,
    ) -> Result<Stance, Denial> {
        let own = self.tools.get(&tool.name).copied();
        // What is forbidden or asked about is so in every spelling that some backend takes for it.
        let ruled = self.routes.iter().filter(|(pattern, stance)| match stance {
            Stance::Allow => pattern.takes(request),
            Stance::Ask | Stance::Deny => pattern.could_take(request),
        });
        let ruled = ruled.map(|(_, stance)| *stance).max();
        let refused = || Denial::NoRoute(Quoted::long(&request.to_string(), REQUEST));
        let route = routes.find(request).ok_or_else(refused);
        match (own, ruled) {
            (Some(Stance::Deny), _) => return Ok(Stance::Deny),
            // Each path of a view's choice would be another question.
            (_, Some(Stance::Ask)) | (Some(Stance::Ask), None) => {
                return route.map(|_| Stance::Ask);
            }
            (_, Some(stance)) | (Some(stance), None) => return Ok(stance),
            (None, None) => {}
        }
        let route = route?;
        Ok(match route.effect() {
            _ if tool.destructive => self.destructive_tools,
            Effect::Reads => self.read_only_tools,
            Effect::Writes => self.other_tools,
        })
    }
}

/// How much of a request a refusal quotes.
const REQUEST: usize = 300;
