//! Settings in the form of eddy.yaml; defaults are left out.

use std::time::Duration;

use serde_json::Value;

/// Sets a key to a value, unless it is the default.
pub(super) fn put<T: PartialEq>(
    own: &mut Value,
    key: &str,
    value: T,
    usual: T,
    to_value: impl FnOnce(T) -> Value,
) {
    if value != usual {
        own[key] = to_value(value);
    }
}

/// Formats a duration for eddy.yaml.
pub(super) fn time(time: Duration) -> Value {
    format!("{}ms", time.as_millis()).into()
}
