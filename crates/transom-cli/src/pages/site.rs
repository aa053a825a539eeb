//! The listener of the sample pages: one port, a host name for each page, every policy a header.

use std::{collections::HashMap, fs, path::Path, sync::Arc};

use anyhow::{Context as _, Result};
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

use super::samples::{Part, SAMPLES, Sample};

/// All pages with their files.
pub(super) struct Site {
    port: u16,
    pages: HashMap<String, Files>,
}

/// One page's files by path, and its policy.
struct Files {
    files: HashMap<String, (&'static str, Bytes)>,
    policy: String,
}

impl Site {
    /// Reads what was built, and writes into each page who may connect to it.
    pub(super) fn read(built: &Path, port: u16, clients: &[String]) -> Result<Self> {
        let mut site = Self { port, pages: HashMap::new() };
        for sample in &SAMPLES {
            let folder = built.join(sample.name);
            let page = site.page(sample, &folder, clients);
            let page = page.with_context(|| format!("cannot read {}", folder.display()))?;
            site.pages.insert(format!("{}.localhost:{port}", sample.name), page);
        }
        Ok(site)
    }

    /// The pages that a person may open, with their addresses.
    pub(super) fn addresses(&self) -> impl Iterator<Item = (&str, String, &str)> {
        SAMPLES
            .iter()
            .map(|sample| (sample.name, format!("{}/", self.origin(sample.name)), sample.words))
    }

    pub(super) fn router(self) -> Router {
        Router::new().fallback(answer).with_state(Arc::new(self))
    }

    fn origin(&self, name: &str) -> String {
        format!("http://{name}.localhost:{}", self.port)
    }

    fn page(&self, sample: &Sample, folder: &Path, clients: &[String]) -> Result<Files> {
        let mut files = HashMap::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).context("no name")?;
            let kind = kind(name).with_context(|| format!("{name} is no file of a page"))?;
            files.insert(format!("/{name}"), (kind, Bytes::from(fs::read(&path)?)));
        }
        let (_, index) = files.get("/index.html").context("no index.html")?;
        let index = String::from_utf8(index.to_vec())?;
        let metas: String = self.metas(sample.part, clients).iter().map(meta).collect();
        let index = index.replacen("</title>", &format!("</title>{metas}"), 1);
        files.insert("/".to_owned(), (HTML, Bytes::from(index)));
        files.remove("/index.html");
        Ok(Files { files, policy: self.policy(sample.part, clients) })
    }

    /// What a page is told about the others: names and texts of `<meta>` elements.
    fn metas(&self, part: Part, clients: &[String]) -> Vec<(&'static str, String)> {
        match part {
            Part::Framed | Part::Popup => {
                let clients = [clients, &[self.origin("client")]].concat();
                vec![("mcp-clients", clients.join(" "))]
            }
            Part::Copilot => vec![("mcp-clients", self.origin("dashboard"))],
            Part::Dashboard => vec![("copilot", format!("{}/", self.origin("copilot")))],
            Part::Client => {
                let servers = SAMPLES.iter().filter(|sample| is_server(sample.part));
                let servers = servers.map(|sample| {
                    let url = format!("{}/", self.origin(sample.name));
                    json!({ "name": sample.name, "url": url, "popup": sample.part == Part::Popup })
                });
                vec![("servers", serde_json::Value::from_iter(servers).to_string())]
            }
        }
    }

    /// Nothing but the page's own files, no network, and frames only where they belong (SEC-16).
    fn policy(&self, part: Part, clients: &[String]) -> String {
        let none = || "'none'".to_owned();
        let (ancestors, frames) = match part {
            Part::Framed => ([clients, &[self.origin("client")]].concat().join(" "), none()),
            Part::Popup => (none(), none()),
            Part::Copilot => (self.origin("dashboard"), none()),
            Part::Dashboard => (none(), self.origin("copilot")),
            Part::Client => {
                let servers = SAMPLES.iter().filter(|sample| is_server(sample.part));
                let servers: Vec<_> = servers.map(|sample| self.origin(sample.name)).collect();
                (none(), servers.join(" "))
            }
        };
        format!(
            "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; \
             img-src data:; frame-src {frames}; frame-ancestors {ancestors}; base-uri 'none'; form-action 'none'"
        )
    }
}

async fn answer(State(site): State<Arc<Site>>, uri: Uri, headers: HeaderMap) -> Response {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let Some(page) = site.pages.get(host) else {
        return (StatusCode::MISDIRECTED_REQUEST, "no sample page has this name\n").into_response();
    };
    let Some((kind, file)) = page.files.get(uri.path()) else {
        return (StatusCode::NOT_FOUND, "no such file\n").into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, *kind),
        (header::CONTENT_SECURITY_POLICY, page.policy.as_str()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, file.clone()).into_response()
}

const fn is_server(part: Part) -> bool {
    matches!(part, Part::Framed | Part::Popup)
}

fn meta((name, text): &(&str, String)) -> String {
    let text = text.replace('&', "&amp;").replace('"', "&quot;");
    format!("<meta name=\"{name}\" content=\"{text}\">")
}

fn kind(name: &str) -> Option<&'static str> {
    match Path::new(name).extension()?.to_str()? {
        "html" => Some(HTML),
        "js" => Some("text/javascript; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        _ => None,
    }
}

const HTML: &str = "text/html; charset=utf-8";
