//! Calls of tools that the model wants, with no view in between.

use std::sync::Arc;

use super::{Session, Tools};
use crate::{
    policy::{Claims, Decided, Policy, Stance},
    quoted::Quoted,
    violation::Denial,
};

/// What is said to a call that the model wants to make.
#[derive(Clone, Debug, PartialEq)]
pub enum ForModel {
    /// Make it.
    Allow,
    /// A person decides; what the tool says of itself now is what a yes is for.
    Ask(Arc<Claims>),
}

impl Session {
    /// Judges the model's wish to call a tool of a server.
    ///
    /// The operator's rules count as for views, and what a person forbade stays forbidden. What they allowed to views for
    /// longer is no yes to the model: what it calls may be the wish of whoever wrote the last thing that it read.
    pub fn judge_for_model(
        tools: &Tools,
        policy: &Policy,
        decided: &Decided,
        name: &str,
    ) -> Result<ForModel, Denial> {
        // H-10, H-15: fail closed.
        let tool = match tools.get(name) {
            None => return Err(Denial::NotThisServer(Quoted::new(name))),
            Some(tool) if !tool.for_model => return Err(Denial::ForViews(Quoted::new(name))),
            Some(tool) => tool,
        };
        if decided.tool(tool, true) == Some(false) {
            return Err(Denial::Refused(Quoted::new(name)));
        }
        match policy.tool_stance(tool) {
            Stance::Deny => Err(Denial::Policy("calling this tool".into())),
            // A tool that makes HTTP requests is decided about route by route, which only views ask for.
            Stance::Allow if tool.routes.is_none() => Ok(ForModel::Allow),
            Stance::Allow | Stance::Ask => Ok(ForModel::Ask(Arc::clone(&tool.claims))),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;
    use crate::policy::{Claimed, Decision, Subject};

    fn tools() -> Tools {
        let entries: Vec<&RawValue> = serde_json::from_str(
            r#"[{"name":"read","annotations":{"readOnlyHint":true}}, {"name":"write"},
                {"name":"own","annotations":{"readOnlyHint":true},"_meta":{"ui":{"visibility":["app"]}}}]"#,
        )
        .unwrap();
        Tools::read(entries, &mut vec![])
    }

    #[test]
    fn h_10_h_15_the_model_calls_only_what_it_may_see_and_asks_for_what_changes_something() {
        let (tools, policy, decided) = (tools(), Policy::default(), Decided::default());
        let judge = |name| Session::judge_for_model(&tools, &policy, &decided, name);
        assert_eq!(judge("read"), Ok(ForModel::Allow));
        assert!(matches!(judge("write"), Ok(ForModel::Ask(_))));
        assert_eq!(judge("own"), Err(Denial::ForViews("own".into())));
        assert_eq!(judge("gone"), Err(Denial::NotThisServer("gone".into())));
    }

    #[test]
    fn a_yes_to_views_is_none_to_the_model_and_a_no_is_one_to_both() {
        let (tools, policy) = (tools(), Policy::default());
        let subject = Subject::Tool("write".to_owned());
        let said: Claimed = tools.said(&subject);
        let mut decided = Decided::default();
        decided.remember(&subject, Decision::AllowAlways, &said);
        let judge = |decided: &_| Session::judge_for_model(&tools, &policy, decided, "write");
        assert!(matches!(judge(&decided), Ok(ForModel::Ask(_))));
        decided.remember(&subject, Decision::DenyAlways, &said);
        assert_eq!(judge(&decided), Err(Denial::Refused("write".into())));
    }

    #[test]
    fn the_operators_rules_count_for_the_model_too() {
        let tools = tools();
        let policy = Policy { read_only_tools: Stance::Deny, ..Policy::default() };
        let judged = Session::judge_for_model(&tools, &policy, &Decided::default(), "read");
        assert!(matches!(judged, Err(Denial::Policy(_))));
    }
}
