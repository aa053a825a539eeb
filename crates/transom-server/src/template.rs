//! Addresses with parameters: `ui://report/{id}`.

/// The parameters of an address: names and decoded values.
pub(crate) type Params = Vec<(String, String)>;

/// An address with parameters, as in RFC 6570: `{id}` for one part of a path, `{+rest}` for several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Variable { name: String, slashes: bool },
}

impl Template {
    /// Whether a text has parameters at all.
    pub(crate) fn is_one(text: &str) -> bool {
        text.contains(['{', '}'])
    }

    /// Reads a template.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find(['{', '}']) {
            let (front, after) = rest.split_at(open);
            let Some(expression) = after.strip_prefix('{').and_then(|after| after.split_once('}'))
            else {
                return Err(format!("{text:?} has a brace without its counterpart"));
            };
            let name = expression.0.strip_prefix('+').unwrap_or(expression.0);
            let sound = name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            if !sound {
                return Err(format!(
                    "{{{}}} is not a parameter: write {{name}}, or {{+name}} to let it span slashes",
                    expression.0
                ));
            }
            if front.is_empty() && matches!(parts.last(), Some(Part::Variable { .. })) {
                return Err(format!("nothing stands between two parameters of {text:?}"));
            }
            if parts
                .iter()
                .any(|part| matches!(part, Part::Variable { name: known, .. } if known == name))
            {
                return Err(format!("{{{name}}} stands twice in {text:?}"));
            }
            if !front.is_empty() {
                parts.push(Part::Literal(front.to_owned()));
            }
            let slashes = expression.0.starts_with('+');
            parts.push(Part::Variable { name: name.to_owned(), slashes });
            rest = expression.1;
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        Ok(Self { parts })
    }

    /// The parameters of an address that fits.
    ///
    /// A parameter is never empty, and one that is not valid UTF-8 when decoded fits nothing.
    pub(crate) fn params(&self, uri: &str) -> Option<Params> {
        let mut params = Vec::new();
        let mut rest = uri;
        for (at, part) in self.parts.iter().enumerate() {
            match part {
                Part::Literal(literal) => rest = rest.strip_prefix(literal.as_str())?,
                Part::Variable { name, slashes } => {
                    let end = match self.parts.get(at + 1) {
                        Some(Part::Literal(next)) => {
                            let first = rest.chars().next()?.len_utf8();
                            first + rest[first..].find(next.as_str())?
                        }
                        _ => rest.len(),
                    };
                    let value = &rest[..end];
                    if value.is_empty() || (!slashes && value.contains('/')) {
                        return None;
                    }
                    params.push((name.clone(), decode(value)?));
                    rest = &rest[end..];
                }
            }
        }
        rest.is_empty().then_some(params)
    }
}

/// Reads percent-encoding.
pub(crate) fn decode(text: &str) -> Option<String> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let digits = [bytes.next()?, bytes.next()?];
        let digits = digits.map(|digit| (digit as char).to_digit(16));
        decoded.push(u8::try_from(digits[0]? * 16 + digits[1]?).ok()?);
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_fits_or_it_does_not() {
        #[rustfmt::skip]
        let table = [
            ("ui://report/{id}",        "ui://report/7",           Some("id=7")),
            ("ui://report/{id}",        "ui://report/a%20b",       Some("id=a b")),
            ("ui://report/{id}",        "ui://report/é",           Some("id=é")),
            ("ui://report/{id}",        "ui://report/",            None),
            ("ui://report/{id}",        "ui://report/7/8",         None),
            ("ui://report/{id}",        "ui://other/7",            None),
            ("ui://report/{id}",        "ui://report/%ff",         None),
            ("ui://report/{id}",        "ui://report/%2",          None),
            ("ui://report/{id}",        "ui://report/%+1",         None),
            ("ui://{a}/x/{b}.html",     "ui://p/x/q.html",         Some("a=p b=q")),
            ("ui://{a}/x/{b}.html",     "ui://p/x/q.htm",          None),
            ("ui://file/{+path}",       "ui://file/a/b",           Some("path=a/b")),
            ("ui://é{a}é",              "ui://ééé",                Some("a=é")),
        ];
        for (template, uri, expected) in table {
            let params = Template::parse(template).unwrap().params(uri).map(|params| {
                params.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(params.as_deref(), expected, "{template} {uri}");
        }
    }

    proptest::proptest! {
        // A stranger chooses the address.
        #[test]
        fn no_text_panics(template in "ui://[a{}+é/%]{0,12}", uri in "ui://[a+é/%0-9f]{0,16}|.{0,12}") {
            if let Ok(template) = Template::parse(&template) {
                template.params(&uri);
            }
        }

        // What an author wrote into a parameter comes back as it was.
        #[test]
        fn a_parameter_comes_back(value in "[^/]{1,12}") {
            let encoded: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let template = Template::parse("ui://a/{x}/b").unwrap();
            let expected = Some(vec![("x".to_owned(), value)]);
            proptest::prop_assert_eq!(template.params(&format!("ui://a/{encoded}/b")), expected);
        }
    }

    #[test]
    fn what_is_not_a_template_is_refused_with_words() {
        for text in [
            "ui://{",
            "ui://}",
            "ui://{}",
            "ui://{a b}",
            "ui://{?q}",
            "ui://{a}{b}",
            "ui://{a}/{a}",
        ] {
            assert!(Template::parse(text).is_err(), "{text}");
        }
    }
}
