//! Host functions that a module may import.

use self::Family::{Compiler, Higress, Legacy, ProxyWasm, Unsupported, Wasi};
use self::Number::{I32, I64};

/// Host function that modules may import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function {
    /// Family of the function.
    pub family: Family,
    /// Function name.
    pub name: &'static str,
    /// Parameter types.
    pub params: &'static [Number],
    /// Whether the function returns an `i32`.
    pub has_result: bool,
}

/// Origin of a host function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// proxy-wasm ABI, in the module `env`.
    ProxyWasm,
    /// Functions of proxy-wasm 0.1.0 only, in the module `env`.
    Legacy,
    /// Functions of Higress' SDKs that this crate offers, in the module `env`.
    Higress,
    /// Functions of Higress' SDKs that are only known by name, in the module `env`: a call is passed to
    /// [`Host::unsupported`](crate::Host::unsupported).
    Unsupported,
    /// Functions that compilers import, in the module `env`.
    Compiler,
    /// WASI, in the modules `wasi_snapshot_preview1` and `wasi_unstable`.
    Wasi,
}

/// Type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
}

impl Family {
    /// Returns the module names under which the family's functions are imported.
    pub const fn modules(self) -> &'static [&'static str] {
        match self {
            Self::ProxyWasm | Self::Legacy | Self::Higress | Self::Unsupported | Self::Compiler => &["env"],
            Self::Wasi => &["wasi_snapshot_preview1", "wasi_unstable"],
        }
    }
}

impl Function {
    /// Returns the function with this name in this module.
    pub fn find(module: &str, name: &str) -> Option<&'static Self> {
        FUNCTIONS.iter().find(|function| function.name == name && function.family.modules().contains(&module))
    }
}

const fn function(family: Family, name: &'static str, params: &'static [Number]) -> Function {
    Function { family, name, params, has_result: true }
}

const fn silent(family: Family, name: &'static str, params: &'static [Number]) -> Function {
    Function { family, name, params, has_result: false }
}

/// All functions that a module may import.
pub const FUNCTIONS: &[Function] = &[
    function(ProxyWasm, "proxy_log", &[I32, I32, I32]),
    function(ProxyWasm, "proxy_get_log_level", &[I32]),
    function(ProxyWasm, "proxy_get_current_time_nanoseconds", &[I32]),
    function(ProxyWasm, "proxy_set_tick_period_milliseconds", &[I32]),
    function(ProxyWasm, "proxy_set_buffer_bytes", &[I32, I32, I32, I32, I32]),
    function(ProxyWasm, "proxy_get_buffer_bytes", &[I32, I32, I32, I32, I32]),
    function(ProxyWasm, "proxy_get_buffer_status", &[I32, I32, I32]),
    function(ProxyWasm, "proxy_get_header_map_size", &[I32, I32]),
    function(ProxyWasm, "proxy_get_header_map_pairs", &[I32, I32, I32]),
    function(ProxyWasm, "proxy_set_header_map_pairs", &[I32, I32, I32]),
    function(ProxyWasm, "proxy_get_header_map_value", &[I32, I32, I32, I32, I32]),
    function(ProxyWasm, "proxy_add_header_map_value", &[I32, I32, I32, I32, I32]),
    function(ProxyWasm, "proxy_replace_header_map_value", &[I32, I32, I32, I32, I32]),
    function(ProxyWasm, "proxy_remove_header_map_value", &[I32, I32, I32]),
    function(ProxyWasm, "proxy_continue_stream", &[I32]),
    function(ProxyWasm, "proxy_close_stream", &[I32]),
    function(ProxyWasm, "proxy_get_status", &[I32, I32, I32]),
    function(ProxyWasm, "proxy_send_local_response", &[I32, I32, I32, I32, I32, I32, I32, I32]),
    function(ProxyWasm, "proxy_http_call", &[I32, I32, I32, I32, I32, I32, I32, I32, I32, I32]),
    function(ProxyWasm, "proxy_grpc_call", &[I32, I32, I32, I32, I32, I32, I32, I32, I32, I32, I32, I32]),
    function(ProxyWasm, "proxy_grpc_stream", &[I32, I32, I32, I32, I32, I32, I32, I32, I32]),
    function(ProxyWasm, "proxy_grpc_send", &[I32, I32, I32, I32]),
    function(ProxyWasm, "proxy_grpc_cancel", &[I32]),
    function(ProxyWasm, "proxy_grpc_close", &[I32]),
    function(ProxyWasm, "proxy_set_shared_data", &[I32, I32, I32, I32, I32]),
    function(ProxyWasm, "proxy_get_shared_data", &[I32, I32, I32, I32, I32]),
    function(ProxyWasm, "proxy_register_shared_queue", &[I32, I32, I32]),
    function(ProxyWasm, "proxy_resolve_shared_queue", &[I32, I32, I32, I32, I32]),
    function(ProxyWasm, "proxy_enqueue_shared_queue", &[I32, I32, I32]),
    function(ProxyWasm, "proxy_dequeue_shared_queue", &[I32, I32, I32]),
    function(ProxyWasm, "proxy_define_metric", &[I32, I32, I32, I32]),
    function(ProxyWasm, "proxy_record_metric", &[I32, I64]),
    function(ProxyWasm, "proxy_increment_metric", &[I32, I64]),
    function(ProxyWasm, "proxy_get_metric", &[I32, I32]),
    function(ProxyWasm, "proxy_get_property", &[I32, I32, I32, I32]),
    function(ProxyWasm, "proxy_set_property", &[I32, I32, I32, I32]),
    function(ProxyWasm, "proxy_call_foreign_function", &[I32, I32, I32, I32, I32, I32]),
    function(ProxyWasm, "proxy_set_effective_context", &[I32]),
    function(ProxyWasm, "proxy_done", &[]),
    function(Legacy, "proxy_get_configuration", &[I32, I32]),
    function(Legacy, "proxy_continue_request", &[]),
    function(Legacy, "proxy_continue_response", &[]),
    function(Legacy, "proxy_clear_route_cache", &[]),
    function(Higress, "proxy_set_upstream_override_host", &[I32, I32]),
    function(Unsupported, "proxy_get_upstream_hosts", &[I32, I32]),
    function(Unsupported, "proxy_inject_encoded_data_to_filter_chain", &[I32, I32, I32]),
    function(Unsupported, "proxy_redis_init", &[I32, I32, I32, I32, I32, I32, I32]),
    function(Unsupported, "proxy_redis_call", &[I32, I32, I32, I32, I32]),
    silent(Compiler, "emscripten_notify_memory_growth", &[I32]),
    function(Compiler, "pthread_equal", &[I32, I32]),
    function(Wasi, "args_get", &[I32, I32]),
    function(Wasi, "args_sizes_get", &[I32, I32]),
    function(Wasi, "environ_get", &[I32, I32]),
    function(Wasi, "environ_sizes_get", &[I32, I32]),
    function(Wasi, "clock_res_get", &[I32, I32]),
    function(Wasi, "clock_time_get", &[I32, I64, I32]),
    function(Wasi, "fd_advise", &[I32, I64, I64, I32]),
    function(Wasi, "fd_allocate", &[I32, I64, I64]),
    function(Wasi, "fd_close", &[I32]),
    function(Wasi, "fd_datasync", &[I32]),
    function(Wasi, "fd_fdstat_get", &[I32, I32]),
    function(Wasi, "fd_fdstat_set_flags", &[I32, I32]),
    function(Wasi, "fd_fdstat_set_rights", &[I32, I64, I64]),
    function(Wasi, "fd_filestat_get", &[I32, I32]),
    function(Wasi, "fd_filestat_set_size", &[I32, I64]),
    function(Wasi, "fd_filestat_set_times", &[I32, I64, I64, I32]),
    function(Wasi, "fd_pread", &[I32, I32, I32, I64, I32]),
    function(Wasi, "fd_prestat_get", &[I32, I32]),
    function(Wasi, "fd_prestat_dir_name", &[I32, I32, I32]),
    function(Wasi, "fd_pwrite", &[I32, I32, I32, I64, I32]),
    function(Wasi, "fd_read", &[I32, I32, I32, I32]),
    function(Wasi, "fd_readdir", &[I32, I32, I32, I64, I32]),
    function(Wasi, "fd_renumber", &[I32, I32]),
    function(Wasi, "fd_seek", &[I32, I64, I32, I32]),
    function(Wasi, "fd_sync", &[I32]),
    function(Wasi, "fd_tell", &[I32, I32]),
    function(Wasi, "fd_write", &[I32, I32, I32, I32]),
    function(Wasi, "path_create_directory", &[I32, I32, I32]),
    function(Wasi, "path_filestat_get", &[I32, I32, I32, I32, I32]),
    function(Wasi, "path_filestat_set_times", &[I32, I32, I32, I32, I64, I64, I32]),
    function(Wasi, "path_link", &[I32, I32, I32, I32, I32, I32, I32]),
    function(Wasi, "path_open", &[I32, I32, I32, I32, I32, I64, I64, I32, I32]),
    function(Wasi, "path_readlink", &[I32, I32, I32, I32, I32, I32]),
    function(Wasi, "path_remove_directory", &[I32, I32, I32]),
    function(Wasi, "path_rename", &[I32, I32, I32, I32, I32, I32]),
    function(Wasi, "path_symlink", &[I32, I32, I32, I32, I32]),
    function(Wasi, "path_unlink_file", &[I32, I32, I32]),
    function(Wasi, "poll_oneoff", &[I32, I32, I32, I32]),
    silent(Wasi, "proc_exit", &[I32]),
    function(Wasi, "proc_raise", &[I32]),
    function(Wasi, "sched_yield", &[]),
    function(Wasi, "random_get", &[I32, I32]),
    function(Wasi, "sock_accept", &[I32, I32, I32]),
    function(Wasi, "sock_recv", &[I32, I32, I32, I32, I32, I32]),
    function(Wasi, "sock_send", &[I32, I32, I32, I32, I32]),
    function(Wasi, "sock_shutdown", &[I32, I32]),
];
