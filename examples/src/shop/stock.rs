//! What the shop has, who has put what into a basket, and what becomes of orders. All of it in memory.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::body::Bytes;
use serde::Serialize;
use tokio::sync::watch;

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Ware {
    pub(super) id: &'static str,
    name: &'static str,
    note: &'static str,
    /// In cents.
    price: u32,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Basket {
    lines: Vec<Line>,
    total: u32,
}

#[derive(Debug, Serialize)]
struct Line {
    id: &'static str,
    name: &'static str,
    count: u32,
    price: u32,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Order {
    id: usize,
    total: u32,
    state: &'static str,
}

/// The shop's memory.
#[derive(Default)]
pub(super) struct Shop {
    books: Mutex<Books>,
    /// Changes whenever there is news.
    bell: watch::Sender<()>,
}

#[derive(Default)]
struct Books {
    /// How many of which ware, by the place it has on the shelf.
    baskets: HashMap<String, BTreeMap<usize, u32>>,
    pictures: VecDeque<(u64, String, &'static str, Bytes)>,
    hung: u64,
    orders: usize,
    /// Numbered from one, oldest first.
    news: VecDeque<(u64, String, Order)>,
    told: u64,
}

impl Shop {
    pub(super) fn basket(&self, owner: &str) -> Basket {
        self.open().basket(owner)
    }

    /// Sets how many of a ware a person wants; none if there is no such ware.
    pub(super) fn put(&self, owner: &str, id: &str, count: u32) -> Option<Basket> {
        let at = all().position(|ware| ware.id == id)?;
        let mut books = self.open();
        let basket = books.baskets.entry(owner.to_owned()).or_default();
        basket.insert(at, count);
        basket.retain(|_, count| *count > 0);
        Some(books.basket(owner))
    }

    /// Keeps a picture, and forgets the oldest of too many.
    pub(super) fn hang(&self, owner: &str, kind: &'static str, bytes: Bytes) -> u64 {
        let mut books = self.open();
        books.hung += 1;
        let id = books.hung;
        books.pictures.push_back((id, owner.to_owned(), kind, bytes));
        if books.pictures.len() > MOST_PICTURES {
            books.pictures.pop_front();
        }
        id
    }

    pub(super) fn picture(&self, owner: &str, id: u64) -> Option<(&'static str, Bytes)> {
        let books = self.open();
        let mut all = books.pictures.iter();
        let (_, _, kind, bytes) = all.find(|(at, whose, ..)| *at == id && whose == owner)?;
        Some((kind, bytes.clone()))
    }

    /// Makes an order of a basket; none if it is empty.
    pub(super) fn order(&self, owner: &str) -> Option<Order> {
        let mut books = self.open();
        let total = books.basket(owner).total;
        books.baskets.remove(owner)?;
        if total == 0 {
            return None;
        }
        books.orders += 1;
        let order = Order { id: books.orders, total, state: STATES[0] };
        books.tell(owner, order.clone());
        drop(books);
        self.bell.send_replace(());
        Some(order)
    }

    /// Packs an order and sends it, as fast as people do in films.
    pub(super) async fn work(self: Arc<Self>, owner: String, order: Order) {
        for state in &STATES[1..] {
            tokio::time::sleep(PACE).await;
            self.open().tell(&owner, Order { state, ..order.clone() });
            self.bell.send_replace(());
        }
    }

    /// The first of a person's news after one.
    pub(super) fn news(&self, owner: &str, after: u64) -> Option<(u64, Order)> {
        let books = self.open();
        let mut all = books.news.iter();
        let (at, _, order) = all.find(|(at, whose, _)| *at > after && whose == owner)?;
        Some((*at, order.clone()))
    }

    pub(super) fn listen(&self) -> watch::Receiver<()> {
        self.bell.subscribe()
    }

    fn open(&self) -> MutexGuard<'_, Books> {
        self.books.lock().expect("no holder panics")
    }
}

impl Books {
    fn basket(&self, owner: &str) -> Basket {
        let Some(basket) = self.baskets.get(owner) else { return Basket::default() };
        let line = |(at, count): (&usize, &u32)| {
            let Ware { id, name, price, .. } = all().nth(*at)?;
            Some(Line { id, name, count: *count, price })
        };
        let lines: Vec<Line> = basket.iter().filter_map(line).collect();
        Basket { total: lines.iter().map(|line| line.price * line.count).sum(), lines }
    }

    fn tell(&mut self, owner: &str, order: Order) {
        self.told += 1;
        self.news.push_back((self.told, owner.to_owned(), order));
        if self.news.len() > MOST_NEWS {
            self.news.pop_front();
        }
    }
}

fn all() -> impl Iterator<Item = Ware> {
    WARES.into_iter().chain([CUSTOM])
}

/// What the potter says.
pub(super) fn answer(words: &str) -> &'static str {
    let words = words.to_lowercase();
    let about = |all: &[&str]| all.iter().any(|word| words.contains(word));
    if about(&["dishwasher", "wash"]) {
        "Yes, all of it is fired at 1,240 degrees and glazed: the dishwasher is fine."
    } else if about(&["oven", "stove", "fire"]) {
        "The pot goes into the oven, up to 220 degrees. Let it warm up with the oven."
    } else if about(&["ship", "send", "when", "long"]) {
        "What is ordered before noon leaves the same day, in straw."
    } else {
        "Let me look, I will write to you before the evening."
    }
}

pub(super) const WARES: [Ware; 6] = [
    Ware { id: "mug", name: "Mug", note: "For two hands, 300 ml", price: 1_800 },
    Ware { id: "bowl", name: "Bowl", note: "Blue inside, 16 cm", price: 2_400 },
    Ware { id: "vase", name: "Vase", note: "For three stems", price: 3_900 },
    Ware { id: "plate", name: "Plate", note: "Sage, 26 cm", price: 2_200 },
    Ware { id: "jug", name: "Jug", note: "Milk, or flowers", price: 2_800 },
    Ware { id: "pot", name: "Teapot", note: "Pours without a drop", price: 6_400 },
];
/// Not on the shelf: it comes with a picture.
pub(super) const CUSTOM: Ware =
    Ware { id: "custom-mug", name: "Mug with your picture", note: "", price: 2_900 };
const STATES: [&str; 3] = ["received", "packed", "on its way"];
const PACE: Duration = Duration::from_millis(1_200);
const MOST_PICTURES: usize = 32;
const MOST_NEWS: usize = 1_000;
