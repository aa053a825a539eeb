//! The MIME type by which a UI resource is known.

use super::Compat;

/// The MIME type of a UI resource, exactly as it is written.
pub const MIME: &str = "text/html;profile=mcp-app";

/// Whether a MIME type is that of a UI resource: case, spaces, quotes and further parameters are
/// tolerated, the profile is not optional.
pub fn is_app_mime(mime: &str, compat: Compat) -> bool {
    let mut parts = mime.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    match essence.to_ascii_lowercase().as_str() {
        "text/html" => parts.any(is_app_profile),
        "text/html+mcp" => compat.draft_mime,
        "text/html+skybridge" => compat.openai,
        _ => false,
    }
}

fn is_app_profile(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else { return false };
    let value = value.trim();
    let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    name.trim().eq_ignore_ascii_case("profile")
        && quoted.unwrap_or(value).eq_ignore_ascii_case("mcp-app")
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRICT: Compat = Compat { openai: false, draft_mime: false };
    const LAX: Compat = Compat { openai: true, draft_mime: true };

    // S-03 on the way out, H-08 on the way in.
    #[test]
    fn table_4_2_mime() {
        assert_eq!(MIME, "text/html;profile=mcp-app");
        for mime in [
            MIME,
            "text/html; profile=mcp-app",
            "Text/HTML ;Profile=\"mcp-app\"",
            "text/html;charset=utf-8;profile=mcp-app",
        ] {
            assert!(is_app_mime(mime, STRICT), "{mime}");
        }
        for mime in [
            "text/html",
            "",
            "text/html;profile=",
            "text/html;profile=\"mcp-app",
            "text/plain;profile=mcp-app",
            "text/htmlx;profile=mcp-app",
        ] {
            assert!(!is_app_mime(mime, LAX), "{mime}");
        }
        for mime in ["text/html+mcp", "text/html+skybridge"] {
            assert!(!is_app_mime(mime, STRICT), "{mime}");
            assert!(is_app_mime(mime, LAX), "{mime}");
        }
    }
}
