//! Resource limits and state of the store of a confined module.

use std::sync::Arc;
use std::time::Duration;

use wasmtime::{Memory, Store, Trap, UpdateDeadline};

use super::limiter::{Limiter, Refused};
use super::meter::CpuTimeMeter;
use super::printed::{Output, Printed};
use crate::engine::Engine;
use crate::wasi::Sandbox;

/// Resource limits of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum linear memory.
    ///
    /// # Units
    /// Bytes.
    pub memory_bytes_max: usize,
    /// Maximum number of elements per table.
    pub table_elements_max: usize,
    /// Maximum length of a printed line; longer lines are cut.
    ///
    /// # Units
    /// Bytes.
    pub line_bytes_max: usize,
    /// Maximum output per call; more is dropped.
    ///
    /// # Units
    /// Bytes.
    pub printed_bytes_max: usize,
    /// Length of a tick, if the call deadline is measured in CPU time of the thread; `None` measures wall-clock ticks.
    pub cpu_tick: Option<Duration>,
}

/// State that confines a module; part of its store.
#[derive(Debug)]
pub struct Confinement {
    /// The module's memory; `None` until the module is instantiated.
    pub memory: Option<Memory>,
    /// Environment and clock that the module sees.
    pub sandbox: Arc<Sandbox>,
    /// Output of the module.
    pub printed: Printed,
    bounds: Bounds,
    limiter: Limiter,
    meter: CpuTimeMeter,
}

impl Confinement {
    /// Creates the confinement of a new instance.
    pub fn new(bounds: Bounds, sandbox: Arc<Sandbox>) -> Self {
        let limiter = Limiter {
            memory_bytes_max: bounds.memory_bytes_max,
            table_elements_max: bounds.table_elements_max,
            refused: None,
        };
        let (printed, meter) = (Printed::default(), CpuTimeMeter::default());
        Self { memory: None, sandbox, printed, bounds, limiter, meter }
    }

    /// Returns why memory or table elements were refused since the call began, if they were.
    pub fn refused(&self) -> Option<Refused> {
        self.limiter.refused
    }

    /// Records printed bytes, up to the output limit.
    pub(crate) fn take_printed(&mut self, output: Output, bytes: &[u8]) {
        self.printed.take(output, bytes, self.bounds.line_bytes_max, self.bounds.printed_bytes_max);
    }
}

/// Store data that contains a [`Confinement`].
pub trait Confined: 'static {
    /// Returns the confinement.
    fn confinement(&self) -> &Confinement;

    /// Returns the confinement for modification.
    fn confinement_mut(&mut self) -> &mut Confinement;

    /// Called when printed lines are available; they may also be taken later.
    fn handle_lines(&mut self);
}

/// Creates a store whose module is held to its limits.
pub fn confine<T: Confined>(engine: &Engine, about: T) -> Store<T> {
    let mut store = Store::new(engine.machine(), about);
    store.limiter(|about| &mut about.confinement_mut().limiter);
    store.epoch_deadline_callback(|mut context| match context.data_mut().confinement_mut().meter.look() {
        Some(ticks) => Ok(UpdateDeadline::Continue(ticks)),
        None => Err(Trap::Interrupt.into()),
    });
    store
}

/// Begins a call that may take this many ticks.
#[inline]
pub fn begin<T: Confined>(store: &mut Store<T>, ticks: u64) {
    let confinement = store.data_mut().confinement_mut();
    confinement.limiter.refused = None;
    let looked_at = confinement.meter.begin(ticks, confinement.bounds.cpu_tick);
    store.set_epoch_deadline(looked_at);
}
