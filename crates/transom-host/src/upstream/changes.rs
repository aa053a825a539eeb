//! Lists that changed, however often a server says so.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;
use transom::host::List;

/// Lists that changed and were not looked at yet.
#[derive(Debug, Default)]
pub(super) struct Changes {
    lists: AtomicUsize,
    news: Notify,
}

impl Changes {
    /// Notes that a list changed; noting it again changes nothing.
    pub(super) fn note(&self, list: List) {
        self.lists.fetch_or(bit(list), Ordering::Relaxed);
        self.news.notify_one();
    }

    /// Notes that nothing is known any more.
    pub(super) fn note_all(&self) {
        LISTS.into_iter().for_each(|list| self.note(list));
    }

    /// Waits until something changed, and says what.
    pub(super) async fn next(&self) -> Vec<List> {
        loop {
            let lists = self.lists.swap(0, Ordering::Relaxed);
            if lists != 0 {
                return LISTS.into_iter().filter(|list| lists & bit(*list) != 0).collect();
            }
            self.news.notified().await;
        }
    }
}

fn bit(list: List) -> usize {
    match list {
        List::Tools => 1,
        List::Resources => 2,
        List::Prompts => 4,
    }
}

const LISTS: [List; 3] = [List::Tools, List::Resources, List::Prompts];
