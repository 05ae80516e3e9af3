//! Limits on growth of memory and tables.

use wasmtime::ResourceLimiter;

use crate::engine::TABLES_MAX;

/// Reason why memory or table elements were refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Growth beyond the limit of the instance.
    Limit,
    /// Growth beyond the module's own maximum, or the system had no memory.
    OutsideLimit,
}

/// wasmtime resource limiter that records refusals.
#[derive(Debug)]
pub(super) struct Limiter {
    pub(super) memory_bytes_max: usize,
    pub(super) table_elements_max: usize,
    /// Last refusal since the call began.
    pub(super) refused: Option<Refused>,
}

impl Limiter {
    /// Returns whether a size is within the limit, and records a refusal.
    fn allow(&mut self, desired: usize, max: usize) -> wasmtime::Result<bool> {
        if desired > max {
            self.refused = Some(Refused::Limit);
        }
        Ok(desired <= max)
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        self.allow(desired, self.memory_bytes_max)
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        self.refused.get_or_insert(Refused::OutsideLimit);
        Ok(())
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        self.allow(desired, self.table_elements_max)
    }

    fn table_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        self.refused.get_or_insert(Refused::OutsideLimit);
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
