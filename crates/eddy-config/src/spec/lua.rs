//! The keys of a filter in Lua.

use crate::read::{NamedMap, Spanned};
use crate::value::{BoundedText, ByteSize, ConfigName, FilePath, LuaLibraryName, Number, Time};

mapping! {
    /// A filter in Lua: a script with the functions `envoy_on_request` and `envoy_on_response`, or one of them, for the
    /// interface that Envoy's Lua filter has.
    ///
    /// Each worker runs the script in a machine of its own, whose globals no other worker sees. The filter's `config`,
    /// or what a rule says in its place, is what `filterContext()` gives.
    LuaSpec as "a filter in Lua" {
        /// The script's file. It is read when the configuration is. A relative path begins where the configuration file
        /// lies.
        optional file: FilePath, example "./mark.lua";
        /// The script itself.
        optional source: BoundedText<65_536>, example "function envoy_on_request(handle) handle:headers():add('x-mark', '1') end";
        /// Other scripts that rules can name in its place.
        optional scripts: NamedMap<ConfigName, LuaScriptSpec>, otherwise "there are none", example "{strict: {file: ./strict.lua}}";
        /// CPU time that a hook may use from one wait to the next, as it is seen by a watch that looks every millisecond.
        /// Beyond it the hook fails.
        optional cpu: Time<1, 10_000>, default "10ms", example "50ms";
        /// Memory of the script on each worker. A hook that finds none fails, and the script begins anew on this worker.
        optional memory: ByteSize<1_048_576, 1_073_741_824>, default "32MiB", example "8MiB";
        /// Libraries that reach out of the script's machine, for scripts that are trusted like eddy itself.
        optional allow: Vec<Spanned<LuaLibraryName>>, default "[]", example "[os]";
        /// What `eddy.shared` holds for all workers, in all scripts of the filter together.
        optional shared: LuaSharedSpec, otherwise "its defaults", example "{entries: 1000}";
        group One of file source;
    }
}

mapping! {
    /// A script that rules can name.
    LuaScriptSpec as "a script" {
        /// The script's file.
        optional file: FilePath, example "./strict.lua";
        /// The script itself.
        optional source: BoundedText<65_536>, example "function envoy_on_request(handle) end";
        group One of file source;
    }
}

mapping! {
    /// What the shared stores of a filter in Lua hold. A value that finds no room is not taken.
    LuaSharedSpec as "shared stores" {
        /// Most values.
        optional entries: Number<1, 10_000_000>, default "10000", example "100000";
        /// Most bytes of names, keys and values.
        optional bytes: ByteSize<1_024, 1_073_741_824>, default "4MiB", example "64MiB";
    }
}

mapping! {
    /// The script that a filter in Lua runs under a rule.
    LuaRuleSpec as "the script of a rule" {
        /// One of the filter's `scripts`, by name.
        optional script: ConfigName, example "strict";
        /// A script of the rule's own, as a file.
        optional file: FilePath, example "./admin.lua";
        /// A script of the rule's own.
        optional source: BoundedText<65_536>, example "function envoy_on_request(handle) end";
        group One of script file source;
    }
}
