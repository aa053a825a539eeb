//! The host's look, as CSS variables and fonts.

use super::json::{Fields, closed_enum};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The host's style variables and fonts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostStyles {
    /// CSS values by name; any subset of the 76.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<StyleVariable, String>,
    /// CSS text for the view to include.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub css: Option<HostCss>,
}

/// CSS text that the host gives its views.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostCss {
    /// `@font-face` and `@import` rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fonts: Option<String>,
}

impl<'de> Deserialize<'de> for HostStyles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        let css = fields.object("css");
        let variables = match fields.value("variables") {
            Some(Value::Object(nested)) => known(nested),
            // An older generation wrote the variables straight into `styles`.
            _ => known(fields.rest()),
        };
        Ok(Self { variables, css })
    }
}

impl<'de> Deserialize<'de> for HostCss {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        Ok(Self { fonts: fields.take("fonts") })
    }
}

/// Keeps the names that are in the set and have a string for a value.
fn known(map: Map<String, Value>) -> BTreeMap<StyleVariable, String> {
    let entries = map.into_iter().filter_map(|(name, value)| match value {
        Value::String(value) => Some((StyleVariable::parse(&name)?, value)),
        _ => None,
    });
    entries.collect()
}

closed_enum! {
    /// One of the 76 names a host may set. Any other name is fatal to the reference view.
    StyleVariable {
        BackgroundPrimary = "--color-background-primary",
        BackgroundSecondary = "--color-background-secondary",
        BackgroundTertiary = "--color-background-tertiary",
        BackgroundInverse = "--color-background-inverse",
        BackgroundGhost = "--color-background-ghost",
        BackgroundInfo = "--color-background-info",
        BackgroundDanger = "--color-background-danger",
        BackgroundSuccess = "--color-background-success",
        BackgroundWarning = "--color-background-warning",
        BackgroundDisabled = "--color-background-disabled",
        TextPrimary = "--color-text-primary",
        TextSecondary = "--color-text-secondary",
        TextTertiary = "--color-text-tertiary",
        TextInverse = "--color-text-inverse",
        TextGhost = "--color-text-ghost",
        TextInfo = "--color-text-info",
        TextDanger = "--color-text-danger",
        TextSuccess = "--color-text-success",
        TextWarning = "--color-text-warning",
        TextDisabled = "--color-text-disabled",
        BorderPrimary = "--color-border-primary",
        BorderSecondary = "--color-border-secondary",
        BorderTertiary = "--color-border-tertiary",
        BorderInverse = "--color-border-inverse",
        BorderGhost = "--color-border-ghost",
        BorderInfo = "--color-border-info",
        BorderDanger = "--color-border-danger",
        BorderSuccess = "--color-border-success",
        BorderWarning = "--color-border-warning",
        BorderDisabled = "--color-border-disabled",
        RingPrimary = "--color-ring-primary",
        RingSecondary = "--color-ring-secondary",
        RingInverse = "--color-ring-inverse",
        RingInfo = "--color-ring-info",
        RingDanger = "--color-ring-danger",
        RingSuccess = "--color-ring-success",
        RingWarning = "--color-ring-warning",
        FontSans = "--font-sans",
        FontMono = "--font-mono",
        FontWeightNormal = "--font-weight-normal",
        FontWeightMedium = "--font-weight-medium",
        FontWeightSemibold = "--font-weight-semibold",
        FontWeightBold = "--font-weight-bold",
        TextSizeXs = "--font-text-xs-size",
        TextSizeSm = "--font-text-sm-size",
        TextSizeMd = "--font-text-md-size",
        TextSizeLg = "--font-text-lg-size",
        HeadingSizeXs = "--font-heading-xs-size",
        HeadingSizeSm = "--font-heading-sm-size",
        HeadingSizeMd = "--font-heading-md-size",
        HeadingSizeLg = "--font-heading-lg-size",
        HeadingSizeXl = "--font-heading-xl-size",
        HeadingSizeXl2 = "--font-heading-2xl-size",
        HeadingSizeXl3 = "--font-heading-3xl-size",
        TextLineHeightXs = "--font-text-xs-line-height",
        TextLineHeightSm = "--font-text-sm-line-height",
        TextLineHeightMd = "--font-text-md-line-height",
        TextLineHeightLg = "--font-text-lg-line-height",
        HeadingLineHeightXs = "--font-heading-xs-line-height",
        HeadingLineHeightSm = "--font-heading-sm-line-height",
        HeadingLineHeightMd = "--font-heading-md-line-height",
        HeadingLineHeightLg = "--font-heading-lg-line-height",
        HeadingLineHeightXl = "--font-heading-xl-line-height",
        HeadingLineHeightXl2 = "--font-heading-2xl-line-height",
        HeadingLineHeightXl3 = "--font-heading-3xl-line-height",
        BorderRadiusXs = "--border-radius-xs",
        BorderRadiusSm = "--border-radius-sm",
        BorderRadiusMd = "--border-radius-md",
        BorderRadiusLg = "--border-radius-lg",
        BorderRadiusXl = "--border-radius-xl",
        BorderRadiusFull = "--border-radius-full",
        BorderWidthRegular = "--border-width-regular",
        ShadowHairline = "--shadow-hairline",
        ShadowSm = "--shadow-sm",
        ShadowMd = "--shadow-md",
        ShadowLg = "--shadow-lg",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json, to_value};

    #[test]
    fn h_88_there_are_exactly_76_names() {
        assert_eq!(StyleVariable::ALL.len(), 76);
        for variable in StyleVariable::ALL {
            assert_eq!(StyleVariable::parse(variable.as_str()), Some(*variable));
        }
        assert_eq!(StyleVariable::parse("--border-radius-small"), None);
    }

    // V-27: the odd item is ignored, everything else is kept.
    #[test]
    fn table_4_2_styles() {
        let nested = json!({
            "variables": { "--font-sans": "serif", "--spacing-xl": "9px", "--font-mono": null },
            "css": { "fonts": "@font-face{}" },
        });
        let flat = json!({ "--font-sans": "serif", "--spacing-xl": "9px" });

        let styles: HostStyles = from_value(nested).unwrap();
        assert_eq!(
            to_value(&styles).unwrap(),
            json!({
                "variables": { "--font-sans": "serif" },
                "css": { "fonts": "@font-face{}" },
            })
        );
        assert_eq!(from_value::<HostStyles>(flat).unwrap().variables, styles.variables);
    }

    // H-89: any subset, or none.
    #[test]
    fn h_89_no_variables_print_as_an_empty_object() {
        assert_eq!(to_value(HostStyles::default()).unwrap(), json!({}));
    }
}
