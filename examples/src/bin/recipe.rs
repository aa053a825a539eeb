//! A view that shows a tool's arguments while the model still writes them, and the result at the end.

use rmcp::{ServerHandler, handler::server::wrapper::Parameters, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transom_server::{ServeError, Shown, View, Views};

#[derive(View)]
#[view(uri = "ui://recipe/sheet", file = "views/recipe.html", title = "Recipe", border = true)]
struct Sheet;

// What should be seen first is written first: a model fills in arguments in the order of the schema.
#[derive(Deserialize, JsonSchema)]
struct Recipe {
    title: String,
    ingredients: Vec<Ingredient>,
    steps: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Ingredient {
    amount: String,
    name: String,
}

#[derive(Serialize, JsonSchema)]
struct Checked {
    minutes: u32,
    missing: Vec<String>,
}

#[derive(Clone)]
struct Kitchen;

#[tool_router]
impl Kitchen {
    /// Write down a recipe and check it.
    #[transom_server::tool(view = Sheet, title = "Write a recipe", annotations(read_only_hint = true))]
    fn write_recipe(&self, Parameters(recipe): Parameters<Recipe>) -> Shown<Checked> {
        let minutes = recipe.steps.iter().map(|step| minutes(step)).sum();
        let missing = recipe.missing();
        let text = match missing.as_slice() {
            [] => format!("{}: about {minutes} minutes.", recipe.title),
            names => format!(
                "{}: about {minutes} minutes. No step mentions: {}.",
                recipe.title,
                names.join(", ")
            ),
        };
        Shown::new(text, Checked { minutes, missing })
    }
}

#[tool_handler(name = "recipe", version = "1.0.0")]
impl ServerHandler for Kitchen {}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    Views::wrap(Kitchen).view::<Sheet>().serve().await
}

impl Recipe {
    /// Ingredients that no step speaks of.
    fn missing(&self) -> Vec<String> {
        let steps = self.steps.join(" ").to_lowercase();
        let unused = self
            .ingredients
            .iter()
            .filter(|ingredient| !steps.contains(&ingredient.name.to_lowercase()));
        unused.map(|ingredient| format!("{} {}", ingredient.amount, ingredient.name)).collect()
    }
}

/// The number before "min" in a step, or three.
fn minutes(step: &str) -> u32 {
    let words: Vec<&str> = step.split_whitespace().collect();
    let said = words
        .windows(2)
        .find(|pair| pair[1].starts_with("min"))
        .and_then(|pair| pair[0].parse().ok());
    said.map_or(3, |minutes: u32| minutes.min(24 * 60))
}
