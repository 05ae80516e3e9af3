//! Cases that a script can run.

use std::sync::Arc;

use eddy_guest::{LuaLimits, LuaScript, LuaSource};
use serde_json::Value;

use super::format::{EditOf, VectorCase};
use super::host::host;

/// Returns the filter of the test vectors in Lua.
pub(crate) fn lua() -> Arc<LuaScript> {
    let text = include_bytes!("vector.lua");
    let limits = LuaLimits { cpu: std::time::Duration::from_secs(5), ..LuaLimits::default() };
    let source = LuaSource { filter: "vector", chunk: "vector.lua", text, limits };
    LuaScript::load(&source, &host()).expect("the script of the vectors")
}

/// Whether a script can be the filter of a case.
///
/// Hooks begin with heads and support only these operations. A script gets the rule's configuration instead of the
/// filter's. Lua has no null to store, and an empty list is an empty table. Edits that the host would refuse are errors
/// of the script.
pub(crate) fn can(case: &VectorCase) -> bool {
    let is_head = |phase: &str| matches!(phase, "request_head" | "response_head");
    let is_lua = |edit: &EditOf| match &edit.json {
        Some(Value::Null) => false,
        Some(Value::Array(list)) => !list.is_empty(),
        _ => true,
    };
    let [step] = &*case.steps else { return false };
    let phases = step.config.as_object().into_iter().flatten();
    step.rule.is_none()
        && case
            .calls
            .iter()
            .all(|call| is_head(&call.phase) && !call.expect.refused && call.expect.edits.iter().all(is_lua))
        && phases.filter(|(phase, _)| is_head(phase)).all(|(phase, operations)| {
            operations.as_array().into_iter().flatten().all(|operation| known(phase, operation))
        })
}

fn known(phase: &str, operation: &Value) -> bool {
    match operation["do"].as_str() {
        Some("see") => operation["what"].as_str().is_some_and(|what| SEEN.contains(&what)),
        // A script can set these only on the request; on the response it raises an error of its own.
        Some("method" | "target" | "authority") => phase == "request_head",
        Some(verb) => VERBS.contains(&verb),
        None => false,
    }
}

const VERBS: &[&str] = &["set", "add", "remove", "status", "clear_route", "endpoint", "fault", "panic"];
const SEEN: &[&str] = &[
    "field",
    "values",
    "count",
    "fields",
    "method",
    "target",
    "path",
    "query",
    "authority",
    "scheme",
    "status",
    "version",
    "peer",
    "local",
    "rule",
    "metadata",
];
