//! A file and a command line, read together: what both say, and where.

use std::{
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Result;
use toml::Spanned;
use transom_host::AWAY;

use super::{
    file::{self, Text},
    find::Surroundings,
    limits::{self, Caps},
    rules::Rules,
    setting::{Setting, Source},
    times,
};
use crate::arguments::RunArguments;

/// Makes a configuration of its parts.
pub(super) struct Reader<'a> {
    pub(super) arguments: &'a RunArguments,
    pub(super) around: &'a Surroundings<'a>,
    pub(super) text: &'a Text<'a>,
    pub(super) path: Arc<PathBuf>,
    /// Whether the file is the person's own choice.
    pub(super) named: bool,
}

impl Reader<'_> {
    pub(super) fn rules(&self, table: &file::Rules) -> Result<Rules> {
        // The same name means something else on every server.
        if let Some((name, word)) = table.tools.first_key_value() {
            let words = format!(
                "a tool belongs to a server; write {name} under [servers.NAME.policy.tools]"
            );
            return Err(self.text.problem(word.span(), words).into());
        }
        self.sound(Rules::default().with(table, |span| self.at(span)), table)
    }

    /// How many views may be open, of all servers.
    pub(super) fn views(&self, table: &file::LimitsTable) -> Result<Setting<u64>> {
        let Some(said) = &table.views else { return Ok(Setting::default(VIEWS)) };
        let number = limits::number(said, "views", limits::MOST_VIEWS, &|span| self.at(span));
        Ok(number.map_err(|(span, words)| self.text.problem(span, words))?)
    }

    /// For how many seconds the views of a page that is gone wait for another.
    pub(super) fn away(&self, table: &file::LimitsTable) -> Result<Setting<u64>> {
        let Some(said) = &table.away else { return Ok(Setting::default(AWAY.as_secs())) };
        let number = limits::number(said, "away", times::DAY, &|span| self.at(span));
        Ok(number.map_err(|(span, words)| self.text.problem(span, words))?)
    }

    /// These limits, with what a table says instead.
    pub(super) fn caps(
        &self,
        all: &Caps,
        table: &file::LimitsTable,
        views: &Setting<u64>,
    ) -> Result<Caps> {
        let caps = all.with(table, |span| self.at(span));
        let caps = caps.map_err(|(span, words)| self.text.problem(span, words))?;
        let caps = caps.at_most(views.value);
        if caps.views().value > views.value {
            let words = format!(
                "one server may have {} views, but all servers together only {}",
                caps.views().value,
                views.value
            );
            let said = table.server.views.as_ref().or(table.views.as_ref());
            return Err(self.text.problem(said.map_or(0..0, Spanned::span), words).into());
        }
        Ok(caps)
    }

    /// Rules of which each can count.
    pub(super) fn sound(&self, rules: Rules, table: &file::Rules) -> Result<Rules> {
        match rules.contradiction(table) {
            Some((span, words)) => Err(self.text.problem(span, words).into()),
            None => Ok(rules),
        }
    }

    pub(super) fn refuse<T>(&self, said: &Option<Spanned<T>>, words: &str) -> Result<()> {
        match said {
            Some(said) => Err(self.text.problem(said.span(), words).into()),
            None => Ok(()),
        }
    }

    pub(super) fn setting<T: Clone>(&self, said: &Option<Spanned<T>>) -> Option<Setting<T>> {
        said.as_ref().map(|said| self.place(said, said.get_ref().clone()))
    }

    pub(super) fn place<S, T>(&self, said: &Spanned<S>, value: T) -> Setting<T> {
        Setting { value, source: self.source(said) }
    }

    pub(super) fn source<T>(&self, said: &Spanned<T>) -> Source {
        self.at(said.span())
    }

    pub(super) fn at(&self, span: Range<usize>) -> Source {
        Source::Line(Arc::clone(&self.path), self.text.line(&span))
    }

    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or_else(|| Path::new(""))
    }
}

const VIEWS: u64 = 2_000;
