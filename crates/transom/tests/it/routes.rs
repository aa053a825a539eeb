//! Tools that make HTTP requests for views: each route is judged by itself, and no tool is special by its name.

use std::sync::Arc;

use serde_json::{Value, json};
use transom::{
    host::{Opening, Tools},
    policy::{Decision, Policy, Stance},
};

use crate::world::{World, ms, opening, setup, tools};

fn shop(meta: Value) -> Tools {
    let declared = json!([
        { "name": "carry", "annotations": { "readOnlyHint": true }, "_meta": { "transom/http": meta } },
        { "name": "save" },
    ]);
    tools(&declared.to_string())
}

fn routes() -> Value {
    json!({ "routes": [
        { "methods": ["GET", "HEAD"], "path": "/api/{*rest}", "effect": "reads" },
        { "methods": ["POST", "DELETE"], "path": "/api/cart/{id}", "effect": "writes" },
        { "methods": ["POST"], "path": "/api/orders" },
    ] })
}

struct Shop {
    world: World,
    next: u32,
}

impl Shop {
    fn new(name: &str) -> Self {
        let opening = Opening { tools: Arc::new(shop(routes())), ..opening() };
        let mut world = World::with(name, setup(), opening);
        world.open();
        Self { world, next: 100 }
    }

    /// Makes a call, and tells whether the person was asked and whether it was made.
    fn call(&mut self, arguments: Value) -> (Option<String>, bool) {
        let (heard, id) = (self.world.heard.len(), self.next);
        self.next += 1;
        let params = json!({ "name": "carry", "arguments": arguments });
        let text = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        self.world.inject(text.to_string());
        self.world.run_for(ms(5_000));
        let since = &self.world.heard[heard..];
        let asked = since.iter().find_map(|line| Some(line.strip_prefix("ask: ")?.to_owned()));
        (asked, since.iter().any(|line| line.starts_with("perform: tools/call carry")))
    }

    fn send(&mut self, method: &str, url: &str) -> (Option<String>, bool) {
        self.call(json!({ "method": method, "url": url, "body": "hush" }))
    }

    fn rule(&mut self, policy: Policy) {
        self.world.session.set_policy(Arc::new(policy));
    }
}

fn asked(route: &str) -> Option<String> {
    Some(format!("Route {{ tool: \"carry\", route: {route:?} }}"))
}

// FSE-16.
#[test]
fn fse_16_an_always_is_for_a_route_and_not_for_the_tool() {
    let mut shop = Shop::new("routes");
    shop.world.person.decision = Decision::AllowAlways;
    assert_eq!(shop.send("GET", "/api/cart/7?x=1"), (None, true));
    assert_eq!(shop.send("POST", "/api/cart/7"), (asked("POST /api/cart/{id}"), true));
    assert_eq!(shop.send("POST", "/api/cart/8"), (None, true));
    assert_eq!(shop.send("DELETE", "/api/cart/7"), (asked("DELETE /api/cart/{id}"), true));
    assert_eq!(shop.send("POST", "/api/orders"), (asked("POST /api/orders"), true));
    assert_eq!(shop.call(json!({ "url": "/api/cart/7" })), (None, true));
    shop.world.assert_settled();
}

#[test]
fn a_request_that_no_route_takes_is_refused_and_nobody_is_asked() {
    let mut shop = Shop::new("no route");
    for (method, url) in [
        ("GET", "/admin"),
        ("PUT", "/api/cart/7"),
        ("POST", "/api/cart/7/lines"),
        ("POST", "/api/ORDERS"),
        ("GET", "/api/%2e%2e/admin"),
        ("GET", "/api/..%3b/admin"),
        ("GET", "https://evil.test/api/x"),
        ("GET", "//evil.test/api/x"),
        ("GET DELETE", "/api/x"),
    ] {
        assert_eq!(shop.send(method, url), (None, false), "{method} {url}");
    }
    assert_eq!(shop.call(json!({})), (None, false));
    assert_eq!(shop.call(json!({ "url": "/api/x", "URL": "/admin" })), (None, false));
    assert!(shop.world.verdicts.iter().any(|(.., words)| words.contains("declares no route for")));
    shop.world.assert_settled();
}

#[test]
fn a_declaration_that_changed_is_asked_about_again() {
    let mut shop = Shop::new("changed");
    shop.world.person.decision = Decision::AllowAlways;
    assert_eq!(shop.send("POST", "/api/orders"), (asked("POST /api/orders"), true));
    let mut more = routes();
    more["routes"][0]["path"] = "/{*rest}".into();
    shop.world.session.set_tools(Arc::new(self::shop(more)));
    assert_eq!(shop.send("POST", "/api/orders"), (asked("POST /api/orders"), true));
    assert!(shop.world.has_heard("since: the HTTP requests that it declares have changed"));
    // A tool whose declaration cannot be read makes none.
    shop.world.session.set_tools(Arc::new(self::shop(json!("all"))));
    assert_eq!(shop.send("GET", "/api/cart"), (None, false));
}

#[test]
fn a_yes_to_the_tool_from_before_it_declared_routes_covers_none_of_them() {
    let mut shop = Shop::new("before");
    let plain = tools(r#"[{"name":"carry"}]"#);
    shop.world.session.set_tools(Arc::new(plain));
    shop.world.person.decision = Decision::AllowAlways;
    let (asked_before, made) = shop.send("POST", "/api/orders");
    assert!(asked_before.unwrap().starts_with("Tool(") && made);
    shop.world.session.set_tools(Arc::new(self::shop(routes())));
    assert_eq!(shop.send("POST", "/api/orders"), (asked("POST /api/orders"), true));
}

#[test]
fn the_declaration_may_change_while_a_person_thinks() {
    let mut shop = Shop::new("meanwhile");
    shop.world.inject(
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"carry","arguments":{"method":"POST","url":"/api/orders"}}}"#,
    );
    let fewer = json!({ "routes": [{ "methods": ["GET"], "path": "/api/{*rest}" }] });
    shop.world.session.set_tools(Arc::new(self::shop(fewer)));
    shop.world.run_for(ms(5_000));
    assert!(!shop.world.has_heard("perform: tools/call carry"), "{:?}", shop.world.heard);
    assert!(shop.world.verdicts.iter().any(|(.., words)| words.contains("changed while")));
}

#[test]
fn the_operator_overrules_what_a_tool_declares() {
    let rules = |rules: &[(&str, Stance)]| {
        rules.iter().map(|(route, stance)| (route.parse().unwrap(), *stance)).collect()
    };
    let mut shop = Shop::new("overruled");
    shop.rule(Policy {
        routes: rules(&[
            ("POST /api/orders", Stance::Allow),
            ("GET /api/{*rest}", Stance::Ask),
            ("* /api/secret/{*rest}", Stance::Deny),
        ]),
        ..Policy::default()
    });
    assert_eq!(shop.send("POST", "/api/orders"), (None, true));
    assert_eq!(shop.send("GET", "/api/cart"), (asked("GET /api/{*rest}"), true));
    assert_eq!(shop.send("GET", "/api/secret/x"), (None, false), "the strictest counts");
    for path in ["/API/secret/x", "/api/Secret;a/x", "/api/secret/"] {
        assert_eq!(shop.send("GET", path), (None, false), "{path}: some backend takes it for that");
    }
    assert_eq!(shop.send("PUT", "/api/cart/7"), (None, false), "nothing is declared");
    let tools = |stance| [("carry".to_owned(), stance)].into();
    shop.rule(Policy {
        tools: tools(Stance::Deny),
        routes: rules(&[("POST /api/orders", Stance::Allow)]),
        ..Policy::default()
    });
    assert_eq!(shop.send("POST", "/api/orders"), (None, false), "the tool is denied as a whole");
    shop.rule(Policy { tools: tools(Stance::Ask), ..Policy::default() });
    assert_eq!(shop.send("GET", "/api/cart"), (asked("GET /api/{*rest}"), true));
    // Each path of a view's choice would be another question.
    assert_eq!(shop.send("PUT", "/other"), (None, false));
}

#[test]
fn a_tool_that_destroys_is_asked_about_whatever_its_routes_claim() {
    let mut shop = Shop::new("destroys");
    let declared = json!([{ "name": "carry", "annotations": { "destructiveHint": true }, "_meta": { "transom/http": routes() } }]);
    shop.world.session.set_tools(Arc::new(tools(&declared.to_string())));
    assert_eq!(shop.send("GET", "/api/cart"), (asked("GET /api/{*rest}"), true));
}

#[test]
fn a_name_that_stands_twice_with_other_routes_makes_no_requests() {
    let mut shop = Shop::new("twice");
    let declared = json!([
        { "name": "carry", "_meta": { "transom/http": routes() } },
        { "name": "carry", "annotations": { "readOnlyHint": true } },
    ]);
    shop.world.session.set_tools(Arc::new(tools(&declared.to_string())));
    assert_eq!(shop.send("GET", "/api/cart"), (None, false));
}
