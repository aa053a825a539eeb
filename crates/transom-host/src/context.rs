//! What a view is told about its surroundings: what the page measured, once it makes sense, and the look
//! of the page.

use std::sync::LazyLock;

use transom::wire::{
    DeviceCapabilities, DisplayMode, HostContext, HostStyles, Platform, RequestId, SafeAreaInsets,
    StyleVariable, Theme, ToolInfo,
};

use crate::{
    envelope::{Facts, Open},
    server::Prepared,
};

/// What a view starts with. Views on ext-apps up to 0.2.2 do not shake hands unless the call that opened them
/// has an id: `call` counts what was opened in the view's place.
pub(crate) fn opening(
    open: &Open,
    call: u64,
    prepared: &Prepared,
    styles: &HostStyles,
) -> HostContext {
    let id = i64::try_from(call).ok().map(RequestId::Number);
    let mut context = HostContext {
        tool_info: prepared.tool.clone().map(|tool| ToolInfo { id, tool }),
        styles: Some(styles.clone()).filter(|styles| *styles != HostStyles::default()),
        display_mode: Some(DisplayMode::Inline),
        available_display_modes: Some(open.modes.clone()),
        container_dimensions: Some(open.container.dimensions()),
        platform: Some(Platform::Web),
        user_agent: Some(concat!("transom/", env!("CARGO_PKG_VERSION")).to_owned()),
        ..HostContext::default()
    };
    learn(&mut context, &open.context);
    context
}

/// Takes in what a page says of itself, each thing on its own: what makes no sense changes nothing.
pub(crate) fn learn(context: &mut HostContext, facts: &Facts) {
    let plain = |more: &'static str| {
        move |text: &&String| {
            let fits = |c: char| c.is_ascii_alphanumeric() || more.contains(c);
            (1..=64).contains(&text.len()) && text.chars().all(fits)
        }
    };
    let theme = facts.theme.as_deref().and_then(Theme::parse);
    // BCP 47 writes letters, digits and hyphens; the names of time zones have a few characters more.
    let locale = facts.locale.as_ref().filter(plain("-"));
    let time_zone = facts.time_zone.as_ref().filter(plain("_+-/"));
    context.theme = theme.or(context.theme);
    context.locale = locale.cloned().or_else(|| context.locale.take());
    context.time_zone = time_zone.cloned().or_else(|| context.time_zone.take());
    if facts.touch.is_some() || facts.hover.is_some() {
        let (touch, hover) = (facts.touch, facts.hover);
        context.device_capabilities = Some(DeviceCapabilities { touch, hover });
    }
    if let Some(insets) = facts.insets.filter(sensible) {
        context.safe_area_insets = Some(insets);
    }
}

/// The look of the page that this crate brings along: what its style sheet calls by the spec's names.
pub(crate) fn page_look() -> HostStyles {
    LOOK.clone()
}

static LOOK: LazyLock<HostStyles> = LazyLock::new(|| look_of(transom_web::WORKBENCH_CSS));

/// Reads the declarations of the first `:root`. The sheet is ours, and written without surprises.
fn look_of(css: &str) -> HostStyles {
    let root = css.split_once(":root{").and_then(|(_, rest)| rest.split_once('}'));
    let declarations = root.map(|(root, _)| root.split(';')).into_iter().flatten();
    let known = declarations.filter_map(|declaration| {
        let (name, value) = declaration.split_once(':')?;
        Some((StyleVariable::parse(name.trim())?, value.trim().to_owned()))
    });
    HostStyles { variables: known.collect(), css: None }
}

fn sensible(insets: &SafeAreaInsets) -> bool {
    let SafeAreaInsets { top, right, bottom, left } = *insets;
    [top, right, bottom, left].into_iter().all(|inset| (0.0..=1_000.0).contains(&inset))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json, to_value};

    use super::*;

    fn learnt(facts: Value) -> Value {
        let mut context = HostContext::default();
        learn(&mut context, &from_value(facts).unwrap());
        to_value(context).unwrap()
    }

    #[test]
    fn h_52_what_the_page_says_reaches_the_view() {
        let insets = json!({ "top": 1, "right": 2, "bottom": 3, "left": 4 });
        let facts = json!({
            "theme": "dark", "locale": "pt-BR", "timeZone": "America/Argentina/Buenos_Aires",
            "touch": true, "hover": false, "insets": insets,
        });
        assert_eq!(
            learnt(facts),
            json!({
                "theme": "dark", "locale": "pt-BR",
                "timeZone": "America/Argentina/Buenos_Aires",
                "deviceCapabilities": { "touch": true, "hover": false },
                "safeAreaInsets": insets,
            })
        );
    }

    // H-88: one value that is not in the list ends the reference view's handshake.
    #[test]
    fn h_88_what_makes_no_sense_is_left_out() {
        let insets = |top: f64| json!({ "top": top, "right": 0, "bottom": 0, "left": 0 });
        for facts in [
            json!({ "theme": "auto" }),
            json!({ "locale": "en; drop table" }),
            json!({ "locale": "" }),
            json!({ "locale": "a".repeat(65) }),
            json!({ "timeZone": "Europe/Lisbon\r\n" }),
            json!({ "insets": insets(-1.0) }),
            json!({ "insets": insets(1e9) }),
        ] {
            assert_eq!(learnt(facts.clone()), json!({}), "{facts}");
        }
    }

    #[test]
    fn a_later_word_changes_only_what_it_is_about() {
        let mut context = HostContext::default();
        learn(&mut context, &from_value(json!({ "theme": "dark", "locale": "de" })).unwrap());
        learn(&mut context, &from_value(json!({ "theme": "light" })).unwrap());
        assert_eq!(to_value(context).unwrap(), json!({ "theme": "light", "locale": "de" }));
    }

    // H-89: a partial palette is worse than none, so all colours are there, for both themes.
    #[test]
    fn h_89_the_page_has_a_whole_palette_for_both_themes() {
        let look = page_look();
        for variable in StyleVariable::ALL {
            let value = look.variables.get(variable).unwrap_or_else(|| panic!("{variable:?}"));
            let colour = variable.as_str().starts_with("--color-");
            assert_eq!(value.starts_with("light-dark("), colour, "{variable:?}: {value}");
        }
    }
}
