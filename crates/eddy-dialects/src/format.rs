//! Format of a configuration text, by its outermost keys.

use eddy_spec::problem::SourceText;
use eddy_spec::yaml::decide_by_outer_key;

/// Format of a YAML or JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextFormat {
    /// eddy's own configuration; also a text of which nothing else is known.
    Eddy,
    /// Kubernetes manifest: one or more objects with `apiVersion` and `kind`.
    Manifest,
    /// Envoy configuration: a bootstrap file or a route configuration.
    Envoy,
}

impl TextFormat {
    /// Returns the format of a text.
    ///
    /// # Cost
    /// Reads the text up to the first key that only one format has; that is usually the first key.
    pub(crate) fn of(text: &str) -> Self {
        let decided = decide_by_outer_key(text, |key| match key {
            "apiVersion" | "kind" => Some(Self::Manifest),
            "static_resources" | "staticResources" | "virtual_hosts" | "virtualHosts" | "@type" => {
                Some(Self::Envoy)
            }
            "listeners" | "routes" | "clusters" | "filters" | "workers" => Some(Self::Eddy),
            _ => None,
        });
        decided.unwrap_or(Self::Eddy)
    }
}

/// Whether a text is a Kubernetes manifest: one or more objects with `apiVersion` and `kind`.
///
/// # Cost
/// Reads the text up to the first key that decides; manifests begin with one.
pub fn is_manifest(source: &SourceText) -> bool {
    TextFormat::of(&source.text) == TextFormat::Manifest
}

#[cfg(test)]
mod tests {
    use super::TextFormat;

    #[test]
    fn formats_are_known_by_their_keys() {
        let check = |text: &str, expected| assert_eq!(TextFormat::of(text), expected, "{text}");
        check("static_resources: {}", TextFormat::Envoy);
        check("admin: {}\nstatic_resources: {}", TextFormat::Envoy);
        check("name: x\nvirtual_hosts: []", TextFormat::Envoy);
        check("{\"virtualHosts\": []}", TextFormat::Envoy);
        check("listeners: []", TextFormat::Eddy);
        check("admin: {}\nlisteners: []", TextFormat::Eddy);
        check("a: {virtual_hosts: []}", TextFormat::Eddy);
        check("", TextFormat::Eddy);
        check("apiVersion: v1\nkind: Service", TextFormat::Manifest);
        check("{\"items\": [], \"kind\": \"List\"}", TextFormat::Manifest);
        // The first key decides, whatever comes later.
        check("workers: 2\nkind: x", TextFormat::Eddy);
    }
}
