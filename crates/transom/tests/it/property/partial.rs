//! Whatever comes in whatever pieces, the healed text is a JSON object.

use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use transom::partial::{Healer, PartialError};

/// Takes the first byte for the size of the pieces and the rest for the stream.
pub(crate) fn check(data: &[u8]) {
    let Some((size, stream)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(stream);
    let mut whole = Healer::new();
    let result = whole.push(&text);
    object(&whole.healed());

    let mut pieces = Healer::new();
    let in_pieces = push_pieces(&mut pieces, &text, usize::from(*size) + 1);
    assert_eq!((in_pieces, pieces.healed()), (result, whole.healed()));
    assert_eq!(pieces.is_complete(), whole.is_complete());
    agrees_with_a_parser(&text, &whole, result);
}

fn push_pieces(healer: &mut Healer, mut text: &str, size: usize) -> Result<(), PartialError> {
    let mut result = Ok(());
    while !text.is_empty() {
        let (piece, rest) = text.split_at(text.ceil_char_boundary(size));
        result = healer.push(piece);
        object(&healer.healed());
        text = rest;
    }
    result
}

fn agrees_with_a_parser(text: &str, healer: &Healer, result: Result<(), PartialError>) {
    let parsed = serde_json::from_str::<Map<String, Value>>(text);
    match (parsed, result) {
        (_, Err(PartialError::TooDeep | PartialError::TooLarge)) => {}
        (Ok(value), result) => {
            assert_eq!(result, Ok(()), "{text:?}");
            assert!(healer.is_complete(), "{text:?}");
            assert_eq!(serde_json::from_str(&healer.healed()).ok(), Some(value), "{text:?}");
        }
        // The parser knows numbers that are too large and halves of surrogate pairs; JSON does not.
        (Err(_), Ok(())) if healer.is_complete() => object(text),
        (Err(_), _) => {}
    }
}

fn object(text: &str) {
    assert!(text.trim_start().starts_with('{'), "{text:?}");
    let parsed = serde_json::from_str::<IgnoredAny>(text);
    assert!(parsed.is_ok(), "{text:?}: {parsed:?}");
}
