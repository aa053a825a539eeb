//! A value, and where it comes from.

use std::{fmt, path::PathBuf, sync::Arc};

/// A value, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) source: Source,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Neither the command line nor a file says anything.
    Default,
    /// An option of the command line.
    Flag(&'static str),
    /// A word of the command line.
    CommandLine,
    /// A line of `transom.toml`.
    Line(Arc<PathBuf>, usize),
    /// A file with `mcpServers`.
    File(PathBuf),
}

impl<T> Setting<T> {
    pub(crate) fn default(value: T) -> Self {
        Self { value, source: Source::Default }
    }

    /// What the command line says, or else the file, or else the default.
    pub(crate) fn choose(flag: Option<(T, &'static str)>, file: Option<Self>, default: T) -> Self {
        let flag = flag.map(|(value, name)| Self { value, source: Source::Flag(name) });
        flag.or(file).unwrap_or_else(|| Self::default(default))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Flag(name) => f.write_str(name),
            Self::CommandLine => f.write_str("the command line"),
            Self::Line(path, line) => write!(f, "{} line {line}", path.display()),
            Self::File(path) => path.display().fmt(f),
        }
    }
}
