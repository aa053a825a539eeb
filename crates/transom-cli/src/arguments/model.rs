//! The model that conversations are with.

use std::{env, str::FromStr};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use transom_host::{Model, ModelKind};
use url::Url;

use super::run::address;

/// The model that conversations are with.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ModelArguments {
    /// The model that conversations on the page are with, by the name that its endpoint knows. Without one, a built-in
    /// script answers, which calls tools by simple words.
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub(crate) model: Option<String>,
    /// The address of its endpoint.
    ///
    /// The default is OpenAI's, or Anthropic's with --model-kind anthropic.
    #[arg(long, value_name = "URL", value_parser = address, requires = "model")]
    #[arg(help_heading = "Model")]
    pub(crate) model_url: Option<Url>,
    /// What the endpoint speaks: openai (/chat/completions) or anthropic (/v1/messages).
    ///
    /// The default is anthropic at Anthropic's address, and openai anywhere else.
    #[arg(long, value_name = "KIND", value_parser = kind, requires = "model")]
    #[arg(help_heading = "Model")]
    pub(crate) model_kind: Option<Kind>,
    /// The variable of your environment that holds the key for the endpoint. The key is written nowhere.
    ///
    /// The default is OPENAI_API_KEY or ANTHROPIC_API_KEY at their own addresses, and no key anywhere else.
    #[arg(long, value_name = "VARIABLE", requires = "model", help_heading = "Model")]
    pub(crate) model_key: Option<String>,
}

/// What an endpoint speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind(ModelKind);

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = [ModelKind::OpenAi, ModelKind::Anthropic];
        let found = known.into_iter().find(|kind| kind.to_string() == text);
        found.map(Self).ok_or_else(|| "expected openai or anthropic".to_owned())
    }
}

fn kind(text: &str) -> Result<Kind, String> {
    text.parse()
}

impl ModelArguments {
    /// The model that was chosen, if one was.
    pub(crate) fn model(&self) -> Result<Option<Model>> {
        self.model_with(|name| env::var(name).ok())
    }

    fn model_with(&self, variable: impl Fn(&str) -> Option<String>) -> Result<Option<Model>> {
        let Some(name) = &self.model else { return Ok(None) };
        let host = self.model_url.as_ref().and_then(Url::host_str);
        let kind = match self.model_kind {
            Some(Kind(kind)) => kind,
            None if host == Some(ANTHROPIC.1) => ModelKind::Anthropic,
            None => ModelKind::OpenAi,
        };
        let (address, official, usual) = match kind {
            ModelKind::Anthropic => ANTHROPIC,
            _ => OPENAI,
        };
        let url = match &self.model_url {
            Some(url) => url.clone(),
            None => Url::parse(address).expect("it is one"),
        };
        // A key goes where its owner sends it: to whom it was made for, or to whom it is named for.
        let home = url.scheme() == "https" && url.host_str() == Some(official);
        let key = match &self.model_key {
            Some(variable_name) => match variable(variable_name).filter(|key| !key.is_empty()) {
                Some(key) => Some(key),
                None => bail!("--model-key: the variable {variable_name} is not set"),
            },
            None if home => match variable(usual).filter(|key| !key.is_empty()) {
                Some(key) => Some(key),
                None => bail!(
                    "{official} wants a key: set {usual}, or name a variable with --model-key"
                ),
            },
            None => None,
        };
        let model = Model::at(name, kind, &url, key.as_deref().map(str::trim));
        Ok(Some(model.context("--model cannot be used")?))
    }
}

const OPENAI: (&str, &str, &str) =
    ("https://api.openai.com/v1", "api.openai.com", "OPENAI_API_KEY");
const ANTHROPIC: (&str, &str, &str) =
    ("https://api.anthropic.com", "api.anthropic.com", "ANTHROPIC_API_KEY");

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: Option<&str>, kind: Option<&str>, key: Option<&str>) -> Result<String, String> {
        let arguments = ModelArguments {
            model: Some("m".to_owned()),
            model_url: url.map(|url| Url::parse(url).unwrap()),
            model_kind: kind.map(|kind| kind.parse().unwrap()),
            model_key: key.map(str::to_owned),
        };
        let variable = |name: &str| Some(format!("key of {name}")).filter(|_| name != "UNSET");
        let model = arguments.model_with(variable).map_err(|error| format!("{error:#}"))?;
        let model = model.unwrap();
        assert!(!format!("{model:?}").contains("key of"));
        Ok(model.place())
    }

    #[test]
    fn a_key_goes_only_where_it_is_meant_to_go() {
        let anthropic = Ok("https://api.anthropic.com/v1/messages".to_owned());
        assert_eq!(of(None, Some("anthropic"), None), anthropic);
        assert_eq!(of(Some("https://api.anthropic.com"), None, None), anthropic);
        assert_eq!(
            of(None, None, None),
            Ok("https://api.openai.com/v1/chat/completions".to_owned())
        );
        assert!(of(Some("http://localhost:1/v1"), None, None).is_ok());
        assert!(of(Some("http://127.0.0.1:1/v1"), None, Some("MINE")).is_ok());
        let clear = of(Some("http://example.com/v1"), None, Some("MINE")).unwrap_err();
        assert!(clear.contains("in the clear") && !clear.contains("key of"), "{clear}");
        assert!(of(Some("http://example.com/v1"), None, None).is_ok(), "there is no key to lose");
        assert!(of(None, None, Some("UNSET")).unwrap_err().contains("UNSET is not set"));
    }
}
