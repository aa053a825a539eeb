//! Templates whose view is bundled: what is different from one framework to the next.

use std::path::Path;

use crate::arguments::Template;

/// A framework for views, and how esbuild is told of it.
pub(super) struct Framework {
    name: &'static str,
    /// The script that starts the view, below `ui/src`.
    pub(super) main: &'static str,
    /// The view, where it stands in a file of its own beside that script.
    component: Option<(&'static str, &'static str)>,
    script: &'static str,
    packages: &'static str,
    imports: &'static str,
    plugin: &'static str,
    options: &'static str,
}

impl Framework {
    /// The framework of a template, if it has one.
    pub(super) fn of(template: Template) -> Option<&'static Self> {
        match template {
            Template::Html | Template::Askama => None,
            Template::React => Some(&REACT),
            Template::Vue => Some(&VUE),
            Template::Svelte => Some(&SVELTE),
        }
    }

    /// Where the view is, and what it is written in.
    pub(super) fn view(&self) -> (&'static str, &'static str) {
        self.component.unwrap_or((self.main, self.script))
    }

    /// The files below `ui`.
    pub(super) fn files(&self) -> Vec<(&'static str, &'static str)> {
        let mut files = vec![
            ("ui/package.json", include_str!("templates/package.json.in")),
            ("ui/build.mjs", include_str!("templates/build.mjs.in")),
            (self.main, self.script),
            ("ui/src/style.css", include_str!("templates/style.css.in")),
        ];
        files.extend(self.component);
        files
    }

    /// A text with what is this framework's. `library` is where `transom-server` is in a checkout, whose npm package is not
    /// built: there esbuild takes the source, and one copy of the framework for both.
    pub(super) fn fill(&self, text: &str, library: Option<&str>) -> String {
        let imports = match library {
            Some(_) => format!("{}import {{ fileURLToPath }} from \"node:url\";\n", self.imports),
            None => self.imports.to_owned(),
        };
        let main = Path::new(self.main).file_name().expect("a script has a name");
        text.replace("@imports@", &imports)
            .replace("@plugins@", self.plugin)
            .replace("@main@", &main.to_string_lossy())
            .replace("@options@", self.options)
            .replace("@alias@", &library.map_or_else(String::new, |library| self.alias(library)))
            .replace("@packages@", self.packages)
    }

    fn alias(&self, library: &str) -> String {
        let name = self.name;
        let source = format!("{library}/../../web/src/{name}.ts");
        // A path that moves along is relative to the project; the script lies in a folder of it.
        let source = if Path::new(&source).is_absolute() { source } else { format!("../{source}") };
        let source = serde_json::Value::from(source);
        let own = format!("    {name}: fileURLToPath(file(\"node_modules/{name}\")),\n");
        // Svelte's is found by its plugin: its modules are not where they are imported from.
        let own = if name == "svelte" { "" } else { &own };
        format!("  alias: {{\n    \"transom/{name}\": fileURLToPath(file({source})),\n{own}  }},\n")
    }
}

const REACT: Framework = Framework {
    name: "react",
    main: "ui/src/main.jsx",
    component: None,
    script: include_str!("templates/main.jsx.in"),
    packages: "    \"react\": \"^19.2.0\",\n    \"react-dom\": \"^19.2.0\"",
    imports: "",
    plugin: "",
    options: "  jsx: \"automatic\",\n  define: { \"process.env.NODE_ENV\": '\"production\"' },\n",
};
const VUE: Framework = Framework {
    name: "vue",
    main: "ui/src/main.js",
    component: Some(("ui/src/Tasks.vue", include_str!("templates/tasks.vue.in"))),
    script: include_str!("templates/main.vue.js.in"),
    packages: "    \"vue\": \"^3.5.0\"",
    imports: "import { compileScript, parse } from \"vue/compiler-sfc\";\n",
    plugin: include_str!("templates/vue.plugin.in"),
    options: "  plugins: [vue],\n  define: {\n    \"process.env.NODE_ENV\": '\"production\"',\n    __VUE_OPTIONS_API__: \"false\",\n    __VUE_PROD_DEVTOOLS__: \"false\",\n    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: \"false\",\n  },\n",
};
const SVELTE: Framework = Framework {
    name: "svelte",
    main: "ui/src/main.js",
    component: Some(("ui/src/Tasks.svelte", include_str!("templates/tasks.svelte.in"))),
    script: include_str!("templates/main.svelte.js.in"),
    packages: "    \"svelte\": \"^5.0.0\"",
    imports: "import { compile } from \"svelte/compiler\";\n",
    plugin: include_str!("templates/svelte.plugin.in"),
    options: "  plugins: [svelte],\n  conditions: [\"browser\", \"svelte\"],\n",
};
