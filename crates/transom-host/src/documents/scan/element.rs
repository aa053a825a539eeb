//! What an element says by its name and attributes.

use lol_html::html_content::Element;

use super::report::Report;
use super::{Severity, Use, What, address, script, style};

/// Looks at one start tag.
pub(super) fn look(element: &Element<'_, '_>, report: &mut Report<'_>) {
    let at = element.source_location().bytes().start;
    let tag = Tag { element, at, within: known(&element.tag_name()) };
    tag.by_name(report);
    tag.by_attribute(report);
}

struct Tag<'a, 'b, 'c> {
    element: &'a Element<'b, 'c>,
    at: usize,
    within: &'static str,
}

impl Tag<'_, '_, '_> {
    fn by_name(&self, report: &mut Report<'_>) {
        match self.within {
            "<script>" => self.addresses(&["src", "href", "xlink:href"], Use::Script, report),
            "<link>" => self.link(report),
            "<img>" | "<image>" | "<input>" | "<use>" => {
                self.addresses(&["src", "href", "xlink:href"], Use::Image, report);
                self.srcset(report);
            }
            "<audio>" | "<track>" => self.addresses(&["src"], Use::Media, report),
            "<video>" => {
                self.addresses(&["src"], Use::Media, report);
                self.addresses(&["poster"], Use::Image, report);
            }
            "<source>" => {
                self.addresses(&["src"], Use::Media, report);
                self.srcset(report);
            }
            "<iframe>" | "<frame>" | "<object>" | "<embed>" => self.frame(report),
            "<form>" => self.form("action", report),
            "<base>" => self.base(report),
            "<meta>" => self.meta(report),
            _ => {}
        }
    }

    /// What any element may carry.
    fn by_attribute(&self, report: &mut Report<'_>) {
        for attribute in self.element.attributes() {
            let name = attribute.name();
            match name.as_str() {
                "style" => {
                    style::look(&address::decode(&attribute.value()), self.at, "style", report)
                }
                "target" => self.target(&attribute.value(), report),
                "formaction" => self.form("formaction", report),
                "ping" => self.ping(&attribute.value(), report),
                // A navigation the frame's own policy judges; only the script in it is of interest.
                "href" if matches!(self.within, "<a>" | "<area>") => self.script_address(report),
                handler if handler.starts_with("on") => {
                    let text = attribute.value();
                    script::look_at_attribute(
                        &address::decode(&text),
                        self.at,
                        self.within,
                        report,
                    );
                }
                _ => {}
            }
        }
    }

    fn link(&self, report: &mut Report<'_>) {
        let rel = self.value("rel").unwrap_or_default().to_ascii_lowercase();
        for word in rel.split_ascii_whitespace() {
            let purpose = match word {
                "stylesheet" => Use::Style,
                "icon" | "apple-touch-icon" | "mask-icon" => Use::Image,
                "modulepreload" => Use::Script,
                "preload" => self.preloaded(),
                "preconnect" | "dns-prefetch" | "prefetch" | "prerender" => Use::Hint,
                _ => continue,
            };
            self.addresses(&["href"], purpose, report);
        }
    }

    fn preloaded(&self) -> Use {
        match self.value("as").unwrap_or_default().to_ascii_lowercase().as_str() {
            "style" => Use::Style,
            "image" => Use::Image,
            "font" => Use::Font,
            "audio" | "video" | "track" => Use::Media,
            "fetch" => Use::Connect,
            _ => Use::Script,
        }
    }

    fn srcset(&self, report: &mut Report<'_>) {
        let Some(set) = self.value("srcset") else { return };
        for candidate in set.split(',').take(MAX_CANDIDATES) {
            let address = candidate.trim().split_ascii_whitespace().next().unwrap_or_default();
            report.address(address, Use::Image, self.at, self.within);
        }
    }

    fn frame(&self, report: &mut Report<'_>) {
        self.addresses(&["src", "data"], Use::Frame, report);
        let (severity, what, words) = if self.is_hidden() {
            (Severity::Danger, What::HiddenFrame, "has a frame inside that cannot be seen")
        } else if self.element.has_attribute("srcdoc") {
            (
                Severity::Warning,
                What::NestedFrame,
                "writes a frame inside, which is not looked into",
            )
        } else {
            (Severity::Warning, What::NestedFrame, "has a frame inside")
        };
        report.find(severity, what, self.at, self.within, words.to_owned());
    }

    fn is_hidden(&self) -> bool {
        let tiny = |name| {
            let value = self.value(name).unwrap_or_default();
            matches!(value.trim().trim_end_matches("px"), "0" | "1")
        };
        let style = self.value("style").unwrap_or_default().to_ascii_lowercase();
        let style: String = style.chars().filter(|c| !c.is_whitespace()).collect();
        let style = format!(";{style};");
        self.element.has_attribute("hidden")
            || tiny("width")
            || tiny("height")
            || HIDING.iter().any(|hint| style.contains(hint))
    }

    fn form(&self, attribute: &str, report: &mut Report<'_>) {
        let Some(action) = self.value(attribute).filter(|action| !action.trim().is_empty()) else {
            return;
        };
        let words = "has a form with an address to post to; forms are blocked, handle \"submit\" in a script";
        report.find(Severity::Warning, What::Form, self.at, self.within, words.to_owned());
        report.address(&action, Use::Form, self.at, self.within);
    }

    fn base(&self, report: &mut Report<'_>) {
        if let Some(href) = self.value("href") {
            report.base(&href, self.at, self.within);
        }
    }

    fn meta(&self, report: &mut Report<'_>) {
        let kind = self.value("http-equiv").unwrap_or_default();
        if !kind.trim().eq_ignore_ascii_case("refresh") {
            return;
        }
        let content = self.value("content").unwrap_or_default();
        let words = "loads itself anew or goes elsewhere after a while".to_owned();
        report.find(Severity::Warning, What::Refresh, self.at, self.within, words);
        report.address(refresh_address(&content), Use::Navigation, self.at, self.within);
    }

    fn target(&self, value: &str, report: &mut Report<'_>) {
        let value = address::decode(value).trim().to_ascii_lowercase();
        let (severity, what, words) = match value.as_str() {
            "_top" | "_parent" => (
                Severity::Danger,
                What::TopNavigation,
                "navigates the page around it; the browser blocks it",
            ),
            "_blank" => {
                (Severity::Note, What::Popup, "opens links in a new window; use ui/open-link")
            }
            _ => return,
        };
        report.find(severity, what, self.at, self.within, words.to_owned());
    }

    fn ping(&self, value: &str, report: &mut Report<'_>) {
        let words = "reports clicks on a link to an address".to_owned();
        report.find(Severity::Danger, What::Ping, self.at, self.within, words);
        for address in address::decode(value).split_ascii_whitespace().take(MAX_CANDIDATES) {
            report.address(address, Use::Connect, self.at, self.within);
        }
    }

    fn script_address(&self, report: &mut Report<'_>) {
        let href = self.value("href").unwrap_or_default();
        if let address::Target::Script(text) = address::resolve(&href, None) {
            script::look_at_attribute(&text, self.at, self.within, report);
        }
    }

    fn addresses(&self, attributes: &[&str], purpose: Use, report: &mut Report<'_>) {
        for value in attributes.iter().filter_map(|name| self.value(name)) {
            report.address(&value, purpose, self.at, self.within);
        }
    }

    /// The first attribute of a name, as in a browser, with its references read.
    fn value(&self, name: &str) -> Option<String> {
        self.element.get_attribute(name).map(|value| match address::decode(&value) {
            std::borrow::Cow::Borrowed(_) => value,
            std::borrow::Cow::Owned(decoded) => decoded,
        })
    }
}

/// The address in `5; url='…'`. Its `url=` may be missing.
fn refresh_address(content: &str) -> &str {
    let behind = content.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let address = behind.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ';' | ','));
    let named = address.get(..3).filter(|name| name.eq_ignore_ascii_case("url"));
    let address = named.map_or(address, |_| address[3..].trim_start().trim_start_matches('='));
    address.trim().trim_matches(['\'', '"'])
}

/// The elements that are told apart, so that no stranger's word is in a finding.
fn known(name: &str) -> &'static str {
    KNOWN.iter().find(|tag| &tag[1..tag.len() - 1] == name).unwrap_or(&"an attribute")
}

#[rustfmt::skip]
const KNOWN: [&str; 24] = [
    "<a>", "<area>", "<audio>", "<base>", "<body>", "<button>", "<embed>", "<form>", "<frame>", "<iframe>",
    "<image>", "<img>", "<input>", "<link>", "<meta>", "<object>", "<script>", "<source>", "<style>", "<svg>",
    "<track>", "<use>", "<video>", "<html>",
];

/// Ways to write that something is not seen; spaces are gone, and a semicolon is at either end.
#[rustfmt::skip]
const HIDING: [&str; 8] = [
    ";display:none", ";visibility:hidden", ";opacity:0;", ";width:0;", ";width:0px", ";height:0;", ";height:0px", ";left:-9",
];

const MAX_CANDIDATES: usize = 64;
