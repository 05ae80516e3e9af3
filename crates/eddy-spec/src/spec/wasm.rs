//! Configuration keys of a Wasm filter.

use eddy_config::WasmIsolation;

use crate::read::{Any, NamedMap};
use crate::value::{BoundedText, ByteSize, FilePath, Time, VariableName};

mapping! {
    /// A Wasm filter with the proxy-wasm ABI: its module, and the module's permissions and limits.
    WasmSpec as "a Wasm filter" {
        /// Module file. Relative paths are resolved against the directory of the configuration file. The file is
        /// watched: when it changes, the configuration is reloaded, and new exchanges use the new module.
        required module: FilePath, example "./auth.wasm";
        /// Root ID that selects one of the module's filters, for modules that have several.
        optional root_id: BoundedText<256>, default "''", example "auth";
        /// Filters of one module with the same `vm_id` and `vm_config`, and with equal values of all other keys here,
        /// share an instance. Shared data and queues belong to a `vm_id`.
        optional vm_id: BoundedText<256>, default "''", example "shared";
        /// Configuration that the module receives when an instance starts: a string as it is, any other value as JSON.
        optional vm_config: Any, otherwise "nothing", example "{region: eu}";
        /// Exchanges that a fault of the module affects.
        optional isolation: WasmIsolation, default "worker", example "stream";
        /// Maximum memory of an instance.
        optional memory: ByteSize<65_536, 4_294_967_296>, default "64MiB", example "16MiB";
        /// Maximum time of one call into the module. Beyond it the instance is stopped.
        optional cpu: Time<1, 1000>, default "10ms", example "50ms";
        /// Maximum time of each step of an instance's start: the module's own start (`_initialize`), `on_vm_start` and
        /// `on_configure`. Beyond it the filter cannot be created. Never less than `cpu`. The start of a Go module
        /// takes some tens of milliseconds. With `isolation: stream` the default is 100 ms, because each exchange waits
        /// for one.
        optional start_cpu: Time<1, 4000>, default "1s", example "2s";
        /// Access to the environment. A module never has access to files, sockets or eddy's own environment.
        optional allow: AllowSpec, otherwise "nothing", example "{env: {REGION: eu}}";
    }
}

mapping! {
    /// Access of a Wasm module to its environment.
    AllowSpec as "module permissions" {
        /// Environment variables that the module sees.
        optional env: NamedMap<VariableName, BoundedText<4096>>, otherwise "no variables", example "{REGION: eu}";
    }
}
