//! What a policy can be given beside what its document declared: a closed list, and nothing in it opens a domain.

use super::{
    Directive::{self, ConnectSrc, DefaultSrc, FontSrc, ImgSrc, MediaSrc, ScriptSrc, StyleSrc},
    Keyword::{self, UnsafeEval, WasmUnsafeEval},
};

/// Something that an operator or a person may allow the views of a server, and that no document can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grant {
    /// Scripts and workers from `blob:` URLs.
    Blob,
    /// Scripts and workers from `data:` URLs.
    Data,
    /// Compiling WebAssembly.
    Wasm,
    /// Code that is made from text: `eval` and `new Function`.
    Eval,
    /// Images from `blob:` URLs.
    BlobImages,
    /// Sound and video from `blob:` URLs.
    BlobMedia,
    /// Fonts from `blob:` URLs.
    BlobFonts,
    /// Fonts from `data:` URLs.
    DataFonts,
    /// `fetch` of `blob:` URLs.
    BlobFetch,
}

impl Grant {
    /// All of them, in the order they are printed.
    pub const ALL: [Self; 9] = [
        Self::Blob,
        Self::Data,
        Self::Wasm,
        Self::Eval,
        Self::BlobImages,
        Self::BlobMedia,
        Self::BlobFonts,
        Self::DataFonts,
        Self::BlobFetch,
    ];

    /// The word an operator writes for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Blob => "blob:",
            Self::Data => "data:",
            Self::Wasm => "wasm",
            Self::Eval => "eval",
            Self::BlobImages => "blob-images",
            Self::BlobMedia => "blob-media",
            Self::BlobFonts => "blob-fonts",
            Self::DataFonts => "data-fonts",
            Self::BlobFetch => "blob-fetch",
        }
    }

    /// What it would take to allow what a browser has blocked, by the two words of its report; nothing, if no grant does.
    pub fn for_blocked(directive: &str, blocked: &str) -> Option<Self> {
        Some(match (directive, blocked) {
            ("script-src" | "script-src-elem", "eval") => Self::Eval,
            ("script-src" | "script-src-elem", "wasm-eval") => Self::Wasm,
            ("script-src" | "script-src-elem" | "worker-src", "blob") => Self::Blob,
            ("script-src" | "script-src-elem" | "worker-src", "data") => Self::Data,
            ("img-src", "blob") => Self::BlobImages,
            ("media-src", "blob") => Self::BlobMedia,
            ("font-src", "blob") => Self::BlobFonts,
            ("font-src", "data") => Self::DataFonts,
            ("connect-src", "blob") => Self::BlobFetch,
            _ => return None,
        })
    }

    /// The directive that it stands in, behind which one that is put where it is missing, and what stands there.
    pub(super) fn place(self) -> (Directive, Directive, Keyword) {
        match self {
            Self::Blob => (ScriptSrc, DefaultSrc, Keyword::Blob),
            Self::Data => (ScriptSrc, DefaultSrc, Keyword::Data),
            Self::Wasm => (ScriptSrc, DefaultSrc, WasmUnsafeEval),
            Self::Eval => (ScriptSrc, DefaultSrc, UnsafeEval),
            Self::BlobImages => (ImgSrc, StyleSrc, Keyword::Blob),
            Self::BlobMedia => (MediaSrc, StyleSrc, Keyword::Blob),
            Self::BlobFonts => (FontSrc, StyleSrc, Keyword::Blob),
            Self::DataFonts => (FontSrc, StyleSrc, Keyword::Data),
            Self::BlobFetch => (ConnectSrc, StyleSrc, Keyword::Blob),
        }
    }
}
