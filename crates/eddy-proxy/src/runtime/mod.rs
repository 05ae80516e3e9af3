//! Services of a worker: timers, buffers, counters, and the admission of requests. Nothing here knows of a plan or a
//! request.

mod admission;
mod overload;
mod services;
mod slice;

pub(crate) use admission::{TickInterval, Ticket, Waited};
pub(crate) use overload::{Pressure, Room, is_shortage};
pub(crate) use services::{ReleaseIdle, ServiceParts, WorkerServices};
pub(crate) use slice::{Slice, step_in_slices};
