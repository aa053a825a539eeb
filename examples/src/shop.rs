//! The shop as its owner wrote it: an axum app for browsers, which knows nothing of MCP.

mod stock;

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::multipart::Multipart;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{DefaultBodyLimit, FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{any, get, post, put};
use axum::{Json, Router};
use data_encoding::HEXLOWER;
use futures_util::{Stream, stream};
use serde::Deserialize;
use serde_json::json;

use self::stock::{CUSTOM, Shop, WARES};

/// The whole site: its page, and what the page asks for.
pub fn site() -> Router {
    let script = ([(header::CONTENT_TYPE, "text/javascript")], include_str!("../shop/shop.js"));
    let style = ([(header::CONTENT_TYPE, "text/css")], include_str!("../shop/shop.css"));
    Router::new()
        .route("/", get(page))
        .route("/shop.js", get(script))
        .route("/shop.css", get(style))
        .route("/api/wares", get(async || Json(WARES)))
        .route("/api/basket", get(basket))
        .route("/api/basket/{id}", put(fill))
        .route("/api/pictures", post(upload).layer(DefaultBodyLimit::max(LARGEST)))
        .route("/api/pictures/{id}", get(picture))
        .route("/api/orders", post(order))
        .route("/api/orders/feed", get(feed))
        .route("/api/chat", any(chat))
        .with_state(Arc::new(Shop::default()))
}

type Open = State<Arc<Shop>>;

/// The page. Who has no basket yet gets one, by a cookie that no script and no other site can use.
async fn page(headers: HeaderMap) -> Response {
    let page = Html(include_str!("../shop/index.html"));
    if owner(&headers).is_some() {
        return page.into_response();
    }
    let mut id = [0; 16];
    if getrandom::fill(&mut id).is_err() {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let cookie = format!("basket={}; HttpOnly; SameSite=Strict; Path=/", HEXLOWER.encode(&id));
    ([(header::SET_COOKIE, cookie)], page).into_response()
}

/// Whose basket it is.
struct Owner(String);

impl<S: Sync> FromRequestParts<S> for Owner {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refused> {
        let refused = Refused(StatusCode::UNAUTHORIZED, "open the shop's page first");
        owner(&parts.headers).map(Self).ok_or(refused)
    }
}

fn owner(headers: &HeaderMap) -> Option<String> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut cookies = cookies.flat_map(|all| all.split("; "));
    cookies.find_map(|cookie| cookie.strip_prefix("basket=")).map(str::to_owned)
}

/// Why something was not done, as the page shows it.
struct Refused(StatusCode, &'static str);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.0, Json(json!({ "error": self.1 }))).into_response()
    }
}

async fn basket(State(shop): Open, Owner(owner): Owner) -> Response {
    Json(shop.basket(&owner)).into_response()
}

#[derive(Deserialize)]
struct Fill {
    count: u32,
}

async fn fill(
    State(shop): Open,
    Owner(owner): Owner,
    Path(id): Path<String>,
    Json(Fill { count }): Json<Fill>,
) -> Result<Response, Refused> {
    let many = Refused(StatusCode::UNPROCESSABLE_ENTITY, "twenty of a kind at most");
    if count > 20 {
        return Err(many);
    }
    let none = Refused(StatusCode::NOT_FOUND, "there is no such thing on the shelf");
    shop.put(&owner, &id, count).map(|basket| Json(basket).into_response()).ok_or(none)
}

/// Takes a picture, and puts a mug with it into the basket.
async fn upload(
    State(shop): Open,
    Owner(owner): Owner,
    mut form: Multipart,
) -> Result<Response, Refused> {
    let unread =
        |_| Refused(StatusCode::PAYLOAD_TOO_LARGE, "it could not be read, or is too large");
    let empty = Refused(StatusCode::BAD_REQUEST, "there is no picture in it");
    let field = form.next_field().await.map_err(unread)?.ok_or(empty)?;
    let name: String = field.file_name().unwrap_or("picture").chars().take(60).collect();
    let kind = field.content_type().and_then(|kind| KINDS.into_iter().find(|known| *known == kind));
    let kind = kind.ok_or(Refused(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "send a picture of kind PNG, JPEG or WebP",
    ))?;
    let bytes = field.bytes().await.map_err(unread)?;
    let size = bytes.len();
    let id = shop.hang(&owner, kind, bytes);
    let basket = shop.put(&owner, CUSTOM.id, 1);
    let told = json!({ "id": id, "name": name, "size": size, "basket": basket });
    Ok((StatusCode::CREATED, Json(told)).into_response())
}

async fn picture(
    State(shop): Open,
    Owner(owner): Owner,
    Path(id): Path<u64>,
) -> Result<Response, Refused> {
    let none = Refused(StatusCode::NOT_FOUND, "there is no such picture of yours");
    let (kind, bytes): (&str, Bytes) = shop.picture(&owner, id).ok_or(none)?;
    let headers = [(header::CONTENT_TYPE, kind), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
    Ok((headers, bytes).into_response())
}

async fn order(State(shop): Open, Owner(owner): Owner) -> Result<Response, Refused> {
    let empty = Refused(StatusCode::CONFLICT, "the basket is empty");
    let order = shop.order(&owner).ok_or(empty)?;
    tokio::spawn(Arc::clone(&shop).work(owner, order.clone()));
    Ok((StatusCode::CREATED, Json(order)).into_response())
}

/// What becomes of a person's orders, from the beginning, or from where they stopped listening.
async fn feed(
    State(shop): Open,
    Owner(owner): Owner,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
    let after: u64 = last.unwrap_or_default();
    let heard = shop.listen();
    let events =
        stream::unfold((shop, owner, after, heard), |(shop, owner, after, mut heard)| async move {
            loop {
                if let Some((at, order)) = shop.news(&owner, after) {
                    let event = Event::default().event("order").id(at.to_string());
                    let event = event.json_data(order).expect("an order is JSON");
                    return Some((Ok(event), (shop, owner, at, heard)));
                }
                heard.changed().await.ok()?;
            }
        });
    Sse::new(events).keep_alive(KeepAlive::default())
}

async fn chat(Owner(_): Owner, upgrade: WebSocketUpgrade) -> Response {
    upgrade.max_message_size(4 << 10).on_upgrade(talk)
}

#[derive(Deserialize)]
struct Said {
    words: String,
}

async fn talk(mut socket: WebSocket) {
    let mut say = vec![("potter", "Good day. The kiln is still warm; ask me anything.".to_owned())];
    loop {
        for (from, words) in say {
            let told = json!({ "from": from, "words": words }).to_string();
            if socket.send(Message::Text(told.into())).await.is_err() {
                return;
            }
        }
        let Some(Ok(message)) = socket.recv().await else { return };
        let said = message.to_text().ok().and_then(|text| serde_json::from_str(text).ok());
        say = said.map_or(Vec::new(), |Said { words }| {
            let answer = stock::answer(&words).to_owned();
            vec![("you", words), ("potter", answer)]
        });
    }
}

/// A picture of 2 MiB, and the form around it.
const LARGEST: usize = (2 << 20) + 1_024;
const KINDS: [&str; 3] = ["image/png", "image/jpeg", "image/webp"];
