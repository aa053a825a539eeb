//! What a frame may do: the `allow` and `sandbox` attributes, and `Permissions-Policy`.

use std::fmt;

use crate::origin::Origin;
use crate::wire::ResourcePermissions;

impl ResourcePermissions {
    /// Every feature there is to ask for.
    pub const ALL: Self =
        Self { camera: true, microphone: true, geolocation: true, clipboard_write: true };

    /// Returns what both sides agree to: the document asks, the operator allows.
    pub fn and(self, other: Self) -> Self {
        Self {
            camera: self.camera && other.camera,
            microphone: self.microphone && other.microphone,
            geolocation: self.geolocation && other.geolocation,
            clipboard_write: self.clipboard_write && other.clipboard_write,
        }
    }

    /// Prints the `allow` attribute of a frame whose own origin is meant.
    pub fn to_allow(self) -> String {
        self.granted().collect::<Vec<_>>().join("; ")
    }

    /// Prints the `allow` attribute of a frame that hands features on to frames inside it.
    ///
    /// The frame's own origin must be among those named: what it does not have, it cannot hand on.
    pub fn to_allow_for(self, origins: &[Origin]) -> String {
        let origins: String = origins.iter().map(|origin| format!(" {origin}")).collect();
        self.granted().map(|name| format!("{name}{origins}")).collect::<Vec<_>>().join("; ")
    }

    /// Prints the `Permissions-Policy` header of a page that may use the features itself and hand
    /// them to frames of the given origins. What is not granted is switched off by name.
    pub fn to_header(self, origins: &[Origin]) -> String {
        let origins: String = origins.iter().map(|origin| format!(" \"{origin}\"")).collect();
        let print = |(name, granted)| match granted {
            true => format!("{name}=(self{origins})"),
            false => format!("{name}=()"),
        };
        self.features().map(print).join(", ")
    }

    fn granted(self) -> impl Iterator<Item = &'static str> {
        self.features().into_iter().filter_map(|(name, granted)| granted.then_some(name))
    }

    fn features(self) -> [(&'static str, bool); 4] {
        [
            ("camera", self.camera),
            ("microphone", self.microphone),
            ("geolocation", self.geolocation),
            ("clipboard-write", self.clipboard_write),
        ]
    }
}

/// One of the features that a document can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Permission {
    /// The camera.
    Camera,
    /// The microphone.
    Microphone,
    /// Where the person is.
    Geolocation,
    /// Writing to the clipboard.
    ClipboardWrite,
}

impl Permission {
    /// All of them, in the order they are printed.
    pub const ALL: [Self; 4] =
        [Self::Camera, Self::Microphone, Self::Geolocation, Self::ClipboardWrite];

    /// Its name, as policies have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Camera => "camera",
            Self::Microphone => "microphone",
            Self::Geolocation => "geolocation",
            Self::ClipboardWrite => "clipboard-write",
        }
    }

    /// Its place in a set.
    pub fn of(self, set: &mut ResourcePermissions) -> &mut bool {
        match self {
            Self::Camera => &mut set.camera,
            Self::Microphone => &mut set.microphone,
            Self::Geolocation => &mut set.geolocation,
            Self::ClipboardWrite => &mut set.clipboard_write,
        }
    }

    /// Whether it is in a set.
    pub fn is_in(self, mut set: ResourcePermissions) -> bool {
        *self.of(&mut set)
    }
}

/// The tokens of an iframe's `sandbox` attribute that we ever grant.
///
/// A field for each and none for the others: `allow-top-navigation`, `allow-popups` and
/// `allow-downloads` cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SandboxTokens {
    /// `allow-scripts`.
    pub scripts: bool,
    /// `allow-same-origin`.
    pub same_origin: bool,
    /// `allow-forms`: without it `submit` never fires; `form-action 'none'` stops the post.
    pub forms: bool,
}

impl SandboxTokens {
    /// Everything we grant: what both frames carry unless a message asks for less.
    pub const ALL: Self = Self { scripts: true, same_origin: true, forms: true };

    /// Reads an override and keeps of it what we grant (P-16). As in HTML, case does not matter.
    pub fn parse(text: &str) -> Self {
        let has = |name| text.split_ascii_whitespace().any(|t| t.eq_ignore_ascii_case(name));
        Self { scripts: has(SCRIPTS), same_origin: has(SAME_ORIGIN), forms: has(FORMS) }
    }

    /// Returns the tokens in both.
    pub fn and(self, other: Self) -> Self {
        Self {
            scripts: self.scripts && other.scripts,
            same_origin: self.same_origin && other.same_origin,
            forms: self.forms && other.forms,
        }
    }
}

impl fmt::Display for SandboxTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tokens =
            [(SCRIPTS, self.scripts), (SAME_ORIGIN, self.same_origin), (FORMS, self.forms)];
        let granted = tokens.into_iter().filter_map(|(name, granted)| granted.then_some(name));
        f.write_str(&granted.collect::<Vec<_>>().join(" "))
    }
}

const SCRIPTS: &str = "allow-scripts";
const SAME_ORIGIN: &str = "allow-same-origin";
const FORMS: &str = "allow-forms";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ResourcePermissions as Permissions;

    #[test]
    fn h_30_and_p_05_permissions_become_an_allow_attribute() {
        let nothing = Permissions::default();
        let mixed = Permissions { camera: true, clipboard_write: true, ..Permissions::default() };
        #[rustfmt::skip]
        let table = [
            (nothing,          "", ""),
            (mixed,            "camera; clipboard-write", "camera https://s.test https://g.test:8; clipboard-write https://s.test https://g.test:8"),
            (Permissions::ALL, "camera; microphone; geolocation; clipboard-write", "camera https://s.test https://g.test:8; microphone https://s.test https://g.test:8; geolocation https://s.test https://g.test:8; clipboard-write https://s.test https://g.test:8"),
        ];
        let frames = ["https://s.test", "https://g.test:8"].map(|o| Origin::parse(o).unwrap());
        for (permissions, allow, allow_for) in table {
            assert_eq!(permissions.to_allow(), allow);
            assert_eq!(permissions.to_allow_for(&frames), allow_for);
            assert_eq!(permissions.to_allow_for(&[]), allow);
        }
    }

    #[test]
    fn the_header_names_every_feature_so_that_none_is_on_by_default() {
        let nothing = Permissions::default();
        let guest = [Origin::parse("http://[::1]:7").unwrap()];
        let some = Permissions { microphone: true, ..Permissions::default() };
        #[rustfmt::skip]
        let table = [
            (nothing.to_header(&guest), "camera=(), microphone=(), geolocation=(), clipboard-write=()"),
            (some.to_header(&[]),       "camera=(), microphone=(self), geolocation=(), clipboard-write=()"),
            (some.to_header(&guest),    "camera=(), microphone=(self \"http://[::1]:7\"), geolocation=(), clipboard-write=()"),
        ];
        for (actual, expected) in table {
            assert_eq!(actual, expected);
        }
    }

    #[test]
    fn the_operator_has_the_last_word() {
        let camera = Permissions { camera: true, ..Permissions::default() };
        let both = Permissions { camera: true, geolocation: true, ..Permissions::default() };
        assert_eq!(both.and(camera), camera);
        assert_eq!(both.and(Permissions::default()), Permissions::default());
        assert_eq!(both.and(Permissions::ALL), both);
    }

    #[test]
    fn p_16_an_override_never_grants_more_than_the_allow_list() {
        #[rustfmt::skip]
        let table = [
            ("",                                                    ""),
            ("allow-scripts",                                       "allow-scripts"),
            ("allow-forms  allow-same-origin\tallow-scripts\n",     "allow-scripts allow-same-origin allow-forms"),
            ("ALLOW-Scripts",                                       "allow-scripts"),
            ("allow-top-navigation",                                ""),
            ("allow-scripts allow-top-navigation-by-user-activation allow-popups allow-popups-to-escape-sandbox allow-downloads allow-modals", "allow-scripts"),
            ("allow-scripts,allow-forms",                           ""),
            ("allow-scripts\u{a0}allow-forms",                      ""),
            ("allow-scripts\" onload=\"alert(1)",                   ""),
        ];
        for (text, expected) in table {
            assert_eq!(SandboxTokens::parse(text).to_string(), expected, "{text:?}");
        }
        let scripts = SandboxTokens::parse("allow-scripts");
        assert_eq!(SandboxTokens::ALL.and(scripts), scripts);
        assert_eq!(SandboxTokens::ALL.to_string(), "allow-scripts allow-same-origin allow-forms");
    }
}
