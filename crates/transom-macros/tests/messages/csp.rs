use transom_macros::View;

#[derive(View)]
#[view(uri = "ui://a", html = "x", csp(connect = "api.example.com"))]
struct NoScheme;

#[derive(View)]
#[view(uri = "ui://a", html = "x", csp(img = ["https://a.example.com", "https://b.example.com/path"]))]
struct WithPath;

#[derive(View)]
#[view(uri = "ui://a", html = "x", csp(resource = "*"))]
struct Star;

#[derive(View)]
#[view(uri = "ui://a", html = "x", csp(connect = "http://example.com"))]
struct NotEncrypted;

#[derive(View)]
#[view(uri = "ui://a", html = "x", csp(images = "https://a.example.com"))]
struct UnknownList;

#[derive(View)]
#[view(uri = "ui://a", html = "x", allow(camera, clipboard))]
struct UnknownPermission;

#[derive(View)]
#[view(uri = "ui://a", html = "x", border = "yes")]
struct Border;

#[derive(View)]
#[view(uri = "ui://a", html = "x", domain = "https://a.example.com")]
struct Domain;

fn main() {}
