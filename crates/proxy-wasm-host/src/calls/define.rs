//! Registration of all host functions in `env`.

use wasmtime::Linker;

use crate::host::Host;
use crate::vm::{Guest, VmState};

use super::{
    buffers, contexts, fields, foreign, grpc, higress, http, logs, metrics, properties, queues, shared_data,
    streams,
};

/// Defines every host function.
pub(crate) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    logs::define(linker)?;
    contexts::define(linker)?;
    fields::define(linker)?;
    buffers::define(linker)?;
    streams::define(linker)?;
    http::define(linker)?;
    grpc::define(linker)?;
    shared_data::define(linker)?;
    queues::define(linker)?;
    metrics::define(linker)?;
    properties::define(linker)?;
    foreign::define(linker)?;
    higress::define(linker)?;
    // Imports of C++ compilers.
    linker.func_wrap("env", "emscripten_notify_memory_growth", |_: Guest<'_, H>, _: u32| ())?;
    linker.func_wrap("env", "pthread_equal", |_: Guest<'_, H>, left: u32, right: u32| {
        u32::from(left == right)
    })?;
    Ok(())
}
