//! Detection of the configuration language.

use super::{envoy, nginx};
use crate::problem::SourceText;
use crate::yaml::has_outer_key;

/// Configuration language of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConfigLanguage {
    /// eddy's own language: `eddy.yaml`.
    Eddy,
    /// NGINX: the first text is `nginx.conf`, the others are files that it includes.
    Nginx,
    /// Envoy: a bootstrap file or a route configuration.
    Envoy,
    /// Kubernetes manifests, possibly next to texts in eddy's own language.
    Kubernetes,
}

impl ConfigLanguage {
    /// Detects the language of texts that form one configuration.
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

    /// Detects the language of one YAML or JSON text by its outermost keys.
    ///
    /// # Cost
    /// Reads the text up to the first key that decides; manifests begin with it.
    pub(crate) fn of_text(source: &SourceText) -> Self {
        let is_object = has_outer_key(&source.text, |key| matches!(key, "apiVersion" | "kind"));
        if is_object { Self::Kubernetes } else { Self::Eddy }
    }
}
