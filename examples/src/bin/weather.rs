//! A weather card: one tool that the model calls and the card calls again, one view.

use rmcp::{ServerHandler, handler::server::wrapper::Parameters, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transom_server::{ServeError, Shown, View, Views};

#[derive(View)]
#[view(
    uri = "ui://weather/card",
    file = "views/weather.html",
    title = "Weather card",
    border = true
)]
struct Card;

#[derive(Deserialize, JsonSchema)]
struct Query {
    /// A town, such as "Lisbon"
    place: String,
    /// How many days, 1 to 7
    days: Option<u8>,
}

#[derive(Serialize, JsonSchema)]
struct Forecast {
    place: String,
    seen: String,
    days: Vec<Day>,
}

#[derive(Serialize, JsonSchema)]
struct Day {
    name: String,
    sky: String,
    high: i32,
    low: i32,
}

#[derive(Clone)]
struct Weather;

#[tool_router]
impl Weather {
    /// The weather of the next days, which this example makes up.
    #[transom_server::tool(view = Card, title = "Forecast", annotations(read_only_hint = true))]
    fn get_forecast(&self, Parameters(query): Parameters<Query>) -> Shown<Forecast> {
        let forecast = Forecast::make_up(query.place, query.days.unwrap_or(5).clamp(1, 7));
        let today = &forecast.days[0];
        let text = format!("{}: {}, {} °C today (made up)", forecast.place, today.sky, today.high);
        Shown::new(text, forecast).or_text(Forecast::table)
    }
}

#[tool_handler(name = "weather", version = "1.0.0")]
impl ServerHandler for Weather {}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    Views::wrap(Weather).view::<Card>().serve().await
}

impl Forecast {
    fn make_up(place: String, days: u8) -> Self {
        let seed = place.bytes().fold(7_u32, |all, byte| all.wrapping_mul(31) ^ u32::from(byte));
        let names =
            ["Today", "Tomorrow", "In 2 days", "In 3 days", "In 4 days", "In 5 days", "In 6 days"];
        let day = |n: u8| {
            let chance =
                (seed ^ u32::from(n).wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b) >> 9;
            // Every place has its climate; a day differs from the next by a little.
            let high = (seed % 24 + chance % 7) as i32;
            let sky = match chance / 64 % 5 {
                0 if high < 4 => "snowy",
                0 | 1 => "rainy",
                2 => "windy",
                3 => "cloudy",
                _ => "sunny",
            };
            Day { name: names[usize::from(n)].into(), sky: sky.into(), high, low: high - 6 }
        };
        Self { place, seen: time_of_day(), days: (0..days).map(day).collect() }
    }

    /// For clients that do not show views.
    fn table(&self) -> String {
        let row =
            |day: &Day| format!("| {} | {} | {} | {} |", day.name, day.sky, day.high, day.low);
        let rows: Vec<String> = self.days.iter().map(row).collect();
        format!(
            "{} (made up)\n| day | sky | high | low |\n|---|---|---|---|\n{}",
            self.place,
            rows.join("\n")
        )
    }
}

fn time_of_day() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seconds = now.unwrap_or_default().as_secs() % 86_400;
    format!("{:02}:{:02}:{:02} UTC", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}
