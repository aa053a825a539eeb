//! Parts of what would be sent, as people are shown them.

use transom::{
    host::{Part, PartBody},
    quoted::legible,
};

use super::grouped;
use crate::{
    envelope::{AskPart, Fold},
    words,
    words::Words,
};

/// A part: its beginning at once, the rest when the person unfolds it, and never base64.
pub(super) fn part(Part { name, body }: &Part) -> AskPart {
    let name = name.as_ref().map(|name| name.as_str().to_owned());
    let part = AskPart { name, ..AskPart::default() };
    match body {
        PartBody::Text { text, beyond } => AskPart { is_said: true, ..part.holding(text, *beyond) },
        PartBody::Json { text, beyond } => part.holding(text, *beyond),
        PartBody::Bytes { size, mime_type } => {
            let size = number(*size);
            let words = match mime_type {
                Some(mime_type) => words!("about {} bytes, said to be {}", size, mime_type.clone()),
                None => words!("about {} bytes", size),
            };
            AskPart { words: Some(words), ..part }
        }
        PartBody::More(1) => AskPart { words: Some("… and one more".into()), ..part },
        PartBody::More(more) => AskPart { words: Some(words!("… and {} more", *more)), ..part },
    }
}

impl AskPart {
    fn holding(self, text: &str, beyond: usize) -> Self {
        let at_once = match text.len() <= LONG {
            true => text.len(),
            false => text.floor_char_boundary(AT_ONCE),
        };
        let rest = &text[at_once..];
        let beyond = (beyond > 0)
            .then(|| words!("… {} more bytes, which are among what is sent", number(beyond)));
        let folded = (!rest.is_empty()).then(|| Fold {
            words: words!("… {} more bytes", number(rest.len())),
            text: legible(rest).into_owned(),
            beyond: beyond.clone(),
        });
        let words = beyond.filter(|_| folded.is_none());
        Self { text: Some(legible(&text[..at_once]).into_owned()), folded, words, ..self }
    }
}

fn number(bytes: usize) -> Words {
    Words::ours(&grouped(bytes as u64))
}

/// A text up to here is not folded: what is hidden would be less than what says so.
const LONG: usize = 800;
/// How much of a longer one is shown at once, in bytes.
const AT_ONCE: usize = 600;

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: PartBody) -> AskPart {
        part(&Part { name: Some("to".into()), body })
    }

    #[test]
    fn a_text_is_legible_and_a_long_one_folded() {
        let short = shown(PartBody::Text { text: "a\nb\u{202e}".into(), beyond: 0 });
        assert_eq!(short.text.as_deref(), Some("a\nb\\u{202e}"));
        assert!(short.is_said && short.folded.is_none() && short.words.is_none());
        let long = shown(PartBody::Text { text: "ä".repeat(1_000).into(), beyond: 7_000 });
        let folded = long.folded.unwrap();
        assert_eq!(long.text.unwrap().len() + folded.text.len(), 2_000);
        assert_eq!(folded.words, "… 1,400 more bytes");
        assert_eq!(folded.beyond.unwrap(), "… 7,000 more bytes, which are among what is sent");
    }

    #[test]
    fn bytes_are_how_many_there_are() {
        let part = shown(PartBody::Bytes { size: 12_345, mime_type: Some("image/png".into()) });
        assert_eq!(part.words.unwrap(), r#"about 12,345 bytes, said to be "image/png""#);
        assert_eq!(part.text, None);
        assert_eq!(shown(PartBody::More(3)).words.unwrap(), "… and 3 more");
    }
}
