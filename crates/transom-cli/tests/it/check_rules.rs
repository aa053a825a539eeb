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
fn s01_the_extension_is_not_advertised() {
    only(
        "S01",
        "warning",
        App::with(|app| app.capabilities = json!({ "tools": {}, "resources": {} })),
    );
}

#[test]
fn s01_the_extension_is_advertised_without_views() {
    let app = App::with(|app| {
        app.tools.truncate(1);
        app.tools[0]["_meta"] = Value::Null;
        app.resources.clear();
    });
    only("S01", "warning", app);
}

#[test]
fn s02_no_resources_capability() {
    let app = App::with(|app| {
        app.capabilities =
            json!({ "tools": {}, "extensions": { crate::bad_server::EXTENSION: {} } });
    });
    only("S02", "error", app);
}

#[test]
fn s03_a_linked_view_cannot_be_read() {
    let app = App::with(|app| {
        for key in ["/_meta/ui/resourceUri", "/_meta/ui~1resourceUri"] {
            *app.tools[0].pointer_mut(key).unwrap() = json!("ui://clean/gone");
        }
    });
    only("S03", "error", app);
}

#[test]
fn s04_a_link_that_is_not_ui() {
    let app = App::with(|app| {
        let mut other = app.tools[0].clone();
        other["name"] = json!("other");
        let link = json!("https://clean.test/view.html");
        other["_meta"] = json!({ "ui": { "resourceUri": link }, "ui/resourceUri": link });
        app.tools.push(other);
    });
    only("S04", "error", app);
}

#[test]
fn s05_another_type_where_it_is_read() {
    only("S05", "error", App::with(|app| app.contents[0]["mimeType"] = json!("text/html")));
}

#[test]
fn s05_a_space_in_the_type_where_it_is_listed() {
    let spaced = json!(MIME.replace(';', "; "));
    only("S05", "warning", App::with(|app| app.resources[0]["mimeType"] = spaced));
}

#[test]
fn s06_two_documents_at_one_address() {
    only("S06", "error", App::with(|app| app.contents.push(app.contents[0].clone())));
}

#[test]
fn s07_the_flat_link_alone() {
    let flat = json!({ "ui/resourceUri": VIEW });
    only("S07", "error", App::with(|app| app.tools[0]["_meta"] = flat));
}

#[test]
fn s07_the_nested_link_alone() {
    let nested = json!({ "ui": { "resourceUri": VIEW } });
    only("S07", "note", App::with(|app| app.tools[0]["_meta"] = nested));
}

#[test]
fn s08_visibility_that_does_not_exist() {
    for visibility in [json!([]), json!(["model", "everyone"]), json!("app")] {
        only(
            "S08",
            "error",
            App::with(|app| app.tools[0]["_meta"]["ui"]["visibility"] = visibility),
        );
    }
}

#[test]
fn s09_metadata_in_one_place_alone() {
    let app = App::with(|app| app.contents[0]["_meta"] = json!({ "ui": {} }));
    only("S09", "warning", app);
}

#[test]
fn s10_policy_on_a_tool() {
    only("S10", "error", App::with(|app| app.tools[0]["_meta"]["ui"]["csp"] = json!({})));
}

/// The clean one with this under `_meta.ui` of its document.
fn with_ui(ui: &Value) -> App {
    App::with(|app| {
        app.resources[0]["_meta"]["ui"] = ui.clone();
        app.contents[0]["_meta"]["ui"] = ui.clone();
    })
}

#[test]
fn s11_a_domain_that_is_no_origin() {
    for domain in ["blob:", "http://api.test", "https://api.test/v1"] {
        only("S11", "error", with_ui(&json!({ "csp": { "connectDomains": [domain] } })));
    }
}

#[test]
fn s12_a_domain_that_nobody_gives() {
    only("S12", "warning", with_ui(&json!({ "domain": "clean.test" })));
}

#[test]
fn s13_a_list_that_differs_and_may_be_shared() {
    only("S13", "error", App::with(|app| app.quirk = Quirk::PublicLists));
}

#[test]
fn s14_no_text_in_the_result() {
    let app = App::with(|app| app.result["content"] = json!([]));
    // Nor has a client without views any.
    let expected = ["S14", "S20"].map(|rule| (rule.to_owned(), "error".to_owned()));
    assert_eq!(found(app), expected);
}

#[test]
fn s14_a_placeholder_in_the_result() {
    let app = App::with(|app| app.result["content"][0]["text"] = json!("Done."));
    let expected = ["S14", "S20"].map(|rule| (rule.to_owned(), "warning".to_owned()));
    assert_eq!(found(app), expected);
}

#[test]
fn s15_a_result_that_does_not_fit_its_schema() {
    only(
        "S15",
        "error",
        App::with(|app| app.result["structuredContent"] = json!({ "figures": "1, 2, 3" })),
    );
}

#[test]
fn s16_a_link_in_the_result() {
    let link = json!({ "type": "resource_link", "uri": "https://clean.test/", "name": "x" });
    let embedded = json!({ "type": "resource", "resource": { "uri": VIEW, "mimeType": MIME, "text": html("") } });
    for block in [link, embedded] {
        only(
            "S16",
            "warning",
            App::with(|app| app.result["content"].as_array_mut().unwrap().push(block)),
        );
    }
}

#[test]
fn s17_a_document_that_is_large() {
    let long = |kib: usize| App::with_body(&format!("<!-- {} -->", "x".repeat(kib << 10)));
    only("S17", "warning", long(600));
    only("S17", "error", long(1100));
}

#[test]
fn s17_a_document_that_is_slow() {
    only("S17", "warning", App::with(|app| app.quirk = Quirk::Slow));
}

#[test]
fn s18_the_eras_differ() {
    only("S18", "error", App::with(|app| app.quirk = Quirk::EraMatters));
}

#[test]
fn s18_two_endpoints_of_one_server_differ() {
    let other = App::with_body("<p>other").listen();
    let found = found_with(App::clean(), &["--same", &other.url]);
    assert_eq!(found, [("S18".to_owned(), "error".to_owned())]);
}

#[test]
fn s19_tools_for_views_are_listed_to_everybody() {
    only("S19", "warning", App::with(|app| app.quirk = Quirk::ListsAll));
}

#[test]
fn s20_nothing_for_a_client_without_views() {
    only("S20", "error", App::with(|app| app.quirk = Quirk::NothingWithoutViews));
}

#[test]
fn s21_names_and_annotations() {
    let named = |name: &str| App::with(|app| app.tools[0]["name"] = json!(name));
    only("S21", "warning", named("show me"));
    only("S21", "warning", named(&"show".repeat(20)));
    only("S21", "warning", App::with(|app| app.tools[0]["annotations"] = json!({})));
    only("S21", "error", App::with(|app| app.tools.push(app.tools[1].clone())));
}

#[test]
fn s21_a_list_that_never_ends() {
    only("S21", "error", App::with(|app| app.quirk = Quirk::Circles));
}

#[test]
fn s22_an_older_hash_does_not_answer() {
    let hashed = "ui://clean/view@3f9c2a";
    let app = App::with(|app| {
        for key in ["/_meta/ui/resourceUri", "/_meta/ui~1resourceUri"] {
            *app.tools[0].pointer_mut(key).unwrap() = json!(hashed);
        }
        app.resources[0]["uri"] = json!(hashed);
        app.contents[0]["uri"] = json!(hashed);
    });
    only("S22", "warning", app);
}

#[test]
fn s23_a_tool_that_fetches_anything() {
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
    only("S23", "error", fetching(Quirk::FetchesAnything));
    assert_eq!(found(fetching(Quirk::None)), []);
}

#[test]
fn s24_capabilities_are_remembered() {
    only("S24", "error", App::with(|app| app.quirk = Quirk::Remembers));
}

#[test]
fn v01_no_doctype_charset_or_viewport() {
    let app = App::with(|app| app.contents[0]["text"] = json!("<html><p>hello"));
    let expected = ["warning", "note"].map(|level| ("V01".to_owned(), level.to_owned()));
    assert_eq!(found(app), expected);
}

#[test]
fn v02_an_origin_that_is_not_declared() {
    only("V02", "error", App::with_body("<script src=\"https://cdn.test/x.js\"></script>"));
    let body = App::with_body("<script src=\"https://cdn.test/x.js\"></script>").contents;
    let mut declared = with_ui(&json!({ "csp": { "resourceDomains": ["https://cdn.test"] } }));
    declared.contents[0]["text"] = body[0]["text"].clone();
    assert_eq!(found(declared), []);
}

#[test]
fn v03_code_out_of_text() {
    only("V03", "warning", App::with_body("<script>new Function('return 1')()</script>"));
    only("V03", "note", App::with_body("<button onclick=\"go()\">x</button>"));
}

#[test]
fn v04_bare_storage() {
    only("V04", "warning", App::with_body("<script>localStorage.setItem('a', 1)</script>"));
}

#[test]
fn v05_windows_and_ways_out() {
    only("V05", "warning", App::with_body("<script>window.open('x')</script>"));
    only("V05", "warning", App::with_body("<script>location.href = 'x'</script>"));
}

#[test]
fn v06_as_tall_as_the_viewport() {
    only("V06", "warning", App::with_body("<style>body { min-height: 100vh }</style>"));
}

#[test]
fn v07_a_tool_that_is_not_there() {
    only(
        "V07",
        "error",
        App::with_body("<script>app.callServerTool({ name: 'refersh' })</script>"),
    );
    let known = App::with_body("<script>app.callServerTool({ name: 'refresh' })</script>");
    assert_eq!(found(known), []);
}

#[test]
fn v08_what_only_one_host_has() {
    only("V08", "warning", App::with_body("<script>window.openai.setWidgetState({})</script>"));
}

#[test]
fn v09_a_color_scheme_of_its_own() {
    only("V09", "note", App::with_body("<style>:root { color-scheme: dark }</style>"));
}

#[test]
fn v10_relative_addresses() {
    only("V10", "error", App::with_body("<script src=\"./app.js\"></script>"));
}

#[test]
fn v11_a_permission_that_is_not_declared() {
    let body = "<script>navigator.geolocation.getCurrentPosition(show)</script>";
    only("V11", "warning", App::with_body(body));
}
