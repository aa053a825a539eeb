//! A form that writes: nothing is booked before the person agreed in the host, and what is wrong is said at its field.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{ServerHandler, handler::server::wrapper::Parameters, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transom_server::{ServeError, Shown, View, Views};

#[derive(View)]
#[view(
    uri = "ui://booking/form",
    file = "views/booking.html",
    title = "Book a table",
    border = true
)]
struct Form;

#[derive(Deserialize, JsonSchema)]
struct Wish {
    /// In whose name, if it is known
    name: Option<String>,
    /// How many people, if it is known
    guests: Option<u8>,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
struct Booking {
    name: String,
    guests: u32,
    evening: String,
}

#[derive(Serialize, JsonSchema)]
struct Book {
    house: String,
    evenings: Vec<Evening>,
    bookings: Vec<Booking>,
    /// What is wrong, by field
    wrong: BTreeMap<String, String>,
}

#[derive(Serialize, JsonSchema)]
struct Evening {
    evening: String,
    free: u32,
}

#[derive(Clone, Default)]
struct House {
    bookings: Arc<Mutex<Vec<Booking>>>,
}

#[tool_router]
impl House {
    /// Open the form for a table. It books nothing by itself.
    #[transom_server::tool(view = Form, title = "Book a table", annotations(read_only_hint = true))]
    fn book_table(&self, Parameters(wish): Parameters<Wish>) -> Shown<Book> {
        let who = wish.name.map(|name| format!(" for {name}")).unwrap_or_default();
        let guests = wish.guests.map(|guests| format!(", {guests} guests")).unwrap_or_default();
        let bookings = self.bookings.lock().unwrap_or_else(PoisonError::into_inner);
        let text = format!("The booking form is open{who}{guests}; the person fills it in.");
        Shown::new(text, Book::of(&bookings, BTreeMap::new()))
    }

    /// Book a table.
    // It claims nothing about itself, so the host asks before the view may call it.
    #[transom_server::tool(view = Form, only(app), annotations(destructive_hint = false))]
    fn book(&self, Parameters(booking): Parameters<Booking>) -> Shown<Book> {
        // A form checks for the person's sake; the server checks because any client may call a tool.
        let mut bookings = self.bookings.lock().unwrap_or_else(PoisonError::into_inner);
        let wrong = wrong(&booking, &bookings);
        if !wrong.is_empty() {
            let words: Vec<&str> = wrong.values().map(String::as_str).collect();
            let text = format!("Not booked: {}", words.join(" "));
            return Shown::new(text, Book::of(&bookings, wrong)).failed();
        }
        let text =
            format!("Booked: {}, {}, {} guests.", booking.name, booking.evening, booking.guests);
        bookings.push(booking);
        Shown::new(text, Book::of(&bookings, wrong))
    }
}

#[tool_handler(name = "booking", version = "1.0.0")]
impl ServerHandler for House {}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    Views::wrap(House::default()).view::<Form>().serve().await
}

impl Book {
    fn of(bookings: &[Booking], wrong: BTreeMap<String, String>) -> Self {
        let evening =
            |evening: &&str| Evening { evening: (*evening).into(), free: free(bookings, evening) };
        let evenings = EVENINGS.iter().map(evening).collect();
        Self { house: "The Transom".into(), evenings, bookings: bookings.to_vec(), wrong }
    }
}

fn wrong(booking: &Booking, bookings: &[Booking]) -> BTreeMap<String, String> {
    let mut wrong = BTreeMap::new();
    let length = booking.name.trim().chars().count();
    if !(1..=60).contains(&length) {
        wrong.insert("name".into(), "Say in whose name, in at most 60 letters.".into());
    }
    if !EVENINGS.contains(&&*booking.evening) {
        wrong.insert("evening".into(), "We are closed then.".into());
    }
    let free = free(bookings, &booking.evening);
    if !(1..=12).contains(&booking.guests) {
        wrong.insert("guests".into(), "One to twelve guests.".into());
    } else if booking.guests > free {
        wrong.insert("guests".into(), format!("Only {free} seats are free."));
    }
    wrong
}

fn free(bookings: &[Booking], evening: &str) -> u32 {
    let taken = bookings.iter().filter(|booking| booking.evening == evening);
    SEATS.saturating_sub(taken.map(|booking| booking.guests).sum())
}

const EVENINGS: [&str; 3] = ["Thursday", "Friday", "Saturday"];
const SEATS: u32 = 14;
