//! The play: who is on the page, what each is told, and the documents they are.

use serde_json::{Value, json};

use super::{
    attempts::{ATTEMPTS, Attacker},
    traps::Traps,
};

/// What the page and all views are told.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) traps: Traps,
    /// The page's origin.
    pub(super) page: String,
    /// What the neighbour keeps to itself.
    pub(super) secret: String,
}

impl Plan {
    /// What a view of the stranger's is to do.
    pub(super) fn of(&self, view: &str) -> Value {
        let of = |by: Attacker| {
            let mine = ATTEMPTS.iter().filter(|attempt| attempt.view() == view && attempt.by == by);
            mine.map(|attempt| attempt.id).collect::<Vec<_>>()
        };
        let quick =
            [of(Attacker::Main), of(Attacker::Alone), of(Attacker::Doomed), of(Attacker::Granted)]
                .concat();
        json!({
            "view": view,
            "quick": quick,
            "clicks": of(Attacker::Clicked),
            "trap": self.traps.trap,
            "line": self.traps.line,
            "stun": self.traps.stun,
            "ally": self.traps.ally,
            "near": self.traps.near,
            "page": self.page,
            "secret": self.secret,
            "worker": "/isolation/worker.js",
            "picture": PICTURE,
        })
    }

    /// Who is to be on the page. The one that is clicked on comes first, where the clicks go.
    pub(super) fn mount(&self) -> Value {
        let stranger = |server: &str, view: &str| json!({ "server": server, "tool": "attack", "args": { "view": view } });
        let mut all = vec![
            stranger("stranger", "clicked"),
            json!({ "server": "neighbour", "tool": "watch", "args": {} }),
            stranger("stranger", "main"),
            stranger("granted", "granted"),
        ];
        let alone = ATTEMPTS
            .iter()
            .filter(|attempt| matches!(attempt.by, Attacker::Alone | Attacker::Doomed));
        all.extend(alone.map(|attempt| stranger("stranger", attempt.id)));
        json!({ "mount": all })
    }

    /// The stranger's document, for a host.
    pub(super) fn stranger(&self) -> String {
        STRANGER.replace("/*plan*/", "").replace("/*channel*/", include_str!("stranger-channel.js"))
    }

    /// The neighbour's document, for a host.
    pub(super) fn neighbour(&self) -> String {
        include_str!("neighbour.html").replace("/*view library*/", transom_web::VIEW)
    }

    /// The stranger's document for a page that just shows it.
    pub(super) fn naive_stranger(&self, view: &str) -> String {
        STRANGER
            .replace("/*plan*/", &format!("const plan = {};", self.of(view)))
            .replace("/*channel*/", include_str!("naive-channel.js"))
    }

    /// The neighbour's document for a page that just shows it.
    pub(super) fn naive_neighbour(&self) -> String {
        let plan = format!("const plan = {};", json!({ "secret": self.secret }));
        include_str!("naive-neighbour.html").replace("/*plan*/", &plan)
    }
}

const STRANGER: &str = include_str!("stranger.html");
/// One grey dot.
const PICTURE: &str =
    "data:image/gif;base64,R0lGODlhAQABAIAAAICAgP///yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==";
