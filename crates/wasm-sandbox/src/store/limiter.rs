//! What a machine may grow to.

use wasmtime::ResourceLimiter;

use crate::engine::TABLES_MAX;

/// Refuses what is beyond the limits, and remembers that it did.
#[derive(Debug)]
pub(super) struct Limiter {
    pub(super) memory_bytes_max: usize,
    pub(super) table_elements_max: usize,
    /// Something was refused since the callback began.
    pub(super) has_refused: bool,
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let may = desired <= self.memory_bytes_max;
        self.has_refused |= !may;
        Ok(may)
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        self.has_refused = true;
        Ok(())
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let may = desired <= self.table_elements_max;
        self.has_refused |= !may;
        Ok(may)
    }

    fn table_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        self.has_refused = true;
        Ok(())
    }

    fn instances(&self) -> usize {
        1
    }

    fn tables(&self) -> usize {
        TABLES_MAX as usize
    }

    fn memories(&self) -> usize {
        1
    }
}
