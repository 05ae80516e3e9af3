//! List of all callbacks.

use super::table::Callback;
use super::{
    attributes, body, calls, headers, metadata, metrics, other_extensions, other_filters, process, reply,
    schedulers, state, unavailable, upstream,
};

/// Whether a callback of this name is exported.
pub(in crate::dynamic_module) fn is_known(name: &str) -> bool {
    all().any(|callback| callback.name == name)
}

/// Whether a callback of this name is exported, but always answers that something is not available.
pub(in crate::dynamic_module) fn is_unavailable(name: &str) -> bool {
    unavailable::CALLBACKS.iter().any(|callback| callback.name == name)
}

/// Returns all callbacks. Every address is read, so that the linker keeps the function.
fn all() -> impl Iterator<Item = &'static Callback> {
    let lists = [
        attributes::CALLBACKS,
        body::CALLBACKS,
        calls::CALLBACKS,
        process::CALLBACKS,
        headers::CALLBACKS,
        metadata::CALLBACKS,
        metrics::CALLBACKS,
        other_extensions::CALLBACKS,
        other_filters::CALLBACKS,
        reply::CALLBACKS,
        schedulers::CALLBACKS,
        state::CALLBACKS,
        unavailable::CALLBACKS,
        upstream::CALLBACKS,
    ];
    let keep = |callback: &&Callback| {
        let _ = std::hint::black_box(callback.address);
    };
    lists.into_iter().flatten().inspect(keep)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_callback_has_a_name_of_its_own() {
        let names: HashSet<&str> = all().map(|callback| callback.name).collect();
        assert_eq!(names.len(), all().count());
        assert!(names.iter().all(|name| name.starts_with("envoy_dynamic_module_callback_")));
        // The number of callbacks that Envoy 1.38, 1.39 and 1.40 export together.
        assert_eq!(names.len(), 788);
        assert!(!is_known("envoy_dynamic_module_callback_of_a_later_version"));
    }
}
