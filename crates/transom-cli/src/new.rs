//! `transom new`: a server with a view, to start from.

mod bundled;
mod names;

use std::{
    fs,
    path::{Component, Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};

use self::bundled::Framework;
use crate::{
    arguments::{NewArguments, Template},
    config::Surroundings,
    terminal,
};

/// Writes a project and says what to do with it.
pub(crate) fn new(arguments: &NewArguments, around: &Surroundings<'_>) -> Result<ExitCode> {
    let NewArguments { name, template, path } = arguments;
    names::check(name)?;
    let folder = around.folder.join(name);
    refuse_used(&folder)?;
    let library = Library::find(path.as_deref(), around.folder, &folder)?;
    let project =
        Project { name, template: *template, library: &library, inside: is_inside(&folder) };
    let files = project.files();
    for (file, text) in &files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("a file of the project has a folder"))
            .and_then(|()| fs::write(&path, text))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    terminal::print(&project.farewell(&files))?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses a folder with files in it: what the person wrote stays as it is.
fn refuse_used(folder: &Path) -> Result<()> {
    let shown = folder.display();
    match fs::read_dir(folder).map(|mut entries| entries.next().is_some()) {
        Ok(true) => bail!("{shown} exists and is not empty; choose another name, or empty it"),
        Ok(false) => Ok(()),
        Err(_) if folder.exists() => {
            bail!("{shown} exists and is not a folder; choose another name")
        }
        Err(_) => Ok(()),
    }
}

/// Whether cargo would take the project for a part of something around it.
fn is_inside(folder: &Path) -> bool {
    folder.ancestors().skip(1).any(|folder| folder.join("Cargo.toml").is_file())
}

/// Where the project finds `transom-server`.
enum Library {
    /// In a checkout, as Cargo.toml names it.
    Path(String),
    /// Where cargo finds crates.
    Registry,
}

impl Library {
    /// The checkout that --path names, or else the one around this folder.
    fn find(named: Option<&Path>, here: &Path, project: &Path) -> Result<Self> {
        let is_checkout = |folder: &Path| folder.join(CRATE).join("Cargo.toml").is_file();
        if let Some(named) = named {
            let folder = here.join(named);
            if !is_checkout(&folder) {
                bail!("{} is no checkout of Transom: it has no {CRATE}", named.display());
            }
            return Self::of(&folder, project);
        }
        match here.ancestors().find(|folder| is_checkout(folder)) {
            Some(folder) => Self::of(folder, project),
            None => Ok(Self::Registry),
        }
    }

    fn of(checkout: &Path, project: &Path) -> Result<Self> {
        let checkout = fs::canonicalize(checkout)?;
        let parent = project.parent().expect("a project is in a folder");
        let project = fs::canonicalize(parent)?.join(project.file_name().expect("it has a name"));
        // A project inside the checkout moves with it, so a relative path stays right. For one elsewhere no path does.
        let library = match project.strip_prefix(&checkout) {
            Ok(inside) => {
                let up = inside.components().filter(|part| matches!(part, Component::Normal(_)));
                up.map(|_| "..").collect::<PathBuf>().join(CRATE)
            }
            Err(_) => checkout.join(CRATE),
        };
        let library = library.to_str().context("the path of the checkout is not text")?;
        Ok(Self::Path(library.to_owned()))
    }

    /// The dependency as Cargo.toml names it, with these features.
    fn dependency(&self, features: &[&str]) -> String {
        let place = match self {
            // A string of JSON is one of TOML.
            Self::Path(path) => format!("path = {}", serde_json::Value::from(path.as_str())),
            Self::Registry if features.is_empty() => return format!("{VERSION:?}"),
            Self::Registry => format!("version = {VERSION:?}"),
        };
        match features {
            [] => format!("{{ {place} }}"),
            features => format!("{{ {place}, features = {features:?} }}"),
        }
    }

    /// The npm package, where it is not taken from a checkout.
    fn package(&self) -> String {
        if self.checkout().is_some() {
            String::new()
        } else {
            format!(",\n    \"transom\": \"^{VERSION}\"")
        }
    }

    /// Where it is in a checkout.
    fn checkout(&self) -> Option<&str> {
        match self {
            Self::Path(path) => Some(path),
            Self::Registry => None,
        }
    }
}

/// What is written.
struct Project<'a> {
    name: &'a str,
    template: Template,
    library: &'a Library,
    inside: bool,
}

impl Project<'_> {
    fn files(&self) -> Vec<(&'static str, String)> {
        let mut files = vec![
            ("Cargo.toml", CARGO_TOML),
            ("README.md", README),
            ("src/lib.rs", LIB),
            ("src/main.rs", MAIN),
            ("tests/view.rs", TEST),
        ];
        match self.template {
            Template::Html => files.push(("views/tasks.html", HTML)),
            Template::Askama => files.push(("templates/tasks.html", HTML)),
            Template::React | Template::Vue | Template::Svelte => {}
        }
        files.extend(self.framework().map(Framework::files).unwrap_or_default());
        let mut files: Vec<(&str, String)> =
            files.into_iter().map(|(file, text)| (file, self.fill(text))).collect();
        files.push((".gitignore", self.ignored()));
        files
    }

    fn framework(&self) -> Option<&'static Framework> {
        Framework::of(self.template)
    }

    fn fill(&self, text: &str) -> String {
        let askama = self.template == Template::Askama;
        let uses = if askama { USES_ASKAMA } else { USES };
        let framework = self.framework();
        let own = framework.map(|framework| framework.fill(text, self.library.checkout()));
        let text = own
            .as_deref()
            .unwrap_or(text)
            .replace("@view@", self.view().trim_end())
            .replace("@uses@", uses)
            .replace("@heading@", if askama { "<h1>{{ heading }}</h1>\n" } else { "" })
            .replace("@askama@", if askama { "askama = \"0.16\"\n" } else { "" })
            .replace("@workspace@", if self.inside { WORKSPACE } else { "" })
            .replace("@prepare@", if framework.is_some() { PREPARE } else { "" })
            .replace("@view-file@", self.view_file())
            .replace("@transom-server@", &self.library.dependency(&[]))
            .replace("@transom-server-test@", &self.library.dependency(&["test"]))
            .replace("@transom@", &self.library.package())
            .replace("@uri@", &format!("ui://{}/tasks", self.name))
            .replace("@crate@", &self.name.replace('-', "_"))
            .replace("@name@", self.name);
        format!("{}\n", text.trim_end())
    }

    fn view(&self) -> &'static str {
        match self.template {
            Template::Html => include_str!("new/templates/html.view.in"),
            Template::Askama => include_str!("new/templates/askama.view.in"),
            Template::React | Template::Vue | Template::Svelte => {
                include_str!("new/templates/bundle.view.in")
            }
        }
    }

    fn view_file(&self) -> &'static str {
        match self.template {
            Template::Html => "views/tasks.html",
            Template::Askama => "templates/tasks.html",
            Template::React | Template::Vue | Template::Svelte => {
                self.framework().expect("these have one").view().0
            }
        }
    }

    fn ignored(&self) -> String {
        let ui = if self.framework().is_some() { "/ui/node_modules\n/ui/dist\n" } else { "" };
        format!("/target\n{ui}")
    }

    fn farewell(&self, files: &[(&str, String)]) -> String {
        let name = self.name;
        let size = |file: &str| {
            files.iter().find(|(path, _)| *path == file).map_or(0, |(_, text)| text.len())
        };
        let mut lines = vec![
            format!(
                "{name} is there: two tools for the model, two for the view, the view and a test."
            ),
            format!("  the view is {} ({} bytes)", self.view_file(), size(self.view_file())),
            String::new(),
            format!("  cd {name}"),
        ];
        if self.framework().is_some() {
            lines.push("  npm --prefix ui install && npm --prefix ui run build".to_owned());
        }
        lines.extend([
            "  transom dev -- cargo run -q      # in your browser, started again when you change it".to_owned(),
            "  cargo test".to_owned(),
            "  transom check -- cargo run -q".to_owned(),
        ]);
        if let Library::Registry = self.library {
            lines.extend([
                String::new(),
                "It wants transom-server from crates.io, where it may not be yet; --path DIR takes it from a checkout of Transom.".to_owned(),
            ]);
        }
        format!("{}\n", lines.join("\n"))
    }
}

const USES: &str =
    "use transom_server::{BuildError, Cancelled, Progress, Shown, View, Views, WithViews};";
const USES_ASKAMA: &str = "use transom_server::{BuildError, Cancelled, Progress, RenderCx, Shown, View, Views, WithViews};";
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Where the library is in a checkout.
const CRATE: &str = "crates/transom-server";
const CARGO_TOML: &str = include_str!("new/templates/Cargo.toml.in");
const README: &str = include_str!("new/templates/README.md.in");
const LIB: &str = include_str!("new/templates/lib.rs.in");
const MAIN: &str = include_str!("new/templates/main.rs.in");
const TEST: &str = include_str!("new/templates/view.rs.in");
const HTML: &str = include_str!("new/templates/tasks.html.in");
const WORKSPACE: &str = "\n# A project of its own, whatever is around it.\n[workspace]\n";
const PREPARE: &str = "npm --prefix ui install && npm --prefix ui run build\n";
