//! Which language a configuration is written in.

use super::{envoy, nginx};
use crate::problem::SourceText;
use crate::yaml::has_outer_key;

/// The language of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConfigLanguage {
    /// eddy's own: `eddy.yaml`.
    Eddy,
    /// NGINX's; the first text, the others being files that it includes.
    Nginx,
    /// Envoy's: a bootstrap file or a route configuration.
    Envoy,
    /// Manifests of Kubernetes, perhaps beside texts of eddy's own.
    Kubernetes,
}

impl ConfigLanguage {
    /// The language of texts that are one configuration.
    pub(crate) fn of(sources: &[SourceText]) -> Self {
        match sources.first() {
            Some(first) if nginx::is_nginx(&first.path) => Self::Nginx,
            Some(_) | None if sources.iter().any(|source| Self::of_text(source) == Self::Kubernetes) => {
                Self::Kubernetes
            }
            Some(first) if envoy::is_envoy(&first.text) => Self::Envoy,
            Some(_) | None => Self::Eddy,
        }
    }

    /// The language of one text in YAML or JSON, told by its outermost keys.
    ///
    /// # Cost
    /// Reads the text up to the first key that tells; manifests begin with it.
    pub(crate) fn of_text(source: &SourceText) -> Self {
        let is_object = has_outer_key(&source.text, |key| matches!(key, "apiVersion" | "kind"));
        if is_object { Self::Kubernetes } else { Self::Eddy }
    }
}
