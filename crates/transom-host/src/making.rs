//! How a server of a host is made: of its agreement, and what is said for all of them where that says nothing.

use std::{sync::Arc, time::Duration};

use transom::{
    csp::Grant,
    host::{Limits, ServerLimits},
    origin::Origin,
    policy::Policy,
    wire::ResourcePermissions,
};

use crate::{
    conversation::Reception,
    documents::Store,
    log::{LineKind, Log},
    place::Place,
    server::{Server, Trust},
    timeline::Timeline,
    upstream::{OAuth, Registration, Target, Times, Tokens},
    words::Words,
};

/// What is said for all servers.
pub(crate) struct Maker {
    pub(crate) policy: Arc<Policy>,
    pub(crate) limits: Limits,
    pub(crate) server_limits: ServerLimits,
    pub(crate) page_origins: Vec<Origin>,
    pub(crate) tokens: Tokens,
    pub(crate) store: Store,
    pub(crate) log: Arc<Log>,
    pub(crate) timeline: Arc<Timeline>,
    /// Where people come back to after signing in, on our page.
    pub(crate) callback: &'static str,
    /// Whom servers ask for the person and the model.
    pub(crate) reception: Reception,
}

/// What is agreed with one server alone.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    /// Its rules, in place of those for all servers.
    pub policy: Option<Policy>,
    /// The kinds of script that its documents may use beside their own; none, unless said (H-25).
    pub grants: Vec<Grant>,
    /// The permissions that its documents get when they ask for them; none, unless said.
    pub permissions: ResourcePermissions,
    /// What each of its views may use up, in place of what is said for all servers.
    pub limits: Option<Limits>,
    /// What its views may use up together, in place of what is said for all servers.
    pub server_limits: Option<ServerLimits>,
    /// How we are known where its people sign in, should it ask for that.
    pub registration: Registration,
    /// Whether whoever writes it is whoever is shown its views: then its documents may change without
    /// a question.
    pub own: bool,
    /// How long its first words may take; one that is built first may need minutes.
    pub greeting: Option<Duration>,
    /// How long its answers may take.
    pub times: Times,
}

impl Maker {
    pub(crate) fn server(&self, name: String, target: &Target, agreement: Agreement) -> Server {
        if let Target::Http(endpoint) = target
            && let Some(warning) = endpoint.warning()
        {
            self.log.write(LineKind::Warning, &name, Words::ours(&warning));
        }
        let place = Place::of(target);
        let oauth = self.oauth(target, &place, agreement.registration);
        let trust = Trust {
            policy: agreement.policy.map_or_else(|| Arc::clone(&self.policy), Arc::new),
            grants: agreement.grants,
            permissions: agreement.permissions,
            limits: agreement.limits.unwrap_or_else(|| self.limits.clone()),
            server_limits: agreement.server_limits.unwrap_or(self.server_limits),
            place,
            own: agreement.own || matches!(target, Target::InProcess(_)),
            greeting: agreement.greeting,
            times: agreement.times,
            ask: Some(self.reception.for_server(&name)),
        };
        let origins = self.page_origins.clone();
        let (log, timeline) = (Arc::clone(&self.log), Arc::clone(&self.timeline));
        Server::new(name, trust, oauth, self.store.clone(), origins, log, timeline)
    }

    /// How people sign in to a server that is reached over HTTP.
    fn oauth(
        &self,
        target: &Target,
        place: &Place,
        registration: Registration,
    ) -> Option<Arc<OAuth>> {
        let Target::Http(endpoint) = target else { return None };
        let origin = self.page_origins.first()?;
        // Who listens at an address of this machine may be another program the next time.
        let tokens = if place.is_kept() { self.tokens.clone() } else { Tokens::in_memory() };
        let redirect = format!("{origin}{}", self.callback);
        Some(Arc::new(OAuth::new(&endpoint.url, registration, redirect, tokens)))
    }
}
