//! The keys of a filter in Wasm.

use crate::read::{Any, NamedMap};
use crate::value::{BoundedText, ByteSize, FilePath, IsolationName, Time, VariableName};

mapping! {
    /// A filter in Wasm, by the contract proxy-wasm: where its module lies, and what the module may do.
    WasmSpec as "a filter in Wasm" {
        /// The module. A relative path begins where the configuration file lies. The file is watched: when it changes, the
        /// configuration is read again, and new exchanges have the new module.
        required module: FilePath, example "./auth.wasm";
        /// Which of the module's filters it is, for modules that have several.
        optional root_id: BoundedText<256>, default "''", example "auth";
        /// Filters of one module that say the same `vm_id` and `vm_config`, and are equal in all other keys here, share an
        /// instance. Shared data and queues belong to a `vm_id`.
        optional vm_id: BoundedText<256>, default "''", example "shared";
        /// What the module gets when an instance starts: a text as it is, another value as JSON.
        optional vm_config: Any, otherwise "nothing", example "{region: eu}";
        /// How far a fault of the module reaches.
        optional isolation: IsolationName, default "worker", example "stream";
        /// Largest memory of an instance.
        optional memory: ByteSize<65_536, 4_294_967_296>, default "64MiB", example "16MiB";
        /// Longest time that one call of the module may take. Beyond it the instance is given up.
        optional cpu: Time<1, 1000>, default "10ms", example "50ms";
        /// What the module may have of its surroundings. Files, sockets and the environment of eddy are never among it.
        optional allow: AllowSpec, otherwise "nothing", example "{env: {REGION: eu}}";
    }
}

mapping! {
    /// What a module in Wasm may have of its surroundings.
    AllowSpec as "what a module may have" {
        /// The environment that the module sees.
        optional env: NamedMap<VariableName, BoundedText<4096>>, otherwise "it is empty", example "{REGION: eu}";
    }
}
