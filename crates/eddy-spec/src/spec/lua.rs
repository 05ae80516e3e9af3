//! Configuration keys of a Lua filter.

use crate::read::{NamedMap, Spanned};
use crate::value::{BoundedText, ByteSize, ConfigName, FilePath, LuaLibraryName, Number, Time};

mapping! {
    /// A Lua filter: a script with the functions `envoy_on_request` and `envoy_on_response`, or one of them, written
    /// for the API of Envoy's Lua filter.
    ///
    /// Each worker runs the script in its own Lua state, whose globals are not shared with other workers.
    /// `filterContext()` returns the filter's `config`, or the rule's if it has one.
    LuaSpec as "a Lua filter" {
        /// Script file. It is read together with the configuration. Relative paths are resolved against the directory
        /// of the configuration file.
        optional file: FilePath, example "./mark.lua";
        /// Inline script.
        optional source: BoundedText<65_536>, example "function envoy_on_request(handle) handle:headers():add('x-mark', '1') end";
        /// Named scripts that rules can select instead.
        optional scripts: NamedMap<ConfigName, LuaScriptSpec>, otherwise "none", example "{strict: {file: ./strict.lua}}";
        /// CPU time limit of a hook between two waits, checked every millisecond. Beyond it the hook fails.
        optional cpu: Time<1, 10_000>, default "10ms", example "50ms";
        /// Memory limit of the script on each worker. A hook that exceeds it fails, and the script is restarted on this
        /// worker.
        optional memory: ByteSize<1_048_576, 1_073_741_824>, default "32MiB", example "8MiB";
        /// Libraries that give the script access outside its Lua state. Only for scripts that are trusted like eddy
        /// itself.
        optional allow: Vec<Spanned<LuaLibraryName>>, default "[]", example "[os]";
        /// Limits of the `eddy.shared` stores, for all workers and all scripts of the filter together.
        optional shared: LuaSharedSpec, otherwise "its defaults", example "{entries: 1000}";
        group One of file source;
    }
}

mapping! {
    /// A named script that rules can select.
    LuaScriptSpec as "a script" {
        /// Script file.
        optional file: FilePath, example "./strict.lua";
        /// Inline script.
        optional source: BoundedText<65_536>, example "function envoy_on_request(handle) end";
        group One of file source;
    }
}

mapping! {
    /// Limits of the shared stores of a Lua filter. A value for which there is no room is not stored.
    LuaSharedSpec as "shared stores" {
        /// Maximum number of values.
        optional entries: Number<1, 10_000_000>, default "10000", example "100000";
        /// Maximum total size of names, keys and values.
        optional bytes: ByteSize<1_024, 1_073_741_824>, default "4MiB", example "64MiB";
    }
}

mapping! {
    /// Script that a Lua filter runs under a rule.
    LuaRuleSpec as "the script of a rule" {
        /// One of the filter's `scripts`, by name.
        optional script: ConfigName, example "strict";
        /// Script file for this rule.
        optional file: FilePath, example "./admin.lua";
        /// Inline script for this rule.
        optional source: BoundedText<65_536>, example "function envoy_on_request(handle) end";
        group One of script file source;
    }
}
