use transom_macros::View;

#[derive(View)]
#[view(uri = "https://weather/card", html = "<!doctype html>")]
struct WrongScheme;

#[derive(View)]
#[view(html = "<!doctype html>")]
struct NoAddress;

#[derive(View)]
#[view(uri = "ui://a")]
struct NoHtml;

#[derive(View)]
#[view(uri = "ui://a", file = "views/missing.html")]
struct NoFile;

#[derive(View)]
#[view(uri = "ui://a", bundle = "ui/dist/index.html")]
struct NotBuilt;

#[derive(View)]
#[view(uri = "ui://a", dir = "tests/messages")]
struct NoIndex;

#[derive(View)]
#[view(uri = "ui://a", html = "x", file = "Cargo.toml")]
struct TwoPlaces;

#[derive(View)]
#[view(uri = "ui://a", template)]
struct NoLoad {
    field: u8,
}

#[derive(View)]
#[view(uri = "ui://a", html = "x", load = Self::load)]
struct LoadWithoutTemplate;

#[derive(View)]
#[view(uri = "ui://a", html = "x", colour = "red")]
struct Unknown;

#[derive(View)]
#[view(uri = "ui://a", file = "Cargo.toml", build = "npm run build")]
struct NoSources;

#[derive(View)]
#[view(uri = "ui://a", html = "x", build = "npm run build", sources = "ui")]
struct NoBundle;

fn main() {}
