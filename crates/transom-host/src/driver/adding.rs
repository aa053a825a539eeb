//! Servers that come and go while the loop runs.

use transom::policy::{Decided, Decision};

use super::{Driver, common::Account};
use crate::server::Server;

impl Driver {
    /// Takes a server in, with what is remembered of its place; not while views of one that had its name are still there.
    pub(super) fn add(&mut self, server: &Server) -> bool {
        let name = server.name();
        let lives = |seat: &super::Seat| seat.server == name && !seat.is_over();
        if self.seats.values().any(lives) {
            return false;
        }
        let account = Account::of(&self.common.setup, server);
        // What was decided about another place that had the name is not for this one.
        let mut decided = Decided::default();
        let memory = &self.common.memory;
        for entry in memory.entries.iter().filter(|entry| entry.is_for(name, &account.place)) {
            let always = if entry.yes { Decision::AllowAlways } else { Decision::DenyAlways };
            decided.remember(&entry.subject, always, &entry.said());
        }
        self.common.decided.insert(name.to_owned(), decided);
        self.common.accounts.insert(name.to_owned(), account);
        self.common.show_decisions();
        true
    }

    /// Closes the views of a server. Its account stays until they are gone, and until another has its name.
    pub(super) fn remove(&mut self, server: &str) {
        for seat in self.seats.values_mut().filter(|seat| seat.server == server) {
            seat.close(&mut self.common);
        }
    }
}
