//! The policy of the page's own origin, and what an application may add to it for a page of its own.

use axum::http::HeaderValue;
use data_encoding::BASE64;
use sha2::{Digest as _, Sha256};
use transom::{csp::Source, origin::Origin};

use crate::sandbox::Naming;

/// What an application's own pages may do beside what every page of a host may.
///
/// Every page of a host's origin is under one `Content-Security-Policy`: scripts, styles, fonts, connections and pictures of its own origin,
/// frames of views and no others, no form, and no site may frame it. What stands here is added to that. Nothing
/// else can be said, because views rely on the rest: which frames there are, who may frame the page, that no text becomes code
/// (`eval`, inline scripts that are not named), and that no other site has a hold on its window.
///
/// ```
/// use transom::csp::Source;
/// use transom_host::PagePolicy;
///
/// // A page with a form to sign in, a script in its head, and pictures and data of another origin.
/// # let boot = "document.documentElement.className = 'js'";
/// let policy = PagePolicy::default()
///     .forms()
///     .inline_script(boot)
///     .images(Source::parse("https://cdn.example.com")?)
///     .connect(Source::parse("wss://api.example.com")?);
/// // Half the world is no source, and neither is anything that ends the directive.
/// assert!(Source::parse("https://*").is_err());
/// assert!(Source::parse("https://a.test; script-src *").is_err());
/// # Ok::<(), transom::csp::SourceError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PagePolicy {
    scripts: Vec<String>,
    inline_styles: bool,
    styles: Vec<Source>,
    fonts: Vec<Source>,
    images: Vec<Source>,
    media: Vec<Source>,
    connect: Vec<Source>,
    own_forms: bool,
    forms: Vec<Origin>,
}

/// A source of the page's policy is where views are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the page's policy names {0}, where the frames of views are; what strangers serve is no part of a page"
)]
pub struct SourceAmongFrames(pub Source);

impl PagePolicy {
    /// Lets the page run this inline script, character by character what stands between its tags. Other scripts come from files of the
    /// page's own origin.
    #[must_use]
    pub fn inline_script(mut self, text: &str) -> Self {
        self.scripts.push(BASE64.encode(&Sha256::digest(text)));
        self
    }

    /// Lets the page have style sheets and `style` attributes in its text, as many libraries write them.
    #[must_use]
    pub fn inline_styles(mut self) -> Self {
        self.inline_styles = true;
        self
    }

    /// Lets the page have style sheets from there.
    #[must_use]
    pub fn styles(mut self, from: Source) -> Self {
        self.styles.push(from);
        self
    }

    /// Lets the page have fonts from there.
    #[must_use]
    pub fn fonts(mut self, from: Source) -> Self {
        self.fonts.push(from);
        self
    }

    /// Lets the page show pictures from there.
    #[must_use]
    pub fn images(mut self, from: Source) -> Self {
        self.images.push(from);
        self
    }

    /// Lets the page play sound and video from there.
    #[must_use]
    pub fn media(mut self, from: Source) -> Self {
        self.media.push(from);
        self
    }

    /// Lets the page's scripts ask there, with `fetch` and the like.
    #[must_use]
    pub fn connect(mut self, to: Source) -> Self {
        self.connect.push(to);
        self
    }

    /// Lets the page send forms to its own origin.
    #[must_use]
    pub fn forms(mut self) -> Self {
        self.own_forms = true;
        self
    }

    /// Lets the page send forms to another origin, such as where people sign in. Browsers check where such an answer leads as well.
    #[must_use]
    pub fn forms_to(mut self, to: Origin) -> Self {
        self.forms.push(to);
        self
    }

    /// Refuses sources where frames are.
    pub(crate) fn check(&self, naming: &Naming) -> Result<(), SourceAmongFrames> {
        let lists = [&self.styles, &self.fonts, &self.images, &self.media, &self.connect];
        match lists.into_iter().flatten().find(|source| naming.reaches(source)) {
            Some(source) => Err(SourceAmongFrames(source.clone())),
            None => Ok(()),
        }
    }

    /// The header, for a page whose frames come from there.
    pub(crate) fn header(&self, frames: &str) -> HeaderValue {
        let own = |list: &[Source]| listed("'self'", list);
        let hashes: String = self.scripts.iter().map(|hash| format!(" 'sha256-{hash}'")).collect();
        let inline = if self.inline_styles { "'self' 'unsafe-inline'" } else { "'self'" };
        let forms = match (self.own_forms, &*self.forms) {
            (false, []) => "'none'".to_owned(),
            (true, others) => listed("'self'", others),
            (false, others) => listed("", others).trim_start().to_owned(),
        };
        let policy = [
            "default-src 'none'".to_owned(),
            format!("script-src 'self'{hashes}"),
            format!("style-src {}", listed(inline, &self.styles)),
            format!("font-src {}", own(&self.fonts)),
            format!("connect-src {}", own(&self.connect)),
            format!("img-src {}", listed("'self' data:", &self.images)),
            format!("media-src {}", listed("data: blob:", &self.media)),
            format!("frame-src {frames}"),
            "base-uri 'none'".to_owned(),
            format!("form-action {forms}"),
            "frame-ancestors 'none'".to_owned(),
        ];
        HeaderValue::from_str(&policy.join("; ")).expect("printed from parsed parts")
    }
}

/// What is always there, and then the others.
fn listed(first: &str, others: &[impl ToString]) -> String {
    others.iter().fold(first.to_owned(), |all, other| format!("{all} {}", other.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Wildcard;

    fn source(text: &str) -> Source {
        Source::parse(text).unwrap()
    }

    fn header(policy: &PagePolicy) -> String {
        policy.header("http://*.localhost:7421").to_str().unwrap().to_owned()
    }

    #[test]
    fn what_nothing_was_said_of_is_as_strict_as_it_gets() {
        assert_eq!(
            header(&PagePolicy::default()),
            "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; \
             img-src 'self' data:; media-src data: blob:; frame-src http://*.localhost:7421; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'"
        );
    }

    #[test]
    fn what_is_added_stands_in_its_own_directive_and_the_rest_is_as_before() {
        let usual = header(&PagePolicy::default());
        let at = |text: &str| source(text);
        let own = PagePolicy::default;
        #[rustfmt::skip]
        let table = [
            (own().forms(),                               "form-action 'none'",  "form-action 'self'"),
            (own().forms_to(Origin::parse("https://id.test").unwrap()),
                                                          "form-action 'none'",  "form-action https://id.test"),
            (own().forms().forms_to(Origin::parse("https://id.test").unwrap()),
                                                          "form-action 'none'",  "form-action 'self' https://id.test"),
            (own().images(at("https://*.cdn.test")),      "img-src 'self' data:", "img-src 'self' data: https://*.cdn.test"),
            (own().media(at("https://cdn.test")),         "media-src data: blob:", "media-src data: blob: https://cdn.test"),
            (own().connect(at("wss://api.test")),         "connect-src 'self'",  "connect-src 'self' wss://api.test"),
            (own().fonts(at("https://fonts.test")),       "font-src 'self'",     "font-src 'self' https://fonts.test"),
            (own().styles(at("https://cdn.test")),        "style-src 'self'",    "style-src 'self' https://cdn.test"),
            (own().inline_styles(),                       "style-src 'self'",    "style-src 'self' 'unsafe-inline'"),
            (own().inline_script("alert(1)"),             "script-src 'self'",
             "script-src 'self' 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"),
        ];
        for (policy, before, after) in table {
            assert_eq!(header(&policy), usual.replacen(before, after, 1), "{policy:?}");
        }
    }

    #[test]
    fn no_script_ever_gets_an_unsafe_word_and_nothing_that_frames_rely_on_changes() {
        let all = PagePolicy::default()
            .forms()
            .inline_styles()
            .inline_script("'unsafe-inline'; script-src *")
            .styles(source("https://a.test"))
            .connect(source("https://*.a.test"));
        let header = header(&all);
        let of = |name: &str| {
            let parts: Vec<_> = header.split("; ").filter(|part| part.starts_with(name)).collect();
            let [one] = &*parts else { panic!("{name}: {parts:?}") };
            one.to_owned().to_owned()
        };
        assert!(!of("script-src").contains("unsafe"), "{header}");
        assert_eq!(of("frame-src"), "frame-src http://*.localhost:7421");
        assert_eq!(of("frame-ancestors"), "frame-ancestors 'none'");
        assert_eq!(of("base-uri"), "base-uri 'none'");
    }

    #[test]
    fn where_frames_are_is_no_source_of_a_page() {
        let local = Naming::Localhost { port: 7421 };
        let domain = Naming::Domain(Wildcard::parse("https://*.example-views.com").unwrap());
        #[rustfmt::skip]
        let table = [
            (&local,  "http://a.localhost:7421",      true),
            (&local,  "http://a.localhost:7422",      false),
            (&local,  "http://localhost:7421",        false),
            (&local,  "https://a.test",               false),
            (&domain, "https://*.example-views.com",  true),
            (&domain, "https://a.example-views.com",  true),
            (&domain, "https://example-views.com",    true),
            (&domain, "https://myexample-views.com",  false),
        ];
        for (naming, text, refused) in table {
            let policy = PagePolicy::default().images(source(text));
            let expected = if refused { Err(SourceAmongFrames(source(text))) } else { Ok(()) };
            assert_eq!(policy.check(naming), expected, "{naming:?} {text}");
        }
    }
}
