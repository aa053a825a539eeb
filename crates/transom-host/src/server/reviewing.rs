//! The documents of a server's views, read and looked at beside everything else: a server is ready when its tools are
//! listed, whatever its documents weigh.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError},
    time::Duration,
};

use futures_util::{StreamExt as _, stream};
use tokio::time::Instant;
use transom::{
    quoted::Quoted,
    wire::{Finding, UiUri},
};

use super::{
    Server, Servers,
    shown::{REMARKS, Remark, Standing, UNPINNED, count},
};
use crate::{
    documents::Severity,
    log::LineKind,
    upstream::{Listing, Upstream},
    words,
    words::Words,
};

impl Server {
    /// Says that a server is there, with the tools that it has listed, and has its documents looked at.
    pub(super) fn ready(&self, servers: &Servers) {
        let Some(upstream) = self.upstream() else { return };
        let summary = Summary::of(&upstream.tools());
        let words = Words::ours(&summary.to_string()).to_string();
        let kind = summary.failure.as_ref().map_or(LineKind::Server, |_| LineKind::Error);
        self.log.write(kind, &self.name, Words::ours(&words));
        let unseen = summary.unseen(servers);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.standing, state.words, state.unseen) = (Standing::Ready, words, unseen);
        drop(state);
        servers.changed();
        self.unseen.notify_one();
    }

    /// Looks at the documents whenever they may be others. While it does, it may be told so again: then it looks once more
    /// when it is through, and a server that changes its lists all the time is read no faster than it answers.
    pub(super) async fn keep_reviewing(&self, servers: &Servers) {
        loop {
            self.unseen.notified().await;
            self.review(servers).await;
        }
    }

    /// Reads the documents of all views before a page asks for them (D8), and says what was found as it is found.
    async fn review(&self, servers: &Servers) {
        let Some(upstream) = self.upstream() else { return };
        let tools = upstream.tools();
        let summary = Summary::of(&tools);
        let long = tools.findings().iter().filter(|found| matches!(found, Finding::TooLong { .. }));
        let remark =
            |found: &Finding| Remark::new(Severity::Warning, Words::ours(&found.to_string()));
        let mut found = Found::default();
        found.add(long.take(REMARKS).map(remark).collect());
        if summary.failure.is_some() {
            let words = Words::ours(&summary.to_string());
            found.add(vec![Remark::new(Severity::Danger, words)]);
        }
        if let Some(cut) = tools.cut() {
            let words = words!("its list of tools is not complete: {}", Words::of(&cut));
            self.log.write(LineKind::Warning, &self.name, words.clone());
            found.add(vec![Remark::new(Severity::Warning, words)]);
        }
        let mut left = summary.unseen(servers);
        self.show(servers, &found, left);
        let mut looks = vec![];
        for (uri, tool) in summary.views.iter().take(left) {
            looks.push(self.look(&upstream, uri, tool));
        }
        // In their order, so that what people are told does not change its place.
        let mut looks = stream::iter(looks).buffered(AT_ONCE);
        let mut shown = Instant::now();
        while let Some(remarks) = looks.next().await {
            found.add(remarks);
            left -= 1;
            // Each time costs what all of them cost, here and on the page.
            if left == 0 || shown.elapsed() >= BETWEEN {
                self.show(servers, &found, left);
                shown = Instant::now();
            }
        }
    }

    /// Reads one document, and says what people should know of it.
    async fn look(&self, upstream: &Upstream, uri: &UiUri, tool: &str) -> Vec<Remark> {
        let document = match self.document(uri).await {
            Ok(document) => document,
            Err(error) => {
                let words = words!("{}: {}", Quoted::new(uri.as_str()), Words::of(&error));
                return vec![Remark::new(Severity::Danger, words)];
            }
        };
        let template = self.template_of(upstream, uri).await;
        let shows = self.shows(tool, template.as_deref());
        // Pins that cannot be read are said where a view is opened, and keep it from running.
        let unpinned = !self.own && self.store.is_unpinned(shows).unwrap_or(false);
        let words = words!("{}: {}", Quoted::new(uri.as_str()), UNPINNED);
        let mut remarks: Vec<_> =
            unpinned.then(|| Remark::new(Severity::Note, words)).into_iter().collect();
        remarks.extend(self.remarks(&document));
        remarks
    }

    /// Shows what was found so far, unless the server has gone meanwhile: then that is what people are to see.
    fn show(&self, servers: &Servers, found: &Found, left: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.standing != Standing::Ready {
            return;
        }
        (state.findings, state.unseen) = (found.remarks(), left);
        drop(state);
        servers.changed();
    }
}

/// What was found in the documents of a server, as much as people can read; where there is more, the gravest of it.
#[derive(Default)]
struct Found {
    kept: Vec<Remark>,
    more: usize,
}

impl Found {
    fn add(&mut self, remarks: Vec<Remark>) {
        self.kept.extend(remarks);
        if self.kept.len() > MOST {
            self.kept.sort_by_key(Remark::rank);
            self.more += self.kept.len() - MOST;
            self.kept.truncate(MOST);
        }
    }

    fn remarks(&self) -> Vec<Remark> {
        let words = words!("and {} more; transom inspect shows them all", self.more);
        let more = (self.more > 0).then(|| Remark::new(Severity::Note, words));
        self.kept.iter().cloned().chain(more).collect()
    }
}

/// What a server has, in numbers.
struct Summary {
    tools: usize,
    /// The address of each view, and the first tool that opens it.
    views: Vec<(UiUri, String)>,
    /// Why its tools cannot be listed. That is not "no tools": it may have some.
    failure: Option<String>,
}

impl Summary {
    fn of(listing: &Arc<Listing>) -> Self {
        let mut views = BTreeMap::new();
        for (at, (tool, listed)) in listing.iter().enumerate() {
            if let Some(uri) = &listed.meta.resource_uri {
                views.entry(uri.as_str()).or_insert_with(|| (at, uri.clone(), tool.to_owned()));
            }
        }
        let mut views: Vec<_> = views.into_values().collect();
        views.sort_by_key(|(at, ..)| *at);
        let views = views.into_iter().map(|(_, uri, tool)| (uri, tool)).collect();
        let failure = listing.failure().map(str::to_owned);
        Self { tools: listing.iter().count(), views, failure }
    }

    /// How many views are to be looked at before they are opened.
    fn unseen(&self, servers: &Servers) -> usize {
        if servers.prefetch { self.views.len().min(LOOKED_AT) } else { 0 }
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(why) = &self.failure {
            return write!(f, "its tools cannot be listed: {why}");
        }
        write!(f, "{}, {}", count(self.tools, "tool"), count(self.views.len(), "view"))
    }
}

/// How much people are told about one server.
const MOST: usize = 200;
/// How many documents of one server are read before a person opens them.
const LOOKED_AT: usize = 500;
/// How long what was found waits to be shown together with more.
const BETWEEN: Duration = Duration::from_millis(100);
/// How many documents of one server are read and looked at at once.
const AT_ONCE: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_are_told_has_an_end_and_the_gravest_comes_first() {
        let mut found = Found::default();
        for at in 0..10_000_usize {
            let severity = if at == 9_999 { Severity::Danger } else { Severity::Note };
            found.add(vec![Remark::new(severity, words!("{}", at))]);
        }
        let remarks = found.remarks();
        assert_eq!(remarks.len(), MOST + 1);
        assert_eq!(remarks[0].words.to_string(), "9999");
        assert!(remarks[MOST].words.to_string().starts_with("and 9800 more"));
    }
}
