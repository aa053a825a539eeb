//! `transom check`, rule by rule: a server that is as it should be but for one thing.
//!
//! Each test fails when its rule is taken out of `check`, and when another rule speaks up as well.

use serde_json::{Value, json};

use crate::{
    bad_server::{App, MIME, Quirk, VIEW, html},
    transom::Place,
};

/// What is found at a server: rules and levels, the gravest first.
fn found(app: App) -> Vec<(String, String)> {
    found_with(app, &[])
}

fn found_with(app: App, words: &[&str]) -> Vec<(String, String)> {
    let server = app.listen();
    let words = [&["check", "--json", &server.url], words].concat();
    let (code, out, err) = Place::new().transom(&words);
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    let findings =
        report["servers"][0]["findings"].as_array().unwrap_or_else(|| panic!("{out}{err}"));
    let mut found: Vec<(String, String)> = findings
        .iter()
        .map(|finding| {
            assert!(
                finding["words"].is_string()
                    && finding["why"].is_string()
                    && finding["fix"].is_string()
            );
            let text = |key: &str| finding[key].as_str().unwrap().to_owned();
            (text("rule"), text("level"))
        })
        .collect();
    found.dedup();
    let counts = found.iter().any(|(_, level)| level != "note");
    assert_eq!(code, i32::from(counts), "{out}{err}");
    found
}

/// One rule speaks, at one level, and no other.
#[track_caller]
fn only(rule: &str, level: &str, app: App) {
    assert_eq!(found(app), [(rule.to_owned(), level.to_owned())]);
}

#[test]
fn a_clean_server_has_no_findings() {
    assert_eq!(found(App::clean()), []);
}

/// Nobody knows which parameters there are, so no document is read; what is listed is judged.
#[test]
fn server_05_addresses_with_parameters_have_the_type_of_views() {
    let template = |mime: &str| json!({ "uriTemplate": "ui://report/{id}", "name": "report", "mimeType": mime });
    assert_eq!(found(App::with(|app| app.templates = vec![template(MIME)])), []);
    only("server-05", "warning", App::with(|app| app.templates = vec![template("text/html")]));
    let server = App::with(|app| app.templates = vec![template(MIME)]).listen();
    let (_, out, err) = Place::new().transom(&["check", &server.url]);
    let words = "the address \"ui://report/{id}\" has parameters, so no view was read there";
    assert!(out.contains("not checked  server-03") && out.contains(words), "{out}{err}");
}

#[test]
fn a_server_without_views_has_no_findings() {
    let app = App::with(|app| {
        app.capabilities = json!({ "tools": {} });
        app.tools.truncate(1);
        app.tools[0]["_meta"] = Value::Null;
        app.resources.clear();
        app.contents.clear();
    });
    assert_eq!(found(app), []);
}

#[test]
fn server_01_the_extension_is_not_advertised() {
    only(
        "server-01",
        "note",
        App::with(|app| app.capabilities = json!({ "tools": {}, "resources": {} })),
    );
}

#[test]
fn server_01_the_extension_is_advertised_without_views() {
    let app = App::with(|app| {
        app.tools.truncate(1);
        app.tools[0]["_meta"] = Value::Null;
        app.resources.clear();
    });
    only("server-01", "note", app);
}

#[test]
fn server_02_no_resources_capability() {
    let app = App::with(|app| {
        app.capabilities =
            json!({ "tools": {}, "extensions": { crate::bad_server::EXTENSION: {} } });
    });
    only("server-02", "error", app);
}

#[test]
fn server_03_a_linked_view_cannot_be_read() {
    let app = App::with(|app| {
        for key in ["/_meta/ui/resourceUri", "/_meta/ui~1resourceUri"] {
            *app.tools[0].pointer_mut(key).unwrap() = json!("ui://clean/gone");
        }
    });
    only("server-03", "error", app);
}

#[test]
fn server_04_a_link_that_is_not_ui() {
    let app = App::with(|app| {
        let mut other = app.tools[0].clone();
        other["name"] = json!("other");
        let link = json!("https://clean.test/view.html");
        other["_meta"] = json!({ "ui": { "resourceUri": link }, "ui/resourceUri": link });
        app.tools.push(other);
    });
    only("server-04", "error", app);
}

#[test]
fn server_05_another_type_where_it_is_read() {
    only("server-05", "error", App::with(|app| app.contents[0]["mimeType"] = json!("text/html")));
}

#[test]
fn server_05_a_space_in_the_type_where_it_is_listed() {
    let spaced = json!(MIME.replace(';', "; "));
    only("server-05", "warning", App::with(|app| app.resources[0]["mimeType"] = spaced));
}

#[test]
fn server_06_two_documents_at_one_address() {
    only("server-06", "error", App::with(|app| app.contents.push(app.contents[0].clone())));
}

#[test]
fn server_07_the_flat_link_alone() {
    let flat = json!({ "ui/resourceUri": VIEW });
    only("server-07", "error", App::with(|app| app.tools[0]["_meta"] = flat));
}

#[test]
fn server_07_the_nested_link_alone() {
    let nested = json!({ "ui": { "resourceUri": VIEW } });
    only("server-07", "note", App::with(|app| app.tools[0]["_meta"] = nested));
}

#[test]
fn server_08_visibility_that_does_not_exist() {
    for visibility in [json!([]), json!(["model", "everyone"]), json!("app")] {
        only(
            "server-08",
            "error",
            App::with(|app| app.tools[0]["_meta"]["ui"]["visibility"] = visibility),
        );
    }
}

#[test]
fn server_09_metadata_in_one_place_alone() {
    let app = App::with(|app| app.contents[0]["_meta"] = json!({ "ui": {} }));
    only("server-09", "warning", app);
}

#[test]
fn server_10_policy_on_a_tool() {
    only("server-10", "error", App::with(|app| app.tools[0]["_meta"]["ui"]["csp"] = json!({})));
}

/// The clean one with this under `_meta.ui` of its document.
fn with_ui(ui: &Value) -> App {
    App::with(|app| {
        app.resources[0]["_meta"]["ui"] = ui.clone();
        app.contents[0]["_meta"]["ui"] = ui.clone();
    })
}

#[test]
fn server_11_a_domain_that_is_no_origin() {
    for domain in ["blob:", "http://api.test", "https://api.test/v1"] {
        only("server-11", "error", with_ui(&json!({ "csp": { "connectDomains": [domain] } })));
    }
}

#[test]
fn server_12_a_domain_that_nobody_gives() {
    only("server-12", "warning", with_ui(&json!({ "domain": "clean.test" })));
}

#[test]
fn server_13_a_list_that_differs_and_may_be_shared() {
    only("server-13", "error", App::with(|app| app.quirk = Quirk::PublicLists));
}

#[test]
fn server_14_no_text_in_the_result() {
    let app = App::with(|app| app.result["content"] = json!([]));
    // Nor has a client without views any.
    let expected = ["server-14", "server-20"].map(|rule| (rule.to_owned(), "error".to_owned()));
    assert_eq!(found(app), expected);
}

#[test]
fn server_14_a_placeholder_in_the_result() {
    let app = App::with(|app| app.result["content"][0]["text"] = json!("Done."));
    let expected = ["server-14", "server-20"].map(|rule| (rule.to_owned(), "warning".to_owned()));
    assert_eq!(found(app), expected);
}

#[test]
fn server_15_a_result_that_does_not_fit_its_schema() {
    only(
        "server-15",
        "error",
        App::with(|app| app.result["structuredContent"] = json!({ "figures": "1, 2, 3" })),
    );
}

#[test]
fn server_16_a_link_in_the_result() {
    let link = json!({ "type": "resource_link", "uri": "https://clean.test/", "name": "x" });
    let embedded = json!({ "type": "resource", "resource": { "uri": VIEW, "mimeType": MIME, "text": html("") } });
    for block in [link, embedded] {
        only(
            "server-16",
            "warning",
            App::with(|app| app.result["content"].as_array_mut().unwrap().push(block)),
        );
    }
}

#[test]
fn server_17_a_document_that_is_large() {
    let long = |kib: usize| App::with_body(&format!("<!-- {} -->", "x".repeat(kib << 10)));
    only("server-17", "warning", long(600));
    only("server-17", "error", long(1100));
}

#[test]
fn server_17_a_document_that_is_slow() {
    only("server-17", "warning", App::with(|app| app.quirk = Quirk::Slow));
}

#[test]
fn server_18_the_eras_differ() {
    only("server-18", "error", App::with(|app| app.quirk = Quirk::EraMatters));
}

#[test]
fn server_18_two_endpoints_of_one_server_differ() {
    let other = App::with_body("<p>other").listen();
    let found = found_with(App::clean(), &["--same", &other.url]);
    assert_eq!(found, [("server-18".to_owned(), "error".to_owned())]);
}

#[test]
fn server_19_tools_for_views_are_listed_to_everybody() {
    only("server-19", "warning", App::with(|app| app.quirk = Quirk::ListsAll));
}

#[test]
fn server_20_nothing_for_a_client_without_views() {
    only("server-20", "error", App::with(|app| app.quirk = Quirk::NothingWithoutViews));
}

#[test]
fn server_21_names_and_annotations() {
    let named = |name: &str| App::with(|app| app.tools[0]["name"] = json!(name));
    only("server-21", "warning", named("show me"));
    only("server-21", "warning", named(&"show".repeat(20)));
    only("server-21", "note", App::with(|app| app.tools[0]["annotations"] = json!({})));
    only("server-21", "error", App::with(|app| app.tools.push(app.tools[1].clone())));
}

#[test]
fn server_21_a_list_that_never_ends() {
    only("server-21", "error", App::with(|app| app.quirk = Quirk::Circles));
}

#[test]
fn server_22_an_older_hash_does_not_answer() {
    let hashed = "ui://clean/view@3f9c2a";
    let app = App::with(|app| {
        for key in ["/_meta/ui/resourceUri", "/_meta/ui~1resourceUri"] {
            *app.tools[0].pointer_mut(key).unwrap() = json!(hashed);
        }
        app.resources[0]["uri"] = json!(hashed);
        app.contents[0]["uri"] = json!(hashed);
    });
    only("server-22", "warning", app);
}

#[test]
fn server_23_a_tool_that_fetches_anything() {
    let fetching = |quirk| {
        App::with(|app| {
            let url = json!({ "type": "object", "properties": { "url": { "type": "string" } } });
            app.tools[1] = json!({
                "name": "http_request", "description": "x", "inputSchema": url,
                "_meta": { "ui": { "visibility": ["app"] } },
            });
            app.quirk = quirk;
        })
    };
    only("server-23", "error", fetching(Quirk::FetchesAnything));
    assert_eq!(found(fetching(Quirk::None)), []);
}

#[test]
fn server_25_a_tool_opens_more_than_views_need() {
    let declaring = |visibility: Value, routes: Value| {
        App::with(|app| {
            let text = json!({ "type": "string" });
            app.tools[1] = json!({
                "name": "http_request", "description": "x", "annotations": { "readOnlyHint": false },
                "inputSchema": { "type": "object", "properties": { "url": text, "method": text } },
                "_meta": { "ui": { "visibility": visibility }, "transom/http": routes },
            });
        })
    };
    let routes = |methods: Value, path: &str, effect: &str| json!({ "routes": [{ "methods": methods, "path": path, "effect": effect }] });
    let app = || json!(["app"]);
    assert_eq!(found(declaring(app(), routes(json!(["GET"]), "/api/{*rest}", "reads"))), []);
    assert_eq!(found(declaring(app(), routes(json!(["POST"]), "/api/search", "reads"))), []);
    let wide = routes(json!(["GET"]), "/{*rest}", "reads");
    only("server-25", "warning", declaring(app(), wide));
    let delete = routes(json!(["DELETE"]), "/api/{id}", "reads");
    only("server-25", "warning", declaring(app(), delete));
    only("server-25", "warning", declaring(app(), json!({ "routes": [] })));
    let mut bare = declaring(app(), json!({}));
    bare.tools[1]["_meta"] = json!({ "ui": { "visibility": ["app"] } });
    only("server-25", "note", bare);
    let sound = routes(json!(["GET"]), "/api/{id}", "reads");
    let offered = declaring(json!(["model", "app"]), sound);
    assert!(found(offered).contains(&("server-25".to_owned(), "error".to_owned())));
    let unreadable = found(declaring(app(), json!({ "routes": [{ "path": "api" }] })));
    assert_eq!(unreadable[0], ("server-25".to_owned(), "error".to_owned()));
}

#[test]
fn server_24_capabilities_are_remembered() {
    only("server-24", "error", App::with(|app| app.quirk = Quirk::Remembers));
}

#[test]
fn document_01_no_doctype_charset_or_viewport() {
    let app = App::with(|app| app.contents[0]["text"] = json!("<html><p>hello"));
    let expected = ["warning", "note"].map(|level| ("document-01".to_owned(), level.to_owned()));
    assert_eq!(found(app), expected);
}

#[test]
fn document_02_an_origin_that_is_not_declared() {
    only("document-02", "error", App::with_body("<script src=\"https://cdn.test/x.js\"></script>"));
    let body = App::with_body("<script src=\"https://cdn.test/x.js\"></script>").contents;
    let mut declared = with_ui(&json!({ "csp": { "resourceDomains": ["https://cdn.test"] } }));
    declared.contents[0]["text"] = body[0]["text"].clone();
    assert_eq!(found(declared), []);
}

#[test]
fn document_03_code_out_of_text() {
    only("document-03", "warning", App::with_body("<script>new Function('return 1')()</script>"));
    only("document-03", "note", App::with_body("<button onclick=\"go()\">x</button>"));
}

#[test]
fn document_04_bare_storage() {
    only("document-04", "warning", App::with_body("<script>localStorage.setItem('a', 1)</script>"));
}

#[test]
fn document_05_windows_and_ways_out() {
    only("document-05", "warning", App::with_body("<script>window.open('x')</script>"));
    only("document-05", "warning", App::with_body("<script>location.href = 'x'</script>"));
    let shader = "<script>const s = `layout(location = 0) in vec3 p; layout(std140, location=1) out vec4 c;`</script>";
    assert_eq!(found(App::with_body(shader)), []);
}

#[test]
fn document_06_as_tall_as_the_viewport() {
    only("document-06", "warning", App::with_body("<style>body { min-height: 100vh }</style>"));
}

#[test]
fn document_07_a_tool_that_is_not_there() {
    only(
        "document-07",
        "error",
        App::with_body("<script>app.callServerTool({ name: 'refersh' })</script>"),
    );
    let known = App::with_body("<script>app.callServerTool({ name: 'refresh' })</script>");
    assert_eq!(found(known), []);
}

#[test]
fn document_08_what_only_one_host_has() {
    only(
        "document-08",
        "warning",
        App::with_body("<script>window.openai.setWidgetState({})</script>"),
    );
}

#[test]
fn document_09_a_color_scheme_of_its_own() {
    only("document-09", "note", App::with_body("<style>:root { color-scheme: dark }</style>"));
}

#[test]
fn document_10_relative_addresses() {
    only("document-10", "error", App::with_body("<script src=\"./app.js\"></script>"));
}

#[test]
fn document_11_a_permission_that_is_not_declared() {
    let body = "<script>navigator.geolocation.getCurrentPosition(show)</script>";
    only("document-11", "warning", App::with_body(body));
}
