use transom_macros::tool;

struct Server;

impl Server {
    #[tool(only(nobody))]
    fn nobody(&self) {}

    #[tool(only(app, model))]
    fn both(&self) {}

    #[tool(view = "ui://a")]
    fn view(&self) {}

    #[tool(visibility = [])]
    fn visibility(&self) {}

    #[tool(csp(connect = "https://a.example.com"))]
    fn csp(&self) {}
}

fn main() {}
