//! WorkerServices of a worker: timers, buffers, counters, and the admission of requests. Nothing here knows of a plan or a
//! request.

mod admission;
mod date;
mod overload;
mod services;
mod shortage;
mod slice;

pub(crate) use admission::{TickInterval, Ticket, Waited};
pub(crate) use overload::{Pressure, Room};
pub(crate) use services::{ReleaseIdle, ServiceParts, WorkerServices};
pub(crate) use shortage::is_shortage;
pub(crate) use slice::{Slice, step_in_slices};
