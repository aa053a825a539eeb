//! What a view needs to be mounted: its document, compared with what a person agreed to, and its frame.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::value::RawValue;
use transom::{
    csp::Grant,
    policy::{Grantable, Stance},
    quoted::Quoted,
    wire::{ResourcePermissions, SandboxCapabilities, Tool, UiUri},
};

use super::{
    Server,
    shown::{UNPINNED, talks},
};
use crate::{
    documents::{
        self, Change, Document, DocumentLimits, Embedded, IN_RESULTS, Named, Pin, PinError, Review,
        Shows, Unread,
    },
    envelope::Mount,
    grants::{Given, MissingGrants, MissingPermissions, permissions, policies, wish, wishes},
    sandbox::{Frame, MountError, Mounted, Relay, Reports, Sandbox, Spare},
    upstream::{ResourceEntries, Upstream},
    words,
    words::Words,
};

/// What a view needs to be mounted.
pub(crate) struct Prepared {
    pub(crate) server: Arc<Server>,
    pub(crate) tool: Option<Tool>,
    pub(crate) mounted: Mounted,
    pub(super) document: Arc<Document>,
    /// The tool that shows it.
    pub(super) shown_by: String,
    /// The template that its address is one of.
    pub(super) template: Option<String>,
    pub(super) review: Review,
    /// Whether no person is asked when its content changes.
    pub(super) unpinned: bool,
    /// What its frame was given because a person agreed.
    pub(crate) given: Given,
    /// What of it a person gave to this view alone.
    pub(crate) once: Given,
    /// What else is known of one that came in the result of its tool.
    pub(crate) embedded: Option<Brought>,
    reports: Reports,
}

/// What is known of a document that came in the result of a tool, as mcp-ui had it.
pub(crate) struct Brought {
    /// What came along to be shown, a JSON object.
    pub(crate) render_data: Option<Box<RawValue>>,
    /// How many more there were, which are not shown.
    pub(crate) more: usize,
    /// Whether its document is ours, and has addresses to open.
    pub(crate) links: bool,
}

/// A document, and how it came.
struct Came {
    document: Arc<Document>,
    template: Option<String>,
    embedded: Option<Brought>,
}

/// A view as it runs.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) document: Named,
    /// What it has because a person agreed.
    pub(crate) given: Given,
    /// The policy that its document runs under (H-27).
    pub(crate) policy: String,
}

/// Why a document does not run before a person agrees to it.
pub(crate) enum Doubt<'a> {
    /// It is not what it was.
    Changed(&'a Change),
    /// It is made for each request.
    Unpinned(&'a Pin),
}

impl Server {
    /// Everything that the view of a tool needs, or in words why there is none. Its page may have loaded a spare for it.
    pub(crate) async fn prepare(
        self: &Arc<Self>,
        tool: &str,
        sandbox: &Sandbox,
        spare: Option<Spare>,
        reports: Reports,
    ) -> Result<Prepared, String> {
        let upstream = self.upstream().ok_or("the server is not connected")?;
        let listing = upstream.tools();
        let entry =
            listing.get(tool).ok_or_else(|| format!("there is no tool {}", Quoted::new(tool)))?;
        let uri = entry.meta.resource_uri.clone().ok_or("this tool has no view")?;
        let document = self.document(&uri).await.map_err(|error| error.to_string())?;
        let template = self.template_of(&upstream, &uri).await;
        let came = Came { document, template, embedded: None };
        self.prepare_document(tool, came, sandbox, spare, reports).await
    }

    /// Whether a tool is known to link to no view: one may still be in its result.
    pub(crate) fn is_viewless(&self, tool: &str) -> bool {
        let listing = self.upstream().map(|upstream| upstream.tools());
        let meta = listing.as_ref().and_then(|all| all.get(tool)).map(|entry| &entry.meta);
        meta.is_some_and(|meta| meta.resource_uri.is_none())
    }

    /// Everything that a view in the result of a tool needs, or in words why there is none.
    pub(crate) async fn prepare_embedded(
        self: &Arc<Self>,
        tool: &str,
        result: Box<RawValue>,
        sandbox: &Sandbox,
        spare: Option<Spare>,
        reports: Reports,
    ) -> Result<Prepared, String> {
        let name = self.name.clone();
        let look = move || Embedded::find(&name, &result, &DocumentLimits::default());
        // A large one takes a while, in which other views are not to wait.
        let found = tokio::task::spawn_blocking(look).await.map_err(|error| error.to_string())?;
        let Embedded { document, render_data, more, links } =
            found.map_err(|error| error.to_string())?;
        let brought = Brought { render_data, more, links };
        let (document, template) = (Arc::new(document), Some(IN_RESULTS.to_owned()));
        let came = Came { document, template, embedded: Some(brought) };
        self.prepare_document(tool, came, sandbox, spare, reports).await
    }

    async fn prepare_document(
        self: &Arc<Self>,
        tool: &str,
        Came { document, template, embedded }: Came,
        sandbox: &Sandbox,
        spare: Option<Spare>,
        reports: Reports,
    ) -> Result<Prepared, String> {
        let shows = self.shows(tool, template.as_deref());
        let pins = |error: PinError| error.to_string();
        let review = match &embedded {
            // No person need agree to a page of ours.
            Some(Brought { links: true, .. }) => Review::Same,
            _ => self.look_over(&document, shows).map_err(pins)?,
        };
        let unpinned = !self.own && self.store.is_unpinned(shows).map_err(pins)?;
        let (given, once) = (Given::default(), Given::default());
        let frame = self.frame(&document, &given, &reports);
        let mounted = sandbox.mount_in(spare, frame).await.map_err(|error| error.to_string())?;
        let listing = self.upstream().map(|upstream| upstream.tools());
        let entry = listing.as_ref().and_then(|all| all.get(tool));
        let (shown_by, tool) =
            (tool.to_owned(), entry.and_then(|entry| serde_json::from_str(entry.raw.get()).ok()));
        let server = Arc::clone(self);
        Ok(Prepared {
            server,
            tool,
            document,
            shown_by,
            template,
            review,
            unpinned,
            mounted,
            given,
            once,
            embedded,
            reports,
        })
    }

    /// The frame of a document: with what the rules give it of its declaration, and what of the rest a
    /// person has agreed to.
    fn frame(&self, document: &Arc<Document>, given: &Given, reports: &Reports) -> Frame {
        let (grants, permissions) = self.granted(given);
        let mut frame = Frame {
            grants,
            permissions,
            relay: Relay::of(&self.limits().0),
            reports: Some(reports.clone()),
            watch_errors: self.own,
            ..Frame::new(Arc::clone(document), self.place.clone(), self.page_origins.clone())
        };
        if let Some(declaration) = &mut frame.declaration {
            declaration.retain(|list, source| match self.policy.domains.judge(source) {
                Stance::Allow => true,
                Stance::Ask => given.nearby.contains(&wish(list, source)),
                Stance::Deny => false,
            });
        }
        frame
    }

    /// What its operator gave it, and what people did.
    fn granted(&self, given: &Given) -> (Vec<Grant>, ResourcePermissions) {
        let mut permissions = self.permissions;
        for grantable in &given.grants {
            if let Grantable::Permission(permission) = grantable {
                *permission.of(&mut permissions) = true;
            }
        }
        (self.grants.iter().copied().chain(policies(&given.grants)).collect(), permissions)
    }

    /// Compares what a tool shows with what a person agreed to. What no person has seen before is agreed to when it
    /// runs; what changed, or is made for each request, waits for a person (H-49).
    pub(super) fn look_over(
        &self,
        document: &Document,
        shows: Shows<'_>,
    ) -> Result<Review, PinError> {
        if self.own {
            return Ok(Review::Same);
        }
        self.store.review(document, shows)
    }

    #[cfg(test)]
    pub(crate) fn agree(&self, tool: &str, document: &Document) {
        self.store.agree(document, self.shows(tool, None), &Review::New).expect("it is empty");
    }

    #[cfg(test)]
    pub(crate) fn is_new(&self, tool: &str, document: &Document) -> bool {
        self.store.review(document, self.shows(tool, None)).expect("it can be read") == Review::New
    }

    #[cfg(test)]
    pub(crate) fn is_agreed(&self, tool: &str, document: &Document) -> bool {
        self.store.review(document, self.shows(tool, None)).expect("it can be read") == Review::Same
    }

    pub(super) fn shows<'a>(&'a self, tool: &'a str, template: Option<&'a str>) -> Shows<'a> {
        Shows { place: self.place.id(), tool, template }
    }

    /// The template that an address is one of. None for what the list of resources has: that is one document.
    pub(super) async fn template_of(&self, upstream: &Upstream, uri: &UiUri) -> Option<String> {
        if self.entries(upstream).await.get(uri).is_some() {
            return None;
        }
        let mut known = self.templates.lock().await;
        let templates = match &*known {
            Some(templates) => Arc::clone(templates),
            None => {
                let fresh = Arc::new(upstream.resource_templates().await);
                *known = Some(Arc::clone(&fresh));
                fresh
            }
        };
        templates.iter().find(|template| documents::fits(template, uri.as_str())).cloned()
    }

    pub(super) async fn document(&self, uri: &UiUri) -> Result<Arc<Document>, Unread> {
        let read = || async {
            let upstream = self
                .upstream()
                .ok_or_else(|| Unread::NoAnswer("it is not connected".to_owned()))?;
            let (result, entries) =
                tokio::join!(upstream.read_resource(uri.as_str()), self.entries(&upstream));
            let result = result.map_err(|error| Unread::NoAnswer(Words::of(&error).to_string()))?;
            let (name, uri) = (self.name.clone(), uri.clone());
            // A large one takes a while, in which other views are not to wait.
            let look = move || {
                let (listing, limits) = (entries.get(&uri), DocumentLimits::default());
                Document::read(&name, &uri, &result, listing, &limits)
            };
            let read = tokio::task::spawn_blocking(look).await;
            Ok(read.map_err(|error| Unread::NoAnswer(error.to_string()))??)
        };
        self.store.get_or_read(&self.name, uri, read).await
    }

    /// What its list of resources says: asked for once, and again when it has changed.
    pub(super) async fn entries(&self, upstream: &Upstream) -> Arc<ResourceEntries> {
        let mut entries = self.entries.lock().await;
        if let Some(known) = &*entries {
            return Arc::clone(known);
        }
        let fresh = Arc::new(upstream.resource_entries().await);
        *entries = Some(Arc::clone(&fresh));
        fresh
    }
}

impl Prepared {
    /// What the page is told.
    pub(crate) fn mount(&self, tool: &str) -> Mount {
        let mounted = &self.mounted;
        Mount {
            src: mounted.sandbox_url.clone(),
            title: format!("{} from {}", Quoted::new(tool), Quoted::new(&self.server.name)),
            allow: Some(mounted.allow.clone()).filter(|allow| !allow.is_empty()),
            border: self.document.meta.prefers_border,
            limits: Relay::of(&self.server.limits().0).page,
        }
    }

    /// What the person should know before it runs (H-28, D8).
    pub(crate) fn warnings(&self) -> Vec<Words> {
        let given = self.mounted.declaration.as_ref();
        let talks = talks(given, self.document.declaration.as_ref());
        let mut warnings: Vec<Words> = talks.iter().map(|words| Words::ours(words)).collect();
        let granted = permissions(self.mounted.permissions);
        if !granted.is_empty() {
            warnings.push(words!("this view may use {}", Words::ours(&granted.join(", "))));
        }
        let (grants, permissions) = self.server.granted(&self.given);
        let missing = MissingGrants::of(&self.document, &grants);
        warnings.extend(missing.map(|missing| Words::ours(&missing.to_string())));
        let missing = MissingPermissions::of(&self.document, permissions);
        warnings.extend(missing.map(|missing| Words::ours(&missing.to_string())));
        warnings.extend(self.unpinned.then(|| words!("this view is {}", UNPINNED)));
        warnings
    }

    /// What the frame was really given beside its own origin, for the view to know (H-32).
    pub(crate) fn granted(&self) -> Option<SandboxCapabilities> {
        let declaration = self.mounted.declaration.as_ref().filter(|all| !all.is_empty());
        let csp = declaration.map(Into::into);
        let permissions = Some(self.mounted.permissions);
        let permissions = permissions.filter(|given| *given != ResourcePermissions::default());
        (csp.is_some() || permissions.is_some()).then_some(SandboxCapabilities { permissions, csp })
    }

    /// What a person has to agree to before it runs; nothing, if it may (H-49).
    pub(crate) fn doubt(&self) -> Option<Doubt<'_>> {
        match &self.review {
            Review::Changed(change) => Some(Doubt::Changed(change)),
            Review::Unpinned(pin) => Some(Doubt::Unpinned(pin)),
            Review::New | Review::Same => None,
        }
    }

    /// What of this machine and its networks the document declares and for what, where the rules leave it to a person.
    pub(crate) fn nearby(&self) -> BTreeSet<String> {
        wishes(&self.document, &self.server.policy.domains)
    }

    /// What of all that could be granted would change something for it: what its server has not from its operator, and of
    /// permissions those that it asks for.
    pub(crate) fn could_use(&self, grantable: Grantable) -> bool {
        match grantable {
            Grantable::Policy(grant) => !self.server.grants.contains(&grant),
            Grantable::Permission(permission) => {
                let asked = self.document.meta.permissions.unwrap_or_default();
                permission.is_in(asked) && !permission.is_in(self.server.permissions)
            }
        }
    }

    /// Gives it what a person has agreed to, and nothing else of what the rules leave to one.
    pub(crate) fn give(&mut self, given: Given, sandbox: &Sandbox) -> Result<(), MountError> {
        if given != self.given {
            let frame = self.server.frame(&self.document, &given, &self.reports);
            sandbox.remount(&mut self.mounted, frame)?;
            self.given = given;
        }
        Ok(())
    }

    /// What it would run, and under which policy.
    pub(crate) fn running(&self) -> Running {
        let (given, policy) = (self.given.clone(), self.mounted.csp.to_string());
        Running { document: self.named(), given, policy }
    }

    /// What it would run with this, and under which policy.
    pub(crate) fn would_run(&self, given: Given) -> Running {
        let frame = self.server.frame(&self.document, &given, &self.reports);
        let policy = self.mounted.policy_of(&frame).to_string();
        Running { document: self.named(), given, policy }
    }

    /// Which document it would run.
    pub(crate) fn named(&self) -> Named {
        let (uri, hash) = (self.document.uri.as_str().to_owned(), self.document.hash);
        Named { uri, hash, pinned: !self.unpinned }
    }

    /// Remembers that a person agreed to this document, or to whatever is at its address.
    pub(crate) fn agree(&mut self, changing: bool) -> Result<(), PinError> {
        let shows = self.server.shows(&self.shown_by, self.template.as_deref());
        let store = &self.server.store;
        match changing {
            true => store.agree_to_changes(&self.document, shows)?,
            false => store.agree(&self.document, shows, &self.review)?,
        }
        self.unpinned = store.is_unpinned(shows)?;
        self.review = Review::Same;
        Ok(())
    }

    /// Agrees to what no person has seen before, now that it runs. Meanwhile the same tool may have shown something else
    /// that was agreed to: then this is a change, and waits for a person.
    pub(crate) fn pin(&mut self) -> Result<(), PinError> {
        if !matches!(self.review, Review::New) {
            return Ok(());
        }
        let shows = self.server.shows(&self.shown_by, self.template.as_deref());
        self.review = self.server.store.review(&self.document, shows)?;
        match self.review {
            Review::New => self.agree(false),
            _ => Ok(()),
        }
    }

    /// Whether a yes to this one is a yes to the other: of the same tool, or of one that the question named, and a person
    /// would be asked the same about the two.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let named = match &self.review {
            Review::Changed(change) => change.others.contains(&other.shown_by),
            _ => false,
        };
        let place = |prepared: &Self| prepared.server.place.id().clone();
        let asked = |prepared: &Self| {
            let before = match &prepared.review {
                Review::Changed(change) => Some(change.before.clone()),
                _ => None,
            };
            (before, Pin::of(&prepared.document, prepared.template.as_deref()))
        };
        let tool = named || self.shown_by == other.shown_by;
        tool && place(self) == place(other) && asked(self) == asked(other)
    }
}
