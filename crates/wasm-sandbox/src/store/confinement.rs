//! What a store has that holds its module.

use std::sync::Arc;
use std::time::Duration;

use wasmtime::{Memory, Store, Trap, UpdateDeadline};

use super::limiter::{Limiter, Refused};
use super::meter::CpuTimeMeter;
use super::printed::{Output, OutputLine, Printed};
use crate::engine::Engine;
use crate::wasi::Sandbox;

/// What an instance may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Memory.
    ///
    /// # Units
    ///
    /// Bytes.
    pub memory_bytes_max: usize,
    /// Elements of each table.
    pub table_elements_max: usize,
    /// A printed line; what is longer is cut.
    ///
    /// # Units
    ///
    /// Bytes.
    pub line_bytes_max: usize,
    /// What is printed during a call; more is dropped.
    ///
    /// # Units
    ///
    /// Bytes.
    pub printed_bytes_max: usize,
    /// How long a tick is, if calls are stopped by the CPU time of their thread; else the clock counts.
    pub cpu_tick: Option<Duration>,
}

/// What a store has that holds its module.
#[derive(Debug)]
pub struct Confinement {
    /// The module's memory; none until it has one.
    pub memory: Option<Memory>,
    /// What the module gets of the world.
    pub sandbox: Arc<Sandbox>,
    bounds: Bounds,
    limiter: Limiter,
    meter: CpuTimeMeter,
    printed: Printed,
}

impl Confinement {
    /// A confinement for a new instance.
    pub fn new(bounds: Bounds, sandbox: Arc<Sandbox>) -> Self {
        let limiter = Limiter {
            memory_bytes_max: bounds.memory_bytes_max,
            table_elements_max: bounds.table_elements_max,
            refused: None,
        };
        let (meter, printed) = (CpuTimeMeter::default(), Printed::default());
        Self { memory: None, sandbox, bounds, limiter, meter, printed }
    }

    /// Why memory or table elements were refused since the call began, if they were.
    pub fn refused(&self) -> Option<Refused> {
        self.limiter.refused
    }

    /// Takes what was printed, as far as there is room for it.
    pub(crate) fn take_printed(&mut self, output: Output, bytes: &[u8]) {
        self.printed.take(output, bytes, self.bounds.line_bytes_max, self.bounds.printed_bytes_max);
    }

    /// Whether lines are there to be taken.
    #[inline]
    pub fn has_lines(&self) -> bool {
        self.printed.has_lines()
    }

    /// Printed lines that are whole.
    pub fn take_lines(&mut self) -> Vec<OutputLine> {
        self.printed.take_lines()
    }

    /// What was printed without an end of line, when no more will come.
    pub fn take_rest(&mut self) -> Vec<OutputLine> {
        self.printed.take_rest()
    }

    /// The call is over: how many printed bytes were dropped during it.
    #[inline]
    pub fn end_call(&mut self) -> usize {
        self.printed.end_call()
    }
}

/// What a store is about, beside the confinement that it has.
pub trait Confined: 'static {
    /// The confinement.
    fn confinement(&self) -> &Confinement;

    /// The confinement.
    fn confinement_mut(&mut self) -> &mut Confinement;

    /// Lines are there to be taken, or taken later.
    fn handle_lines(&mut self);
}

/// A store whose module is held to its bounds.
pub fn confine<T: Confined>(engine: &Engine, about: T) -> Store<T> {
    let mut store = Store::new(engine.machine(), about);
    store.limiter(|about| &mut about.confinement_mut().limiter);
    store.epoch_deadline_callback(|mut context| match context.data_mut().confinement_mut().meter.look() {
        Some(ticks) => Ok(UpdateDeadline::Continue(ticks)),
        None => Err(Trap::Interrupt.into()),
    });
    store
}

/// Begins a call that may see so many ticks.
#[inline]
pub fn begin<T: Confined>(store: &mut Store<T>, ticks: u64) {
    let confinement = store.data_mut().confinement_mut();
    confinement.limiter.refused = None;
    let looked_at = confinement.meter.begin(ticks, confinement.bounds.cpu_tick);
    store.set_epoch_deadline(looked_at);
}
