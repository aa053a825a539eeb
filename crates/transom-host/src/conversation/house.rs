//! The conversations of a host: one that is open has a task, which answers what is said in it, one thing after the other.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use data_encoding::HEXLOWER;
use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::{
    asked::Desk,
    export,
    gate::{Sampler, Wanted},
    model::Model,
    questions::{Questions, TalkAnswer},
    shelf::{self, Shelf, Volume},
    talk::{State, Talk},
    tree::Role,
    turn,
    wishes::{News, ShownModel, Summary, Wish, WishError},
};
use crate::{
    envelope::ViewId,
    log::{LineKind, Log},
    server::Servers,
    upstream::Ask,
    words::Words,
};

/// All conversations.
#[derive(Clone)]
pub(crate) struct Conversations(Arc<House>);

/// What servers and views are given of them, before there are any.
#[derive(Clone)]
pub(crate) struct Reception {
    desk: Arc<Desk>,
    changed: watch::Sender<u64>,
}

struct House {
    desk: Arc<Desk>,
    wanted: mpsc::UnboundedSender<Wanted>,
    servers: Arc<Servers>,
    shelf: Option<Shelf>,
    open: Mutex<BTreeMap<String, Arc<Talk>>>,
    /// Moved by whatever changes.
    changed: watch::Sender<u64>,
    log: Arc<Log>,
}

impl Reception {
    pub(crate) fn new(model: Model, log: &Arc<Log>) -> Self {
        let (changed, _) = watch::channel(0);
        let questions = Questions::new(changed.clone());
        Self { desk: Desk::new(questions, Arc::new(model), Arc::clone(log)), changed }
    }

    pub(crate) fn for_server(&self, server: &str) -> Arc<dyn Ask> {
        self.desk.for_server(server)
    }

    pub(crate) fn sampler(&self) -> Arc<dyn Sampler> {
        Arc::new(Arc::clone(&self.desk))
    }

    pub(crate) fn open(
        self,
        servers: &Arc<Servers>,
        wanted: mpsc::UnboundedSender<Wanted>,
        data: Option<&Path>,
        log: &Arc<Log>,
    ) -> Conversations {
        let shelf = data.map(Shelf::new);
        let (desk, changed, open) = (self.desk, self.changed, Mutex::default());
        let (servers, log) = (Arc::clone(servers), Arc::clone(log));
        Conversations(Arc::new(House { desk, wanted, servers, shelf, open, changed, log }))
    }
}

impl Conversations {
    /// Does what the page wants; the id of a new conversation is answered.
    pub(crate) fn wish(&self, wish: Wish) -> Result<Option<String>, WishError> {
        let house = &self.0;
        match wish {
            Wish::Begin(saying) => {
                let talk = house.begin();
                if let Err(error) = talk.say(None, saying.text) {
                    house.lock().remove(&talk.id);
                    return Err(error);
                }
                return Ok(Some(talk.id.clone()));
            }
            Wish::Say(saying) => {
                let talk = house.find(&saying.id)?;
                let head = talk.lock().tree.head;
                talk.say(head, saying.text)?;
            }
            Wish::Edit(edit) => {
                let talk = house.find(&edit.id)?;
                let node = talk.lock().tree.node(edit.node).map(|node| (node.role, node.parent));
                let Some((Role::User, parent)) = node else { return Err(WishError::NoSuch) };
                talk.say(parent, edit.text)?;
            }
            Wish::Again(branch) => house.find(&branch.id)?.again(branch.node)?,
            Wish::Stop(named) => house.find(&named.id)?.stop(),
            Wish::Branch(branch) => house.find(&branch.id)?.show_branch(branch.node)?,
            Wish::Dismiss(it) => {
                let talk = house.find(&it.id)?;
                let mut state = talk.lock();
                state.chips.retain(|view, _| view.as_str() != it.view);
                drop(state);
                talk.tell();
            }
            Wish::Show(it) => house.find(&it.id)?.restore(&it.call)?,
            Wish::Answer(answer) => self.answer(&answer)?,
            Wish::Remove(named) => house.remove(&named.id)?,
        }
        Ok(None)
    }

    fn answer(&self, answer: &TalkAnswer) -> Result<(), WishError> {
        self.0.desk.questions.answer(answer).map_err(WishError::Refused)
    }

    /// The branch that is shown as Markdown, or everything as JSON.
    pub(crate) fn export(&self, id: &str, as_json: bool) -> Result<String, WishError> {
        let talk = self.0.find(id)?;
        let state = talk.lock();
        Ok(match as_json {
            true => export::json(id, &state.title, &state.tree),
            false => export::markdown(&state.title, &state.tree),
        })
    }

    /// Told whenever something changes.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.0.changed.subscribe()
    }

    /// What is new since `seen`, which is brought up to date.
    pub(crate) fn news(&self, open: Option<&str>, seen: &mut Seen) -> Option<News> {
        let house = &self.0;
        let first = seen.list.is_none();
        let list = house.list();
        let conversations = (seen.list.as_ref() != Some(&key(&list))).then(|| {
            seen.list = Some(key(&list));
            list
        });
        let (version, asks) = house.desk.questions.shown();
        let asks = (seen.asks != Some(version)).then_some(asks);
        seen.asks = Some(version);
        let model = first.then(|| {
            let model = &house.desk.model;
            let (name, place) = (model.name().to_owned(), model.place());
            ShownModel { name, place, real: model.is_real() }
        });
        let (mut shown, mut missing) = (None, None);
        if let Some(open) = open {
            match house.find(open) {
                Ok(talk) => shown = talk.shown(&mut seen.changes),
                Err(error) if !seen.told => {
                    seen.told = true;
                    missing = Some(error.to_string());
                }
                Err(_) => {}
            }
        }
        let some = conversations.is_some() || asks.is_some() || shown.is_some();
        let some = some || model.is_some() || missing.is_some();
        some.then_some(News { model, conversations, asks, open: shown, missing })
    }
}

/// What a page has been told.
#[derive(Default)]
pub(crate) struct Seen {
    list: Option<Vec<(String, String, bool)>>,
    asks: Option<u64>,
    changes: Option<u64>,
    told: bool,
}

fn key(list: &[Summary]) -> Vec<(String, String, bool)> {
    list.iter().map(|it| (it.id.clone(), it.title.clone(), it.running)).collect()
}

impl House {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Talk>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(self: &Arc<Self>) -> Arc<Talk> {
        let mut bytes = [0_u8; shelf::ID / 2];
        getrandom::fill(&mut bytes).expect("the system has randomness");
        self.keep(HEXLOWER.encode(&bytes), State { at: now(), ..State::default() })
    }

    /// Opens one: its task lives as long as it does.
    fn keep(self: &Arc<Self>, id: String, state: State) -> Arc<Talk> {
        let talk = Arc::new(Talk {
            id: id.clone(),
            state: Mutex::new(state),
            wanted: self.wanted.clone(),
            questions: Arc::clone(&self.desk.questions),
            agreed: Arc::default(),
            changed: self.changed.clone(),
            go: Notify::new(),
        });
        let mut open = self.lock();
        // Two pages may have asked for it at once.
        if let Some(there) = open.get(&id) {
            return Arc::clone(there);
        }
        open.insert(id, Arc::clone(&talk));
        drop(open);
        tokio::spawn(answer_all(Arc::clone(self), Arc::clone(&talk)));
        talk
    }

    fn find(self: &Arc<Self>, id: &str) -> Result<Arc<Talk>, WishError> {
        if let Some(talk) = self.lock().get(id) {
            return Ok(Arc::clone(talk));
        }
        let shelf = self.shelf.as_ref().filter(|_| shelf::is_id(id)).ok_or(WishError::NoSuch)?;
        let volume = shelf.read(id).map_err(WishError::Refused)?.ok_or(WishError::NoSuch)?;
        let touched = vec![0; volume.tree.nodes.len()];
        let (title, tree, at) = (volume.title, volume.tree, volume.changed);
        Ok(self.keep(id.to_owned(), State { title, tree, touched, at, ..State::default() }))
    }

    fn remove(self: &Arc<Self>, id: &str) -> Result<(), WishError> {
        let talk = self.find(id);
        if let Ok(talk) = &talk {
            talk.stop();
            let mut state = talk.lock();
            state.removed = true;
            for call in state.tree.nodes.iter().flat_map(|node| &node.calls) {
                if let Some(call) = ViewId::parse(&call.id) {
                    let _ = self.wanted.send(Wanted::Forget { call });
                }
            }
            drop(state);
            talk.go.notify_one();
        }
        self.lock().remove(id);
        if let Some(shelf) = self.shelf.as_ref().filter(|_| shelf::is_id(id)) {
            let gone = shelf.remove(id);
            gone.map_err(|error| WishError::Refused(format!("It cannot be removed: {error}.")))?;
        }
        self.changed.send_modify(|version| *version += 1);
        Ok(())
    }

    fn list(&self) -> Vec<Summary> {
        let open = self.lock();
        let mut all: BTreeMap<String, Summary> = BTreeMap::new();
        for (id, talk) in open.iter() {
            let state = talk.lock();
            let (title, changed, running) =
                (state.title.clone(), state.at, state.running.is_some());
            all.insert(id.clone(), Summary { id: id.clone(), title, changed, running });
        }
        drop(open);
        for (id, title, changed) in self.shelf.iter().flat_map(Shelf::list) {
            let there = Summary { id: id.clone(), title, changed, running: false };
            all.entry(id).or_insert(there);
        }
        let mut all: Vec<Summary> = all.into_values().collect();
        all.sort_by_key(|it| std::cmp::Reverse(it.changed));
        all
    }

    /// Keeps it as it is now.
    fn save(&self, talk: &Talk) {
        let Some(shelf) = &self.shelf else { return };
        let mut state = talk.lock();
        if state.removed || state.tree.nodes.is_empty() {
            return;
        }
        state.at = now();
        let tree = std::mem::take(&mut state.tree);
        let volume = Volume::new(talk.id.clone(), state.title.clone(), state.at, tree);
        let written = shelf.write(&volume);
        state.tree = volume.tree;
        drop(state);
        if let Err(error) = written {
            let words = format!("a conversation cannot be kept: {error}");
            self.log.write(LineKind::Error, "transom", Words::ours(&words));
        }
    }
}

/// Answers what is said in one conversation for as long as it is open.
async fn answer_all(house: Arc<House>, talk: Arc<Talk>) {
    loop {
        talk.go.notified().await;
        loop {
            let (stop, stopped) = oneshot::channel();
            let Some(after) = talk.next(stop) else { break };
            house.save(&talk);
            let save = || house.save(&talk);
            let ground =
                turn::Ground { model: &house.desk.model, servers: &house.servers, save: &save };
            tokio::select! {
                () = turn::run(&ground, &talk, after) => {}
                _ = stopped => talk.stopped(),
            }
            talk.lock().running = None;
            house.save(&talk);
            talk.tell();
        }
        if talk.lock().removed {
            return;
        }
    }
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
