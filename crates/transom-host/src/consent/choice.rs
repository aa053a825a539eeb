//! What a person chose, as it was offered.

use transom::policy::Decision;

/// What a person chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Allow,
    AllowView,
    AllowUntilEnd,
    AllowChanging,
    AllowAlways,
    AllowAllUntilEnd,
    AllowAllAlways,
    Deny,
    DenyUntilEnd,
    DenyAlways,
}

impl Choice {
    /// What a click meant. Anything that is not a yes is a no.
    pub(crate) fn of(word: &str) -> Self {
        let all = [
            Self::Allow,
            Self::AllowView,
            Self::AllowUntilEnd,
            Self::AllowChanging,
            Self::AllowAlways,
            Self::AllowAllUntilEnd,
            Self::AllowAllAlways,
            Self::DenyUntilEnd,
            Self::DenyAlways,
        ];
        all.into_iter().find(|choice| choice.word() == word).unwrap_or(Self::Deny)
    }

    /// As the page says it, and as it is written down.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::AllowView => "allow-view",
            Self::AllowUntilEnd => "allow-until-end",
            Self::AllowChanging => "allow-changing",
            Self::AllowAlways => "allow-always",
            Self::AllowAllUntilEnd => "allow-all-until-end",
            Self::AllowAllAlways => "allow-all-always",
            Self::Deny => "deny",
            Self::DenyUntilEnd => "deny-until-end",
            Self::DenyAlways => "deny-always",
        }
    }

    /// What it means to a session.
    pub(crate) fn decision(self) -> Decision {
        match self {
            Self::Allow => Decision::Allow,
            Self::AllowView => Decision::AllowView,
            Self::AllowUntilEnd | Self::AllowChanging | Self::AllowAlways => Decision::AllowAlways,
            Self::AllowAllUntilEnd | Self::AllowAllAlways => Decision::AllowAll,
            Self::Deny => Decision::Deny,
            Self::DenyUntilEnd | Self::DenyAlways => Decision::DenyAlways,
        }
    }

    /// Whether it is meant for longer than this process runs.
    pub(crate) fn lasts(self) -> bool {
        matches!(self, Self::AllowAlways | Self::AllowAllAlways | Self::DenyAlways)
    }
}

impl From<Decision> for Choice {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Allow => Self::Allow,
            Decision::AllowView => Self::AllowView,
            Decision::AllowAll => Self::AllowAllUntilEnd,
            Decision::AllowAlways => Self::AllowAlways,
            Decision::Deny => Self::Deny,
            Decision::DenyAlways => Self::DenyAlways,
        }
    }
}
